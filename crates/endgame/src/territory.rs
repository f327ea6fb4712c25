//! Which slices a part owns, and which others they have to do with.

use std::collections::HashMap;
use std::sync::Arc;

use canju_retro::{GameError, Side};

use crate::index::Index;
use crate::legality::legal_words;

pub(crate) struct Territory {
    pub index: Arc<Index>,
    /// Owned slices, ascending.
    pub slices: Vec<u32>,
    /// The slices that read an owned one's frontiers with a side to move, by that side. They are also those whose
    /// frontiers with the side to move it reads.
    readers: [HashMap<u32, Vec<u32>>; 2],
}

impl Territory {
    pub fn new(index: Arc<Index>, slices: Vec<u32>) -> Result<Self, GameError> {
        if slices.last().is_some_and(|&s| s as usize >= index.slices()) || !slices.is_sorted_by(|a, b| a < b) {
            return Err(GameError::OutOfTurn("slices that the table does not have, or not in order".into()));
        }
        let of = |side| slices.iter().map(|&s| (s, index.readers(s as usize, side))).collect();
        Ok(Self { readers: Side::BOTH.map(of), index, slices })
    }

    pub fn readers(&self, slice: u32, side: Side) -> &[u32] {
        self.readers[side.index()].get(&slice).map_or(&[], Vec::as_slice)
    }

    /// The place of an owned slice.
    pub fn position(&self, slice: u32) -> Option<usize> {
        self.slices.binary_search(&slice).ok()
    }

    pub fn words(&self, slice: u32) -> usize {
        self.index.words(slice as usize)
    }

    /// Words of the largest slice that is owned or next to one.
    pub fn most_words(&self) -> usize {
        let near = self.readers.iter().flat_map(HashMap::values).flatten();
        self.slices.iter().chain(near).map(|&slice| self.words(slice)).max().unwrap_or(0)
    }

    /// The legal cells of a word.
    pub fn legal(&self, slice: usize, word: usize, side: Side) -> u128 {
        let place = self.index.place(slice);
        let configs = self.index.attackers.len();
        legal_words(&self.index, place.first, place.second.start + word / configs, word % configs)[side.index()]
    }
}
