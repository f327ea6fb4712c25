//! Portable game notation, with the tags and moves of xiangqi.

mod lexer;
mod reader;
mod writer;

use canju_xiangqi::Position;
use canju_xiangqi::notation::read_move;

use crate::tokens;

pub(crate) use reader::read;
pub use writer::write_pgn;

/// Whether a line begins with a tag: `[Event "..."]`.
pub(crate) fn is_tag(line: &str) -> bool {
    lexer::tag(line).is_some()
}

/// Whether a line begins with moves that a game from the start of all games can have.
pub(crate) fn is_moves(line: &str) -> bool {
    tokens::moves(line).next().is_some_and(|first| read_move(&Position::initial(), first).is_ok())
}
