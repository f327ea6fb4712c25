//! A dense set of one slice for collecting cells in any order, and taking them out sorted.

use std::cell::RefCell;

use canju_retro::Frontier;

/// Words of a slice and which of them are not empty. Empty between uses.
#[derive(Default)]
pub(crate) struct Scratch {
    words: Vec<u128>,
    touched: Vec<u64>,
}

thread_local! {
    /// One a thread: slices are worked on by one thread each, and clearing costs only what was touched.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Scratch {
    /// Lends this thread's scratch, empty, for a slice of so many words.
    pub fn with<R>(words: usize, work: impl FnOnce(&mut Self) -> R) -> R {
        let mut scratch = SCRATCH.take();
        if scratch.words.len() < words {
            scratch.words.resize(words, 0);
            scratch.touched.resize(words.div_ceil(64), 0);
        }
        let result = work(&mut scratch);
        SCRATCH.set(scratch);
        result
    }

    pub fn add(&mut self, word: usize, cells: u128) {
        self.words[word] |= cells;
        self.touched[word / 64] |= 1 << (word % 64);
    }

    /// Takes all words out in ascending order; `keep` says which cells of each belong to the result.
    pub fn take(&mut self, mut keep: impl FnMut(usize, u128) -> u128) -> Frontier {
        let most = self.touched.iter().map(|t| t.count_ones() as usize).sum();
        let mut result = Frontier::with_capacity(most);
        for (block, touched) in self.touched.iter_mut().enumerate() {
            let mut left = std::mem::take(touched);
            while left != 0 {
                let word = block * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let cells = std::mem::take(&mut self.words[word]);
                result.push(word as u32, keep(word, cells));
            }
        }
        result.trim();
        result
    }
}
