//! The slices of one endgame that one worker holds: sets, plies and logs.

use std::ops::Range;
use std::sync::Arc;

use canju_retro::{
    After, Distance, GameError, Metric, Part, PartSpec, Room, Rules, ScratchFile, Side, SliceCodes, Statistics,
    StepCounts, Tables, next_ply,
};
use rayon::prelude::*;

use crate::budget::Budget;
use crate::captures::Captures;
use crate::census::census;
use crate::codes::finished_cells;
use crate::course::Course;
use crate::index::Index;
use crate::labels::{Labels, Ply};
use crate::message;
use crate::own::Own;
use crate::paged::Paged;
use crate::resident::Resident;
use crate::saved;
use crate::slab::SlabCache;
use crate::stage::{Phase, Stage};
use crate::territory::Territory;

/// Bytes of decoded slices of smaller tables that are kept for the next slice to use.
const CACHE_BYTES: u64 = 192 << 20;
/// The fewest where all else is in memory.
const LEAST_CACHE_BYTES: u64 = 16 << 20;

pub(crate) struct XiangqiPart {
    territory: Territory,
    metric: Metric,
    rules: Rules,
    tables: Arc<dyn Tables>,
    own: Vec<Own>,
    /// The phase that the steps are in.
    course: Course,
    /// What the rules of repetition need, where they matter.
    stage: Option<Stage>,
    labels: Box<dyn Labels>,
    /// Bytes of decoded slices of smaller tables: kept, and held by one slice.
    slabs: [u64; 2],
    /// The ply to run next; `None` before the captures are prepared.
    next: Option<u16>,
    /// Plies whose labels are in the sets; more than `next` after the part was rewound. The frontiers are those of
    /// the last of them.
    applied: u16,
}

impl XiangqiPart {
    pub fn new(index: Arc<Index>, spec: &PartSpec, tables: Arc<dyn Tables>) -> Result<Self, GameError> {
        if spec.metric == Metric::Wdl {
            return Err(GameError::OutOfTurn("wins, draws and losses alone are not solved for".into()));
        }
        let territory = Territory::new(index, spec.slices.clone())?;
        let mut part = Self {
            own: spec.slices.iter().map(|_| Own::default()).collect(),
            labels: Box::new(Resident::new(territory.index.slices())),
            stage: Stage::new(&territory.index, spec.rules),
            course: Course::default(),
            territory,
            metric: spec.metric,
            rules: spec.rules,
            tables,
            slabs: [CACHE_BYTES, u64::MAX],
            next: None,
            applied: 0,
        };
        if let Some(room) = &spec.room {
            part.fit(room)?;
        }
        Ok(part)
    }

    /// Makes do with so much room.
    fn fit(&mut self, room: &Room) -> Result<(), GameError> {
        // What the rules of repetition take stays in memory.
        let words = self.territory.slices.iter().map(|&slice| self.territory.words(slice)).sum();
        let stage = self.stage.as_ref().map_or(0, |stage| stage.expected_bytes(words));
        let room = &Room { bytes: room.bytes.saturating_sub(stage), ..room.clone() };
        let threads = rayon::current_num_threads();
        let budget = Budget::new(room, &self.territory, threads);
        let price = self.territory.index.shape().price(&self.territory.slices, threads);
        self.slabs[0] = (room.bytes / 8).clamp(LEAST_CACHE_BYTES, CACHE_BYTES);
        if let Some(folder) = room.scratch.as_deref().filter(|_| price.memory > room.bytes) {
            self.slabs = [budget.prepare.decoded.min(CACHE_BYTES), budget.held];
            let logs = Arc::new(ScratchFile::new(folder)?);
            self.own.fill_with(|| Own::in_scratch(Arc::clone(&logs), budget.log));
            self.labels = Box::new(Paged::new(&self.territory, folder, budget)?);
        }
        Ok(())
    }
}

impl Part for XiangqiPart {
    fn prepare(&mut self) -> Result<(), GameError> {
        if self.next.is_some() {
            return Err(GameError::OutOfTurn("the part is prepared already".into()));
        }
        let captures = Captures::new(&self.territory.index)?;
        let cache = SlabCache::new(self.tables.clone(), self.metric, self.rules, self.slabs[0], self.slabs[1]);
        self.labels.prepare(&self.territory, &mut self.own, &captures, &cache)?;
        self.next = Some(0);
        Ok(())
    }

    fn step(&mut self, ply: u16) -> Result<StepCounts, GameError> {
        if self.next != Some(ply) {
            return Err(GameError::OutOfTurn(format!("ply {ply}, when {:?} is next", self.next)));
        }
        let next = next_ply(ply)?;
        let at = ply - self.course.began;
        if ply < self.applied {
            self.labels.recall(&self.territory, &self.own, ply)?;
        } else {
            match (self.course.phase, &mut self.stage) {
                (Phase::Label(order), stage) => {
                    let distance = Distance { order, plies: at };
                    let broken = stage.as_ref().filter(|_| order > 0).map_or_else(Vec::new, |stage| {
                        let broken = |slice| Side::BOTH.map(|s| stage.broken(&self.territory, slice, s, at));
                        if at.is_multiple_of(2) {
                            self.territory.slices.iter().map(|&slice| broken(slice)).collect()
                        } else {
                            Vec::new()
                        }
                    });
                    let ply = Ply { step: ply, distance, broken: &broken };
                    self.labels.label(&self.territory, &mut self.own, &ply)?;
                    self.own.iter_mut().for_each(|own| own.pass_events(distance));
                }
                (phase, Some(stage)) => {
                    stage.run(&self.territory, &*self.labels, &mut self.own, phase, at, ply)?;
                }
                (phase, None) => return Err(GameError::OutOfTurn(format!("{phase:?} without rules of repetition"))),
            }
            self.own.iter_mut().for_each(|own| own.plies = own.plies.max(next));
            self.applied = next;
        }
        self.next = Some(next);
        let mut counts = StepCounts::default();
        for own in &self.own {
            for side in Side::BOTH {
                counts.labels[side.index()] += own.labelled(ply, side);
            }
        }
        self.course.count(&mut counts, at, &self.own, self.stage.as_ref());
        Ok(counts)
    }

    fn turn(&mut self, after: After) -> Result<(), GameError> {
        let (Some(next), Some(stage)) = (self.next, &self.stage) else {
            return Err(GameError::OutOfTurn(format!("{after:?}, though nothing follows")));
        };
        self.course.turn(after, next, stage.tries())
    }

    fn export(&self, readers: &[u32]) -> Vec<u8> {
        let next = self.next.unwrap_or_default();
        let mut out = message::Writer::new(next);
        let Some(step) = next.checked_sub(1) else { return out.finish() };
        let stage = self.stage.as_ref().filter(|_| self.course.phase.is_stage() && next == self.applied);
        for (&slice, own) in self.territory.slices.iter().zip(&self.own) {
            for side in Side::BOTH {
                if !self.territory.readers(slice, side).iter().any(|r| readers.binary_search(r).is_ok()) {
                    continue;
                }
                if let Some(stage) = stage {
                    if let Some(frontier) = stage.outgoing(slice, side) {
                        let mut encoded = Vec::new();
                        frontier.encode(&mut encoded);
                        out.add(slice, side, &encoded);
                    }
                } else if let Some(encoded) = self.labels.outgoing(slice, own, step, side) {
                    out.add(slice, side, encoded);
                }
            }
        }
        out.finish()
    }

    fn import(&mut self, bytes: &[u8]) -> Result<(), GameError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let next = message::next(bytes)?;
        if next == 0 || Some(next) != self.next {
            return Err(GameError::Frontier(format!("it is of ply {}, not of the last one", next.wrapping_sub(1))));
        }
        let index = &self.territory.index;
        let at = next - 1 - self.course.began;
        let is_stage = self.stage.is_some() && self.course.phase.is_stage();
        let planes = self.stage.as_ref().filter(|_| is_stage).map_or([1; 2], Stage::planes);
        let planes = planes.into_iter().max().unwrap_or(1);
        let words =
            |slice: u32| ((slice as usize) < index.slices()).then(|| (planes * index.words(slice as usize)) as u32);
        let keep = is_stage || self.labels.keeps_frontiers();
        let arrivals = message::read(bytes, words, keep, at % 2 == 1)?;
        if let Some(arrival) = arrivals.iter().find(|a| self.territory.position(a.slice).is_some()) {
            return Err(GameError::Frontier(format!("slice {} is owned here", arrival.slice)));
        }
        if next < self.applied {
            // The ply has been followed by another one: what it says is in the sets.
            return Ok(());
        }
        match &mut self.stage {
            Some(stage) if is_stage => {
                arrivals.into_iter().for_each(|arrival| stage.import(self.course.phase, at, arrival));
            }
            stage => arrivals.into_iter().try_for_each(|arrival| {
                stage.iter_mut().for_each(|stage| stage.bounds.note(&arrival));
                self.labels.import(&self.territory, arrival)
            })?,
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), GameError> {
        if self.next.is_none() {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        }
        self.next = Some(0);
        self.course = Course::default();
        Ok(())
    }

    fn known(&self) -> u16 {
        self.own.iter().map(|own| own.plies).min().unwrap_or(self.applied)
    }

    fn save(&self, plies: Range<u16>) -> Result<Vec<u8>, GameError> {
        let end = plies.end.min(self.known());
        let slices = &self.territory.slices;
        let mut out = saved::Writer::new(plies.start.min(end)..end, slices.len());
        slices.iter().zip(&self.own).try_for_each(|(&slice, own)| out.add(slice, own))?;
        Ok(out.finish())
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), GameError> {
        if self.next != Some(0) || self.applied > 0 {
            return Err(GameError::OutOfTurn("a log can be loaded only between prepare and the first step".into()));
        }
        let planes = self.stage.as_ref().map_or([1; 2], Stage::planes);
        let territory = &self.territory;
        let saved::Saved { plies, slices } = saved::read(saved, territory.index.slices())?;
        territory.slices.par_iter().zip(&mut self.own).try_for_each(|(slice, own)| {
            match slices.binary_search_by_key(slice, |&(s, _)| s) {
                Ok(at) => own.load(&plies, slices[at].1, territory.words(*slice), planes),
                Err(_) => Ok(()),
            }
        })
    }

    fn codes(&self, slice: u32, side: Side, metric: Metric) -> Result<SliceCodes, GameError> {
        if metric != self.metric && metric != Metric::Wdl {
            return Err(GameError::OutOfTurn(format!("the part was solved for {}, not {metric}", self.metric)));
        }
        let Some(at) = self.territory.position(slice) else {
            return Err(GameError::OutOfTurn(format!("slice {slice} is not owned here")));
        };
        let Some(unwon) = self.labels.unwon(slice, side)? else {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        };
        finished_cells(&self.territory.index, &unwon, &self.own[at].log, side, metric)
    }

    fn statistics(&self) -> Result<Statistics, GameError> {
        let mut statistics = Statistics::default();
        for (&slice, own) in self.territory.slices.iter().zip(&self.own) {
            census(&self.territory.index, slice, own, &mut statistics)?;
        }
        Ok(statistics)
    }

    fn memory(&self) -> u64 {
        // A dense set for each thread stays for the next step, and two that are spread out.
        let spread = if self.stage.is_some() { 3 } else { 1 };
        let planes = self.stage.as_ref().map_or([1; 2], Stage::planes).into_iter().max().unwrap_or(1);
        let dense = rayon::current_num_threads() * spread * planes * self.territory.most_words() * 16;
        let stage = self.stage.as_ref().map_or(0, Stage::memory);
        self.labels.memory() + stage + (dense + self.own.iter().map(Own::memory).sum::<usize>()) as u64
    }
}
