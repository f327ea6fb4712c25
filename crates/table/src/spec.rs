//! What one shard holds and how it is to be written.

use std::ops::Range;

use canju_retro::{Metric, Rules, Shape, TableName};
use serde::{Deserialize, Serialize};

/// The zstd level that shards are written with unless told otherwise. `benches/codec.rs` shows what it costs.
///
/// Level 3 makes KNPKP 1 % smaller in a quarter more time, level 9 makes it 6 % smaller in five times the time.
pub const DEFAULT_LEVEL: i32 = 1;
/// Most cells of a block as this crate writes them. `benches/codec.rs` shows what it costs.
pub const BLOCK_CELLS: u32 = 1 << 18;
/// Most cells of a block that a reader must take.
pub const MAX_BLOCK_CELLS: u32 = 1 << 20;

/// What one shard holds, and how it is to be written. The shard's bytes depend on nothing else but the cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardSpec {
    /// Of which table.
    pub table: TableName,
    /// Under which rules.
    pub rules: Rules,
    /// Which metric.
    pub metric: Metric,
    /// The number of the shard among those of the metric: the number of its run.
    pub number: u32,
    /// The first slice of the run.
    pub first_slice: u32,
    /// The cells of each slice of the run, for each side to move.
    pub cells: Vec<u32>,
    /// Cells that belong together in the index: blocks end at multiples of it where they can.
    pub row: u32,
    /// Most cells of a block, at most [`MAX_BLOCK_CELLS`].
    pub block_cells: u32,
    /// The zstd level.
    pub level: i32,
    /// True to train a zstd dictionary. It pays for small blocks only: with [`BLOCK_CELLS`] it makes shards
    /// no smaller and their writing a third slower.
    pub dictionary: bool,
}

impl ShardSpec {
    /// The shard of a run of the table's shape, or `None` when there is no such run.
    #[must_use]
    pub fn of_run(table: &TableName, rules: Rules, metric: Metric, shape: &Shape, number: u32) -> Option<Self> {
        let run = shape.runs.get(number as usize)?;
        let slices = shape.slices.get(run.start as usize..run.end as usize)?;
        Some(Self {
            table: table.clone(),
            rules,
            metric,
            number,
            first_slice: run.start,
            cells: slices.iter().map(|s| s.cells).collect(),
            row: shape.row,
            block_cells: BLOCK_CELLS,
            level: DEFAULT_LEVEL,
            dictionary: false,
        })
    }

    /// The same with rows of so many cells.
    #[must_use]
    pub fn with_row(self, row: u32) -> Self {
        Self { row, ..self }
    }

    /// The same with another zstd level.
    #[must_use]
    pub fn with_level(self, level: i32) -> Self {
        Self { level, ..self }
    }

    /// The same with blocks of at most so many cells.
    #[must_use]
    pub fn with_block_cells(self, block_cells: u32) -> Self {
        Self { block_cells, ..self }
    }

    /// The same with a zstd dictionary.
    #[must_use]
    pub fn with_dictionary(self) -> Self {
        Self { dictionary: true, ..self }
    }

    /// The slices of the run.
    #[must_use]
    pub fn slices(&self) -> Range<u32> {
        self.first_slice..self.first_slice.saturating_add(self.cells.len() as u32)
    }

    /// The cells of a slice for each side to move, or `None` when it is not in the run.
    #[must_use]
    pub fn slice_cells(&self, slice: u32) -> Option<u32> {
        self.cells.get(slice.checked_sub(self.first_slice)? as usize).copied()
    }

    /// The shard's key.
    #[must_use]
    pub fn key(&self) -> String {
        crate::shard_key(self.rules, &self.table, self.metric, self.number)
    }
}

/// A finished shard as the manifest lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ShardInfo {
    /// The shard's number; its key follows from it.
    pub number: u32,
    /// The first slice that it holds.
    pub first_slice: u32,
    /// How many slices it holds.
    pub slices: u32,
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 of its bytes, in 64 lower-case hexadecimal digits.
    pub blake3: String,
}
