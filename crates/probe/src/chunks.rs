//! How the cells of a table are shared out: in pieces of one slice and one side to move.

use canju_retro::{Random, Shape, Side};

/// Cells of a chunk when all are checked.
const CHUNK: u32 = 1 << 18;
/// A slice is decoded whole where at least one in so many of its cells is wanted.
const WHOLE_FROM: u64 = 4096;
/// Samples are the same in every run.
const SEED: u64 = 0x6361_6e6a_7500;

/// Which cells of a chunk are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All from one to another.
    Range(std::ops::Range<u32>),
    /// These, ascending.
    Sample(Vec<u32>),
}

/// Some cells of one slice with one side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub slice: u32,
    pub side: Side,
    pub wanted: Wanted,
    /// True where whole slices are worth decoding.
    pub whole: bool,
}

impl Chunk {
    /// How many cells it has.
    pub fn len(&self) -> u64 {
        match &self.wanted {
            Wanted::Range(range) => range.len() as u64,
            Wanted::Sample(cells) => cells.len() as u64,
        }
    }
}

/// All cells, or so many drawn at random (a cell drawn twice counts once).
pub(crate) fn chunks(shape: &Shape, sample: Option<u64>) -> Vec<Chunk> {
    let total: u64 = shape.slices.iter().map(|s| 2 * u64::from(s.cells)).sum();
    match sample {
        Some(n) if n < total => drawn(shape, total, n),
        _ => all(shape),
    }
}

fn all(shape: &Shape) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for (slice, cells) in (0..).zip(shape.slices.iter().map(|s| s.cells)) {
        for side in Side::BOTH {
            for start in (0..cells).step_by(CHUNK as usize) {
                let wanted = Wanted::Range(start..cells.min(start.saturating_add(CHUNK)));
                chunks.push(Chunk { slice, side, wanted, whole: true });
            }
        }
    }
    chunks
}

fn drawn(shape: &Shape, total: u64, n: u64) -> Vec<Chunk> {
    let mut random = Random::new(SEED);
    let mut numbers: Vec<u64> = (0..n).map(|_| random.below(total)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut chunks = Vec::new();
    let (mut first, mut rest) = (0, &numbers[..]);
    for (slice, cells) in (0..).zip(shape.slices.iter().map(|s| s.cells)) {
        for side in Side::BOTH {
            let end = first + u64::from(cells);
            let (here, after) = rest.split_at(rest.partition_point(|&n| n < end));
            if !here.is_empty() {
                let whole = here.len() as u64 * WHOLE_FROM >= u64::from(cells);
                let wanted = Wanted::Sample(here.iter().map(|n| (n - first) as u32).collect());
                chunks.push(Chunk { slice, side, wanted, whole });
            }
            (first, rest) = (end, after);
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use canju_retro::SliceShape;

    fn shape() -> Shape {
        let slices = [300_000, 5, 90].map(|cells| SliceShape { cells, neighbours: vec![] });
        Shape { slices: slices.to_vec(), runs: Vec::new(), row: 1, positions: 600_190, indexed: 600_190, set_bytes: 0 }
    }

    #[test]
    fn all_cells_are_shared_out() {
        let chunks = chunks(&shape(), None);
        assert_eq!(chunks.iter().map(Chunk::len).sum::<u64>(), 600_190);
        assert_eq!(chunks.len(), 8);
    }

    #[test]
    fn a_sample_is_the_same_each_time() {
        let sample = chunks(&shape(), Some(1000));
        assert_eq!(sample, chunks(&shape(), Some(1000)));
        let cells = sample.iter().map(Chunk::len).sum::<u64>();
        assert!((990..=1000).contains(&cells), "{cells}");
        assert_eq!(chunks(&shape(), Some(u64::MAX)), chunks(&shape(), None));
    }
}
