use std::collections::HashSet;
use std::fmt::Debug;

use canju_xiangqi::{Color, Material, Move, Piece, Position, Role, Square, role_mask, role_squares, squares};
use proptest::prelude::*;

use crate::arena::{anything, game};

/// Everything that a position shows of itself, the order of its pieces included.
fn seen(position: &Position) -> impl PartialEq + Debug + use<> {
    (
        position.to_fen(),
        position.pieces().collect::<Vec<_>>(),
        position.occupied(),
        Square::all().map(|square| position.piece_at(square)).collect::<Vec<_>>(),
        position.legal_moves().to_vec(),
    )
}

#[test]
fn soldiers_of_one_side_on_one_file_before_the_river_are_doubled() {
    let doubled = |fen: &str| fen.parse::<Position>().unwrap().has_doubled_soldiers();
    // Each in its own half, Red's in ranks 0 to 4.
    assert!(doubled("3k5/9/9/9/9/P8/P8/9/9/4K4 w"));
    assert!(doubled("3k5/9/9/8p/8p/9/9/9/9/4K4 w"));
    assert!(!doubled("3k5/9/9/9/P8/P8/9/9/9/4K4 w"), "one is beyond the river");
    assert!(!doubled("3k5/9/9/p8/9/9/P8/9/9/4K4 w"), "of two sides");
    assert!(!doubled("3k5/9/9/9/9/P8/2P6/9/9/4K4 w"), "on two files");
    assert!(!doubled(&Position::initial().to_fen()));
}

proptest! {
    #[test]
    fn unmake_restores_exactly(positions in game(60)) {
        let mut position = positions[0];
        let mut made = Vec::new();
        for next in &positions[1..] {
            let chosen = *position.legal_moves().iter().find(|&&chosen| position.play(chosen) == *next).unwrap();
            let before = seen(&position);
            let target = position.piece_at(chosen.to);
            prop_assert_eq!(position.is_capture(chosen), target.is_some());
            let undo = position.make(chosen);
            prop_assert_eq!(undo.captured(), target);
            prop_assert_eq!(position, *next);
            made.push((chosen, undo, before));
        }
        for (chosen, undo, before) in made.into_iter().rev() {
            position.unmake(chosen, undo);
            prop_assert_eq!(seen(&position), before);
        }
    }

    #[test]
    fn pieces_rebuild_the_position(position in anything()) {
        let pieces: Vec<_> = position.pieces().collect();
        let rebuilt = Position::from_pieces(&pieces, position.turn()).unwrap();
        prop_assert_eq!(rebuilt, position);
        let sides = Color::ALL.map(|color| position.side(color));
        prop_assert_eq!(sides[0] | sides[1], position.occupied());
        prop_assert_eq!(squares(position.occupied()).count(), pieces.len());
        prop_assert_eq!(Material::of(&position).men(), pieces.len());

        let mut emptied = position;
        for (piece, square) in pieces {
            prop_assert_eq!(emptied.remove(square), Some(piece));
            prop_assert_eq!(emptied.remove(square), None);
        }
        prop_assert_eq!(emptied, Position::empty(position.turn()));
    }

    #[test]
    fn mirror_and_flip_keep_the_game(position in anything()) {
        let sorted = |position: &Position, turned: fn(Move) -> Move| {
            let mut moves: Vec<Move> = position.legal_moves().into_iter().map(turned).collect();
            moves.sort();
            moves
        };
        for (other, turned) in [
            (position.mirror(), Move::mirror as fn(Move) -> Move),
            (position.flip(), Move::flip),
        ] {
            prop_assert_eq!(sorted(&other, turned), sorted(&position, |chosen| chosen));
            prop_assert_eq!(other.in_check(), position.in_check());
            prop_assert!(other.is_legal());
        }
        prop_assert_eq!(position.mirror().mirror(), position);
        prop_assert_eq!(position.flip().flip(), position);
        prop_assert_eq!(position.flip().turn(), !position.turn());
        prop_assert_eq!(Material::of(&position.flip()), Material::of(&position).swap());
    }
}

#[test]
fn equal_positions_hash_alike_whatever_the_order_of_their_pieces() {
    let position = Position::from_fen("4k4/9/9/9/9/9/9/9/9/R3K3R w").unwrap();
    let mut pieces: Vec<_> = position.pieces().collect();
    pieces.reverse();
    let reversed = Position::from_pieces(&pieces, Color::Red).unwrap();
    assert_eq!(position, reversed);
    assert_eq!(HashSet::from([position]), HashSet::from([reversed]));
    assert_ne!(position, position.flip());
}

#[test]
fn the_ground_of_each_role() {
    let sizes = [9, 5, 7, 90, 90, 90, 55];
    for color in Color::ALL {
        for (role, size) in Role::ALL.into_iter().zip(sizes) {
            let list = role_squares(color, role);
            assert_eq!(list.len(), size);
            assert!(list.is_sorted());
            assert!(squares(role_mask(color, role)).eq(list.iter().copied()));
            let flipped: u128 = list.iter().map(|square| square.flip().bit()).sum();
            assert_eq!(flipped, role_mask(!color, role));
        }
    }
    let named = |color, role| role_squares(color, role).iter().map(Square::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(named(Color::Red, Role::King), "d0 e0 f0 d1 e1 f1 d2 e2 f2");
    assert_eq!(named(Color::Red, Role::Advisor), "d0 f0 e1 d2 f2");
    assert_eq!(named(Color::Black, Role::Elephant), "c5 g5 a7 e7 i7 c9 g9");
    assert!(named(Color::Red, Role::Soldier).starts_with("a3 c3 e3 g3 i3 a4 c4 e4 g4 i4 a5 b5"));
}

#[test]
fn squares_and_moves_have_texts() {
    for (index, square) in Square::all().enumerate() {
        assert_eq!(square.index(), index);
        assert_eq!(Square::at(square.file(), square.rank()), square);
        assert_eq!(square.to_string().parse(), Ok(square));
        assert_eq!(square.mirror().mirror(), square);
        assert_eq!(square.flip().flip(), square);
    }
    assert_eq!(Square::new(90), None);
    for wrong in ["", "a", "j0", "a10", "0a", "aé", "é0"] {
        assert!(wrong.parse::<Square>().is_err(), "{wrong}");
    }
    let chosen: Move = "H2-e2".parse().unwrap();
    assert_eq!(chosen, Move::new(Square::at(7, 2), Square::at(4, 2)));
    assert_eq!(chosen.to_string(), "h2e2");
    for wrong in ["", "h2", "h2e", "h2e2q", "h2--e2", "车2e2", "h2e车"] {
        assert!(wrong.parse::<Move>().is_err(), "{wrong}");
    }
    assert_eq!(size_of::<Move>(), 2);
}

#[test]
fn letters_of_pieces() {
    for color in Color::ALL {
        assert_eq!(Color::from_char(color.to_char()), Some(color));
        for role in Role::ALL {
            let piece = Piece::new(color, role);
            assert_eq!(Piece::from_char(piece.to_char()), Some(piece));
        }
    }
    assert_eq!(Piece::from_char('e'), Some(Piece::new(Color::Black, Role::Elephant)));
    assert_eq!(Piece::from_char('H'), Some(Piece::new(Color::Red, Role::Horse)));
    assert_eq!(Piece::from_char('x'), None);
}
