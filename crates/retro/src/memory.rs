//! Finished tables in memory: for tests, benchmarks and small jobs.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::{Block, Game, GameError, Metric, Side, SliceCodes, Solved, TableName, Tables};

type Key = (TableName, Metric, Side, u32);

/// Finished tables held in memory.
#[derive(Debug, Default)]
pub struct MemoryTables(RwLock<HashMap<Key, Held>>);

/// Cells, and how many of them make a row.
#[derive(Debug)]
struct Held {
    codes: SliceCodes,
    row: u32,
}

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

    /// Takes over what a solved table holds: its metric, and win-draw-loss with a distance.
    ///
    /// # Errors
    /// As [`crate::Part::codes`].
    pub fn insert(&self, game: &dyn Game, table: &TableName, metric: Metric, solved: &Solved) -> Result<(), GameError> {
        let shape = game.shape(table)?;
        let row = shape.row;
        for slice in 0..shape.slices.len() as u32 {
            for side in Side::BOTH {
                for metric in [metric, Metric::Wdl].into_iter().take(1 + usize::from(metric.is_distance())) {
                    let held = Held { codes: solved.part.codes(slice, side, metric)?, row };
                    self.0
                        .write()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert((table.clone(), metric, side, slice), held);
                }
            }
        }
        Ok(())
    }

    /// The cells of a slice, if they are here.
    #[must_use]
    pub fn slice(&self, table: &TableName, metric: Metric, side: Side, slice: u32) -> Option<SliceCodes> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(table.clone(), metric, side, slice))
            .map(|held| held.codes.clone())
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
            Some(Held { codes: SliceCodes::Narrow { palette, cells }, .. }) => {
                sink(Block { first: 0, palette, cells });
                Ok(())
            }
            Some(Held { codes: SliceCodes::Wide { palette, cells }, row }) => {
                let codes: Vec<_> = cells.iter().map(|&c| palette[usize::from(c)]).collect();
                Block::split(0, &codes, *row, sink);
                Ok(())
            }
            Some(Held { codes: SliceCodes::Plain(cells), row }) => {
                Block::split(0, cells, *row, sink);
                Ok(())
            }
        }
    }
}
