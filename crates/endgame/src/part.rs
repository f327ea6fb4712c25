//! The slices of one endgame that one worker holds: sets, plies and logs.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use canju_retro::{Frontier, GameError, Metric, Part, Side, SliceCodes, Statistics, StepCounts, Tables};
use rayon::prelude::*;

use crate::captures::Captures;
use crate::census::census;
use crate::codes::finished_cells;
use crate::index::Index;
use crate::legality::legal_slice;
use crate::message;
use crate::own::Own;
use crate::saved;
use crate::slab::SlabCache;

/// Decoded slices of smaller tables that are kept for the next slice to use.
const CACHE_BYTES: u64 = 192 << 20;

pub(crate) struct XiangqiPart {
    pub(crate) index: Arc<Index>,
    metric: Metric,
    tables: Arc<dyn Tables>,
    /// Owned slices, ascending.
    pub(crate) slices: Vec<u32>,
    /// The slices whose frontiers with a side to move a slice reads, by side; those of all slices.
    pub(crate) readers: [HashMap<u32, Vec<u32>>; 2],
    pub(crate) own: Vec<Own>,
    /// For each side to move, legal cells that are not won (by slice): of owned slices, and copies of neighbours
    /// that others own, made when the first of their frontiers arrives.
    pub(crate) unwon: [Vec<Option<Vec<u128>>>; 2],
    /// What the last ply labelled: of owned slices, and of neighbours.
    pub(crate) frontiers: [HashMap<u32, Frontier>; 2],
    /// The ply to run next; `None` before the captures are prepared.
    next: Option<u16>,
    /// Plies whose labels are in the sets; more than `next` after the part was rewound. The frontiers are those of
    /// the last of them.
    applied: u16,
}

impl XiangqiPart {
    pub fn new(
        index: Arc<Index>,
        metric: Metric,
        slices: Vec<u32>,
        tables: Arc<dyn Tables>,
    ) -> Result<Self, GameError> {
        let all = index.slices();
        if metric == Metric::Wdl {
            return Err(GameError::OutOfTurn("wins, draws and losses alone are not solved for".into()));
        }
        if slices.last().is_some_and(|&s| s as usize >= all) || !slices.is_sorted_by(|a, b| a < b) {
            return Err(GameError::OutOfTurn("slices that the table does not have, or not in order".into()));
        }
        let mut readers = [HashMap::new(), HashMap::new()];
        for &slice in &slices {
            for side in Side::BOTH {
                readers[side.index()].insert(slice, index.readers(slice as usize, side));
            }
        }
        Ok(Self {
            own: slices.iter().map(|_| Own::default()).collect(),
            unwon: [vec![None; all], vec![None; all]],
            frontiers: Default::default(),
            index,
            metric,
            tables,
            slices,
            readers,
            next: None,
            applied: 0,
        })
    }

    fn position(&self, slice: u32) -> Result<usize, GameError> {
        self.slices.binary_search(&slice).map_err(|_| GameError::OutOfTurn(format!("slice {slice} is not owned here")))
    }

    /// Labels a ply that is not in the sets yet, and writes it down.
    fn label(&mut self, ply: u16) -> Result<(), GameError> {
        let mut found: [HashMap<u32, Frontier>; 2] = Default::default();
        for side in Side::BOTH {
            let frontiers = if ply % 2 == 1 { self.label_wins(ply, side) } else { self.label_losses(ply, side) }?;
            self.own.par_iter_mut().zip(&frontiers).for_each(|(own, frontier)| own.record(ply, side, frontier));
            let full = self.slices.iter().copied().zip(frontiers).filter(|(_, f)| !f.is_empty());
            found[side.index()] = full.collect();
        }
        for own in &mut self.own {
            own.pass_events(ply);
            own.plies = own.plies.max(ply + 1);
        }
        self.frontiers = found;
        Ok(())
    }
}

impl Part for XiangqiPart {
    fn prepare(&mut self) -> Result<(), GameError> {
        if self.next.is_some() {
            return Err(GameError::OutOfTurn("the part is prepared already".into()));
        }
        let captures = Captures::new(&self.index)?;
        let cache = SlabCache::new(self.tables.clone(), self.metric, CACHE_BYTES);
        let index = &self.index;
        let slices: Vec<_> = self
            .slices
            .par_iter()
            .map(|&slice| captures.slice(index, slice as usize, &cache))
            .collect::<Result<_, _>>()?;
        for ((&slice, own), captured) in self.slices.iter().zip(&mut self.own).zip(slices) {
            for (side, legal) in own.prepare(captured).into_iter().enumerate() {
                self.unwon[side][slice as usize] = Some(legal);
            }
        }
        self.next = Some(0);
        Ok(())
    }

    fn step(&mut self, ply: u16) -> Result<StepCounts, GameError> {
        if self.next != Some(ply) {
            return Err(GameError::OutOfTurn(format!("ply {ply}, when {:?} is next", self.next)));
        }
        let Some(next) = ply.checked_add(1) else {
            return Err(GameError::OutOfTurn(format!("more than {ply} plies")));
        };
        if ply >= self.applied {
            self.label(ply)?;
            self.applied = next;
        }
        self.next = Some(next);
        let mut counts = StepCounts::default();
        for own in &self.own {
            for side in Side::BOTH {
                counts.labels[side.index()] += own.labelled(ply, side);
            }
            counts.pending |= own.pending(ply);
        }
        Ok(counts)
    }

    fn export(&self, readers: &[u32]) -> Vec<u8> {
        let next = self.next.unwrap_or_default();
        let mut out = message::Writer::new(next);
        let Some(ply) = next.checked_sub(1) else { return out.finish() };
        for (slice, own) in self.slices.iter().zip(&self.own) {
            for side in Side::BOTH {
                let read = self.readers[side.index()][slice].iter().any(|r| readers.binary_search(r).is_ok());
                if let Some(entry) = own.entry(ply, side).filter(|_| read) {
                    out.add(*slice, side, own.log.encoded(entry));
                }
            }
        }
        out.finish()
    }

    fn import(&mut self, bytes: &[u8]) -> Result<(), GameError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let index = self.index.clone();
        let words = |slice: u32| ((slice as usize) < index.slices()).then(|| index.words(slice as usize) as u32);
        let message::Message { next, frontiers } = message::read(bytes, words)?;
        if next == 0 || Some(next) != self.next {
            return Err(GameError::Frontier(format!("it is of ply {}, not of the last one", next.wrapping_sub(1))));
        }
        if let Some((slice, ..)) = frontiers.iter().find(|(slice, ..)| self.slices.binary_search(slice).is_ok()) {
            return Err(GameError::Frontier(format!("slice {slice} is owned here")));
        }
        if next < self.applied {
            // The ply has been followed by another one: what it says is in the sets.
            return Ok(());
        }
        for (slice, side, frontier) in frontiers {
            // Odd plies won: the copy of the neighbour's set loses what it won.
            if next % 2 == 0 {
                let set = &mut self.unwon[side.index()][slice as usize];
                let set = set.get_or_insert_with(|| legal_slice(&index, slice as usize, side));
                frontier.iter().for_each(|(word, cells)| set[word as usize] &= !cells);
            }
            self.frontiers[side.index()].insert(slice, frontier);
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), GameError> {
        if self.next.is_none() {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        }
        self.next = Some(0);
        Ok(())
    }

    fn known(&self) -> u16 {
        self.own.iter().map(|own| own.plies).min().unwrap_or(self.applied)
    }

    fn save(&self, plies: Range<u16>) -> Result<Vec<u8>, GameError> {
        let end = plies.end.min(self.known());
        let mut out = saved::Writer::new(plies.start.min(end)..end, self.slices.len());
        self.slices.iter().zip(&self.own).for_each(|(&slice, own)| out.add(slice, own));
        Ok(out.finish())
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), GameError> {
        if self.next != Some(0) || self.applied > 0 {
            return Err(GameError::OutOfTurn("a log can be loaded only between prepare and the first step".into()));
        }
        let index = &*self.index;
        let saved::Saved { plies, slices } = saved::read(saved, index.slices())?;
        self.slices.par_iter().zip(&mut self.own).try_for_each(|(slice, own)| {
            match slices.binary_search_by_key(slice, |&(s, _)| s) {
                Ok(at) => own.load(&plies, slices[at].1, index.words(*slice as usize)),
                Err(_) => Ok(()),
            }
        })
    }

    fn codes(&self, slice: u32, side: Side, metric: Metric) -> Result<SliceCodes, GameError> {
        if metric != self.metric && metric != Metric::Wdl {
            return Err(GameError::OutOfTurn(format!("the part was solved for {}, not {metric}", self.metric)));
        }
        let own = &self.own[self.position(slice)?];
        let Some(unwon) = &self.unwon[side.index()][slice as usize] else {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        };
        finished_cells(&self.index, unwon, &own.log, side, metric)
    }

    fn statistics(&self) -> Result<Statistics, GameError> {
        let mut statistics = Statistics::default();
        for (&slice, own) in self.slices.iter().zip(&self.own) {
            census(&self.index, slice, own, &mut statistics)?;
        }
        Ok(statistics)
    }

    fn memory(&self) -> u64 {
        let sets = self.unwon.iter().flatten().flatten().map(|set| set.capacity() * 16).sum::<usize>();
        let frontiers = self.frontiers.iter().flat_map(HashMap::values).map(Frontier::memory).sum::<usize>();
        (sets + frontiers + self.own.iter().map(Own::memory).sum::<usize>()) as u64
    }
}
