//! A table being built, metric by metric.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use canju_retro::{Metric, Rules, Statistics};

use crate::checkpoint::folder_of;
use crate::plan::TablePlan;
use crate::run::Run;
use crate::{JobId, MemberId, wire};

/// The number of a table being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkId(pub u64);

/// One metric of a table, solved and encoded by all owners.
#[derive(Clone, Debug)]
pub struct SolvedMetric {
    /// The distance that was counted.
    pub metric: Metric,
    /// All shards that were written, by metric and run.
    pub shards: Vec<wire::Shard>,
    /// Counts of the whole table.
    pub statistics: Statistics,
    /// Plies that were run.
    pub plies: u32,
    /// Labelled cells.
    pub labels: u64,
    /// How many workers had a part.
    pub workers: u32,
    /// Bytes that they sent each other.
    pub bytes_sent: u64,
    /// CPU time of all together.
    pub cpu_seconds: f64,
    /// From the first assignment to the last shard, without what was between two attempts or two coordinators.
    pub wall_seconds: f64,
    /// The most bytes that one part took.
    pub peak_memory: u64,
}

impl SolvedMetric {
    /// Bytes of the shards.
    #[must_use]
    pub fn bytes_stored(&self) -> u64 {
        self.shards.iter().map(|s| s.bytes).sum()
    }
}

/// A table being built, one metric after the other.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) plan: TablePlan,
    pub(crate) rules: Rules,
    /// Who wants it. Empty when nobody does any more.
    pub(crate) jobs: BTreeSet<JobId>,
    /// Who asked first: it names the folder of the checkpoints.
    pub(crate) home: JobId,
    /// What must be committed before.
    pub(crate) waits_for: BTreeSet<WorkId>,
    pub(crate) solved: Vec<SolvedMetric>,
    pub(crate) stage: Stage,
    /// Workers lost since the furthest ply.
    pub(crate) losses: u32,
    /// The ply at the last of these losses.
    pub(crate) lost_at: u16,
    /// Its manifest lists it already: only bytes that are damaged or missing are written.
    pub(crate) repair: bool,
    /// Smaller tables that were built again for it.
    pub(crate) repairs: u32,
    /// Parts that failed by their workers' own trouble, and whose they were.
    pub(crate) failures: u32,
    /// The ply at the last of these failures.
    pub(crate) failed_at: u16,
    pub(crate) shunned: BTreeSet<MemberId>,
    /// How long metrics were at work in runs that came to nothing, and under earlier coordinators.
    pub(crate) spent: BTreeMap<Metric, Duration>,
}

#[derive(Debug)]
pub(crate) enum Stage {
    Waiting,
    Running(Box<Run>),
    Committing,
}

impl Work {
    /// Work that waits.
    pub(crate) fn new(
        plan: TablePlan,
        rules: Rules,
        jobs: BTreeSet<JobId>,
        home: JobId,
        waits_for: BTreeSet<WorkId>,
    ) -> Self {
        Self {
            plan,
            rules,
            jobs,
            home,
            waits_for,
            solved: Vec::new(),
            stage: Stage::Waiting,
            losses: 0,
            lost_at: 0,
            repair: false,
            repairs: 0,
            failures: 0,
            failed_at: 0,
            shunned: BTreeSet::new(),
            spent: BTreeMap::new(),
        }
    }

    /// Ends what is at work, to be begun again.
    pub(crate) fn halt(&mut self, now: Duration) -> Option<Box<Run>> {
        let Stage::Running(run) = std::mem::replace(&mut self.stage, Stage::Waiting) else { return None };
        self.spent.insert(run.task.metric, run.taken(now));
        Some(run)
    }

    /// The metric that is counted next or now, and how long that has taken; nothing where it was not begun.
    pub(crate) fn taken(&self, now: Duration) -> Option<(Metric, Duration)> {
        let metric = self.next_metric()?;
        let taken = match self.run() {
            Some(run) => run.taken(now),
            None => *self.spent.get(&metric)?,
        };
        Some((metric, taken))
    }

    /// The next distance to count.
    pub(crate) fn next_metric(&self) -> Option<Metric> {
        self.plan.build.get(self.solved.len()).copied()
    }

    /// What the owners encode of the next distance: win, draw and loss goes with the first.
    pub(crate) fn next_encode(&self) -> Vec<Metric> {
        let has_wdl = self.plan.present.contains(&Metric::Wdl) || !self.solved.is_empty();
        let next = self.next_metric();
        let wdl = next.filter(|m| m.is_distance() && !has_wdl).map(|_| Metric::Wdl);
        wdl.into_iter().chain(next).collect()
    }

    pub(crate) fn run(&self) -> Option<&Run> {
        match &self.stage {
            Stage::Running(run) => Some(run),
            _ => None,
        }
    }

    /// Labels of the metric at work.
    pub(crate) fn labels(&self) -> u64 {
        self.run().map_or(0, Run::labels)
    }

    /// Bytes that its workers have sent each other so far.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.solved.iter().map(|s| s.bytes_sent).sum::<u64>() + self.run().map_or(0, |r| r.bytes_sent)
    }

    /// An estimate of how much is done, from 0 to 1.
    pub(crate) fn fraction(&self, now: Duration) -> f64 {
        let current = self.fraction_of_run(now);
        (self.solved.len() as f64 + current) / self.plan.build.len().max(1) as f64
    }

    /// An estimate of how much of the metric at work is done, from 0 to 1.
    pub(crate) fn fraction_of_run(&self, now: Duration) -> f64 {
        self.run().map_or(0.0, |run| match run.made(now) {
            Some(made) => 0.5 + 0.5 * made,
            None => self.fraction_of_labels(run.labels()),
        })
    }

    /// How much of a metric so many labels are.
    pub(crate) fn fraction_of_labels(&self, labels: u64) -> f64 {
        // Labels are at most the cells of both sides; encoding takes about as long as labelling.
        0.5 * (labels as f64 / (2 * self.plan.cells()).max(1) as f64).min(1.0)
    }

    /// The folder of its checkpoints.
    pub(crate) fn checkpoints(&self) -> String {
        folder_of(self.home, &self.plan.table)
    }

    /// True for work that could begin now.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Waiting) && self.waits_for.is_empty()
    }
}
