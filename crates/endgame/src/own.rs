//! What a part remembers of one slice that it owns.

use canju_retro::{Code, Distance, Frontier, FrontierLog, GameError, Outcome, Side};

use crate::captures::SliceCaptures;

/// Events and log of an owned slice, and the cells that may still be lost.
#[derive(Default)]
pub(crate) struct Own {
    /// For each side to move, legal cells that may still be lost: no capture holds them, and they are not lost yet.
    pub open: [Vec<u128>; 2],
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
    /// Takes over what the captures come to; gives back the legal cells, by side to move.
    pub fn prepare(&mut self, captured: SliceCaptures) -> [Vec<u128>; 2] {
        let cells = |set: &Vec<u128>| set.iter().map(|w| u64::from(w.count_ones())).sum();
        self.legal = captured.legal.each_ref().map(cells);
        self.open = captured.open;
        self.events = captured.events;
        captured.legal
    }

    /// The captures of a side that take effect at this ply, which is not done yet.
    pub fn events_at(&self, ply: u16, side: Side, words: usize) -> Result<Option<Frontier>, GameError> {
        let due = self.events.entries()[self.event..].iter().take_while(|e| plies(e.code) <= ply);
        match due.into_iter().find(|e| e.side == side) {
            None => Ok(None),
            Some(entry) => self.events.frontier(entry, words as u32).map(Some).map_err(misfit),
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
            Some(entry) => self.log.frontier(&self.log.entries()[entry], words as u32).map_err(misfit),
        }
    }

    /// Writes down what a side's ply labelled, unless it comes from the log.
    pub fn record(&mut self, ply: u16, side: Side, frontier: &Frontier) {
        if ply >= self.plies && !frontier.is_empty() {
            self.log.append(side, code(ply), frontier);
            self.counts.push(frontier.cells());
        }
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let open: usize = self.open.iter().map(|set| set.capacity() * 16).sum();
        self.events.memory() + self.log.memory() + self.counts.capacity() * 8 + open
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
