//! The bytes of finished tables: shards, blocks, manifest; writing, reading, verifying.
//!
//! A table is a folder: one manifest, and for each metric the shards. A shard holds a run of slices for
//! both sides to move, cut into blocks of cells that are compressed one by one, each with its own checksum.
//! The bytes depend on the cells alone, not on who wrote them; `docs/format.md` describes them so that a
//! reader can be written from it.
//!
//! This crate knows the values and the seam of `canju-retro` below it, and no game, no network and no
//! store: it reads through [`Source`] and [`ReadAt`], which others implement for what they have.
//!
//! ```
//! use std::sync::Arc;
//! use canju_retro::{Cell, Code, Metric, Rules, Shape, Side, SliceCodes, SliceShape, Statistics, TableName};
//! use canju_table::{Manifest, MemorySource, MetricEntry, ShardSpec, TableSet, write_shard};
//!
//! let table = TableName::new("KPK")?;
//! let shape = Shape {
//!     slices: vec![SliceShape { cells: 4, neighbours: vec![] }],
//!     runs: vec![0..1],
//!     row: 2,
//!     positions: 8,
//!     indexed: 8,
//!     set_bytes: 0,
//! };
//!
//! // Write the shard of the first run, and the manifest.
//! let spec = ShardSpec::of_run(&table, Rules::Plain, Metric::Wdl, &shape, 0).unwrap();
//! let cells = SliceCodes::Narrow { palette: vec![Code::DRAW, Code::WIN], cells: vec![0, 1, 1, 0] };
//! let (bytes, info) = write_shard(&spec, |_side, _slice| Ok(cells.clone()))?;
//! let counts = Statistics::default();
//! let entry = MetricEntry::new(Metric::Wdl, &counts, vec![info], vec![], |_| Ok::<_, ()>(String::new())).unwrap();
//! let manifest = Manifest::new(&table, Rules::Plain, 1, &shape, &counts).with_metric(Metric::Wdl, entry);
//!
//! // Read a cell back.
//! let source = MemorySource::new();
//! source.insert(spec.key(), bytes);
//! source.insert(manifest.key(), manifest.to_json()?.into_bytes());
//! let tables = TableSet::open(Arc::new(source), Rules::Plain);
//! let cell = Cell { slice: 0, index: 2, side: Side::First };
//! assert_eq!(tables.code(&table, Metric::Wdl, cell)?, Code::WIN);
//! assert_eq!(tables.verify_shards(&table)?.cells, 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod dictionary;
mod direct;
mod entry;
mod error;
mod handles;
mod head;
mod keys;
mod manifest;
mod names;
mod nearby;
mod packing;
mod palette;
mod remedy;
mod set;
mod shard;
mod source;
mod spec;
mod writer;

pub use dictionary::Dictionary;
pub use entry::{BuildStatistics, Histogram, LongestLine, LongestPair, MetricEntry, SmallerTable, Verification};
pub use error::{Damage, ManifestError, TableError};
pub use handles::OPEN_FILES;
pub use head::SHARD_VERSION;
pub use keys::{TABLES, manifest_key, parse_manifest_key, shard_key, table_folder};
pub use manifest::{BySide, MANIFEST_FORMAT, Manifest, MergeConflict, SideCounts};
pub use nearby::no_tables;
pub use remedy::{commands, rules_given, shell_word};
pub use set::{DEFAULT_CACHE, Table, TableSet};
pub use shard::{Shard, Verified};
pub use source::{FolderSource, MemorySource, ReadAt, Source, has_manifests};
pub use spec::{BLOCK_CELLS, DEFAULT_LEVEL, MAX_BLOCK_CELLS, ShardInfo, ShardSpec};
pub use writer::{EncodeError, EncodedSlice, ShardWriter, encode_slice, write_shard};
