//! Sets in a scratch file, of which only some are in memory; frontiers as bytes.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use canju_retro::{Frontier, GameError, Side};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::budget::Budget;
use crate::captures::Captures;
use crate::label::{Reading, Sink};
use crate::labels::{Arrival, Labels, Ply};
use crate::legality::legal_slice;
use crate::order::in_order;
use crate::own::{Own, code, misfit, take_out};
use crate::sets::{Set, Sets};
use crate::slab::{self, SlabCache};
use crate::territory::Territory;

/// Encoded frontiers of one side to move by slice.
type Frontiers = HashMap<u32, Arc<[u8]>>;

pub(crate) struct Paged {
    /// By slice, cells that are not won for either side to move, then cells that may be lost: as [`crate::resident`] has them.
    sets: Sets,
    slices: usize,
    budget: Budget,
    /// What the last ply labelled: of owned slices, and of neighbours.
    frontiers: [Frontiers; 2],
    /// Those that were decoded for a slice and are kept for the next one.
    decoded: Cache<(Side, u32), Arc<Frontier>, Bytes>,
    /// What owned slices labelled in an earlier ply that is to be exported again.
    recalled: Option<[Frontiers; 2]>,
    /// Positions of owned slices: by red fortress, and by the blocks of black ones, in which red fortresses move.
    orders: [Vec<usize>; 2],
    /// Passes over the slices so far: every other one goes backwards, and finds in memory what the one before left there.
    passes: usize,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<(Side, u32), Arc<Frontier>> for Bytes {
    fn weight(&self, _: &(Side, u32), frontier: &Arc<Frontier>) -> u64 {
        frontier.memory() as u64 + 64
    }
}

impl Paged {
    pub fn new(territory: &Territory, folder: &Path, budget: Budget) -> Result<Self, GameError> {
        let slices = territory.index.slices();
        let words = (0..4 * slices).map(|n| territory.words((n % slices) as u32));
        let natural: Vec<usize> = (0..territory.slices.len()).collect();
        let mut by_block = natural.clone();
        by_block.sort_by_key(|&at| territory.index.block_of(territory.slices[at] as usize));
        Ok(Self {
            sets: Sets::new(words, folder, budget.prepare.sets)?,
            slices,
            frontiers: Default::default(),
            decoded: slab::cache(budget.plies.decoded, Bytes),
            budget,
            recalled: None,
            orders: [by_block, natural],
            passes: 0,
        })
    }

    fn unwon_number(&self, slice: usize, side: Side) -> usize {
        side.index() * self.slices + slice
    }

    fn open_number(&self, slice: usize, side: Side) -> usize {
        (2 + side.index()) * self.slices + slice
    }

    /// A frontier of the last ply.
    fn frontier(&self, territory: &Territory, slice: u32, side: Side) -> Result<Option<Arc<Frontier>>, GameError> {
        let Some(bytes) = self.frontiers[side.index()].get(&slice) else { return Ok(None) };
        let decode = || Frontier::decode(&mut &bytes[..], territory.words(slice) as u32).map(Arc::new).map_err(misfit);
        self.decoded.get_or_insert_with(&(side, slice), decode).map(Some)
    }

    /// Labels a slice, or takes the labels from its log. Gives the frontier's bytes, if there are labels.
    fn label_slice(
        &self,
        territory: &Territory,
        own: &mut Own,
        at: usize,
        ply: &Ply<'_>,
        side: Side,
    ) -> Result<Option<Arc<[u8]>>, GameError> {
        let slice = territory.slices[at];
        let nothing = Frontier::new();
        let broken = ply.broken.get(at).map_or(&nothing, |broken| &broken[side.index()]);
        let words = territory.words(slice);
        let events = own.events_at(ply.distance, side, words)?;
        if ply.step < own.plies {
            return self.take_logged(own, slice, ply, side, events.as_ref());
        }
        let enemy = side.other();
        let near = territory.readers(slice, enemy);
        let reads = |slice: &u32| self.frontiers[enemy.index()].contains_key(slice);
        let reached = reads(&slice) || near.iter().any(reads);
        if !ply.is_first() && events.is_none() && !reached && broken.is_empty() {
            return Ok(None);
        }
        let failed = OnceCell::new();
        let frontiers = |sink: &mut Sink<'_>| {
            for &from in [slice].iter().chain(near) {
                match self.frontier(territory, from, enemy) {
                    Ok(Some(frontier)) => sink(from, &frontier),
                    Ok(None) => {}
                    Err(error) => drop(failed.set(error)),
                }
            }
        };
        let index = &*territory.index;
        let reading = Reading { index, slice, side, events: events.as_ref(), frontiers: &frontiers };
        let found = if ply.wins() {
            self.change(self.unwon_number(slice as usize, side), |unwon| {
                let found = reading.wins(unwon);
                Ok((!found.is_empty(), found))
            })
        } else {
            let Some(here) = self.sets.get(self.unwon_number(slice as usize, enemy))? else { return Ok(None) };
            let others: RefCell<Vec<(usize, Option<Arc<Set>>)>> = RefCell::default();
            let there = |other: usize, word: usize| {
                let mut others = others.borrow_mut();
                let at = others.iter().position(|&(slice, _)| slice == other).unwrap_or_else(|| {
                    let set = self.sets.get(self.unwon_number(other, enemy));
                    others.push((
                        other,
                        set.unwrap_or_else(|error| {
                            drop(failed.set(error));
                            None
                        }),
                    ));
                    others.len() - 1
                });
                match &others[at].1 {
                    Some(set) => set.words[word],
                    // A neighbour of which nothing has been won yet.
                    None => territory.legal(other, word, enemy),
                }
            };
            self.change(self.open_number(slice as usize, side), |open| {
                let found = reading.losses(ply.is_first(), open, &here.words, there, broken);
                Ok((events.is_some() || !found.is_empty(), found))
            })
        }?;
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        if found.is_empty() {
            return Ok(None);
        }
        let mut encoded = Vec::new();
        found.encode(&mut encoded);
        own.record_encoded(ply.step, code(ply.distance), side, found.cells(), &encoded)?;
        Ok(Some(encoded.into()))
    }

    fn take_logged(
        &self,
        own: &Own,
        slice: u32,
        ply: &Ply<'_>,
        side: Side,
        events: Option<&Frontier>,
    ) -> Result<Option<Arc<[u8]>>, GameError> {
        let wins = ply.wins();
        let entry = own.entry(ply.step, side);
        if entry.is_none() && (wins || events.is_none()) {
            return Ok(None);
        }
        let slice = slice as usize;
        let number = if wins { self.unwon_number(slice, side) } else { self.open_number(slice, side) };
        self.change(number, |set| {
            if !wins {
                events.iter().flat_map(|f| f.iter()).for_each(|(word, cells)| set[word as usize] |= cells);
            }
            take_out(set, &own.logged(ply.step, side, set.len())?)?;
            Ok((true, ()))
        })?;
        entry.map(|entry| own.log.encoded(entry).map(|bytes| Arc::from(&*bytes))).transpose()
    }

    /// Changes a set of an owned slice, which is there from the beginning.
    fn change<R>(
        &self,
        number: usize,
        change: impl FnOnce(&mut [u128]) -> Result<(bool, R), GameError>,
    ) -> Result<R, GameError> {
        self.sets.change(number, Vec::new, change)
    }
}

/// The own slices, to be lent to one thread each.
fn lend(owns: &mut [Own]) -> Vec<Mutex<&mut Own>> {
    owns.iter_mut().map(Mutex::new).collect()
}

impl Labels for Paged {
    fn prepare(
        &mut self,
        territory: &Territory,
        owns: &mut [Own],
        captures: &Captures,
        cache: &SlabCache,
    ) -> Result<(), GameError> {
        let owns = lend(owns);
        in_order(self.budget.prepare.width, &self.orders[1], |at| {
            let mut own = owns[at].lock().unwrap_or_else(PoisonError::into_inner);
            let slice = territory.slices[at] as usize;
            let events = own.take_events();
            let [legal, open] = own.prepare(captures.slice(&territory.index, slice, cache, events)?);
            for (side, (legal, open)) in Side::BOTH.into_iter().zip(legal.into_iter().zip(open)) {
                self.sets.put(self.unwon_number(slice, side), legal)?;
                self.sets.put(self.open_number(slice, side), open)?;
            }
            Ok(())
        })?;
        self.sets.set_room(self.budget.plies.sets);
        Ok(())
    }

    fn label(&mut self, territory: &Territory, owns: &mut [Own], ply: &Ply<'_>) -> Result<(), GameError> {
        let mut found: [Frontiers; 2] = Default::default();
        let owns = lend(owns);
        for side in Side::BOTH {
            let mut order = self.orders[side.index()].clone();
            if self.passes % 2 == 1 {
                order.reverse();
            }
            self.passes += 1;
            let frontiers = Mutex::new(Frontiers::new());
            in_order(self.budget.plies.width, &order, |at| {
                let mut own = owns[at].lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(encoded) = self.label_slice(territory, &mut own, at, ply, side)? {
                    let slice = territory.slices[at];
                    frontiers.lock().unwrap_or_else(PoisonError::into_inner).insert(slice, encoded);
                }
                Ok(())
            })?;
            found[side.index()] = frontiers.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
        self.frontiers = found;
        self.decoded.clear();
        self.recalled = None;
        Ok(())
    }

    fn recall(&mut self, territory: &Territory, owns: &[Own], step: u16) -> Result<(), GameError> {
        let mut recalled: [Frontiers; 2] = Default::default();
        for (&slice, own) in territory.slices.iter().zip(owns) {
            for side in Side::BOTH {
                if let Some(entry) = own.entry(step, side) {
                    recalled[side.index()].insert(slice, Arc::from(&*own.log.encoded(entry)?));
                }
            }
        }
        self.recalled = Some(recalled);
        Ok(())
    }

    fn outgoing<'a>(&'a self, slice: u32, _: &'a Own, _: u16, side: Side) -> Option<&'a [u8]> {
        let frontiers = self.recalled.as_ref().unwrap_or(&self.frontiers);
        frontiers[side.index()].get(&slice).map(|bytes| &**bytes)
    }

    fn keeps_frontiers(&self) -> bool {
        false
    }

    fn import(&mut self, territory: &Territory, arrival: Arrival<'_>) -> Result<(), GameError> {
        let Arrival { slice, side, mut encoded, wins, .. } = arrival;
        self.frontiers[side.index()].insert(slice, Arc::from(encoded));
        if wins {
            let frontier = Frontier::decode(&mut encoded, territory.words(slice) as u32).map_err(misfit)?;
            let make = || legal_slice(&territory.index, slice as usize, side);
            self.sets.change(self.unwon_number(slice as usize, side), make, |set| {
                frontier.iter().for_each(|(word, cells)| set[word as usize] &= !cells);
                Ok((true, ()))
            })?;
        }
        Ok(())
    }

    fn unwon(&self, slice: u32, side: Side) -> Result<Option<Cow<'_, [u128]>>, GameError> {
        let set = self.sets.get(self.unwon_number(slice as usize, side))?;
        Ok(set.map(|set| Cow::Owned(set.words.clone())))
    }

    fn open(&self, _: usize, slice: u32, side: Side) -> Result<Cow<'_, [u128]>, GameError> {
        let set = self.sets.get(self.open_number(slice as usize, side))?;
        Ok(Cow::Owned(set.map(|set| set.words.clone()).unwrap_or_default()))
    }

    fn memory(&self) -> u64 {
        let maps = self.recalled.iter().chain([&self.frontiers]).flatten();
        let bytes: usize = maps.flat_map(HashMap::values).map(|bytes| bytes.len() + 48).sum();
        self.sets.memory() + bytes as u64 + self.decoded.weight()
    }
}
