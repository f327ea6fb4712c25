//! The rules of xiangqi.
//!
//! ```
//! use canju_xiangqi::{Color, Material, Position, Role, Square};
//!
//! // A chariot against a lone king.
//! let mut position = Position::from_fen("5k3/9/9/9/9/9/9/9/9/4K2R1 w")?;
//! assert_eq!(Material::of(&position).to_string(), "KRK");
//! assert_eq!(position.king(Color::Black), Square::at(5, 9));
//! assert!(position.is_legal() && !position.in_check());
//!
//! // The kings must not face each other, so Black's cannot step aside.
//! let chosen = "h0f0".parse()?;
//! assert!(position.legal_moves().contains(&chosen));
//! let undo = position.make(chosen);
//! assert!(position.is_mate());
//! assert_eq!(position.to_fen(), "5k3/9/9/9/9/9/9/9/9/4KR3 b");
//! position.unmake(chosen, undo);
//! assert_eq!(position.count(Color::Red, Role::Chariot), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate knows the board, its [`Piece`]s and their moves, check, mate and stalemate, which both
//! lose, and the rule that kings must not face each other; it reads and writes positions as FEN,
//! moves in the three usual notations ([`notation`]), and the names of endgames ([`Material`]). It
//! judges what repetition forbids in a line of play ([`Repetition`]). It knows nothing of tables, and
//! does no input or output.

mod army;
mod attacks;
mod captures;
mod chase;
mod color;
mod fen;
mod ground;
mod legal;
mod material;
mod moves;
pub mod notation;
mod perft;
mod piece;
mod position;
mod repetition;
mod role;
mod setup;
mod signature;
mod square;
mod tables;

pub use army::{Army, Side};
pub use color::Color;
pub use fen::FenError;
pub use ground::{role_mask, role_squares};
pub use material::{Material, MaterialError};
pub use moves::{Move, MoveList};
pub use perft::perft;
pub use piece::Piece;
pub use position::{Position, Undo};
pub use repetition::{Conduct, LineError, Repetition, Rule, Verdict};
pub use role::Role;
pub use setup::{Illegality, PositionError};
pub use square::{Square, SquareError, Squares, squares};
