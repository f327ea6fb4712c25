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
    /// Empty words for sets that are spread out, of which there are a few at a time.
    static SPARE: RefCell<Vec<Vec<u128>>> = const { RefCell::new(Vec::new()) };
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

/// So many empty words at least.
fn spare(words: usize) -> Vec<u128> {
    let mut spare = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
    if spare.len() < words {
        spare.resize(words, 0);
    }
    spare
}

/// A set spread out over the words of its slices' planes, where each is found at once. This thread's memory is used again:
/// clearing it costs only what the set holds.
pub(crate) struct Spread<'f> {
    words: Vec<u128>,
    set: &'f Frontier,
}

impl<'f> Spread<'f> {
    pub fn new(set: &'f Frontier, words: usize) -> Self {
        let mut spread = spare(words);
        set.iter().for_each(|(word, cells)| spread[word as usize] = cells);
        Self { words: spread, set }
    }

    #[inline]
    pub fn get(&self, word: usize) -> u128 {
        self.words[word]
    }
}

impl Drop for Spread<'_> {
    fn drop(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        self.set.words().iter().for_each(|&word| words[word as usize] = 0);
        SPARE.with_borrow_mut(|spare| spare.push(words));
    }
}

/// Marks a word that has been worked out: no cell has this bit.
const KNOWN: u128 = 1 << 127;

/// Words that are worked out when they are first asked for. This thread's memory is used again, as in [`Spread`].
pub(crate) struct Memo {
    words: RefCell<Vec<u128>>,
    known: RefCell<Vec<u32>>,
}

impl Memo {
    pub fn new(words: usize) -> Self {
        Self { words: RefCell::new(spare(words)), known: RefCell::default() }
    }

    #[inline]
    pub fn get(&self, word: usize, work_out: impl FnOnce() -> u128) -> u128 {
        let known = self.words.borrow()[word];
        if known != 0 {
            return known & !KNOWN;
        }
        let cells = work_out();
        self.words.borrow_mut()[word] = cells | KNOWN;
        self.known.borrow_mut().push(word as u32);
        cells
    }
}

impl Drop for Memo {
    fn drop(&mut self) {
        let mut words = self.words.take();
        self.known.take().into_iter().for_each(|word| words[word as usize] = 0);
        SPARE.with_borrow_mut(|spare| spare.push(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spread_out_leaves_nothing() {
        let set = |words: &[(u32, u128)]| {
            let mut set = Frontier::new();
            words.iter().for_each(|&(word, cells)| set.push(word, cells));
            set
        };
        let (one, other, small) = (set(&[(1, 5), (9, 1)]), set(&[(0, 3), (2, 8)]), set(&[(1, 2)]));
        let all = |spread: &Spread<'_>, words: usize| (0..words).map(|word| spread.get(word)).collect::<Vec<_>>();
        for _ in 0..3 {
            let (a, b) = (Spread::new(&one, 10), Spread::new(&other, 3));
            assert_eq!(all(&a, 10), [0, 5, 0, 0, 0, 0, 0, 0, 0, 1]);
            assert_eq!(all(&b, 3), [3, 0, 8]);
            drop((a, b));
            assert_eq!(all(&Spread::new(&small, 12), 12)[..3], [0, 2, 0]);
        }
    }
}
