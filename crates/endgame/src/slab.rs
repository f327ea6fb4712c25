//! One slice of a finished smaller table in memory, ready to be asked in words.

use std::sync::Arc;

use canju_retro::{Block, Code, Distance, GameError, Metric, Outcome, Rules, Side, TableName, Tables};
use quick_cache::sync::Cache;
use quick_cache::{OptionsBuilder, Weighter};

use crate::index::Index;
use crate::legality::legal_slice;

/// What a capture into a cell does for the side that captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It wins at this distance.
    Wins(Distance),
    /// It does not lose.
    Holds,
    /// It loses, at this distance or later.
    Loses(Distance),
}

impl Effect {
    /// The effect of a capture after which the other side, to move, has this value.
    fn of(code: Code, metric: Metric) -> Self {
        let plies = |order, plies| Distance { order, plies };
        match (code.outcome(), metric) {
            (Outcome::Draw, _) => Self::Holds,
            (Outcome::Loss(d), Metric::Dtm) => Self::Wins(plies(d.order, d.plies + 1)),
            (Outcome::Win(d), Metric::Dtm) => Self::Loses(plies(d.order, d.plies + 1)),
            // The first capture ends the count of plies: the winner's is worth one, the loser's delays nothing. The
            // order goes on.
            (Outcome::Loss(d), _) => Self::Wins(plies(d.order, 1)),
            (Outcome::Win(d), _) => Self::Loses(plies(d.order, 0)),
        }
    }
}

/// The cells of a slice for one side to move.
pub(crate) struct Slab {
    row: usize,
    cells: Vec<u8>,
    /// The palette of each row, as effects.
    palette_of_row: Vec<u32>,
    palettes: Vec<Vec<Effect>>,
    /// The legal cells of each row, by square.
    legal: Vec<u128>,
}

impl Slab {
    fn load(cache: &SlabCache, index: &Index, slice: usize, side: Side) -> Result<Self, GameError> {
        let metric = cache.metric;
        let (row, words) = (index.row(), index.words(slice));
        let mut slab = Self {
            row,
            cells: vec![0; words * row],
            palette_of_row: vec![u32::MAX; words],
            palettes: Vec::new(),
            legal: Vec::new(),
        };
        let mut misfit = None;
        let source = metric.of_smaller(cache.rules);
        let mut sink = |block: Block<'_>| misfit = misfit.take().or(slab.take(block, metric).err());
        cache.tables.read(index.name(), source, side, slice as u32, &mut sink)?;
        if misfit.is_none() && slab.palette_of_row.contains(&u32::MAX) {
            misfit = Some("rows are missing");
        }
        if let Some(misfit) = misfit {
            let error = format!("slice {slice} of the table does not have the shape of its index: {misfit}");
            return Err(GameError::Tables { table: index.name().clone(), metric: source, source: error.into() });
        }
        slab.legal = legal_slice(index, slice, side);
        Ok(slab)
    }

    fn take(&mut self, block: Block<'_>, metric: Metric) -> Result<(), &'static str> {
        let first = block.first as usize;
        if !first.is_multiple_of(self.row) || !block.cells.len().is_multiple_of(self.row) {
            // A row in two blocks has two palettes; writers cut at rows.
            return Err("a block does not end with a row");
        }
        self.cells.get_mut(first..first + block.cells.len()).ok_or("too many cells")?.copy_from_slice(block.cells);
        let rows = first / self.row..(first + block.cells.len()) / self.row;
        self.palette_of_row[rows].fill(self.palettes.len() as u32);
        self.palettes.push(block.palette.iter().map(|&code| Effect::of(code, metric)).collect());
        Ok(())
    }

    /// The effect of one cell, by its word, its place in the row and its square; `None` where it is not legal.
    pub fn cell(&self, word: usize, place: usize, square: u8) -> Option<Effect> {
        if self.legal[word] >> square & 1 == 0 {
            return None;
        }
        let palette = &self.palettes[self.palette_of_row[word] as usize];
        palette.get(usize::from(self.cells[word * self.row + place])).copied()
    }

    /// The legal cells of a row among `wanted`, grouped by effect. Cells are given by square.
    pub fn row(&self, index: &Index, word: usize, wanted: u128, mut sink: impl FnMut(Effect, u128)) {
        let mut left = self.legal[word] & wanted;
        if left == 0 {
            return;
        }
        let row = &self.cells[word * self.row..(word + 1) * self.row];
        let palette = &self.palettes[self.palette_of_row[word] as usize];
        let squares = index.axis_squares();
        if squares.len() == 90 {
            // Places and squares are the same: whole groups at once.
            while left != 0 {
                let value = row[left.trailing_zeros() as usize];
                let same = equal(row, value) & left;
                left &= !same;
                if let Some(&effect) = palette.get(usize::from(value)) {
                    sink(effect, same);
                }
            }
            return;
        }
        for (&value, &square) in row.iter().zip(squares) {
            let bit = 1u128 << square;
            if left & bit != 0
                && let Some(&effect) = palette.get(usize::from(value))
            {
                sink(effect, bit);
            }
        }
    }

    fn bytes(&self) -> u64 {
        (self.cells.len() + self.legal.len() * 20) as u64
    }
}

/// Which of ninety bytes have this value.
fn equal(row: &[u8], value: u8) -> u128 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let pattern = u64::from(value) * 0x0101_0101_0101_0101;
    let (chunks, rest) = row.as_chunks::<8>();
    let mut set = 0u128;
    for (i, chunk) in chunks.iter().enumerate() {
        let x = u64::from_le_bytes(*chunk) ^ pattern;
        let zeros = !(((x & LOW) + LOW) | x | LOW);
        set |= u128::from((zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    for (i, &byte) in rest.iter().enumerate() {
        set |= u128::from(byte == value) << (chunks.len() * 8 + i);
    }
    set
}

type Key = (TableName, Metric, Side, u32);

#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Arc<Slab>> for Bytes {
    fn weight(&self, _: &Key, slab: &Arc<Slab>) -> u64 {
        slab.bytes()
    }
}

/// Slabs that several slices of a part ask for, up to a bound of bytes.
pub(crate) struct SlabCache {
    tables: Arc<dyn Tables>,
    metric: Metric,
    rules: Rules,
    cache: Cache<Key, Arc<Slab>, Bytes>,
    /// Bytes that one slice may hold.
    held: u64,
}

impl SlabCache {
    /// Keeps `bytes` of slabs for later slices. One slice holds no more than `held` bytes from one black placement to the next.
    pub fn new(tables: Arc<dyn Tables>, metric: Metric, rules: Rules, bytes: u64, held: u64) -> Self {
        Self { tables, metric, rules, cache: cache(bytes, Bytes), held }
    }

    fn get(&self, index: &Index, slice: usize, side: Side) -> Result<Arc<Slab>, GameError> {
        let key = (index.name().clone(), self.metric, side, slice as u32);
        self.cache.get_or_insert_with(&key, || Slab::load(self, index, slice, side).map(Arc::new))
    }
}

/// A cache of a bounded number of bytes. It is not divided: single values can be as large as a share would be.
pub(crate) fn cache<K: Eq + std::hash::Hash, V: Clone, W: Weighter<K, V> + Clone>(
    bytes: u64,
    weigh: W,
) -> Cache<K, V, W> {
    let mut options = OptionsBuilder::new();
    options.shards(1).estimated_items_capacity(256).weight_capacity(bytes);
    match options.build() {
        Ok(options) => Cache::with_options(options, weigh, Default::default(), Default::default()),
        // Cannot be: both capacities are given.
        Err(_) => Cache::with_weighter(256, bytes, weigh),
    }
}

/// The slabs that one slice uses, held while it is worked on.
pub(crate) struct Slabs<'a> {
    cache: &'a SlabCache,
    bytes: u64,
    /// By table and side to move, by slice.
    held: Vec<[Vec<Option<Arc<Slab>>>; 2]>,
}

impl<'a> Slabs<'a> {
    pub fn new(cache: &'a SlabCache, tables: usize) -> Self {
        Self { cache, bytes: 0, held: (0..tables).map(|_| Default::default()).collect() }
    }

    /// Lets go of the slabs when they are more than one slice may hold.
    pub fn make_room(&mut self) {
        if self.bytes > self.cache.held {
            self.held.iter_mut().flatten().for_each(Vec::clear);
            self.bytes = 0;
        }
    }

    /// The slab of a cell's slice and side. `table` numbers the tables that the caller uses.
    pub fn get(&mut self, table: usize, index: &Index, slice: usize, side: Side) -> Result<&Arc<Slab>, GameError> {
        let held = &mut self.held[table][side.index()];
        if held.is_empty() {
            held.resize(index.slices(), None);
        }
        let slab = &mut held[slice];
        match slab {
            Some(slab) => Ok(slab),
            None => {
                let slab = slab.insert(self.cache.get(index, slice, side)?);
                self.bytes += slab.bytes();
                Ok(slab)
            }
        }
    }
}

/// A cell of a smaller table, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub slice: usize,
    pub word: usize,
    /// True where the table keeps the mirror image.
    pub mirrored: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_finds_all_and_only() {
        let row: Vec<u8> = (0..90).map(|i| [3, 0, 255, 128, 127, 2][i * i % 6]).collect();
        for value in [0, 1, 2, 3, 127, 128, 255] {
            let by_hand = (0..90).filter(|&i| row[i] == value).fold(0u128, |s, i| s | 1 << i);
            assert_eq!(equal(&row, value), by_hand, "{value}");
        }
    }
}
