//! Whole slices, decoded, up to a bound of memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use canju_retro::{Code, GameError, Metric, Outcome, Side, TableName, Tables};
use canju_table::{TableError, TableSet};

use crate::ProbeError;

/// A value in the 32 bits of its code.
pub(crate) type Packed = u32;

/// A draw.
pub(crate) const DRAW: Packed = 0;
/// A slice's cells for one side to move.
pub(crate) type Cells = Arc<[Packed]>;

/// A value as [`Packed`].
pub(crate) fn pack(outcome: Outcome) -> Packed {
    Code::from(outcome).bits()
}

/// What [`pack`] packed.
pub(crate) fn unpack(value: Packed) -> Outcome {
    Code::from_bits(value).map_or(Outcome::Draw, Code::outcome)
}

/// Which cells: a metric of a table for one side to move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Book {
    pub table: TableName,
    pub metric: Metric,
    pub side: Side,
}

impl Book {
    /// One cell, through the set's own cache of blocks.
    pub fn cell(&self, tables: &TableSet, slice: u32, index: u32) -> Result<Packed, ProbeError> {
        let code = tables.code(&self.table, self.metric, canju_retro::Cell { slice, index, side: self.side })?;
        Ok(pack(code.outcome()))
    }

    fn decode(&self, tables: &TableSet, slice: u32) -> Result<Cells, ProbeError> {
        let mut cells: Vec<Packed> = Vec::new();
        let read = tables.read(&self.table, self.metric, self.side, slice, &mut |block| {
            let mut meaning = [DRAW; 256];
            for (meaning, code) in meaning.iter_mut().zip(block.palette) {
                *meaning = pack(code.outcome());
            }
            cells.resize(block.first as usize, DRAW);
            cells.extend(block.cells.iter().map(|&c| meaning[usize::from(c)]));
        });
        match read {
            Ok(()) => Ok(cells.into()),
            Err(GameError::Tables { source, .. }) => Err(match source.downcast::<TableError>() {
                Ok(error) => ProbeError::Table(*error),
                Err(source) => {
                    ProbeError::Endgame(GameError::Tables { table: self.table.clone(), metric: self.metric, source })
                }
            }),
            Err(error) => Err(ProbeError::Endgame(error)),
        }
    }
}

type Key = (usize, Side, u32);

/// One entry; who fills it holds its lock, so that nobody decodes a slice twice at once.
#[derive(Default)]
struct Entry {
    cells: Arc<Mutex<Option<Cells>>>,
    bytes: u64,
    used: u64,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Key, Entry>,
    bytes: u64,
    clock: u64,
}

/// Decoded slices, the least lately used given up first.
pub(crate) struct Slices<'a> {
    pub tables: &'a TableSet,
    bound: u64,
    kept: Mutex<Kept>,
}

impl<'a> Slices<'a> {
    /// Keeps up to so many bytes.
    pub fn new(tables: &'a TableSet, bound: u64) -> Self {
        Self { tables, bound, kept: Mutex::default() }
    }

    /// The cells of a slice. `number` is the book's own among all that are asked here, sides apart.
    pub fn get(&self, number: usize, book: &Book, slice: u32) -> Result<Cells, ProbeError> {
        let key = (number, book.side, slice);
        let place = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.clock += 1;
            let used = kept.clock;
            let entry = kept.entries.entry(key).or_default();
            entry.used = used;
            Arc::clone(&entry.cells)
        };
        let mut held = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cells) = &*held {
            return Ok(Arc::clone(cells));
        }
        let cells = book.decode(self.tables, slice)?;
        *held = Some(Arc::clone(&cells));
        drop(held);
        self.make_room(key, size_of_val::<[Packed]>(&cells) as u64);
        Ok(cells)
    }

    fn make_room(&self, new: Key, bytes: u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = kept.entries.get_mut(&new) {
            entry.bytes = bytes;
            kept.bytes += bytes;
        }
        while kept.bytes > self.bound {
            let others = kept.entries.iter().filter(|(key, entry)| **key != new && entry.bytes > 0);
            let Some(oldest) = others.min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key) else { return };
            kept.bytes -= kept.entries.remove(&oldest).map_or(0, |entry| entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use canju_retro::Distance;

    #[test]
    fn values_are_packed_and_unpacked() {
        let far = Distance { order: 3, plies: 65535 };
        for outcome in [Outcome::Draw, Outcome::Win(Distance::plies(1)), Outcome::Loss(far), Outcome::Win(far)] {
            assert_eq!(unpack(pack(outcome)), outcome);
        }
    }
}
