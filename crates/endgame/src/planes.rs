//! Sets of cells by planes: a slice's words, one plane behind the other.

use canju_retro::Frontier;

/// The planes of a set that hold something, each with the words as the slice numbers them.
pub(crate) fn by_plane(set: &Frontier, words: usize) -> Vec<(usize, Frontier)> {
    let mut planes: Vec<(usize, Frontier)> = Vec::new();
    for (number, cells) in set.iter() {
        let plane = number as usize / words;
        if planes.last().is_none_or(|(last, _)| *last != plane) {
            planes.push((plane, Frontier::new()));
        }
        if let Some((_, one)) = planes.last_mut() {
            one.push(number - (plane * words) as u32, cells);
        }
    }
    planes
}

/// The cells of a set that are not in another.
pub(crate) fn without(set: &Frontier, other: &Frontier) -> Frontier {
    if other.is_empty() {
        return set.clone();
    }
    let mut other = seek(other);
    let mut left = Frontier::with_capacity(set.len());
    set.iter().for_each(|(word, cells)| left.push(word, cells & !other.get(word)));
    left
}

/// The cells of either set.
pub(crate) fn union(one: &Frontier, other: &Frontier) -> Frontier {
    if one.is_empty() || other.is_empty() {
        return if one.is_empty() { other.clone() } else { one.clone() };
    }
    let mut all = Frontier::with_capacity(one.len() + other.len());
    let (first, second) = (one.words(), other.words());
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < second.len() {
        let (a, b) = (first[i], second[j]);
        let cells = if a <= b { one.bits()[i] } else { 0 };
        all.push(a.min(b), if b <= a { cells | other.bits()[j] } else { cells });
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    one.iter().skip(i).chain(other.iter().skip(j)).for_each(|(word, cells)| all.push(word, cells));
    all.trim();
    all
}

/// See [`seek`].
pub(crate) struct Seek<'a> {
    set: &'a Frontier,
    at: usize,
}

/// A look-up of a set's words in ascending order.
pub(crate) const fn seek(set: &Frontier) -> Seek<'_> {
    Seek { set, at: 0 }
}

impl Seek<'_> {
    /// The cells of a word beyond all that were asked for, or of the last one again.
    #[inline]
    pub fn get(&mut self, word: u32) -> u128 {
        let words = self.set.words();
        let (mut low, mut by) = (self.at, 1);
        // By doubling steps, as the next one that is asked for may be near or far.
        while words.get(low + by).is_some_and(|&at| at <= word) {
            low += by;
            by *= 2;
        }
        let high = words.len().min(low + by);
        self.at = low + words[low..high].partition_point(|&at| at < word);
        match words.get(self.at) {
            Some(&at) if at == word => self.set.bits()[self.at],
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[(u32, u128)]) -> Frontier {
        let mut set = Frontier::new();
        words.iter().for_each(|&(word, cells)| set.push(word, cells));
        set
    }

    #[test]
    fn sets_are_joined_taken_apart_and_looked_up() {
        let (one, other) = (set(&[(1, 0b11), (4, 1), (9, 0b100)]), set(&[(0, 1), (4, 0b10), (9, 0b100), (12, 7)]));
        let all = set(&[(0, 1), (1, 0b11), (4, 0b11), (9, 0b100), (12, 7)]);
        assert_eq!((union(&one, &other), union(&other, &one)), (all.clone(), all.clone()));
        assert_eq!((union(&one, &Frontier::new()), union(&Frontier::new(), &one)), (one.clone(), one.clone()));
        assert_eq!(without(&all, &other), set(&[(1, 0b11), (4, 1)]));
        assert_eq!(
            by_plane(&all, 4),
            [(0, set(&[(0, 1), (1, 0b11)])), (1, set(&[(0, 0b11)])), (2, set(&[(1, 0b100)])), (3, set(&[(0, 7)]))]
        );
        let mut words = seek(&all);
        assert_eq!([0, 1, 1, 3, 4, 8, 12, 20].map(|word| words.get(word)), [1, 0b11, 0b11, 0, 0b11, 0, 7, 0]);
    }
}
