//! The slices of a table that one worker holds.
//!
//! Ply n computes the own slices of layer n; what other slices need of them travels as numbers of 64 bits, so that the
//! result does not depend on who computed what. A slice is computed by one ply and does not change after it.

use std::ops::Range;
use std::sync::Arc;

use canju_retro::{Code, GameError, Metric, Odds, Part, Side, SliceCodes, Statistics, StepCounts, Tables, next_ply};
use rayon::prelude::*;

use crate::message::{self, Message, misfit};
use crate::{Chances, Index, Sweep};

/// A slice's chances by side to move.
pub(crate) type Values = [Vec<f64>; 2];

/// A slice of which there is nothing yet.
static NOTHING: Values = [Vec::new(), Vec::new()];

pub(crate) struct EwnPart {
    index: Index,
    /// Own slices, ascending, and the plies that each has in its log without a gap.
    own: Vec<u32>,
    plies: Vec<u16>,
    tables: Arc<dyn Tables>,
    /// `None` before the smaller tables are read.
    sweep: Option<Sweep>,
    /// Of all slices those that are known, own or not.
    values: Vec<Option<Values>>,
    /// The ply to run next.
    next: u16,
}

impl EwnPart {
    pub(crate) fn new(index: Index, own: Vec<u32>, tables: Arc<dyn Tables>) -> Result<EwnPart, GameError> {
        if let Some(slice) = own.iter().find(|&&slice| slice >= index.slices()) {
            return Err(GameError::OutOfTurn(format!("{} has no slice {slice}", index.signature())));
        }
        let values = vec![None; index.slices() as usize];
        Ok(EwnPart { index, plies: vec![0; own.len()], own, tables, sweep: None, values, next: 0 })
    }

    fn layer(&self, ply: u16) -> impl Iterator<Item = u32> + '_ {
        self.own.iter().copied().filter(move |&slice| self.index.layer(slice) == u32::from(ply))
    }

    fn owned(&self, slice: u32) -> Result<usize, GameError> {
        self.own.binary_search(&slice).map_err(|_| GameError::OutOfTurn(format!("slice {slice} is not owned here")))
    }

    fn known_slice(&self, slice: u32) -> Option<&Values> {
        self.values.get(slice as usize)?.as_ref()
    }
}

impl Part for EwnPart {
    fn prepare(&mut self) -> Result<(), GameError> {
        if self.sweep.is_some() {
            return Err(GameError::OutOfTurn("the part is prepared already".into()));
        }
        let signature = self.index.signature();
        let smaller: Result<Vec<_>, _> = signature
            .smaller()
            .into_par_iter()
            .map(|s| Chances::read(Index::new(s), self.tables.as_ref()).map(Arc::new))
            .collect();
        self.sweep = Some(Sweep::new(signature, smaller?));
        Ok(())
    }

    fn step(&mut self, ply: u16) -> Result<StepCounts, GameError> {
        let Some(sweep) = self.sweep.as_ref().filter(|_| self.next == ply) else {
            return Err(GameError::OutOfTurn(format!("ply {ply}, when {} is next or nothing is prepared", self.next)));
        };
        let next = next_ply(ply)?;
        let slices: Vec<u32> = self.layer(ply).collect();
        let open: Vec<u32> = slices.iter().copied().filter(|&slice| self.known_slice(slice).is_none()).collect();
        let missing = |slice: &u32| self.index.leads_to(*slice).into_iter().find(|&to| self.known_slice(to).is_none());
        if let Some(slice) = open.iter().find_map(missing) {
            return Err(GameError::OutOfTurn(format!("slice {slice} of an earlier ply has not come")));
        }
        let solved: Vec<Values> = open
            .par_iter()
            .map(|&slice| sweep.slice(slice, |earlier| self.known_slice(earlier).unwrap_or(&NOTHING)).0)
            .collect();
        for (slice, values) in open.into_iter().zip(solved) {
            self.values[slice as usize] = Some(values);
        }
        self.next = next;
        for plies in &mut self.plies {
            *plies = (*plies).max(next);
        }
        let mut counts =
            StepCounts { labels: [0; 2], pending: u32::from(ply) < self.index.last_layer(), ..StepCounts::default() };
        for values in slices.iter().filter_map(|&slice| self.known_slice(slice)) {
            for (labels, values) in counts.labels.iter_mut().zip(values) {
                *labels += values.iter().filter(|chance| !chance.is_nan()).count() as u64;
            }
        }
        Ok(counts)
    }

    fn export(&self, readers: &[u32]) -> Vec<u8> {
        let Some(last) = self.next.checked_sub(1) else { return Vec::new() };
        let mut wanted: Vec<u32> = readers.iter().flat_map(|&reader| self.index.leads_to(reader)).collect();
        wanted.sort_unstable();
        let mut message = Message::begin(last..self.next);
        for slice in self.layer(last).filter(|slice| wanted.binary_search(slice).is_ok()) {
            if let Some(values) = self.known_slice(slice) {
                message.add(slice, values);
            }
        }
        message.unless_empty()
    }

    fn import(&mut self, bytes: &[u8]) -> Result<(), GameError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (plies, slices) = message::read(bytes, self.index)?;
        if plies.end != self.next || plies.len() != 1 {
            return Err(misfit("it is not of the last ply"));
        }
        for (slice, values) in slices {
            if self.owned(slice).is_ok() || self.index.layer(slice) != u32::from(plies.start) {
                return Err(misfit("a slice is owned here, or not of its ply"));
            }
            // A slice never changes: what is here already is the same.
            self.values[slice as usize].get_or_insert(values);
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), GameError> {
        if self.sweep.is_none() {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        }
        self.next = 0;
        Ok(())
    }

    fn known(&self) -> u16 {
        self.plies.iter().copied().min().unwrap_or(self.next)
    }

    fn save(&self, plies: Range<u16>) -> Result<Vec<u8>, GameError> {
        let end = plies.end.min(self.known());
        let plies = plies.start.min(end)..end;
        let mut message = Message::begin(plies.clone());
        for &slice in &self.own {
            let is_in = u16::try_from(self.index.layer(slice)).is_ok_and(|layer| plies.contains(&layer));
            // A slice with nothing in these plies is named, so that they count as known.
            message.add(slice, self.known_slice(slice).filter(|_| is_in).unwrap_or(&NOTHING));
        }
        Ok(message.bytes())
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), GameError> {
        if self.sweep.is_none() || self.next != 0 {
            return Err(GameError::OutOfTurn("a log can be loaded only between prepare and the first step".into()));
        }
        let (plies, slices) = message::read(saved, self.index)?;
        for (slice, values) in slices {
            let Ok(at) = self.owned(slice) else { continue };
            let is_in = u16::try_from(self.index.layer(slice)).is_ok_and(|layer| plies.contains(&layer));
            if is_in == values[0].is_empty() {
                return Err(misfit("a slice is not of its ply"));
            }
            if plies.start > self.plies[at] {
                continue;
            }
            self.plies[at] = self.plies[at].max(plies.end);
            if is_in {
                self.values[slice as usize].get_or_insert(values);
            }
        }
        Ok(())
    }

    fn codes(&self, slice: u32, side: Side, metric: Metric) -> Result<SliceCodes, GameError> {
        if metric != Metric::Odds {
            return Err(GameError::OutOfTurn(format!("the part was solved for odds, not {metric}")));
        }
        self.owned(slice)?;
        let Some(values) = self.known_slice(slice) else {
            return Err(GameError::OutOfTurn(format!("slice {slice} has not been solved")));
        };
        // What is no position repeats the cell before it.
        let mut code = Code::LOSS;
        let codes = values[side.index()].iter().map(|&chance| {
            if !chance.is_nan() {
                code = Odds::of(chance).into();
            }
            code
        });
        Ok(SliceCodes::of(&codes.collect::<Vec<_>>()))
    }

    fn statistics(&self) -> Result<Statistics, GameError> {
        let mut statistics = Statistics::default();
        for &slice in &self.own {
            // A position off the anchor's diagonal stands for its transposed image as well.
            let weight = if self.index.on_diagonal(slice) { 1 } else { 2 };
            let Some(values) = self.known_slice(slice) else { continue };
            for (side, values) in statistics.sides.iter_mut().zip(values) {
                side.cells += weight * values.len() as u64;
                for &chance in values {
                    let code = match chance {
                        c if c.is_nan() => {
                            side.illegal += weight;
                            continue;
                        }
                        0.0 => Code::LOSS,
                        1.0 => Code::WIN,
                        _ => Code::DRAW,
                    };
                    *side.histogram.entry(code).or_default() += weight;
                }
            }
        }
        Ok(statistics)
    }

    fn memory(&self) -> u64 {
        let own: usize = self.values.iter().flatten().map(|values| 8 * (values[0].len() + values[1].len())).sum();
        let smaller = self.sweep.as_ref().map_or(0, Sweep::memory);
        own as u64 + smaller
    }
}
