//! A worker as the coordinator sees it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use canju_retro::Rules;

use crate::gauge::Gauge;
use crate::plan::TablePlan;
use crate::{ClusterError, MemberId, Task, WorkId, wire};

/// A part that a worker has from an earlier membership.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) task: Task,
    pub(crate) rules: Rules,
    pub(crate) runs: Range<usize>,
    /// Plies that it has complete.
    pub(crate) complete: u32,
}

impl TryFrom<&wire::Holding> for Holding {
    type Error = ClusterError;

    fn try_from(holding: &wire::Holding) -> Result<Self, ClusterError> {
        let neighbours = holding.runs.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        let (Some(&first), Some(&last), true) = (holding.runs.first(), holding.runs.last(), neighbours) else {
            return Err(ClusterError::Protocol("a part whose runs are not neighbours".into()));
        };
        Ok(Self {
            task: holding.task.clone().try_into()?,
            rules: holding.rules.parse()?,
            runs: first as usize..last as usize + 1,
            complete: holding.complete,
        })
    }
}

/// A worker that has joined.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: MemberId,
    pub(crate) epoch: u64,
    pub(crate) name: String,
    pub(crate) address: String,
    /// Bytes that its parts may take; 0 for no bound.
    pub(crate) memory: u64,
    pub(crate) threads: u32,
    pub(crate) process: u64,
    /// It has checked the store and takes work.
    pub(crate) ready: bool,
    /// It is told to stop, and gives its parts to others.
    pub(crate) draining: bool,
    /// Bytes of scratch disk that its parts may take.
    pub(crate) scratch: u64,
    /// What it still has from an earlier membership.
    pub(crate) holdings: Vec<Holding>,
    pub(crate) seen: Duration,
    pub(crate) gauge: Gauge,
    /// Expected bytes of each part it holds.
    pub(crate) parts: BTreeMap<WorkId, u64>,
}

impl Member {
    pub(crate) fn new(id: MemberId, epoch: u64, hello: &wire::Hello, now: Duration) -> Self {
        Self {
            id,
            epoch,
            name: hello.name.clone(),
            address: hello.address.clone(),
            memory: hello.memory,
            threads: hello.threads.max(1),
            process: hello.usage.as_ref().map_or(0, |u| u.process),
            ready: false,
            draining: false,
            scratch: hello.scratch,
            // What cannot be understood is of no use to anybody.
            holdings: hello.holdings.iter().filter_map(|h| h.try_into().ok()).collect(),
            seen: now,
            gauge: Gauge::default(),
            parts: BTreeMap::new(),
        }
    }

    /// True when it takes parts.
    pub(crate) const fn takes_work(&self) -> bool {
        self.ready && !self.draining
    }

    pub(crate) fn memory_used(&self) -> u64 {
        self.parts.values().sum()
    }

    /// What of that is in memory; the rest is in files of its scratch folder.
    pub(crate) fn in_memory(&self) -> u64 {
        let used = self.memory_used();
        if self.memory == 0 { used } else { used.min(self.memory) }
    }

    /// True when a part of so many bytes of this table fits beside those it holds.
    pub(crate) fn has_room(&self, bytes: u64, plan: &TablePlan) -> bool {
        self.could_hold(self.memory_used().saturating_add(bytes), plan)
    }

    /// True when so many bytes fit at all, with scratch files if the table knows how to use them.
    fn could_hold(&self, bytes: u64, plan: &TablePlan) -> bool {
        let scratch = if plan.keeps_to_room { self.scratch } else { 0 };
        self.memory == 0 || bytes <= self.memory.saturating_add(scratch)
    }

    /// True when a part of so many bytes of this table fits at all, with scratch files if need be. They need some memory too.
    pub(crate) fn could_solve(&self, bytes: u64, plan: &TablePlan) -> bool {
        self.could_hold(bytes, plan) && (self.memory == 0 || bytes <= self.memory || plan.least(bytes) <= self.memory)
    }

    /// True when it takes another small table.
    pub(crate) fn has_slot(&self) -> bool {
        self.parts.len() < self.threads as usize
    }

    /// How messages to users call it.
    pub(crate) fn title(&self) -> String {
        format!("worker {} ({})", self.name, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_scratch_is_not_in_memory() {
        let holding = |memory| {
            let hello = wire::Hello { memory, scratch: 5000, ..wire::Hello::default() };
            let mut member = Member::new(MemberId(1), 1, &hello, Duration::ZERO);
            member.parts = [(WorkId(1), 900), (WorkId(2), 600)].into();
            (member.memory_used(), member.in_memory())
        };
        assert_eq!([holding(0), holding(1000), holding(2000)], [(1500, 1500), (1500, 1000), (1500, 1500)]);
    }

    #[test]
    fn scratch_counts_only_for_games_that_use_it() {
        let hello = wire::Hello { memory: 1000, scratch: 5000, ..wire::Hello::default() };
        let member = Member::new(MemberId(1), 1, &hello, Duration::ZERO);
        let plan = |keeps_to_room| TablePlan { keeps_to_room, ..TablePlan::sample("EWN12B1", vec![50], 4000) };
        let (room, memory) = (plan(true), plan(false));
        assert!(member.has_room(4000, &room) && member.could_solve(4000, &room));
        assert!(!member.has_room(4000, &memory) && !member.could_solve(4000, &memory));
        assert!(member.has_room(1000, &memory) && member.could_solve(1000, &memory));
        // What the rules of repetition take is cut with the table, and stays in memory.
        let mut rules = plan(true);
        rules.repetition_bytes = 1600;
        let (all, half) = (rules.memory(50), rules.memory(25));
        assert_eq!((rules.least(all), rules.least(half)), (1700, 900));
        assert!(!member.could_solve(all, &rules) && member.could_solve(half, &rules));
        assert!(room.remedy(1000).contains("or give workers --scratch and at least"), "{}", room.remedy(1000));
        assert!(memory.remedy(1000).contains("--scratch does not help"), "{}", memory.remedy(1000));
    }
}
