//! What was passed over in a game, and where.

use std::fmt;

use canju_xiangqi::notation::NotationError;
use canju_xiangqi::{Illegality, Move};

use crate::Place;

/// Something in a game that was passed over, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What, and what became of it.
    pub fault: Fault,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

/// What was passed over, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The first position is not legal.
    #[error("no game leads to the first position: {0}")]
    Start(Illegality),
    /// A move that is not legal.
    #[error("`{chosen}` is not a legal move in {fen}; the line ends before it")]
    Illegal {
        /// The move.
        chosen: Move,
        /// The position that it stands after.
        fen: String,
    },
    /// A text that is no move of its position.
    #[error("{error}, in {fen}; the line ends before it")]
    Unread {
        /// What is wrong with it.
        error: NotationError,
        /// The position that it stands after.
        fen: String,
    },
    /// Four digits that are no move.
    #[error("`{text}` in branch {branch} is no move; the line ends before it")]
    Digits {
        /// What stands there.
        text: String,
        /// In which branch.
        branch: u32,
    },
    /// A move from or to a place beside the board.
    #[error("a move that leaves the board in {fen}; the line ends before it")]
    OffBoard {
        /// The position that it stands after.
        fen: String,
    },
    /// The file ends too early.
    #[error("the file ends within a move or its comment; what follows is lost")]
    Cut,
    /// A tag without the bracket that ends it.
    #[error("`{text}` is cut off: its bracket does not close, and what it tells is lost")]
    CutTag {
        /// How the tag begins.
        text: String,
    },
    /// A tag whose text goes on to the end of the file, without the tag that closes it.
    #[error("`{text}` does not end where its file does; what may be missing is lost")]
    OpenTag {
        /// The tag.
        text: String,
    },
    /// The keys of an XQF do not agree with each other.
    #[error("the keys do not add up; the moves may be nonsense")]
    Keys,
    /// More branches or comments than are read, one twice, or a text that is none.
    #[error("one too many branches or comments, a branch for the second time, or none at all; passed over")]
    Branches,
    /// A branch of one that is not there.
    #[error("branch {branch} hangs on branch {parent}, which is not there; passed over")]
    Orphan {
        /// Its number.
        branch: u32,
        /// The number of the other.
        parent: u32,
    },
    /// A branch that begins behind the end of its parent.
    #[error("branch {branch} begins at ply {ply} of branch {parent}, which is not there; passed over")]
    Late {
        /// Its number.
        branch: u32,
        /// The number of the other.
        parent: u32,
        /// Where it would begin.
        ply: usize,
    },
    /// A branch with more than digits.
    #[error("branch {branch} has something among its moves that is no digit")]
    Odd {
        /// Its number.
        branch: u32,
    },
    /// A comment on no move.
    #[error("a comment on ply {ply} of branch {branch}, which is not there")]
    Comment {
        /// The ply.
        ply: usize,
        /// The branch.
        branch: u32,
    },
    /// A variation without its end.
    #[error("a variation of this game is not closed")]
    OpenVariation,
    /// A comment without its end.
    #[error("a comment of this game is not closed")]
    OpenComment,
    /// Variations within variations, too many.
    #[error("variations are more than {most} deep; passed over")]
    Deep {
        /// How deep they may be.
        most: usize,
    },
    /// The end of a variation without its beginning.
    #[error("a variation ends that has not begun; passed over")]
    Unopened,
}

impl Fault {
    /// What it is in a word, for programs: `start`, `illegal`, `unread`, `digits`, `off_board`, `cut`, `cut_tag`, `open_tag`,
    /// `keys`, `branches`, `orphan`, `late`, `odd`, `comment`, `open_variation`, `open_comment`, `deep` or `unopened`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::Illegal { .. } => "illegal",
            Self::Unread { .. } => "unread",
            Self::Digits { .. } => "digits",
            Self::OffBoard { .. } => "off_board",
            Self::Cut => "cut",
            Self::CutTag { .. } => "cut_tag",
            Self::OpenTag { .. } => "open_tag",
            Self::Keys => "keys",
            Self::Branches => "branches",
            Self::Orphan { .. } => "orphan",
            Self::Late { .. } => "late",
            Self::Odd { .. } => "odd",
            Self::Comment { .. } => "comment",
            Self::OpenVariation => "open_variation",
            Self::OpenComment => "open_comment",
            Self::Deep { .. } => "deep",
            Self::Unopened => "unopened",
        }
    }

    /// The words of the file that it is about, where there are some.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Illegal { chosen, .. } => Some(chosen.to_string()),
            Self::Unread { error, .. } => Some(error.text().to_owned()),
            Self::Digits { text, .. } | Self::CutTag { text } | Self::OpenTag { text } => Some(text.clone()),
            _ => None,
        }
    }
}
