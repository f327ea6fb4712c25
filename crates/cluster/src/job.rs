//! What a user asked for, and how far it is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use canju_retro::{Metric, TableName};

use crate::pace::Pace;
use crate::picture::Closed;
use crate::{JobId, WorkId, wire};

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    Running,
    Done,
    Failed(String),
    Cancelled,
}

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) asked: Vec<TableName>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) state: JobState,
    /// All tables that it takes.
    pub(crate) closure: Vec<Closed>,
    /// What it failed of.
    pub(crate) failed: Option<WorkId>,
    pub(crate) pace: Pace,
    /// What is still to be committed.
    pub(crate) open: BTreeSet<WorkId>,
    pub(crate) total: u32,
    pub(crate) done: u32,
    pub(crate) present: u32,
    pub(crate) positions: u64,
    pub(crate) positions_done: u64,
    /// Labels of committed tables.
    pub(crate) labels: u64,
    pub(crate) built: Vec<wire::Built>,
    pub(crate) began: Duration,
    pub(crate) ended: Option<Duration>,
    /// CPU seconds of each process when the job began, or when the process joined.
    pub(crate) baseline: BTreeMap<u64, f64>,
    /// CPU seconds and memory at the end.
    pub(crate) spent: (f64, u64),
}

impl Job {
    pub(crate) fn is_over(&self) -> bool {
        self.state != JobState::Running
    }

    /// CPU seconds since the job began and the peak memory, of all processes that were there meanwhile.
    pub(crate) fn spent(&self, processes: &BTreeMap<u64, wire::Usage>) -> (f64, u64) {
        if self.is_over() {
            return self.spent;
        }
        let counted = || self.baseline.iter().filter_map(|(process, &base)| Some((processes.get(process)?, base)));
        let cpu = counted().map(|(usage, base)| usage.cpu_seconds - base).sum::<f64>();
        (cpu.max(0.0), counted().map(|(usage, _)| usage.peak_memory).sum())
    }

    /// Ends the job.
    pub(crate) fn end(&mut self, state: JobState, now: Duration, processes: &BTreeMap<u64, wire::Usage>) {
        self.spent = self.spent(processes);
        self.state = state;
        self.ended = Some(now);
        self.open.clear();
        self.baseline.clear();
    }
}
