//! What a part remembers of one slice that it owns.

use std::ops::Range;
use std::sync::Arc;

use canju_retro::{Code, Distance, Frontier, FrontierLog, GameError, Outcome, ScratchFile, Side};

use crate::captures::SliceCaptures;

/// Events and log of an owned slice.
#[derive(Default)]
pub(crate) struct Own {
    /// Captures that take effect at a later ply, in order; those before `event` are done.
    events: FrontierLog,
    event: usize,
    /// The first event that was not done when the rules of repetition last began an order.
    begun: usize,
    /// What each ply labelled, in order of plies and sides.
    pub log: FrontierLog,
    /// The step of each log entry. Steps that do not label have draws as their code.
    pub steps: Vec<u16>,
    /// Newly labelled cells by log entry.
    pub counts: Vec<u64>,
    /// Steps in the log, from 0 on without a gap.
    pub plies: u16,
    /// Legal cells by side to move.
    pub legal: [u64; 2],
}

impl Own {
    /// With logs that go to a file, each when it holds so many bytes.
    pub fn in_scratch(file: Arc<ScratchFile>, keep: usize) -> Self {
        let log = || FrontierLog::in_scratch(Arc::clone(&file), keep);
        Self { events: log(), log: log(), ..Self::default() }
    }

    /// The log that the captures are to be written to.
    pub fn take_events(&mut self) -> FrontierLog {
        std::mem::take(&mut self.events)
    }

    /// Takes over what the captures come to; gives back the legal cells and those that may be lost.
    pub fn prepare(&mut self, captured: SliceCaptures) -> [[Vec<u128>; 2]; 2] {
        let cells = |set: &Vec<u128>| set.iter().map(|w| u64::from(w.count_ones())).sum();
        self.legal = captured.legal.each_ref().map(cells);
        self.events = captured.events;
        [captured.legal, captured.open]
    }

    /// The captures of a side that take effect at this distance, which is not done yet.
    pub fn events_at(&self, now: Distance, side: Side, words: usize) -> Result<Option<Frontier>, GameError> {
        let due = self.events.entries()[self.event..].iter().take_while(|e| distance(e.code) <= now);
        match due.into_iter().find(|e| e.side == side) {
            None => Ok(None),
            Some(entry) => self.events.frontier(entry, words as u32).map(Some),
        }
    }

    /// Counts the captures of a distance as done.
    pub fn pass_events(&mut self, now: Distance) {
        let entries = self.events.entries();
        while entries.get(self.event).is_some_and(|e| distance(e.code) <= now) {
            self.event += 1;
        }
    }

    /// Cells that captures held until after the rules of repetition last began an order, and hold no longer.
    pub fn opened(&self, side: Side, words: usize) -> Result<Vec<Frontier>, GameError> {
        let done = self.events.entries()[self.begun..self.event].iter();
        let lost = done.filter(|e| e.side == side && matches!(e.code.outcome(), Outcome::Loss(_)));
        lost.map(|entry| self.events.frontier(entry, words as u32)).collect()
    }

    /// Begins an order of the rules of repetition.
    pub fn begin(&mut self) {
        self.begun = self.event;
    }

    /// Gives what some steps of the log won for a side.
    pub fn won(
        &self,
        steps: Range<u16>,
        side: Side,
        words: usize,
        mut sink: impl FnMut(&Frontier),
    ) -> Result<(), GameError> {
        let at = |step| self.steps.partition_point(|&s| s < step);
        let entries = self.log.entries()[at(steps.start)..at(steps.end)].iter();
        for entry in entries.filter(|e| e.side == side && matches!(e.code.outcome(), Outcome::Win(_))) {
            sink(&self.log.frontier(entry, words as u32)?);
        }
        Ok(())
    }

    /// True while there are captures that take effect after this distance, in the same order.
    pub fn pending(&self, now: Distance) -> bool {
        let last = self.events.entries().iter().rev().map(|e| distance(e.code)).find(|d| d.order == now.order);
        last.is_some_and(|d| d > now)
    }

    /// True where there are captures that take effect in a later order.
    pub fn later(&self, order: u16) -> bool {
        self.events.entries().last().is_some_and(|e| distance(e.code).order > order)
    }

    /// The number of the log's entry of a step, if that labelled something.
    pub fn entry(&self, step: u16, side: Side) -> Option<usize> {
        let first = self.steps.partition_point(|&s| s < step);
        let entries =
            self.log.entries().iter().zip(&self.steps).enumerate().skip(first).take_while(|(_, (_, s))| **s == step);
        entries.into_iter().find(|(_, (e, _))| e.side == side).map(|(number, _)| number)
    }

    /// Cells that a step of the log labelled.
    pub fn labelled(&self, step: u16, side: Side) -> u64 {
        self.entry(step, side).map_or(0, |entry| self.counts[entry])
    }

    /// What a step of the log labelled.
    pub fn logged(&self, step: u16, side: Side, words: usize) -> Result<Frontier, GameError> {
        match self.entry(step, side) {
            None => Ok(Frontier::new()),
            Some(entry) => self.log.frontier(&self.log.entries()[entry], words as u32),
        }
    }

    /// Writes down what a side's step did.
    pub fn record(&mut self, step: u16, code: Code, side: Side, frontier: &Frontier) -> Result<(), GameError> {
        if !frontier.is_empty() {
            self.steps.push(step);
            self.counts.push(frontier.cells());
        }
        self.log.append(side, code, frontier)
    }

    /// The same by the frontier's bytes and number of cells.
    pub fn record_encoded(
        &mut self,
        step: u16,
        code: Code,
        side: Side,
        cells: u64,
        encoded: &[u8],
    ) -> Result<(), GameError> {
        self.steps.push(step);
        self.counts.push(cells);
        self.log.append_encoded(side, code, encoded)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.events.memory() + self.log.memory() + self.counts.capacity() * 10
    }
}

/// What a ply labels: odd ones win.
pub(crate) fn code(distance: Distance) -> Code {
    Code::from(if distance.plies % 2 == 1 { Outcome::Win(distance) } else { Outcome::Loss(distance) })
}

/// The distance of a decided code.
fn distance(code: Code) -> Distance {
    match code.outcome() {
        Outcome::Draw => Distance::default(),
        Outcome::Win(d) | Outcome::Loss(d) => d,
    }
}

/// Takes the labels of a log out of the cells that may get them.
pub(crate) fn take_out(set: &mut [u128], labels: &Frontier) -> Result<(), GameError> {
    for (word, cells) in labels.iter() {
        let left = &mut set[word as usize];
        if cells & !*left != 0 {
            return Err(GameError::Frontier("the log labels cells that cannot have the label".into()));
        }
        *left ^= cells;
    }
    Ok(())
}

pub(crate) fn misfit(error: canju_retro::FrontierError) -> GameError {
    GameError::Frontier(error.to_string())
}
