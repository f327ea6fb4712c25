//! What a user asked for, and how far it is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use canju_retro::{Metric, Rules, TableName};

use crate::pace::Pace;
use crate::picture::Closed;
use crate::plan::TablePlan;
use crate::record::{JobRecord, RecordState};
use crate::{ClusterError, JobId, WorkId, wire};

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
    pub(crate) rules: Rules,
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
    /// Seconds, CPU seconds and memory under earlier coordinators.
    pub(crate) earlier: (f64, f64, u64),
}

impl Job {
    /// A job of which nothing is done.
    pub(crate) const fn new(
        began: Duration,
        id: JobId,
        asked: Vec<TableName>,
        metrics: Vec<Metric>,
        rules: Rules,
    ) -> Self {
        Self {
            id,
            asked,
            metrics,
            rules,
            state: JobState::Running,
            closure: Vec::new(),
            failed: None,
            pace: Pace::new(),
            open: BTreeSet::new(),
            total: 0,
            done: 0,
            present: 0,
            positions: 0,
            positions_done: 0,
            labels: 0,
            built: Vec::new(),
            began,
            ended: None,
            baseline: BTreeMap::new(),
            spent: (0.0, 0),
            earlier: (0.0, 0.0, 0),
        }
    }

    /// A job as an earlier coordinator left it.
    pub(crate) fn of_record(now: Duration, record: &JobRecord) -> Result<Self, ClusterError> {
        let asked = record.tables.iter().map(|t| TableName::new(t)).collect::<Result<_, _>>()?;
        let metrics = record.metrics.iter().map(|m| m.parse()).collect::<Result<_, _>>()?;
        let mut job = Self::new(now, JobId(record.id), asked, metrics, record.rules.parse()?);
        job.take_over(record);
        job.total = record.total;
        job.done = record.done;
        job.present = record.present;
        job.positions = record.positions;
        job.positions_done = record.positions_done;
        job.state = match record.state {
            RecordState::Running => JobState::Running,
            RecordState::Done => JobState::Done,
            RecordState::Cancelled => JobState::Cancelled,
            RecordState::Failed => JobState::Failed(record.error.clone()),
        };
        job.spent = (record.cpu_seconds, record.peak_memory);
        Ok(job)
    }

    /// Takes over what earlier coordinators have done of it. Which tables of it are there still, the plan knows.
    pub(crate) fn take_over(&mut self, record: &JobRecord) {
        self.labels = record.labels;
        self.built = record.built.clone();
        self.earlier = (record.seconds, record.cpu_seconds, record.peak_memory);
    }

    /// True where it has built a metric of a table, and counts it so.
    fn has_built(&self, table: &TableName) -> bool {
        self.built.iter().any(|built| built.table == table.as_str())
    }

    /// A table of the closure that was there, or that was built for this job, is to be built once more. It counts once.
    pub(crate) fn begin_again(&mut self, work: WorkId, plan: &TablePlan) {
        self.open.insert(work);
        for closed in self.closure.iter_mut().filter(|closed| closed.table == plan.table) {
            closed.works.push(work);
        }
        if self.has_built(&plan.table) {
            self.done = self.done.saturating_sub(1);
            self.positions_done = self.positions_done.saturating_sub(plan.positions);
        } else {
            self.present = self.present.saturating_sub(1);
            self.total += 1;
            self.positions += plan.positions;
        }
    }

    /// A metric of a table is built, perhaps once more: it is told of once, with all that was sent for it.
    pub(crate) fn note_built(&mut self, mut built: wire::Built) {
        let is_same = |b: &wire::Built| b.table == built.table && b.metric == built.metric;
        match self.built.iter_mut().find(|b| is_same(b)) {
            Some(before) => {
                built.bytes_sent += before.bytes_sent;
                *before = built;
            }
            None => self.built.push(built),
        }
    }

    /// A table is there, whoever has built it.
    pub(crate) fn note_present(&mut self, table: &Closed) {
        if self.has_built(&table.table) {
            self.total += 1;
            self.done += 1;
            self.positions += table.positions;
            self.positions_done += table.positions;
        } else {
            self.present += 1;
        }
    }

    /// Seconds since the user asked, those without a coordinator left out.
    pub(crate) fn seconds(&self, now: Duration) -> f64 {
        self.earlier.0 + self.ended.unwrap_or(now).saturating_sub(self.began).as_secs_f64()
    }

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
        let memory: u64 = counted().map(|(usage, _)| usage.peak_memory).sum();
        (self.earlier.1 + cpu.max(0.0), memory.max(self.earlier.2))
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
