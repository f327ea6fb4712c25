//! One metric of a table at work: its shares, its phases, and how reports of workers move it on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use canju_retro::{After, Statistics, StepCounts};

use crate::history::History;
use crate::trace::Trace;
use crate::work::SolvedMetric;
use crate::{Barrier, BarrierError, ClusterError, MemberId, PlyReport, Task, Verdict, wire};

/// Some runs of the table, solved as one part.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Who solves it; nobody while it waits for a worker.
    pub(crate) member: Option<MemberId>,
    pub(crate) runs: Range<usize>,
    /// Bytes that its part is expected to take.
    pub(crate) memory: u64,
    /// Plies that its part has complete: own labels, and those of all neighbours.
    pub(crate) complete: u32,
    /// Plies of its log that are in the store.
    pub(crate) saved: u32,
    /// What it made, once its shards are in the store.
    pub(crate) made: Option<Made>,
}

/// The shards of a share, and what they took.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    shards: Vec<wire::Shard>,
    statistics: Statistics,
    cpu_seconds: f64,
    memory: u64,
}

impl Share {
    /// A share of which nothing is there yet.
    pub(crate) const fn fresh(member: Option<MemberId>, runs: Range<usize>, memory: u64) -> Self {
        Self { member, runs, memory, complete: 0, saved: 0, made: None }
    }
}

/// The time before which nobody is late.
const LATE: Duration = Duration::from_secs(5);

/// One metric at work.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) task: Task,
    /// One worker has it all and runs the plies by itself.
    pub(crate) alone: bool,
    pub(crate) shares: Vec<Share>,
    /// Since when the shares are as they are.
    pub(crate) since: Duration,
    phase: Phase,
    /// Since when the ply or the stage at work is open, and when half of the shares had done it.
    opened: Duration,
    half: Option<Duration>,
    /// Plies that each share had in its log at the beginning.
    known: BTreeMap<u32, u32>,
    /// Labels that were not computed in this run but came from logs: those of closed plies, and of the one at work.
    replayed: u64,
    replaying: u64,
    /// Plies and labels of a part that its worker runs by itself.
    told: (u32, u64),
    /// That part's plies are done.
    encoding: bool,
    pub(crate) history: History,
    pub(crate) trace: Trace,
    pub(crate) began: Duration,
    /// What runs of it before took.
    pub(crate) earlier: Duration,
    pub(crate) bytes_sent: u64,
    /// The furthest ply of all attempts, and the labels up to it.
    furthest: (u16, u64),
}

#[derive(Debug)]
enum Phase {
    /// Shares wait for a worker: nobody can go on.
    Stopped,
    /// These shares are not prepared.
    Prepare(BTreeSet<u32>),
    Plies(Barrier),
    /// These shares are not in the store.
    Encode(Barrier, BTreeSet<u32>),
}

/// What a report leads to.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Nothing for anybody to do.
    Wait,
    /// The same command for all who have a share.
    Tell(wire::command::Kind),
    /// The metric is solved and encoded.
    Solved(Box<SolvedMetric>),
}

/// What the loss of a worker means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It goes on.
    None,
    /// Its shares must be given to others.
    Shares,
    /// All is lost.
    All,
}

impl Run {
    pub(crate) fn new(began: Duration, task: Task, alone: bool, shares: Vec<Share>) -> Self {
        let trace = Trace::new(&task);
        let mut run = Self {
            task,
            alone,
            shares,
            since: began,
            phase: Phase::Stopped,
            opened: began,
            half: None,
            known: BTreeMap::new(),
            replayed: 0,
            replaying: 0,
            told: (0, 0),
            encoding: false,
            history: History::new(began),
            trace,
            began,
            earlier: Duration::ZERO,
            bytes_sent: 0,
            furthest: (0, 0),
        };
        run.set_out(began);
        run
    }

    /// Begins at ply 0 with the shares as they are, or stands still where one has no worker.
    fn set_out(&mut self, now: Duration) {
        self.since = now;
        self.known.clear();
        self.replaying = 0;
        self.open(now);
        let placed = self.shares.iter().all(|s| s.member.is_some());
        self.phase = if placed { Phase::Prepare(self.numbers().collect()) } else { Phase::Stopped };
    }

    /// Begins again under another epoch, with other shares.
    pub(crate) fn renew(&mut self, now: Duration, epoch: u64, shares: Vec<Share>) {
        self.note_furthest();
        self.task.epoch = epoch;
        self.shares = shares;
        self.set_out(now);
    }

    /// Another ply or stage begins.
    fn open(&mut self, now: Duration) {
        (self.opened, self.half) = (now, None);
    }

    /// A share has done what is at work.
    fn note_done(&mut self, now: Duration) {
        if self.half.is_none() && 2 * self.missing().len() <= self.shares.len() {
            self.half = Some(now);
        }
    }

    /// The shares whose word is missing for the run to go on.
    fn missing(&self) -> Vec<u32> {
        match &self.phase {
            Phase::Stopped => Vec::new(),
            Phase::Prepare(missing) | Phase::Encode(_, missing) => missing.iter().copied().collect(),
            Phase::Plies(barrier) => barrier.late().collect(),
        }
    }

    fn note_furthest(&mut self) {
        if let Phase::Plies(barrier) | Phase::Encode(barrier, _) = &self.phase {
            self.furthest = self.furthest.max((barrier.ply(), barrier.labels()));
        }
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.shares.len() as u32
    }

    /// Everybody who has a share, once each.
    pub(crate) fn members(&self) -> BTreeSet<MemberId> {
        self.shares.iter().filter_map(|s| s.member).collect()
    }

    /// True while shares wait for a worker.
    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self.phase, Phase::Stopped)
    }

    /// True until all are prepared.
    pub(crate) const fn is_before_plies(&self) -> bool {
        matches!(self.phase, Phase::Stopped | Phase::Prepare(_))
    }

    /// True while plies are run, the time at which shares can move.
    pub(crate) const fn is_in_plies(&self) -> bool {
        matches!(self.phase, Phase::Plies(_))
    }

    /// True where all plies are done.
    pub(crate) const fn is_encoding(&self) -> bool {
        matches!(self.phase, Phase::Encode(..))
    }

    pub(crate) fn labels(&self) -> u64 {
        match &self.phase {
            Phase::Stopped | Phase::Prepare(_) => self.told.1.max(self.furthest.1),
            Phase::Plies(barrier) | Phase::Encode(barrier, _) => barrier.labels().max(self.furthest.1),
        }
    }

    pub(crate) fn ply(&self) -> u32 {
        match &self.phase {
            Phase::Stopped | Phase::Prepare(_) => self.told.0,
            Phase::Plies(barrier) | Phase::Encode(barrier, _) => u32::from(barrier.ply()),
        }
    }

    /// The furthest ply of all attempts.
    pub(crate) fn furthest(&self) -> u16 {
        match &self.phase {
            Phase::Plies(barrier) | Phase::Encode(barrier, _) => barrier.ply().max(self.furthest.0),
            _ => self.furthest.0,
        }
    }

    pub(crate) fn stage(&self) -> &'static str {
        match &self.phase {
            Phase::Stopped => "stopped",
            Phase::Prepare(_) if self.encoding => "encode",
            Phase::Prepare(missing) if missing.is_empty() || self.told.0 > 0 => "plies",
            Phase::Prepare(_) => "prepare",
            Phase::Plies(_) => "plies",
            Phase::Encode(..) => "encode",
        }
    }

    /// Who takes more than twice as long as half of the others for what is at work, and some seconds at least.
    pub(crate) fn late(&self, now: Duration) -> BTreeSet<MemberId> {
        let Some(half) = self.half else { return BTreeSet::new() };
        let usual = half.saturating_sub(self.opened);
        if self.open_for(now) < LATE.max(2 * usual) {
            return BTreeSet::new();
        }
        self.missing().iter().filter_map(|&s| self.shares.get(s as usize)?.member).collect()
    }

    /// How long it has taken, with the runs of it before.
    pub(crate) fn taken(&self, now: Duration) -> Duration {
        self.earlier + now.saturating_sub(self.began)
    }

    /// How long the ply or the stage at work is open.
    pub(crate) fn open_for(&self, now: Duration) -> Duration {
        // A worker that has it all tells of plies only now and then.
        now.saturating_sub(self.opened.max(self.history.since()))
    }

    /// How long shards are being made, in parts of all the time before: about as long as they take. At most 1; nothing where
    /// they are not made yet.
    pub(crate) fn made(&self, now: Duration) -> Option<f64> {
        let before = self.opened.saturating_sub(self.began).as_secs_f64();
        let taken = now.saturating_sub(self.opened).as_secs_f64();
        (self.stage() == "encode").then(|| if taken < before { taken / before } else { 1.0 })
    }

    /// Labels that came from logs, and were not computed in this run.
    pub(crate) const fn replayed(&self) -> u64 {
        self.replayed
    }

    /// A share that this worker has.
    fn share_of(&mut self, member: MemberId, number: u32) -> Result<&mut Share, ClusterError> {
        let share = self.shares.get_mut(number as usize).filter(|s| s.member == Some(member));
        share.ok_or_else(|| ClusterError::Protocol(format!("it reports of share {number}, which it does not have")))
    }

    /// A part is prepared, or was kept.
    pub(crate) fn prepared(
        &mut self,
        now: Duration,
        member: MemberId,
        said: &wire::Prepared,
    ) -> Result<Progress, ClusterError> {
        self.share_of(member, said.share)?;
        let Phase::Prepare(missing) = &mut self.phase else { return Ok(Progress::Wait) };
        missing.remove(&said.share);
        let all = missing.is_empty();
        self.known.insert(said.share, said.known);
        if self.alone || !all {
            self.note_done(now);
            return Ok(Progress::Wait);
        }
        self.phase = Phase::Plies(Barrier::new(self.numbers().collect()));
        self.open(now);
        Ok(Progress::Tell(self.step(0, After::End)))
    }

    fn step(&self, ply: u16, turn: After) -> wire::command::Kind {
        let (task, turn) = (Some((&self.task).into()), turn.number());
        wire::command::Kind::Step(wire::Step { task, ply: u32::from(ply), turn })
    }

    /// How far a worker is that has it all.
    pub(crate) fn progress(&mut self, now: Duration, ply: u32, labels: u64, encoding: bool) -> Progress {
        self.told = (ply, labels);
        if encoding && !self.encoding {
            self.open(now);
        }
        self.encoding = encoding;
        Progress::Wait
    }

    /// A part has done a ply.
    pub(crate) fn plied(
        &mut self,
        now: Duration,
        member: MemberId,
        report: &wire::Plied,
    ) -> Result<Progress, ClusterError> {
        let number = report.share;
        self.share_of(member, number)?;
        let Phase::Plies(barrier) = &mut self.phase else { return Ok(Progress::Wait) };
        let ply = u16::try_from(report.ply).map_err(|_| ClusterError::Protocol("a ply beyond 65535".into()))?;
        let first = ply == barrier.ply() && barrier.late().any(|late| late == number);
        let verdict = barrier.report(number, ply, ply_report(report)?).map_err(broken)?;
        if first {
            self.bytes_sent += report.sent.iter().map(|t| t.bytes).sum::<u64>();
            // What an earlier attempt of this run has counted is counted already.
            if self.known.get(&number).is_some_and(|&known| report.ply < known) && ply >= self.furthest.0 {
                self.replaying += report.first_labels.saturating_add(report.second_labels);
            }
        }
        if let Some(share) = self.shares.get_mut(number as usize) {
            share.complete = share.complete.max(u32::from(ply) + 1);
        }
        if verdict == Verdict::Wait {
            self.note_done(now);
        } else {
            self.replayed += std::mem::take(&mut self.replaying);
            self.open(now);
        }
        match verdict {
            Verdict::Wait => Ok(Progress::Wait),
            Verdict::Next(ply) => Ok(Progress::Tell(self.step(ply, After::End))),
            Verdict::Turn(ply, after) => Ok(Progress::Tell(self.step(ply, after))),
            Verdict::Solved => {
                let missing = self.numbers().filter(|&s| self.shares[s as usize].made.is_none()).collect();
                if let Phase::Plies(barrier) = std::mem::replace(&mut self.phase, Phase::Stopped) {
                    self.phase = Phase::Encode(barrier, missing);
                }
                Ok(Progress::Tell(wire::command::Kind::Encode(wire::Encode { task: Some((&self.task).into()) })))
            }
        }
    }

    /// The log of a part is in the store up to a ply.
    pub(crate) fn checkpointed(
        &mut self,
        member: MemberId,
        said: &wire::Checkpointed,
    ) -> Result<Progress, ClusterError> {
        let share = self.share_of(member, said.share)?;
        share.saved = share.saved.max(said.plies);
        Ok(Progress::Wait)
    }

    /// A part's shards are in the store.
    pub(crate) fn encoded(
        &mut self,
        now: Duration,
        member: MemberId,
        report: wire::Encoded,
    ) -> Result<Progress, ClusterError> {
        let number = report.share;
        self.share_of(member, number)?;
        match &mut self.phase {
            Phase::Encode(_, missing) => {
                if !missing.remove(&number) {
                    return Ok(Progress::Wait);
                }
            }
            Phase::Prepare(_) if self.alone => self.told = (report.plies, report.labels),
            _ => return Err(ClusterError::Protocol("shards of a part that is not solved".into())),
        }
        let statistics = report.statistics.ok_or_else(|| ClusterError::Protocol("shards without statistics".into()))?;
        let made = Made {
            shards: report.shards,
            statistics: statistics.try_into()?,
            cpu_seconds: report.cpu_seconds,
            memory: report.memory,
        };
        self.share_of(member, number)?.made = Some(made);
        if let Phase::Encode(_, missing) = &self.phase
            && !missing.is_empty()
        {
            self.note_done(now);
            return Ok(Progress::Wait);
        }
        Ok(Progress::Solved(Box::new(self.finish(now))))
    }

    fn finish(&self, now: Duration) -> SolvedMetric {
        let made = || self.shares.iter().filter_map(|s| s.made.as_ref());
        let mut shards: Vec<wire::Shard> = made().flat_map(|m| m.shards.iter().cloned()).collect();
        shards.sort_by(|a, b| (&a.metric, a.run).cmp(&(&b.metric, b.run)));
        let mut statistics = Statistics::default();
        made().for_each(|m| statistics.merge(&m.statistics));
        // Plies are counted from 0: the last one is one less than how many were run.
        let plies = if self.alone { self.told.0 } else { self.ply() + 1 };
        SolvedMetric {
            metric: self.task.metric,
            shards,
            statistics,
            plies,
            labels: self.labels(),
            workers: self.members().len() as u32,
            bytes_sent: self.bytes_sent,
            cpu_seconds: made().map(|m| m.cpu_seconds).sum(),
            wall_seconds: self.taken(now).as_secs_f64(),
            peak_memory: made().map(|m| m.memory).max().unwrap_or(0),
        }
    }

    /// A worker is gone. Parts whose shards are in the store are missed too, unless all others are at their shards:
    /// plies need the frontiers of every part.
    pub(crate) fn lose(&mut self, member: MemberId) -> Loss {
        if self.alone {
            return if self.members().contains(&member) { Loss::All } else { Loss::None };
        }
        let all_solved = self.is_encoding();
        let mut needed = false;
        for share in self.shares.iter_mut().filter(|s| s.member == Some(member)) {
            share.member = None;
            share.complete = 0;
            needed |= share.made.is_none() || !all_solved;
        }
        if needed { Loss::Shares } else { Loss::None }
    }

    /// How the shares stand in an Assign. Names and addresses come from `who`.
    pub(crate) fn list(&self, who: impl Fn(MemberId) -> Option<(String, String)>) -> Vec<wire::Share> {
        self.shares
            .iter()
            .map(|s| {
                let (name, address) = s.member.and_then(&who).unwrap_or_default();
                wire::Share {
                    worker: s.member.map_or(0, |m| m.0),
                    name,
                    address,
                    runs: (s.runs.start as u32..s.runs.end as u32).collect(),
                    complete: s.complete,
                    encoded: s.made.is_some(),
                    memory: s.memory,
                }
            })
            .collect()
    }
}

fn ply_report(report: &wire::Plied) -> Result<PlyReport, ClusterError> {
    let after = After::from_number(report.after)
        .ok_or_else(|| ClusterError::Protocol(format!("nothing follows by the number {}", report.after)))?;
    let labels = [report.first_labels, report.second_labels];
    let chunks =
        |traffic: &[wire::Traffic]| -> BTreeMap<u32, u32> { traffic.iter().map(|t| (t.share, t.chunks)).collect() };
    Ok(PlyReport {
        counts: StepCounts { labels, pending: report.pending, after },
        sent: chunks(&report.sent),
        received: chunks(&report.received),
    })
}

fn broken(error: BarrierError) -> ClusterError {
    ClusterError::Protocol(error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where something is wrong")]
mod tests {
    use canju_retro::{Metric, TableName};

    use super::*;

    const PLIES: u32 = 3;

    /// Two shares after so many plies, of which the second one's shards are in the store.
    fn half_made() -> Run {
        let table = TableName::new("KRK").unwrap();
        let task = Task { job: "j1".parse().unwrap(), table, metric: Metric::Dtm, epoch: 7 };
        let shares = (0..2).map(|n| Share::fresh(Some(MemberId(n)), n as usize..n as usize + 1, 1)).collect();
        let mut run = Run::new(Duration::ZERO, task, false, shares);
        for share in 0..2 {
            run.prepared(Duration::ZERO, MemberId(share.into()), &wire::Prepared { share, ..Default::default() })
                .unwrap();
        }
        for ply in 0..PLIES {
            for share in 0..2 {
                let labels = u64::from(ply == 0);
                let plied = wire::Plied { share, ply, first_labels: labels, ..Default::default() };
                run.plied(Duration::ZERO, MemberId(share.into()), &plied).unwrap();
            }
        }
        let statistics = Some((&Statistics::default()).into());
        let made = wire::Encoded { share: 1, statistics, ..Default::default() };
        run.encoded(Duration::ZERO, MemberId(1), made).unwrap();
        run
    }

    #[test]
    fn a_part_in_the_store_is_missed_only_while_others_need_its_frontiers() {
        let mut run = half_made();
        assert_eq!(run.lose(MemberId(1)), Loss::None, "the other share is solved as well");

        let mut run = half_made();
        assert_eq!(run.lose(MemberId(0)), Loss::Shares, "its shards are not made");
        let mut shares = run.shares.clone();
        shares[0].member = Some(MemberId(2));
        run.renew(Duration::ZERO, 8, shares);
        assert_eq!(run.lose(MemberId(1)), Loss::Shares, "the first share goes through its plies again");
    }

    #[test]
    fn late_is_who_takes_twice_as_long_as_the_others() {
        let at = Duration::from_secs;
        let table = TableName::new("KRK").unwrap();
        let task = Task { job: "j1".parse().unwrap(), table, metric: Metric::Dtm, epoch: 7 };
        let shares = (0..3).map(|n| Share::fresh(Some(MemberId(n)), n as usize..n as usize + 1, 1)).collect();
        let mut run = Run::new(at(0), task, false, shares);
        let prepare = |run: &mut Run, second, share: u32| {
            let said = wire::Prepared { share, ..Default::default() };
            run.prepared(at(second), MemberId(share.into()), &said).unwrap();
        };
        let late = |run: &Run, second| run.late(at(second)).into_iter().map(|m| m.0).collect::<Vec<u64>>();
        const NOBODY: [u64; 0] = [];
        prepare(&mut run, 20, 0);
        assert_eq!(late(&run, 1000), NOBODY, "one alone says nothing of what is usual");
        prepare(&mut run, 30, 1);
        assert_eq!(late(&run, 59), NOBODY);
        assert_eq!((late(&run, 60), run.open_for(at(60))), (vec![2], at(60)));
        prepare(&mut run, 70, 2);
        assert_eq!((run.stage(), run.open_for(at(71))), ("plies", at(1)));
        for share in 0..2 {
            let plied = wire::Plied { share, ..Default::default() };
            run.plied(at(70), MemberId(share.into()), &plied).unwrap();
        }
        assert_eq!(late(&run, 74), NOBODY, "moments are nothing to speak of");
        assert_eq!(late(&run, 75), [2]);
    }

    #[test]
    fn labels_from_logs_are_told_from_those_that_are_computed() {
        let table = TableName::new("KRK").unwrap();
        let task = Task { job: "j1".parse().unwrap(), table, metric: Metric::Dtm, epoch: 7 };
        let shares: Vec<_> = (0..2).map(|n| Share::fresh(Some(MemberId(n)), n as usize..n as usize + 1, 1)).collect();
        let mut run = Run::new(Duration::ZERO, task, false, shares.clone());
        let go = |run: &mut Run, known: [u32; 2], plies: u32| {
            for (share, known) in (0..).zip(known) {
                let said = wire::Prepared { share, known, ..Default::default() };
                run.prepared(Duration::ZERO, MemberId(share.into()), &said).unwrap();
            }
            for (ply, share) in (0..plies).flat_map(|ply| [(ply, 0), (ply, 1)]) {
                let plied = wire::Plied { share, ply, first_labels: 10, ..Default::default() };
                run.plied(Duration::ZERO, MemberId(share.into()), &plied).unwrap();
            }
        };
        go(&mut run, [3, 2], 4);
        assert_eq!((run.labels(), run.replayed()), (80, 50));
        // Under this coordinator they were counted once already.
        run.renew(Duration::ZERO, 8, shares);
        go(&mut run, [4, 0], 5);
        assert_eq!((run.labels(), run.replayed()), (100, 50));
    }
}
