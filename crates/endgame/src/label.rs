//! The labels of one ply in one slice.

use canju_retro::{Frontier, Side};

use crate::index::Index;
use crate::moves::{End, Moves};
use crate::scratch::Scratch;

/// Takes frontiers and their slices.
pub(crate) type Sink<'s> = dyn FnMut(u32, &Frontier) + 's;

/// What a ply reads in a slice.
pub(crate) struct Reading<'a> {
    pub index: &'a Index,
    pub slice: u32,
    /// The side to move in the cells to label.
    pub side: Side,
    /// The captures that take effect now.
    pub events: Option<&'a Frontier>,
    /// Gives what the last ply labelled for the other side here and in the slices that the side's moves lead to.
    pub frontiers: &'a dyn Fn(&mut Sink<'_>),
}

impl Reading<'_> {
    /// Gives the words from which a move leads into the frontiers, with the cells that have one.
    fn sources(&self, moves: &Moves<'_>, mut sink: impl FnMut(usize, u128)) {
        (self.frontiers)(&mut |from, frontier| {
            if from == self.slice {
                moves.sources(frontier, |word, _, cells| sink(word, cells));
            } else {
                moves.crossing_sources(from as usize, frontier, |word, _, cells| sink(word, cells));
            }
        });
    }

    /// Labels cells that have a move to a cell that the enemy has just lost, and those that win by a capture now.
    /// They leave `unwon`.
    pub fn wins(&self, unwon: &mut [u128]) -> Frontier {
        let moves = Moves::new(self.index, self.slice as usize, self.side);
        Scratch::with(unwon.len(), |scratch| {
            let mut label = |word: usize, cells: u128| {
                let new = cells & unwon[word];
                if new != 0 {
                    unwon[word] ^= new;
                    scratch.add(word, new);
                }
            };
            for (word, cells) in self.events.iter().flat_map(|f| f.iter()) {
                label(word as usize, cells);
            }
            self.sources(&moves, label);
            scratch.take(|_, cells| cells)
        })
    }

    /// Labels cells of which all moves now lead to cells that the enemy has won: none to those of `here` (this
    /// slice's words) and `there` (a word of another slice), which are not won. They leave `open`, which the captures
    /// that now lose have entered. Ply 0 tries all cells. Cells of `broken` are lost as they are: there the side must
    /// break off a violation of the rules of repetition, or goes on with it.
    pub fn losses(
        &self,
        first: bool,
        open: &mut [u128],
        here: &[u128],
        there: impl Fn(usize, usize) -> u128,
        broken: &Frontier,
    ) -> Frontier {
        let moves = Moves::new(self.index, self.slice as usize, self.side);
        Scratch::with(open.len(), |scratch| {
            let mut suspect = |word: usize, cells: u128| {
                let cells = cells & open[word];
                if cells != 0 {
                    scratch.add(word, cells);
                }
            };
            if first {
                (0..open.len()).for_each(|word| suspect(word, u128::MAX));
            }
            self.sources(&moves, suspect);
            for (word, cells) in self.events.iter().flat_map(|f| f.iter()) {
                open[word as usize] |= cells;
                scratch.add(word as usize, cells);
            }
            let set = |end: End, _| if end.slice == moves.slice { here[end.word] } else { there(end.slice, end.word) };
            for (word, cells) in broken.iter() {
                scratch.add(word as usize, cells & open[word as usize]);
            }
            scratch.take(|word, cells| {
                let broken = if broken.is_empty() { 0 } else { broken.get(word as u32) & cells };
                let lost = broken | moves.without_move_into(word, cells & !broken, set);
                open[word] &= !lost;
                lost
            })
        })
    }
}
