//! EinStein würfelt nicht!: the rules, tables of exact winning chances, and players.
//!
//! ```
//! use canju_ewn::{Book, Die, Position};
//!
//! // Red's 1 and 4 against a lone stone, Red to move: the die decides.
//! let position: Position = "R1d1 R4a1 B1b5 r".parse()?;
//! let mut book = Book::new();
//! book.add("EWN14B1".parse()?);
//! assert_eq!(book.chance(&position), Some(0.5));
//!
//! // With a 2 Red chooses between both stones, since 2 is gone; with a 6 only the 4 may go.
//! let two = Die::new(2).ok_or("no die")?;
//! let moves: Vec<_> = position.legal_moves(two).map(|m| m.to_string()).collect();
//! assert_eq!(moves, ["1d1-e1", "4a1-b1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The game has no loops: every move lowers the distances of all stones to their goals. So a table is computed in one pass
//! ([`Sweep`]), from the end, and what it says is exact to a bound that is known ([`error_bound`]). Tables are named by the stones that are
//! left ([`Signature`]); which cell a position is tells [`Index`]. [`Ewn`] puts them behind the seam of all games.

mod chances;
mod color;
mod contest;
mod dice;
mod game;
mod grade;
mod index;
mod message;
mod notation;
mod part;
mod picture;
mod players;
mod position;
mod rolls;
mod signature;
mod square;
mod stones;
mod sweep;
mod verify;

pub use chances::{Book, Chances};
pub use color::Color;
pub use contest::{BEGINS, Ending, GameRecord, TIME, Table, Tally, WINS, share};
pub use dice::Dice;
pub use game::{Ewn, INDEX_VERSION, MOST_STONES};
pub use grade::{Losses, grade, loss};
pub use index::Index;
pub use notation::{NotationError, NotationFault, read_rolled};
pub use picture::picture;
pub use players::{
    Greedy, Lookup, LookupError, Player, PlayerKind, Random, Situation, Surroundings, TablePlayer, UnknownPlayer,
    estimate,
};
pub use position::{Move, Position, PositionError};
pub use rolls::{RatedMove, Roll, rolls};
pub use signature::Signature;
pub use square::Square;
pub use stones::{Die, Stones};
pub use sweep::{Sweep, error_bound};
pub use verify::{TOLERANCE, Verified, verify};
