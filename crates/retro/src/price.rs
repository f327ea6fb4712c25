//! What solving takes, before anything is solved.

use crate::Shape;

/// What a part takes while it is solved, in bytes: upper bounds, of which a table with few wins needs half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Memory when everything stays there.
    pub memory: u64,
    /// Memory below which a scratch folder does not help: with less, the part takes more than it may.
    pub least: u64,
    /// Space in the scratch folder when next to nothing stays in memory.
    pub scratch: u64,
}

/// Logs, captures and frontiers beside the sets, in 1/100 of those.
const LOGS: u64 = 100;
/// What of that is there before the first ply: captures.
const EVENTS: u64 = 30;
/// The frontiers of the last two plies, compressed.
const LAST_FRONTIERS: u64 = 12;
/// What one thread takes for a slice in a ply, and before the first one, in sets of one kind and side.
const STEP_SETS: u64 = 4;
const PREPARE_SETS: u64 = 8;
/// What one slice holds of smaller tables, in such sets.
const HELD_SETS: u64 = 16;
/// What is kept of them for the next slices, at most; and what there is of them, in 1/100 of the sets.
const KEPT: u64 = 192 << 20;
const SMALLER: u64 = 170;

impl Shape {
    /// What a part that owns these slices (ascending) takes with so many threads.
    #[must_use]
    pub fn price(&self, slices: &[u32], threads: usize) -> Price {
        let cells: u64 = self.slices.iter().map(|s| u64::from(s.cells)).sum();
        let shapes = || slices.iter().filter_map(|&s| self.slices.get(s as usize));
        // Bytes of the four sets of a slice: what is not won or may be lost, for each side.
        let sets =
            |cells_here: u32| (u128::from(self.set_bytes) * u128::from(cells_here) / u128::from(cells.max(1))) as u64;
        let mut copies: Vec<u32> = shapes().flat_map(|s| &s.neighbours).copied().collect();
        copies.sort_unstable();
        copies.dedup();
        copies.retain(|slice| slices.binary_search(slice).is_err());
        let copies = copies.iter().filter_map(|&s| self.slices.get(s as usize));
        let own: u64 = shapes().map(|s| sets(s.cells)).sum();
        // Of neighbours only what is not won is kept.
        let copied: u64 = copies.clone().map(|s| sets(s.cells) / 2).sum();
        let set = shapes().chain(copies).map(|s| sets(s.cells) / 4).max().unwrap_or(0);
        let near = shapes().map(|s| s.neighbours.len()).max().unwrap_or(0) as u64;
        let threads = threads.max(1) as u64;
        let slabs = (own * SMALLER / 100).min(KEPT + threads * HELD_SETS * set);
        let prepare = own + own * EVENTS / 100 + threads * PREPARE_SETS * set + slabs;
        let plies = own + copied + own * LOGS / 100 + threads * STEP_SETS * set;
        // Three quarters of a room are for the work before the first ply, half of it for sets in plies.
        let widest = ((PREPARE_SETS + HELD_SETS) * 4 / 3).max(2 * (2 + near));
        Price {
            memory: prepare.max(plies),
            least: widest * set + (own + copied) * LAST_FRONTIERS / 100,
            scratch: own + copied + own * LOGS / 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SliceShape;

    /// A row of slices of equal size, of which each has to do with the next ones.
    fn row(slices: u32, set_bytes: u64) -> Shape {
        let around = |s: u32| [s.checked_sub(1), Some(s + 1)].into_iter().flatten().filter(|&s| s < slices).collect();
        let slices = (0..slices).map(|s| SliceShape { cells: 1000, neighbours: around(s) }).collect();
        Shape { slices, runs: vec![], row: 10, positions: 0, indexed: 0, set_bytes }
    }

    #[test]
    fn copies_of_neighbours_are_priced_once() {
        let shape = row(10, 40_000_000);
        let price = |slices: &[u32]| shape.price(slices, 1).scratch;
        // Four million bytes a slice, as much for its logs, and half of it for a copy.
        assert_eq!(price(&(0..10).collect::<Vec<_>>()), 80_000_000);
        assert_eq!(price(&[4]), 12_000_000);
        assert_eq!(price(&[3, 5]), 16_000_000 + 6_000_000);
        assert_eq!(price(&[0, 1]), 16_000_000 + 2_000_000);
        assert_eq!(shape.price(&[], 4), Price::default());
    }

    #[test]
    fn little_is_needed_of_a_table_of_many_slices() {
        let shape = row(500, 2_000_000_000);
        let price = shape.price(&(0..500).collect::<Vec<_>>(), 4);
        assert!(price.memory > 4_000_000_000 && price.memory < 5_000_000_000, "{price:?}");
        assert!(price.least < price.memory / 10, "{price:?}");
    }
}
