//! Positions to try the rules on.

use canju_xiangqi::{Color, Piece, Position, Role, role_squares};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The positions and counts of the perft table: FEN, depth, nodes.
pub fn counts() -> Vec<(&'static str, u32, u64)> {
    let table = include_str!("../data/perft.tsv");
    (table.lines().skip_while(|line| !line.starts_with("fen\t")).skip(1))
        .map(|line| {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap();
            (next(), next().parse().unwrap(), next().parse().unwrap())
        })
        .collect()
}

/// The positions of a game from one of the table's positions, move by move.
pub fn game(plies: usize) -> impl Strategy<Value = Vec<Position>> {
    let mut starts: Vec<&str> = counts().into_iter().map(|(fen, ..)| fen).collect();
    starts.dedup();
    (select(starts), vec(any::<u8>(), plies)).prop_map(|(start, choices)| {
        let mut positions = vec![Position::from_fen(start).unwrap()];
        for choice in choices {
            let position = positions.last().unwrap();
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            positions.push(position.play(moves[usize::from(choice) % moves.len()]));
        }
        positions
    })
}

/// Any legal arrangement of at most the pieces that `wanted` says: squares that are taken already
/// are passed over.
fn arrangement(wanted: Vec<(Piece, bool)>) -> impl Strategy<Value = Position> {
    let count = wanted.len();
    (vec(any::<u8>(), count), vec(any::<bool>(), count), any::<bool>())
        .prop_map(move |(choices, present, red)| {
            let mut position = Position::empty(if red { Color::Red } else { Color::Black });
            for ((&(piece, always), choice), present) in wanted.iter().zip(choices).zip(present) {
                let squares = role_squares(piece.color, piece.role);
                if always || present {
                    let _ = position.place(piece, squares[usize::from(choice) % squares.len()]);
                }
            }
            position
        })
        .prop_filter("a legal position", Position::is_legal)
}

/// Any legal arrangement of any pieces.
pub fn anything() -> impl Strategy<Value = Position> {
    let sides = Color::ALL.into_iter();
    let pieces = Role::ALL.into_iter().flat_map(move |role| {
        sides.clone().flat_map(move |color| {
            let piece = (Piece::new(color, role), role == Role::King);
            std::iter::repeat_n(piece, role.limit())
        })
    });
    arrangement(pieces.collect())
}

/// Positions with two to five soldiers of a side on one file or on two, and some other pieces.
pub fn columns() -> impl Strategy<Value = Position> {
    let squares = select(vec![0_u8, 2, 4, 6, 8]);
    (anything(), squares, 0..9_u8, vec(any::<(bool, u8)>(), 2..=5)).prop_filter_map(
        "a legal position",
        |(mut position, first, second, soldiers)| {
            let color = position.turn();
            let soldier = Piece::new(color, Role::Soldier);
            for square in position.squares_of(color, Role::Soldier).collect::<Vec<_>>() {
                position.remove(square);
            }
            for (left, rank) in soldiers {
                let file = if left { first } else { second };
                let file: Vec<_> =
                    role_squares(color, Role::Soldier).iter().filter(|square| square.file() == file).collect();
                let _ = position.place(soldier, *file[usize::from(rank) % file.len()]);
            }
            position.is_legal().then_some(position)
        },
    )
}
