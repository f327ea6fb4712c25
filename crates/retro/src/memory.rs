//! Finished tables in memory: for tests, benchmarks and small jobs.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::{Block, Game, GameError, Metric, Side, SliceCodes, Solved, TableName, Tables};

type Key = (TableName, Metric, Side, u32);

/// Finished tables held in memory.
#[derive(Debug, Default)]
pub struct MemoryTables(RwLock<HashMap<Key, SliceCodes>>);

/// Why a table in memory could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the table is not in memory")]
struct NotInMemory;

impl MemoryTables {
    /// No tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over what a solved table holds: its metric, and win-draw-loss with it.
    ///
    /// # Errors
    /// As [`crate::Part::codes`].
    pub fn insert(&self, game: &dyn Game, table: &TableName, metric: Metric, solved: &Solved) -> Result<(), GameError> {
        let slices = game.shape(table)?.slices.len() as u32;
        for slice in 0..slices {
            for side in Side::BOTH {
                for metric in [metric, Metric::Wdl] {
                    let codes = solved.part.codes(slice, side, metric)?;
                    self.0
                        .write()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert((table.clone(), metric, side, slice), codes);
                }
            }
        }
        Ok(())
    }

    /// The cells of a slice, if they are here.
    #[must_use]
    pub fn slice(&self, table: &TableName, metric: Metric, side: Side, slice: u32) -> Option<SliceCodes> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&(table.clone(), metric, side, slice)).cloned()
    }
}

impl Tables for MemoryTables {
    fn read(
        &self,
        table: &TableName,
        metric: Metric,
        side: Side,
        slice: u32,
        sink: &mut dyn FnMut(Block<'_>),
    ) -> Result<(), GameError> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match tables.get(&(table.clone(), metric, side, slice)) {
            None => Err(GameError::Tables { table: table.clone(), metric, source: Box::new(NotInMemory) }),
            Some(SliceCodes::Narrow { palette, cells }) => {
                sink(Block { first: 0, palette, cells });
                Ok(())
            }
            Some(SliceCodes::Wide { palette, cells }) => {
                // 256 cells have at most 256 codes: each such piece gets a palette of its own.
                for (i, chunk) in cells.chunks(256).enumerate() {
                    let codes: Vec<_> = chunk.iter().map(|&c| palette[usize::from(c)]).collect();
                    let indices: Vec<u8> = (0..chunk.len()).map(|i| i as u8).collect();
                    sink(Block { first: i as u32 * 256, palette: &codes, cells: &indices });
                }
                Ok(())
            }
        }
    }
}
