//! Asking the tables about positions, and checking them against the rules.
//!
//! A [`Prober`] answers for one position: who wins and how fast, what each move is worth, how play goes on.
//! [`Prober::verify`] goes through a whole table and takes one step forward from every cell by the
//! ordinary move generator. Both read through a [`canju_table::TableSet`], wherever its bytes are.
//!
//! ```
//! use std::sync::Arc;
//! use canju_endgame::{INDEX_VERSION, Xiangqi};
//! use canju_probe::{Prober, Wdl};
//! use canju_retro::{Game, MemoryTables, Metric, Rules, solve};
//! use canju_table::{Manifest, MemorySource, MetricEntry, ShardSpec, TableSet, write_shard};
//! use canju_xiangqi::Position;
//!
//! // Build two small tables in memory; `coordinator start --build KRK` does it in a folder.
//! let (game, solved, source) = (Xiangqi::new(), Arc::new(MemoryTables::new()), MemorySource::new());
//! for name in ["KK", "KRK"] {
//!     let (table, metric) = (game.table(name)?, Metric::Dtm);
//!     let shape = game.shape(&table)?;
//!     let done = solve(&game, &table, metric, Rules::Plain, solved.clone())?;
//!     solved.insert(&game, &table, metric, &done)?;
//!     let spec = ShardSpec::of_run(&table, Rules::Plain, metric, &shape, 0).unwrap();
//!     let (bytes, info) = write_shard(&spec, |side, slice| done.part.codes(slice, side, metric))?;
//!     let counts = done.part.statistics()?;
//!     let entry = MetricEntry::new(metric, &counts, vec![info], vec![], |cell| game.show(&table, cell))?;
//!     let manifest = Manifest::new(&table, Rules::Plain, INDEX_VERSION, &shape, &counts).with_metric(metric, entry);
//!     source.insert(spec.key(), bytes);
//!     source.insert(manifest.key(), manifest.to_json()?.into_bytes());
//! }
//!
//! let prober = Prober::new(TableSet::open(Arc::new(source), Rules::Plain));
//! let position = Position::from_fen("5k3/9/9/9/9/9/9/9/9/4K2R1 w")?;
//! let value = prober.probe(&position)?;
//! assert_eq!((value.outcome, value.dtm), (Wdl::Win, Some(1)));
//! let moves = prober.moves(&position)?;
//! assert_eq!(moves[0].0.to_string(), "h0f0");
//! assert_eq!(prober.main_line(&position, Metric::Dtm, 100)?, [moves[0].0]);
//! assert_eq!(prober.verify(&game.table("KRK")?, &Default::default(), &|_| {})?.wrong, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod chunks;
mod desk;
mod endgames;
mod error;
mod lesson;
mod line;
#[cfg(feature = "network")]
mod network;
mod numbering;
mod open;
mod prober;
mod slices;
mod unknown;
mod value;
mod verify;

pub use error::ProbeError;
pub use open::OpenOptions;
pub use prober::{Prober, RatedMove};
pub use unknown::{Reason, Unknown};
pub use value::{Distances, Value, Wdl};
pub use verify::{Options, Progress, Report, WrongCell};
