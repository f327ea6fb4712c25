//! Retrograde analysis of any game: what a label is, what a frontier is, and the seam between the
//! engine and a game.
//!
//! This crate knows no game, no network and no file. Above it, a game (for example
//! `canju-endgame`) implements [`Game`] and [`Part`]; `canju-table` stores what a part labelled;
//! `canju-cluster` spreads parts over workers.
//!
//! The words, used alike everywhere:
//!
//! * a *table* is named by what is on the board ([`TableName`]); captures lead into *smaller* tables;
//! * a table is cut into *slices*, a slice holds *cells*, one for every position of either side to move;
//! * a *ply* labels all cells of one distance; what it labelled is its *frontier*;
//! * a *part* is what one worker holds of a table: some of its slices.
//!
//! ```
//! use canju_retro::{Code, Distance, Outcome};
//!
//! let mate_in_two_moves = Outcome::Win(Distance::plies(3));
//! assert_eq!(Code::from(mate_in_two_moves).outcome(), mate_in_two_moves);
//! assert!(Distance::plies(3) < Distance { order: 1, plies: 0 });
//! ```

mod codes;
mod explicit;
mod frontier;
mod game;
mod log;
mod memory;
mod metric;
mod odds;
mod price;
mod random;
mod scratch;
mod solve;
mod statistics;
mod value;

pub use codes::{Block, SliceCodes};
pub use explicit::{Audit, Disagreement, End, Explicit, ExplicitTables, Players, Values, audit, by_breadth, examine};
pub use frontier::{Frontier, FrontierError};
pub use game::{
    After, Cell, Game, GameError, MOST_PLIES, Part, PartSpec, Shape, Side, SliceShape, StepCounts, TableName, Tables,
    next_ply,
};
pub use log::{FrontierLog, LogEntry};
pub use memory::MemoryTables;
pub use metric::{Metric, Rules, UnknownName};
pub use odds::Odds;
pub use price::Price;
pub use random::Random;
pub use scratch::{Room, ScratchFile};
pub use solve::{Solved, solve};
pub use statistics::{Longest, SideStatistics, Statistics};
pub use value::{Code, Distance, Outcome};
