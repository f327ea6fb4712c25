//! The labels of one ply in all slices of a part.

use canju_retro::{Frontier, GameError, Side};
use rayon::prelude::*;

use crate::legality::legal_words;
use crate::moves::Moves;
use crate::own::take_out;
use crate::part::XiangqiPart;
use crate::scratch::Scratch;

impl XiangqiPart {
    /// Labels cells that have a move to a cell that the enemy has just lost, and those that win by a capture now.
    /// Slices whose log has the ply take its labels.
    pub(crate) fn label_wins(&mut self, ply: u16, side: Side) -> Result<Vec<Frontier>, GameError> {
        let (index, readers, frontiers) = (&*self.index, &self.readers, &self.frontiers[side.other().index()]);
        let mut unwon: Vec<Option<&mut Vec<u128>>> = Vec::with_capacity(self.slices.len());
        let mut sets = self.unwon[side.index()].iter_mut().enumerate();
        for &slice in &self.slices {
            unwon.push(sets.find(|(s, _)| *s == slice as usize).and_then(|(_, set)| set.as_mut()));
        }
        let work = self.slices.par_iter().zip(&self.own).zip(unwon);
        work.map(|((&slice, own), unwon)| {
            let Some(unwon) = unwon else { return Ok(Frontier::new()) };
            if ply < own.plies {
                let logged = own.logged(ply, side, unwon.len())?;
                take_out(unwon, &logged)?;
                return Ok(logged);
            }
            let events = own.events_at(ply, side, unwon.len())?;
            let near: Vec<&Frontier> =
                readers[side.other().index()][&slice].iter().filter_map(|s| frontiers.get(s)).collect();
            if events.is_none() && !frontiers.contains_key(&slice) && near.is_empty() {
                return Ok(Frontier::new());
            }
            let moves = Moves::new(index, slice as usize, side);
            Ok(Scratch::with(unwon.len(), |scratch| {
                let mut label = |word: usize, cells: u128| {
                    let new = cells & unwon[word];
                    if new != 0 {
                        unwon[word] ^= new;
                        scratch.add(word, new);
                    }
                };
                for (word, cells) in events.iter().flat_map(Frontier::iter) {
                    label(word as usize, cells);
                }
                if let Some(frontier) = frontiers.get(&slice) {
                    moves.sources(frontier, &mut label);
                }
                for &neighbour in &readers[side.other().index()][&slice] {
                    if let Some(frontier) = frontiers.get(&neighbour) {
                        moves.crossing_sources(neighbour as usize, frontier, &mut label);
                    }
                }
                scratch.take(|_, cells| cells)
            }))
        })
        .collect()
    }

    /// Labels cells of which all moves now lead to cells that the enemy has won, or takes them from the log.
    pub(crate) fn label_losses(&mut self, ply: u16, side: Side) -> Result<Vec<Frontier>, GameError> {
        let (index, readers, frontiers) = (&*self.index, &self.readers, &self.frontiers[side.other().index()]);
        let unwon = &self.unwon[side.other().index()];
        let work = self.slices.par_iter().zip(&mut self.own);
        work.map(|(&slice, own)| {
            let words = own.open[side.index()].len();
            let events = own.events_at(ply, side, words)?;
            if ply < own.plies {
                let logged = own.logged(ply, side, words)?;
                let open = &mut own.open[side.index()];
                events.iter().flat_map(Frontier::iter).for_each(|(word, cells)| open[word as usize] |= cells);
                take_out(open, &logged)?;
                return Ok(logged);
            }
            let near = readers[side.other().index()][&slice].iter().any(|s| frontiers.contains_key(s));
            if ply > 0 && events.is_none() && !frontiers.contains_key(&slice) && !near {
                return Ok(Frontier::new());
            }
            let open = &mut own.open[side.index()];
            let moves = Moves::new(index, slice as usize, side);
            let Some(here) = unwon[slice as usize].as_deref() else { return Ok(Frontier::new()) };
            let there = |other: usize, word: usize| match &unwon[other] {
                Some(set) => set[word],
                // A neighbour of which nothing has been won yet.
                None => {
                    let place = index.place(other);
                    let configs = index.attackers.len();
                    let second = place.second.start + word / configs;
                    legal_words(index, place.first, second, word % configs)[side.other().index()]
                }
            };
            Ok(Scratch::with(words, |scratch| {
                let mut suspect = |word: usize, cells: u128| {
                    let cells = cells & open[word];
                    if cells != 0 {
                        scratch.add(word, cells);
                    }
                };
                if ply == 0 {
                    (0..words).for_each(|word| suspect(word, u128::MAX));
                }
                if let Some(frontier) = frontiers.get(&slice) {
                    moves.sources(frontier, &mut suspect);
                }
                for &neighbour in &readers[side.other().index()][&slice] {
                    if let Some(frontier) = frontiers.get(&neighbour) {
                        moves.crossing_sources(neighbour as usize, frontier, &mut suspect);
                    }
                }
                for (word, cells) in events.iter().flat_map(Frontier::iter) {
                    open[word as usize] |= cells;
                    scratch.add(word as usize, cells);
                }
                scratch.take(|word, cells| {
                    let lost = moves.without_move_into(word, cells, here, there);
                    open[word] &= !lost;
                    lost
                })
            }))
        })
        .collect()
    }
}
