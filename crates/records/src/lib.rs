//! Games and studies of xiangqi as files hold them.
//!
//! ```
//! use canju_records::{Format, read};
//!
//! let text = "horse against two advisors|9/4a4/3ak4/N8/9/9/9/9/9/5K3 w|马九进八 士5进6";
//! let file = read(text.as_bytes())?;
//! assert_eq!(file.format, Format::NameList);
//! let record = &file.records[0];
//! assert_eq!(record.title, "horse against two advisors");
//! let line: Vec<String> = record.main_line().map(|ply| ply.chosen.to_string()).collect();
//! assert_eq!(line, ["a6b8", "e8f7"]);
//! # Ok::<(), canju_records::RecordError>(())
//! ```
//!
//! [`read`] tells the [`Format`] from the bytes, whatever the file is called: lists of FENs, lists of
//! `name|FEN side|moves`, DhtmlXQ text, PGN, and XQF. Texts are UTF-8, UTF-16 with its mark, or GB 18030,
//! of which GBK and GB 2312 are parts. The result is a [`Record`] for each position or game: who plays, how it
//! ended, the start, and a [`Tree`] of moves with comments.
//!
//! Nothing is invented. A position that cannot be read is an error that names the line or the byte; a
//! move that cannot be read or is not legal ends its line there, with a [`Warning`]. Whatever the bytes are, memory
//! is bounded by [`Limits`] and nothing recurses.
//!
//! [`write_pgn`] writes a record, and what it writes is read again as the same record.
//!
//! The crate knows the rules of the game and nothing of tables, and does no input or output.

mod builder;
mod dhtml;
mod error;
mod fen_list;
mod fields;
mod format;
mod lines;
mod name_list;
mod pgn;
mod record;
mod text;
mod tokens;
mod tree;
mod walk;
mod warning;
mod xqf;

pub use error::{Place, Reason, RecordError};
pub use format::{File, Format, Limits, read, read_within};
pub use pgn::write_pgn;
pub use record::{GameResult, Record};
pub use tree::{NodeId, Tree};
pub use walk::{Ply, Step};
pub use warning::{Fault, Warning};
