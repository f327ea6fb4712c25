//! Finished tables over HTTP: JSON, pages for xiangqi and for EinStein würfelt nicht!, and the query form of the public
//! xiangqi database.
//!
//! A [`Service`] answers questions within [`Limits`]; [`router`] gives it routes, and a [`Server`] a port. Tables are asked by
//! threads of their own: what serves connections never waits for a disk. `docs/serve.md` describes every answer.
//!
//! ```
//! use std::sync::Arc;
//! use canju_probe::Prober;
//! use canju_retro::Rules;
//! use canju_serve::{Limits, Server, Service, router};
//! use canju_table::{MemorySource, TableSet};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tables = TableSet::open(Arc::new(MemorySource::new()), Rules::Plain);
//! let service = Service::new(Arc::new(Prober::new(tables)), Limits::default());
//! let server = Server::bind("127.0.0.1:0".parse()?, Limits::default()).await?;
//! assert_ne!(server.address().port(), 0);
//! server.run(router(service), async { /* until somebody says stop */ }).await;
//! # Ok(())
//! # }
//! ```

mod answers;
mod asker;
mod chessdb;
mod endgames;
mod ewn;
mod failure;
mod fault;
mod games;
mod limits;
mod page;
mod patient;
mod positions;
mod reply;
mod router;
mod scripts;
mod server;
mod service;
mod statistics;
mod unknown;

pub use limits::Limits;
pub use router::router;
pub use server::{ServeError, Server};
pub use service::Service;
