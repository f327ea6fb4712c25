//! What a part remembers of one slice that it owns.

use std::sync::Arc;

use canju_retro::{Code, Distance, Frontier, FrontierLog, GameError, Outcome, ScratchFile, Side};

use crate::captures::SliceCaptures;

/// Events and log of an owned slice.
#[derive(Default)]
pub(crate) struct Own {
    /// Captures that take effect at a later ply, in order; those before `event` are done.
    events: FrontierLog,
    event: usize,
    /// What each ply labelled, in order of plies and sides.
    pub log: FrontierLog,
    /// Newly labelled cells by log entry.
    pub counts: Vec<u64>,
    /// Plies in the log, from 0 on without a gap.
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

    /// The captures of a side that take effect at this ply, which is not done yet.
    pub fn events_at(&self, ply: u16, side: Side, words: usize) -> Result<Option<Frontier>, GameError> {
        let due = self.events.entries()[self.event..].iter().take_while(|e| plies(e.code) <= ply);
        match due.into_iter().find(|e| e.side == side) {
            None => Ok(None),
            Some(entry) => self.events.frontier(entry, words as u32).map(Some),
        }
    }

    /// Counts the captures of a ply as done.
    pub fn pass_events(&mut self, ply: u16) {
        let entries = self.events.entries();
        while entries.get(self.event).is_some_and(|e| plies(e.code) <= ply) {
            self.event += 1;
        }
    }

    /// True while there are captures that take effect after this ply.
    pub fn pending(&self, ply: u16) -> bool {
        self.events.entries().last().is_some_and(|e| plies(e.code) > ply)
    }

    /// The number of the log's entry of a ply, if that labelled something.
    pub fn entry(&self, ply: u16, side: Side) -> Option<usize> {
        self.log.entries().binary_search_by_key(&(ply, side), |e| (plies(e.code), e.side)).ok()
    }

    /// Cells that a ply of the log labelled.
    pub fn labelled(&self, ply: u16, side: Side) -> u64 {
        self.entry(ply, side).map_or(0, |entry| self.counts[entry])
    }

    /// What a ply of the log labelled.
    pub fn logged(&self, ply: u16, side: Side, words: usize) -> Result<Frontier, GameError> {
        match self.entry(ply, side) {
            None => Ok(Frontier::new()),
            Some(entry) => self.log.frontier(&self.log.entries()[entry], words as u32),
        }
    }

    /// Writes down what a side's ply labelled.
    pub fn record(&mut self, ply: u16, side: Side, frontier: &Frontier) -> Result<(), GameError> {
        if !frontier.is_empty() {
            self.counts.push(frontier.cells());
        }
        self.log.append(side, code(ply), frontier)
    }

    /// The same by the frontier's bytes and number of cells.
    pub fn record_encoded(&mut self, ply: u16, side: Side, cells: u64, encoded: &[u8]) -> Result<(), GameError> {
        self.counts.push(cells);
        self.log.append_encoded(side, code(ply), encoded)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.events.memory() + self.log.memory() + self.counts.capacity() * 8
    }
}

/// What a ply labels: odd ones win.
pub(crate) fn code(ply: u16) -> Code {
    let distance = Distance::plies(ply);
    Code::from(if ply % 2 == 1 { Outcome::Win(distance) } else { Outcome::Loss(distance) })
}

/// The plies of a decided code.
pub(crate) fn plies(code: Code) -> u16 {
    match code.outcome() {
        Outcome::Draw => 0,
        Outcome::Win(d) | Outcome::Loss(d) => d.plies,
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
