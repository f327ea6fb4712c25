//! What solving takes.

use crate::Shape;

/// What some slices of a table take while they are solved, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Memory when everything stays in memory.
    pub memory: u64,
    /// Memory that is needed at least with a scratch folder.
    pub least: u64,
    /// Space in the scratch folder when little stays in memory.
    pub scratch: u64,
}

impl Shape {
    /// What a part that owns these slices (ascending) takes with so many threads.
    #[must_use]
    pub fn price(&self, slices: &[u32], threads: usize) -> Price {
        let cells: u64 = self.slices.iter().map(|s| u64::from(s.cells)).sum();
        // Bytes of the four sets of a slice.
        let sets = |slice: u32| {
            let cells_here = self.slices.get(slice as usize).map_or(0, |s| s.cells);
            (u128::from(self.set_bytes) * u128::from(cells_here) / u128::from(cells.max(1))) as u64
        };
        let owned = |slice: &u32| slices.binary_search(slice).is_ok();
        let near = slices.iter().filter_map(|&s| self.slices.get(s as usize)).flat_map(|s| &s.neighbours);
        let mut copies: Vec<u32> = near.copied().filter(|slice| !owned(slice)).collect();
        copies.sort_unstable();
        copies.dedup();
        let own: u64 = slices.iter().map(|&s| sets(s)).sum();
        let copied: u64 = copies.iter().map(|&s| sets(s) / 2).sum();
        let set = slices.iter().chain(&copies).map(|&s| sets(s) / 4).max().unwrap_or(0);
        let _ = threads;
        Price { memory: own * 2 + copied, least: 20 * set, scratch: 2 * own + copied }
    }
}
