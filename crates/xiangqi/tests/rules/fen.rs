use canju_xiangqi::{Color, FenError, Illegality, Position, PositionError};
use proptest::prelude::*;

use crate::arena::{anything, counts};

const INITIAL: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";

proptest! {
    #[test]
    fn written_then_read(position in anything()) {
        prop_assert_eq!(Position::from_fen(&position.to_fen()), Ok(position));
    }

    #[test]
    fn any_text_is_an_answer(text in "[ \\PC/1-9KABRNCPkabrncp]{0,80}") {
        let _ = Position::from_fen(&text);
    }
}

#[test]
fn round_trips() {
    for (fen, ..) in counts() {
        assert_eq!(Position::from_fen(fen).unwrap().to_fen(), fen);
    }
    assert_eq!(Position::initial().to_fen(), INITIAL);
}

#[test]
fn forms_that_are_read() {
    let board = INITIAL.trim_end_matches(" w");
    let initial = Ok(Position::initial());
    for tail in ["", " w", " r", " w - - 0 1", "  r  -", "\n"] {
        assert_eq!(Position::from_fen(&format!("{board}{tail}")), initial);
    }
    assert_eq!(Position::from_fen(&format!("{board} b")).unwrap().turn(), Color::Black);
    assert_eq!(Position::from_fen(&board.replace('n', "h").replace('B', "E")), initial);
    assert_eq!(Position::from_fen(&board.replace("/9/9/", "/45/1143/")), initial);
}

/// What a FEN with one thing wrong is told.
fn told(fen: &str) -> String {
    Position::from_fen(fen).unwrap_err().to_string()
}

#[test]
fn errors_say_what_and_where() {
    for (fen, message) in [
        ("", "the FEN is empty"),
        ("4k4/9/9/9/9/9/9/9/4K4 w", "9 ranks, not 10"),
        ("4k4/9/9/9/9/9/9/9/9/4K4/9 w", "11 ranks, not 10"),
        ("4k4/9/8/9/9/9/9/9/9/4K4 w", "rank 7 has 8 files, not 9: `8`"),
        ("4k4/9/9/9/9/9/9/9/9/R3K4R w", "rank 0 has 10 files, not 9: `R3K4R`"),
        ("4k4/9/9/4x4/9/9/9/9/9/4K4 w", "unknown letter `x` on e6"),
        ("4k4/0/9/9/9/9/9/9/9/4K4 w", "unknown letter `0` on a8"),
        ("9/9/9/9/9/9/9/9/9/4K4 w", "Black has no king"),
        ("4k4/9/9/9/9/9/9/9/9/9 w", "Red has no king"),
        ("3kk4/9/9/9/9/9/9/9/9/4K4 w", "two kings on one side: Black has a second king on e9"),
        ("4k4/9/9/9/RRR6/9/9/9/9/4K4 w", "too many pieces: Red chariot on c5 is one more than the 2"),
        ("4k4/9/9/pppppp3/9/9/9/9/9/4K4 w", "Black soldier can never stand on b6"),
        ("4k4/9/9/9/9/pppppp3/9/9/9/4K4 w", "too many pieces: Black soldier on f4"),
        ("4k4/9/9/9/9/9/9/9/9/A3K4 w", "Red advisor can never stand on a0"),
        ("4k4/9/9/9/4K4/9/9/9/9/9 w", "Red king can never stand on e5"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 x", "unknown side to move `x`"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 wb", "unknown side to move `wb`"),
    ] {
        assert!(told(fen).contains(message), "`{fen}` is told: {}", told(fen));
    }
    assert_eq!(Position::from_fen("9/9/9/9/9/9/9/9/9/4K4"), Err(FenError::Pieces(PositionError::NoKing(Color::Black))));
}

#[test]
fn illegal_positions_are_read_and_known() {
    let facing = Position::from_fen("4k4/9/9/9/9/9/9/9/9/4K4 w").unwrap();
    assert_eq!(facing.illegality(), Some(Illegality::KingsFace));
    let taken = Position::from_fen("4k4/9/9/9/9/9/9/9/4R4/4K4 w").unwrap();
    assert_eq!(taken.illegality(), Some(Illegality::CheckUnanswered(Color::Black)));
    assert_eq!(taken.illegality().unwrap().to_string(), "Black is in check and it is Red's turn");
    assert!(!taken.is_legal() && !taken.legal_moves().iter().any(|chosen| chosen.to == taken.king(Color::Black)));
    let check = Position::from_fen("4k4/9/9/9/9/9/9/9/4R4/4K4 b").unwrap();
    assert!(check.is_legal() && check.in_check());
}
