//! A table being built: its stages, and how reports of workers move it on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use canju_retro::{Metric, Rules, Statistics, StepCounts};

use crate::history::History;
use crate::plan::TablePlan;
use crate::trace::Trace;
use crate::{Barrier, BarrierError, ClusterError, JobId, MemberId, PlyReport, Task, Verdict, wire};

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
    /// From the first assignment to the last shard.
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

/// A worker's share of a table.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) member: MemberId,
    pub(crate) runs: Range<usize>,
    /// Bytes that its part is expected to take.
    pub(crate) memory: u64,
}

/// A table being built, one metric after the other.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) plan: TablePlan,
    pub(crate) rules: Rules,
    /// Who wants it. Empty when nobody does any more.
    pub(crate) jobs: BTreeSet<JobId>,
    /// What must be committed before.
    pub(crate) waits_for: BTreeSet<WorkId>,
    pub(crate) solved: Vec<SolvedMetric>,
    pub(crate) stage: Stage,
}

#[derive(Debug)]
pub(crate) enum Stage {
    Waiting,
    Running(Box<Run>),
    Committing,
}

/// One metric at work.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) task: Task,
    pub(crate) owners: Vec<Owner>,
    phase: Phase,
    /// Labels and plies of a part that its worker runs by itself.
    alone: (u32, u64),
    /// That part's plies are done.
    encoding: bool,
    pub(crate) history: History,
    pub(crate) trace: Trace,
    pub(crate) began: Duration,
    bytes_sent: u64,
    cpu_seconds: f64,
    peak_memory: u64,
    shards: Vec<wire::Shard>,
    statistics: Statistics,
}

#[derive(Debug)]
enum Phase {
    Prepare(BTreeSet<MemberId>),
    Plies(Barrier),
    Encode(Barrier, BTreeSet<MemberId>),
}

/// What a report leads to.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Nothing for anybody to do.
    Wait,
    /// The same command for all owners.
    Tell(wire::command::Kind),
    /// The metric is solved and encoded.
    Solved(Box<SolvedMetric>),
}

impl Work {
    /// The next distance to count.
    pub(crate) fn next_metric(&self) -> Option<Metric> {
        self.plan.build.get(self.solved.len()).copied()
    }

    /// What the owners encode of the next distance: win, draw and loss goes with the first.
    pub(crate) fn next_encode(&self) -> Vec<Metric> {
        let has_wdl = self.plan.present.contains(&Metric::Wdl) || !self.solved.is_empty();
        let wdl = (!has_wdl).then_some(Metric::Wdl);
        wdl.into_iter().chain(self.next_metric()).collect()
    }

    pub(crate) fn run(&self) -> Option<&Run> {
        match &self.stage {
            Stage::Running(run) => Some(run),
            _ => None,
        }
    }

    /// Labels of all metrics so far.
    pub(crate) fn labels(&self) -> u64 {
        self.solved.iter().map(|s| s.labels).sum::<u64>() + self.run().map_or(0, Run::labels)
    }

    /// Bytes that its workers have sent each other so far.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.solved.iter().map(|s| s.bytes_sent).sum::<u64>() + self.run().map_or(0, |r| r.bytes_sent)
    }

    /// An estimate of how much is done, from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        let current = self.fraction_of_run();
        (self.solved.len() as f64 + current) / self.plan.build.len().max(1) as f64
    }

    /// An estimate of how much of the metric at work is done, from 0 to 1.
    pub(crate) fn fraction_of_run(&self) -> f64 {
        // Labels are at most the cells of both sides; encoding takes about as long as labelling.
        self.run().map_or(0.0, |run| match run.stage() {
            "encode" => 0.6,
            _ => 0.5 * (run.labels() as f64 / (2 * self.plan.cells()).max(1) as f64).min(1.0),
        })
    }

    /// True for work that could begin now.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Waiting) && self.waits_for.is_empty()
    }
}

impl Run {
    pub(crate) fn new(began: Duration, task: Task, owners: Vec<Owner>) -> Self {
        let missing = owners.iter().map(|o| o.member).collect();
        let trace = Trace::new(&task);
        Self {
            task,
            owners,
            phase: Phase::Prepare(missing),
            alone: (0, 0),
            encoding: false,
            history: History::new(began),
            trace,
            began,
            bytes_sent: 0,
            cpu_seconds: 0.0,
            peak_memory: 0,
            shards: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = MemberId> + '_ {
        self.owners.iter().map(|o| o.member)
    }

    /// True when one worker has it all and runs the plies by itself.
    pub(crate) fn is_whole(&self) -> bool {
        self.owners.len() == 1
    }

    pub(crate) fn labels(&self) -> u64 {
        match &self.phase {
            Phase::Prepare(_) => self.alone.1,
            Phase::Plies(barrier) | Phase::Encode(barrier, _) => barrier.labels(),
        }
    }

    pub(crate) fn ply(&self) -> u32 {
        match &self.phase {
            Phase::Prepare(_) => self.alone.0,
            Phase::Plies(barrier) | Phase::Encode(barrier, _) => u32::from(barrier.ply()),
        }
    }

    pub(crate) fn stage(&self) -> &'static str {
        match &self.phase {
            Phase::Prepare(_) if self.encoding => "encode",
            Phase::Prepare(missing) if missing.is_empty() || self.alone.0 > 0 => "plies",
            Phase::Prepare(_) => "prepare",
            Phase::Plies(_) => "plies",
            Phase::Encode(..) => "encode",
        }
    }

    /// Who has not reported the ply at work while others have.
    pub(crate) fn late(&self) -> Vec<MemberId> {
        let Phase::Plies(barrier) = &self.phase else { return Vec::new() };
        let late: Vec<MemberId> = barrier.late().collect();
        if late.len() < self.owners.len() { late } else { Vec::new() }
    }

    /// Captures are done at a worker.
    pub(crate) fn prepared(&mut self, member: MemberId) -> Progress {
        let whole = self.is_whole();
        let Phase::Prepare(missing) = &mut self.phase else { return Progress::Wait };
        missing.remove(&member);
        if whole || !missing.is_empty() {
            return Progress::Wait;
        }
        self.phase = Phase::Plies(Barrier::new(self.owners.iter().map(|o| o.member).collect()));
        Progress::Tell(self.step(0))
    }

    fn step(&self, ply: u16) -> wire::command::Kind {
        wire::command::Kind::Step(wire::Step { task: Some((&self.task).into()), ply: u32::from(ply) })
    }

    /// How far a worker is that has it all.
    pub(crate) fn progress(&mut self, ply: u32, labels: u64, encoding: bool) -> Progress {
        self.alone = (ply, labels);
        self.encoding = encoding;
        Progress::Wait
    }

    /// A worker has done a ply.
    pub(crate) fn plied(&mut self, member: MemberId, report: &wire::Plied) -> Result<Progress, ClusterError> {
        let Phase::Plies(barrier) = &mut self.phase else { return Ok(Progress::Wait) };
        let ply = u16::try_from(report.ply).map_err(|_| ClusterError::Protocol("a ply beyond 65535".into()))?;
        let first = ply == barrier.ply() && barrier.late().any(|late| late == member);
        let verdict = barrier.report(member, ply, ply_report(report)).map_err(broken)?;
        if first {
            self.bytes_sent += report.sent.iter().map(|t| t.bytes).sum::<u64>();
        }
        match verdict {
            Verdict::Wait => Ok(Progress::Wait),
            Verdict::Next(ply) => Ok(Progress::Tell(self.step(ply))),
            Verdict::Solved => {
                let missing = self.owners.iter().map(|o| o.member).collect();
                let empty = Phase::Prepare(BTreeSet::new());
                if let Phase::Plies(barrier) = std::mem::replace(&mut self.phase, empty) {
                    self.phase = Phase::Encode(barrier, missing);
                }
                Ok(Progress::Tell(wire::command::Kind::Encode(wire::Encode { task: Some((&self.task).into()) })))
            }
        }
    }

    /// A worker's shards are in the store.
    pub(crate) fn encoded(
        &mut self,
        now: Duration,
        member: MemberId,
        report: wire::Encoded,
    ) -> Result<Progress, ClusterError> {
        let whole = self.is_whole();
        match &mut self.phase {
            Phase::Encode(_, missing) => {
                if !missing.remove(&member) {
                    return Ok(Progress::Wait);
                }
            }
            Phase::Prepare(_) if whole => self.alone = (report.plies, report.labels),
            _ => return Err(ClusterError::Protocol("shards of a part that is not solved".into())),
        }
        let statistics = report.statistics.ok_or_else(|| ClusterError::Protocol("shards without statistics".into()))?;
        self.statistics.merge(&statistics.try_into()?);
        self.shards.extend(report.shards);
        self.cpu_seconds += report.cpu_seconds;
        self.peak_memory = self.peak_memory.max(report.memory);
        if let Phase::Encode(_, missing) = &self.phase
            && !missing.is_empty()
        {
            return Ok(Progress::Wait);
        }
        Ok(Progress::Solved(Box::new(self.finish(now))))
    }

    fn finish(&mut self, now: Duration) -> SolvedMetric {
        let mut shards = std::mem::take(&mut self.shards);
        shards.sort_by(|a, b| (&a.metric, a.run).cmp(&(&b.metric, b.run)));
        // Plies are counted from 0: the last one is one less than how many were run.
        let plies = match &self.phase {
            Phase::Prepare(_) => self.alone.0,
            Phase::Plies(_) | Phase::Encode(..) => self.ply() + 1,
        };
        SolvedMetric {
            metric: self.task.metric,
            shards,
            statistics: std::mem::take(&mut self.statistics),
            plies,
            labels: self.labels(),
            workers: self.owners.len() as u32,
            bytes_sent: self.bytes_sent,
            cpu_seconds: self.cpu_seconds,
            wall_seconds: now.saturating_sub(self.began).as_secs_f64(),
            peak_memory: self.peak_memory,
        }
    }
}

fn ply_report(report: &wire::Plied) -> PlyReport {
    let chunks = |traffic: &[wire::Traffic]| -> BTreeMap<MemberId, u32> {
        traffic.iter().map(|t| (MemberId(t.peer), t.chunks)).collect()
    };
    PlyReport {
        counts: StepCounts { labels: [report.first_labels, report.second_labels], pending: report.pending },
        sent: chunks(&report.sent),
        received: chunks(&report.received),
    }
}

fn broken(error: BarrierError) -> ClusterError {
    ClusterError::Protocol(error.to_string())
}
