//! Fetches finished tables from a store into a folder, so that none ever looks finished when it is not.
//!
//! [`Origin`] is where tables come from: a folder, S3, a web server, whatever implements
//! [`canju_store::Store`]. [`get`] fetches endgames with the smaller tables that they were built from: shards
//! in pieces, several at once, aside; each is checked against its BLAKE3 and moved into place; a table's manifest
//! is put last, and after those of the smaller tables. What was interrupted goes on where it stopped.
//! [`check`] compares a folder with its checksums, [`write_index`] lets a static web server be an origin.
//!
//! This crate knows the bytes of tables (`canju-table`) and the stores (`canju-store`). It knows no positions.
//!
//! ```
//! use std::sync::Arc;
//! use canju_fetch::{Origin, Request, get};
//! use canju_store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let origin = Origin::new(Arc::new(MemoryStore::new()));
//! let folder = tempfile::tempdir()?;
//! let request = Request::new(vec!["KRK".parse_table()?]);
//! let error = get(&origin, folder.path(), &request, Arc::new(())).await.unwrap_err();
//! assert!(error.to_string().starts_with("there is no table KRK in memory"));
//! # Ok(())
//! # }
//! # trait ParseTable { fn parse_table(&self) -> Result<canju_retro::TableName, canju_retro::GameError>; }
//! # impl ParseTable for str {
//! #     fn parse_table(&self) -> Result<canju_retro::TableName, canju_retro::GameError> { canju_retro::TableName::new(self) }
//! # }
//! ```

mod check;
mod closure;
mod error;
mod get;
mod home;
mod index;
mod origin;
mod partial;
mod plan;
mod sound;
mod transfer;
mod watch;

pub use check::{Checked, Finding, FindingKind, check, has_tables, none_in};
pub use closure::{Closure, closure};
pub use error::FetchError;
pub use get::{Fetched, get};
pub use home::Home;
pub use index::write_index;
pub use origin::Origin;
pub use plan::{Plan, Request};
pub use watch::{Event, Watch};
