use canju_xiangqi::{Move, Position, Square};
use proptest::prelude::*;

use crate::arena::{anything, game};
use crate::reference;

fn agree(position: &Position) -> Result<(), TestCaseError> {
    let fen = position.to_fen();
    let mut legal: Vec<String> = position.legal_moves().iter().map(Move::to_string).collect();
    legal.sort();
    prop_assert_eq!(&legal, &reference::legal_moves(&fen), "{}", fen);
    prop_assert_eq!(position.count_legal_moves(), legal.len());
    prop_assert_eq!(position.has_legal_move(), !legal.is_empty());
    prop_assert_eq!(position.in_check(), reference::in_check(&fen), "{}", fen);
    prop_assert_eq!(position.in_check(), position.checkers() != 0);
    for &chosen in &position.legal_moves() {
        let next = position.play(chosen);
        prop_assert!(next.is_legal(), "{} {}", fen, chosen);
        prop_assert_eq!(position.gives_check(chosen), reference::in_check(&next.to_fen()), "{} {}", fen, chosen);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arrangements_agree_with_the_reference(position in anything()) {
        agree(&position)?;
    }

    #[test]
    fn attackers_are_the_pieces_that_could_capture(position in anything()) {
        for square in Square::all() {
            if let Some(piece) = position.piece_at(square) {
                let captors = position.pieces()
                    .filter(|&(other, from)| other.color != piece.color && position.reach(from) & square.bit() != 0)
                    .fold(0, |set, (_, from)| set | from.bit());
                prop_assert_eq!(position.attackers(square, !piece.color), captors);
                prop_assert_eq!(position.is_attacked(square, !piece.color), captors != 0);
                let attacked = position.attacks(square) & position.side(!piece.color);
                prop_assert_eq!(attacked, position.reach(square) & position.side(!piece.color));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn games_agree_with_the_reference(positions in game(80)) {
        for position in &positions {
            agree(position)?;
        }
    }

    #[test]
    fn only_listed_moves_are_legal(positions in game(5)) {
        let position = positions[positions.len() - 1];
        let legal = position.legal_moves();
        for from in Square::all() {
            for to in Square::all() {
                let chosen = Move::new(from, to);
                prop_assert_eq!(position.is_legal_move(chosen), legal.contains(&chosen));
            }
        }
    }
}

#[test]
fn mate_and_stalemate() {
    let mate = Position::from_fen("5k3/9/9/9/9/9/9/9/9/4KR3 b").unwrap();
    assert!(mate.is_mate() && !mate.is_stalemate() && mate.legal_moves().is_empty());
    let free = Position::from_fen("3k5/9/9/3P5/9/9/9/9/9/4K4 b").unwrap();
    assert!(!free.is_stalemate() && !free.is_mate() && free.legal_moves().len() == 1);
    let stalemate = Position::from_fen("3k5/4P4/9/9/9/9/9/9/9/4K4 b").unwrap();
    assert!(stalemate.is_stalemate() && !stalemate.is_mate());
}
