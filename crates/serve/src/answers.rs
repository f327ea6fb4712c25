//! The JSON of the answers about positions.

use canju_probe::Wdl;
use canju_xiangqi::{Color, Position};
use serde::Serialize;
use utoipa::ToSchema;

use crate::unknown::Unknown;

/// Who wins, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Win,
    Draw,
    Loss,
    /// The tables do not tell. It is not a draw.
    Unknown,
}

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Turn {
    Red,
    Black,
}

/// How a game has ended; both lose for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    Checkmate,
    Stalemate,
}

/// The value of a position for the side to move.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Probed {
    /// The position: the board from Black's home rank down, and `w` (Red) or `b` (Black) to move.
    pub fen: String,
    /// The name of its table.
    pub endgame: String,
    /// The rule of repetition.
    pub rules: &'static str,
    pub turn: Turn,
    pub outcome: Outcome,
    /// Violations of the rules of repetition that the loser must break off in turn; left out where there is none.
    #[serde(skip_serializing_if = "is_none")]
    #[schema(minimum = 1)]
    pub order: u16,
    /// Plies to mate; `null` for draws, and where it is not known.
    pub dtm: Option<u16>,
    /// Plies to the winner's first capture or to mate; `null` likewise.
    pub dtc: Option<u16>,
    /// How the game has ended, if it has.
    pub ended: Option<Ending>,
    /// True where the side to move is in check.
    pub check: bool,
    /// Where the outcome is unknown and a move is known to win all the same: the best of these. The position is won, as fast
    /// as by this move or faster. Left out otherwise; then the position may be anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub won_by: Option<WonBy>,
    /// Why the outcome is unknown; `null` where it is known.
    pub unknown: Option<Unknown>,
}

/// A move that wins, counted from before it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WonBy {
    /// Its squares: `h2e2`.
    #[serde(rename = "move")]
    pub squares: String,
    /// In the notation of the World Xiangqi Federation.
    pub wxf: String,
    /// In Chinese.
    pub chinese: String,
    /// As of a position.
    #[serde(skip_serializing_if = "is_none")]
    #[schema(minimum = 1)]
    pub order: u16,
    pub dtm: Option<u16>,
    pub dtc: Option<u16>,
}

/// A position and its moves.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WithMoves {
    #[serde(flatten)]
    pub position: Probed,
    /// Every legal move: those whose value is known best first, then the others in the order of squares.
    pub moves: Vec<Rated>,
}

/// A legal move and its value for who makes it, counted from before it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Rated {
    /// Its squares: `h2e2`.
    #[serde(rename = "move")]
    pub squares: String,
    /// In the notation of the World Xiangqi Federation: `C2.5`.
    pub wxf: String,
    /// In Chinese: `炮二平五`.
    pub chinese: String,
    pub capture: bool,
    /// True where it gives check.
    pub check: bool,
    /// The position after it.
    pub fen: String,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "is_none")]
    #[schema(minimum = 1)]
    pub order: u16,
    pub dtm: Option<u16>,
    pub dtc: Option<u16>,
    /// Why its outcome is unknown; `null` where it is known.
    pub unknown: Option<Unknown>,
}

/// How play goes on when both sides do their best.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Line {
    #[serde(flatten)]
    pub position: Probed,
    /// What is counted: `dtm` or `dtc`; `null` where there is no line.
    pub metric: Option<&'static str>,
    /// How many moves there are.
    pub plies: usize,
    pub moves: Vec<Rated>,
    /// True where nothing follows the last move; false where `limit` cut the line off, or nobody knows a line.
    pub complete: bool,
    /// How the game has ended after the last move, if it has.
    pub end: Option<Ending>,
    /// The last position.
    pub end_fen: String,
    /// Why there is no line, or why it goes no further; `null` where the game has ended or `limit` cut the line off.
    pub reason: Option<NoLine>,
}

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NoLine {
    /// Nobody can force a win.
    Draw,
    /// The tables do not tell; `unknown` says more.
    Unknown,
    /// The loser can only go on with a perpetual check or chase.
    Perpetual,
}

/// The plain rules know no orders, and say none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks it so")]
pub(crate) const fn is_none(order: &u16) -> bool {
    *order == 0
}

impl From<Wdl> for Outcome {
    fn from(wdl: Wdl) -> Self {
        match wdl {
            Wdl::Win => Self::Win,
            Wdl::Draw => Self::Draw,
            Wdl::Loss => Self::Loss,
        }
    }
}

impl From<Color> for Turn {
    fn from(color: Color) -> Self {
        match color {
            Color::Red => Self::Red,
            Color::Black => Self::Black,
        }
    }
}

impl Ending {
    /// How the game has ended in a position with both kings, if it has.
    pub fn of(position: &Position) -> Option<Self> {
        match position.has_legal_move() {
            true => None,
            false if position.in_check() => Some(Self::Checkmate),
            false => Some(Self::Stalemate),
        }
    }
}
