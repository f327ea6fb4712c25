//! Moves as players write them: in coordinates, in the notation of the World Xiangqi Federation,
//! and in Chinese.
//!
//! ```
//! use canju_xiangqi::Position;
//! use canju_xiangqi::notation::{Notation, read_move, write_move};
//!
//! let position = Position::initial();
//! let chosen = read_move(&position, "炮二平五")?;
//! assert_eq!(write_move(&position, chosen, Notation::Coordinates), "h2e2");
//! assert_eq!(write_move(&position, chosen, Notation::Wxf), "C2.5");
//! # Ok::<(), canju_xiangqi::notation::NotationError>(())
//! ```
//!
//! WXF and Chinese name a piece by its role and file, and where several of one role share a file,
//! by their order on it. Files count from the mover's right, and the front is towards the enemy.

mod chinese;
mod phrase;
mod wxf;

use std::fmt;

use crate::{Color, Move, Position, Role};
use phrase::Phrase;

/// A way to write moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// The two squares: `h2e2`. Read in either case and with a hyphen too, `H2-E2`.
    Coordinates,
    /// Piece, file, way, and file or distance: `C2.5`, `H8+7`; in tandem `C+.5`. Three soldiers on
    /// a file are `P+`, `P` with the file, `P-`; four and five have `++` and `--` around these; with
    /// tandems on two files the file stands for the letter: `3+`, `33`, `3-`.
    ///
    /// Read in either case, with `=` for `.`, B for E, N for H, and `+C.5` for `C+.5`.
    Wxf,
    /// Piece, file, way, and file or distance: 炮二平五; in tandem 前炮平五, three soldiers on a
    /// file 前, 中, 后. Four or five on a file, and tandems on two files, are counted from the
    /// mover's right and from the front: 一兵 to 五兵. Black's files and distances are digits, 马8进7.
    ///
    /// Read in traditional characters too, with either kind of numeral for either side, and with
    /// the file for the soldier in tandem, 前三平四.
    Chinese,
}

impl Notation {
    /// All notations.
    pub const ALL: [Notation; 3] = [Notation::Coordinates, Notation::Wxf, Notation::Chinese];
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Notation::Coordinates => "coordinates",
            Notation::Wxf => "WXF",
            Notation::Chinese => "Chinese",
        })
    }
}

/// Why a text names no legal move of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationError {
    /// The text has the form of no notation.
    #[error("`{0}` is not a move: write it as h2e2, C2.5 or 炮二平五")]
    Unrecognised(String),
    /// The text has not the form of the notation that was asked for.
    #[error("`{text}` is not a move in {notation}: write it as {example}", example = example(*.notation))]
    Form {
        /// The text.
        text: String,
        /// The notation.
        notation: Notation,
    },
    /// The side to move has no such piece.
    #[error("`{text}`: {color} has no such {role}")]
    NoPiece {
        /// The text.
        text: String,
        /// The side to move.
        color: Color,
        /// The role that the text names.
        role: Role,
    },
    /// The move is understood and is not legal.
    #[error("`{0}` is not a legal move here")]
    Illegal(String),
    /// More than one legal move fits.
    #[error("`{text}` may be any of {moves:?}")]
    Ambiguous {
        /// The text.
        text: String,
        /// The moves.
        moves: Vec<Move>,
    },
}

impl NotationError {
    /// The text that was read.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Unrecognised(text)
            | Self::Illegal(text)
            | Self::Form { text, .. }
            | Self::NoPiece { text, .. }
            | Self::Ambiguous { text, .. } => text,
        }
    }
}

fn example(notation: Notation) -> &'static str {
    match notation {
        Notation::Coordinates => "h2e2",
        Notation::Wxf => "C2.5",
        Notation::Chinese => "炮二平五",
    }
}

/// Writes a legal move; the legal moves of a position all have different texts.
///
/// A move from an empty square is written in coordinates whatever the notation.
#[must_use]
pub fn write_move(position: &Position, chosen: Move, notation: Notation) -> String {
    let piece = position.piece_at(chosen.from);
    match (notation, piece) {
        (Notation::Coordinates, _) | (_, None) => chosen.to_string(),
        (Notation::Wxf, Some(piece)) => wxf::write(position, piece, chosen),
        (Notation::Chinese, Some(piece)) => chinese::write(position, piece, chosen),
    }
}

/// Reads a legal move in whichever notation the text is.
///
/// # Errors
///
/// If the text has the form of none, or does not name one legal move.
pub fn read_move(position: &Position, text: &str) -> Result<Move, NotationError> {
    let text = text.trim();
    let notation = if !text.is_ascii() {
        Notation::Chinese
    } else if text.parse::<Move>().is_ok() {
        Notation::Coordinates
    } else {
        Notation::Wxf
    };
    read_move_as(position, text, notation).map_err(|error| match error {
        NotationError::Form { text, .. } => NotationError::Unrecognised(text),
        error => error,
    })
}

/// Reads a legal move in one notation.
///
/// # Errors
///
/// If the text has not the form of that notation, or does not name one legal move.
pub fn read_move_as(position: &Position, text: &str, notation: Notation) -> Result<Move, NotationError> {
    let text = text.trim();
    let form = || NotationError::Form { text: text.to_owned(), notation };
    let phrase = match notation {
        Notation::Coordinates => {
            let chosen = text.parse().map_err(|_| form())?;
            return if position.is_legal_move(chosen) {
                Ok(chosen)
            } else {
                Err(NotationError::Illegal(text.to_owned()))
            };
        }
        Notation::Wxf => wxf::read(text).ok_or_else(form)?,
        Notation::Chinese => chinese::read(text).ok_or_else(form)?,
    };
    find(position, phrase, text)
}

fn find(position: &Position, phrase: Phrase, text: &str) -> Result<Move, NotationError> {
    let color = position.turn();
    let pieces = phrase.pieces(position, color);
    if pieces.is_empty() {
        return Err(NotationError::NoPiece { text: text.to_owned(), color, role: phrase.role });
    }
    let moves: Vec<Move> = (position.legal_moves().into_iter())
        .filter(|chosen| pieces.contains(&chosen.from) && phrase.goes(color, *chosen))
        .collect();
    match moves[..] {
        [] => Err(NotationError::Illegal(text.to_owned())),
        [chosen] => Ok(chosen),
        _ => Err(NotationError::Ambiguous { text: text.to_owned(), moves }),
    }
}
