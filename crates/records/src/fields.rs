//! The fields of a FEN in a longer line.

use canju_xiangqi::Position;

use crate::builder::infer_turn;
use crate::{Place, Reason, RecordError};

/// A position and what its line has after it.
pub(crate) struct Fields<'a> {
    pub start: Position,
    /// Whether the FEN says who is to move.
    pub has_side: bool,
    pub rest: &'a str,
}

/// Whether a text begins with a board: ten ranks.
pub(crate) fn is_board(text: &str) -> bool {
    let board = text.split_whitespace().next().unwrap_or_default();
    board.is_ascii() && board.matches('/').count() == 9
}

/// Takes a position from the front of a text: the board, the side, and the counters that FENs have.
pub(crate) fn split(text: &str, place: Place) -> Result<Fields<'_>, RecordError> {
    let text = text.trim();
    let (board, mut rest) = word(text);
    let (side, after) = word(rest);
    // A longer word is what is said of the position.
    let has_side = side.len() == 1 && side.bytes().all(|b| b.is_ascii_alphanumeric());
    let fen = if has_side { format!("{board} {side}") } else { board.to_owned() };
    let start = Position::from_fen(&fen).map_err(|error| RecordError::new(place, Reason::Fen(error)))?;
    if has_side {
        rest = after;
    }
    // `- - 0 1`: castling, en passant, quiet plies and the number of the move.
    for _ in 0..4 {
        let (field, after) = word(rest);
        if field != "-" && (field.is_empty() || !field.bytes().all(|b| b.is_ascii_digit())) {
            break;
        }
        rest = after;
    }
    Ok(Fields { start, has_side, rest })
}

impl Fields<'_> {
    /// The first position, once the first move is known.
    pub fn start(&self, first: Option<&str>) -> Position {
        let mut start = self.start;
        if !self.has_side {
            infer_turn(&mut start, first);
        }
        start
    }
}

/// The first word, and what follows it.
pub(crate) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}
