//! The slices of one endgame that one worker holds: sets, plies and logs.

use std::collections::HashMap;
use std::sync::Arc;

use canju_retro::{
    Cell, Code, Distance, Frontier, FrontierLog, GameError, Longest, Metric, Outcome, Part, Side, SliceCodes,
    Statistics, StepCounts, Tables,
};
use rayon::prelude::*;

use crate::captures::Captures;
use crate::codes::finished_cells;
use crate::index::Index;
use crate::legality::{legal_slice, legal_words};
use crate::message;
use crate::moves::Moves;
use crate::scratch::Scratch;
use crate::slab::SlabCache;

/// Decoded slices of smaller tables that are kept for the next slice to use.
const CACHE_BYTES: u64 = 192 << 20;

/// What an owned slice remembers.
#[derive(Default)]
struct Own {
    /// For each side to move, legal cells that may still be lost: no capture holds them, and they are not lost yet.
    open: [Vec<u128>; 2],
    /// Captures that take effect at a later ply, in order; those before `event` are done.
    events: FrontierLog,
    event: usize,
    log: FrontierLog,
    /// The log's entries of the last ply, by side to move.
    last: [Option<usize>; 2],
    /// Newly labelled cells by log entry.
    counts: Vec<u64>,
    /// Legal cells by side to move.
    legal: [u64; 2],
}

pub(crate) struct XiangqiPart {
    index: Arc<Index>,
    metric: Metric,
    tables: Arc<dyn Tables>,
    /// Owned slices, ascending.
    slices: Vec<u32>,
    /// The slices whose frontiers with a side to move a slice reads, by side; those of all slices.
    readers: [HashMap<u32, Vec<u32>>; 2],
    own: Vec<Own>,
    /// For each side to move, legal cells that are not won (by slice): of owned slices, and copies of neighbours
    /// that others own, made when the first of their frontiers arrives.
    unwon: [Vec<Option<Vec<u128>>>; 2],
    /// What the last ply labelled: of owned slices, and of neighbours.
    frontiers: [HashMap<u32, Frontier>; 2],
    /// The ply to run next; `None` before the captures are prepared.
    next: Option<u16>,
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
        })
    }

    fn position(&self, slice: u32) -> Result<usize, GameError> {
        self.slices.binary_search(&slice).map_err(|_| GameError::OutOfTurn(format!("slice {slice} is not owned here")))
    }

    /// Labels cells that have a move to a cell that the enemy has just lost, and those that win by a capture now.
    fn label_wins(&mut self, ply: u16, side: Side) -> Result<Vec<Frontier>, GameError> {
        let (index, readers, frontiers) = (&*self.index, &self.readers, &self.frontiers[side.other().index()]);
        let mut unwon: Vec<Option<&mut Vec<u128>>> = Vec::with_capacity(self.slices.len());
        let mut sets = self.unwon[side.index()].iter_mut().enumerate();
        for &slice in &self.slices {
            unwon.push(sets.find(|(s, _)| *s == slice as usize).and_then(|(_, set)| set.as_mut()));
        }
        let work = self.slices.par_iter().zip(&self.own).zip(unwon);
        work.map(|((&slice, own), unwon)| {
            let Some(unwon) = unwon else { return Ok(Frontier::new()) };
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

    /// Labels cells of which all moves now lead to cells that the enemy has won.
    fn label_losses(&mut self, ply: u16, side: Side) -> Result<Vec<Frontier>, GameError> {
        let (index, readers, frontiers) = (&*self.index, &self.readers, &self.frontiers[side.other().index()]);
        let unwon = &self.unwon[side.other().index()];
        let work = self.slices.par_iter().zip(&mut self.own);
        work.map(|(&slice, own)| {
            let words = own.open[side.index()].len();
            let events = own.events_at(ply, side, words)?;
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

impl Own {
    /// The captures of a side that take effect at this ply. Plies are asked for in order.
    fn events_at(&self, ply: u16, side: Side, words: usize) -> Result<Option<Frontier>, GameError> {
        let due = self.events.entries()[self.event..].iter().take_while(|e| plies(e.code) <= ply);
        match due.into_iter().find(|e| e.side == side) {
            None => Ok(None),
            Some(entry) => self.events.frontier(entry, words as u32).map(Some).map_err(misfit),
        }
    }

    fn memory(&self) -> usize {
        self.events.memory() + self.log.memory() + self.open.iter().map(|set| set.capacity() * 16).sum::<usize>()
    }
}

/// The plies of a decided code.
fn plies(code: Code) -> u16 {
    match code.outcome() {
        Outcome::Draw => 0,
        Outcome::Win(d) | Outcome::Loss(d) => d.plies,
    }
}

pub(crate) fn misfit(error: canju_retro::FrontierError) -> GameError {
    GameError::Frontier(error.to_string())
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
            for side in Side::BOTH {
                own.legal[side.index()] = captured.legal[side.index()].iter().map(|w| u64::from(w.count_ones())).sum();
            }
            own.open = captured.open;
            own.events = captured.events;
            for (side, legal) in captured.legal.into_iter().enumerate() {
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
        let distance = Distance::plies(ply);
        let code = Code::from(if ply % 2 == 1 { Outcome::Win(distance) } else { Outcome::Loss(distance) });
        let mut counts = StepCounts::default();
        let mut found: [HashMap<u32, Frontier>; 2] = Default::default();
        for side in Side::BOTH {
            let frontiers = if ply % 2 == 1 { self.label_wins(ply, side) } else { self.label_losses(ply, side) }?;
            let labelled: Vec<u64> = self
                .own
                .par_iter_mut()
                .zip(&frontiers)
                .map(|(own, frontier)| {
                    own.last[side.index()] = (!frontier.is_empty()).then(|| own.log.entries().len());
                    let cells = frontier.cells();
                    if !frontier.is_empty() {
                        own.log.append(side, code, frontier);
                        own.counts.push(cells);
                    }
                    cells
                })
                .collect();
            counts.labels[side.index()] = labelled.iter().sum();
            let full = self.slices.iter().copied().zip(frontiers).filter(|(_, f)| !f.is_empty());
            found[side.index()] = full.collect();
        }
        for own in &mut self.own {
            let entries = own.events.entries();
            while entries.get(own.event).is_some_and(|e| plies(e.code) <= ply) {
                own.event += 1;
            }
            counts.pending |= own.event < entries.len();
        }
        self.frontiers = found;
        self.next = ply.checked_add(1);
        Ok(counts)
    }

    fn export(&self, readers: &[u32]) -> Vec<u8> {
        let mut out = message::Writer::new(self.next.unwrap_or_default());
        for (slice, own) in self.slices.iter().zip(&self.own) {
            for side in Side::BOTH {
                let read = self.readers[side.index()][slice].iter().any(|r| readers.binary_search(r).is_ok());
                if let Some(entry) = own.last[side.index()].filter(|_| read) {
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
        if Some(next) != self.next {
            return Err(GameError::Frontier(format!("it is of ply {}, not of the last one", next.wrapping_sub(1))));
        }
        for (slice, side, frontier) in frontiers {
            if self.slices.binary_search(&slice).is_ok() {
                return Err(GameError::Frontier(format!("slice {slice} is owned here")));
            }
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
        let copies = self.index.attackers.copies;
        for (&slice, own) in self.slices.iter().zip(&self.own) {
            let weight = self.index.weight(slice as usize);
            let words = self.index.words(slice as usize) as u32;
            for side in Side::BOTH {
                let counts = &mut statistics.sides[side.index()];
                let cells = self.index.placements(slice as usize);
                let legal = own.legal[side.index()] * weight / copies;
                counts.cells += cells;
                counts.illegal += cells - legal;
                let mut decided = 0;
                let (mut win, mut loss) = (None, None);
                for (entry, &labelled) in own.log.entries().iter().zip(&own.counts).filter(|(e, _)| e.side == side) {
                    let labelled = labelled * weight / copies;
                    decided += labelled;
                    *counts.histogram.entry(entry.code).or_default() += labelled;
                    // Entries come in order of plies: the last one stays.
                    match entry.code.outcome() {
                        Outcome::Win(distance) => win = Some((entry, distance)),
                        Outcome::Loss(distance) => loss = Some((entry, distance)),
                        Outcome::Draw => {}
                    }
                }
                if legal > decided {
                    *counts.histogram.entry(Code::DRAW).or_default() += legal - decided;
                }
                let longest = |found: Option<(&canju_retro::LogEntry, Distance)>| {
                    let Some((entry, distance)) = found else { return Ok(None) };
                    let frontier = own.log.frontier(entry, words).map_err(misfit)?;
                    Ok(frontier.iter().next().map(|(word, cells)| {
                        let place = self.index.row_bits(cells).trailing_zeros();
                        let index = word * self.index.row() as u32 + place;
                        Longest { distance, cell: Cell { slice, index, side } }
                    }))
                };
                let longest = [longest(win)?, longest(loss)?];
                let mut one = Statistics::default();
                one.sides[side.index()].longest_win = longest[0];
                one.sides[side.index()].longest_loss = longest[1];
                statistics.merge(&one);
            }
        }
        Ok(statistics)
    }

    fn memory(&self) -> u64 {
        let sets = self.unwon.iter().flatten().flatten().map(|set| set.capacity() * 16).sum::<usize>();
        let frontiers = self.frontiers.iter().flat_map(HashMap::values).map(Frontier::memory).sum::<usize>();
        (sets + frontiers + self.own.iter().map(Own::memory).sum::<usize>()) as u64
    }
}
