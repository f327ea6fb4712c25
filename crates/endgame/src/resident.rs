//! Sets and frontiers in memory.

use std::borrow::Cow;
use std::collections::HashMap;

use canju_retro::{Frontier, GameError, Side};
use rayon::prelude::*;

use crate::captures::Captures;
use crate::label::{Reading, Sink};
use crate::labels::{Arrival, Labels, Ply};
use crate::legality::legal_slice;
use crate::own::{Own, code, take_out};
use crate::slab::SlabCache;
use crate::territory::Territory;

#[derive(Default)]
pub(crate) struct Resident {
    /// For each side to move, legal cells that are not won (by slice): of owned slices, and copies of neighbours
    /// that others own, made when the first of their frontiers arrives.
    unwon: [Vec<Option<Vec<u128>>>; 2],
    /// For each side to move, legal cells of owned slices that may still be lost: no capture holds them, and they are
    /// not lost yet.
    open: [Vec<Vec<u128>>; 2],
    /// What the last ply labelled: of owned slices, and of neighbours.
    frontiers: [HashMap<u32, Frontier>; 2],
}

impl Resident {
    pub fn new(slices: usize) -> Self {
        Self { unwon: [vec![None; slices], vec![None; slices]], ..Self::default() }
    }

    /// What the last ply labelled with `side` to move in a slice and those around it.
    fn near(&self, territory: &Territory, slice: u32, side: Side) -> Vec<(u32, &Frontier)> {
        let slices = [slice];
        let slices = slices.iter().chain(territory.readers(slice, side));
        slices.filter_map(|&s| Some((s, self.frontiers[side.index()].get(&s)?))).collect()
    }

    fn label_wins(
        &mut self,
        territory: &Territory,
        owns: &mut [Own],
        ply: &Ply<'_>,
        side: Side,
    ) -> Result<Vec<Frontier>, GameError> {
        let mut taken: Vec<Option<Vec<u128>>> =
            territory.slices.iter().map(|&s| self.unwon[side.index()][s as usize].take()).collect();
        let work = territory.slices.par_iter().zip(owns).zip(&mut taken);
        let found = work
            .map(|((&slice, own), unwon)| {
                let Some(unwon) = unwon else { return Ok(Frontier::new()) };
                if ply.step < own.plies {
                    let logged = own.logged(ply.step, side, unwon.len())?;
                    take_out(unwon, &logged)?;
                    return Ok(logged);
                }
                let events = own.events_at(ply.distance, side, unwon.len())?;
                let near = self.near(territory, slice, side.other());
                if events.is_none() && near.is_empty() {
                    return Ok(Frontier::new());
                }
                let found = reading(territory, slice, side, events.as_ref(), &near, |reading| reading.wins(unwon));
                own.record(ply.step, code(ply.distance), side, &found)?;
                Ok(found)
            })
            .collect();
        for (&slice, set) in territory.slices.iter().zip(taken) {
            self.unwon[side.index()][slice as usize] = set;
        }
        found
    }

    fn label_losses(
        &mut self,
        territory: &Territory,
        owns: &mut [Own],
        ply: &Ply<'_>,
        side: Side,
    ) -> Result<Vec<Frontier>, GameError> {
        let mut open = std::mem::take(&mut self.open[side.index()]);
        let unwon = &self.unwon[side.other().index()];
        let nothing = Frontier::new();
        let work = territory.slices.par_iter().zip(owns).zip(&mut open).enumerate();
        let found = work
            .map(|(at, ((&slice, own), open))| {
                let events = own.events_at(ply.distance, side, open.len())?;
                if ply.step < own.plies {
                    let logged = own.logged(ply.step, side, open.len())?;
                    events.iter().flat_map(Frontier::iter).for_each(|(word, cells)| open[word as usize] |= cells);
                    take_out(open, &logged)?;
                    return Ok(logged);
                }
                let near = self.near(territory, slice, side.other());
                let Some(here) = unwon[slice as usize].as_deref() else { return Ok(Frontier::new()) };
                let broken = ply.broken.get(at).map_or(&nothing, |broken| &broken[side.index()]);
                if !ply.is_first() && events.is_none() && near.is_empty() && broken.is_empty() {
                    return Ok(Frontier::new());
                }
                let there = |other: usize, word: usize| match &unwon[other] {
                    Some(set) => set[word],
                    // A neighbour of which nothing has been won yet.
                    None => territory.legal(other, word, side.other()),
                };
                let found = reading(territory, slice, side, events.as_ref(), &near, |reading| {
                    reading.losses(ply.is_first(), open, here, there, broken)
                });
                own.record(ply.step, code(ply.distance), side, &found)?;
                Ok(found)
            })
            .collect();
        self.open[side.index()] = open;
        found
    }
}

/// Does `work` with what a ply reads in a slice.
fn reading(
    territory: &Territory,
    slice: u32,
    side: Side,
    events: Option<&Frontier>,
    near: &[(u32, &Frontier)],
    work: impl FnOnce(&Reading<'_>) -> Frontier,
) -> Frontier {
    let frontiers = |sink: &mut Sink<'_>| near.iter().for_each(|&(from, frontier)| sink(from, frontier));
    work(&Reading { index: &territory.index, slice, side, events, frontiers: &frontiers })
}

impl Labels for Resident {
    fn prepare(
        &mut self,
        territory: &Territory,
        owns: &mut [Own],
        captures: &Captures,
        cache: &SlabCache,
    ) -> Result<(), GameError> {
        let work = territory.slices.par_iter().zip(owns);
        let sets: Vec<_> = work
            .map(|(&slice, own)| {
                let captured = captures.slice(&territory.index, slice as usize, cache, own.take_events())?;
                Ok(own.prepare(captured))
            })
            .collect::<Result<_, GameError>>()?;
        for (&slice, [legal, open]) in territory.slices.iter().zip(sets) {
            for (side, (legal, open)) in legal.into_iter().zip(open).enumerate() {
                self.unwon[side][slice as usize] = Some(legal);
                self.open[side].push(open);
            }
        }
        Ok(())
    }

    fn label(&mut self, territory: &Territory, owns: &mut [Own], ply: &Ply<'_>) -> Result<(), GameError> {
        let mut found: [HashMap<u32, Frontier>; 2] = Default::default();
        for side in Side::BOTH {
            let frontiers = if ply.wins() {
                self.label_wins(territory, owns, ply, side)
            } else {
                self.label_losses(territory, owns, ply, side)
            }?;
            let full = territory.slices.iter().copied().zip(frontiers).filter(|(_, f)| !f.is_empty());
            found[side.index()] = full.collect();
        }
        self.frontiers = found;
        Ok(())
    }

    fn recall(&mut self, _: &Territory, _: &[Own], _: u16) -> Result<(), GameError> {
        Ok(())
    }

    fn outgoing<'a>(&'a self, _: u32, own: &'a Own, step: u16, side: Side) -> Option<&'a [u8]> {
        own.log.held(own.entry(step, side)?)
    }

    fn keeps_frontiers(&self) -> bool {
        true
    }

    fn import(&mut self, territory: &Territory, arrival: Arrival<'_>) -> Result<(), GameError> {
        let Arrival { slice, side, frontier: Some(frontier), wins, .. } = arrival else { return Ok(()) };
        if wins {
            let set = &mut self.unwon[side.index()][slice as usize];
            let set = set.get_or_insert_with(|| legal_slice(&territory.index, slice as usize, side));
            frontier.iter().for_each(|(word, cells)| set[word as usize] &= !cells);
        }
        self.frontiers[side.index()].insert(slice, frontier);
        Ok(())
    }

    fn unwon(&self, slice: u32, side: Side) -> Result<Option<Cow<'_, [u128]>>, GameError> {
        Ok(self.unwon[side.index()][slice as usize].as_deref().map(Cow::Borrowed))
    }

    fn open(&self, at: usize, _: u32, side: Side) -> Result<Cow<'_, [u128]>, GameError> {
        Ok(Cow::Borrowed(&self.open[side.index()][at]))
    }

    fn memory(&self) -> u64 {
        let copies = self.unwon.iter().flatten().flatten();
        let sets: usize = copies.chain(self.open.iter().flatten()).map(|set| set.capacity() * 16).sum();
        let frontiers: usize = self.frontiers.iter().flat_map(HashMap::values).map(Frontier::memory).sum();
        (sets + frontiers) as u64
    }
}
