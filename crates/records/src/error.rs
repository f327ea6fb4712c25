//! What is wrong with a file, and where.

use std::fmt;

use canju_xiangqi::{FenError, PositionError};

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The line of a text, from 1.
    Line(usize),
    /// The byte of a binary file, from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct RecordError {
    /// Where.
    pub place: Place,
    /// Why.
    pub reason: Reason,
}

impl RecordError {
    pub(crate) fn new(place: Place, reason: impl Into<Reason>) -> Self {
        Self { place, reason: reason.into() }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// There is nothing in the file.
    #[error("nothing to read: give positions or games")]
    Empty,
    /// No format fits.
    #[error("`{0}` belongs to no known format: give FENs, name|FEN side|moves, DhtmlXQ, PGN or XQF")]
    Unrecognised(String),
    /// A text that is no position.
    #[error("no position: {0}")]
    Fen(#[from] FenError),
    /// Pieces that make no position.
    #[error("no position: {0}")]
    Pieces(#[from] PositionError),
    /// A DhtmlXQ start that is not 32 places.
    #[error("binit has {0} digits, not 64: two for each of 32 pieces, 99 where one is absent")]
    Binit(usize),
    /// A line of a list without a position.
    #[error("no position after the name: write name|FEN side|moves")]
    NoFen,
    /// An XQF of a version that nobody has described.
    #[error("XQF version {0} is unknown: 10 to 18 can be read")]
    Version(u8),
    /// An XQF that ends within its head.
    #[error("the file ends here, within the head of an XQF, which has {head} bytes", head = crate::xqf::HEAD)]
    Cut,
    /// More bytes than are read.
    #[error("the file has {bytes} bytes, more than the {limit} that are read: split it")]
    Large {
        /// How many it has.
        bytes: usize,
        /// How many are read.
        limit: usize,
    },
    /// More games or moves than are read.
    #[error("more than {limit} {what} in one file: split it")]
    Many {
        /// How many are read.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
}

impl Reason {
    /// The reason in a word, for programs: `empty`, `unrecognised`, `fen`, `pieces`, `binit`, `no_fen`, `version`, `cut`,
    /// `large` or `many`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Unrecognised(_) => "unrecognised",
            Self::Fen(_) => "fen",
            Self::Pieces(_) => "pieces",
            Self::Binit(_) => "binit",
            Self::NoFen => "no_fen",
            Self::Version(_) => "version",
            Self::Cut => "cut",
            Self::Large { .. } => "large",
            Self::Many { .. } => "many",
        }
    }
}
