//! The coordinator's mind: what happens when a worker or a user says something. No network, no clock,
//! no store: events come in as calls with the time, and what is to be done goes out as [`Action`]s.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use canju_retro::{Metric, Rules, TableName};

use crate::job::{Job, JobState};
use crate::member::Member;
use crate::tally::Tally;
use crate::wire::{command::Kind as Tell, report::Kind as Said};
use crate::work::{Progress, Run, SolvedMetric, Stage, Work, WorkId};
use crate::{ClusterError, JobId, MemberId, Task, wire};

/// Finished jobs that are remembered.
const FINISHED: usize = 1000;

/// How a coordinator behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A worker that says nothing for so long is given up for lost.
    pub patience: Duration,
    /// Tables of fewer cells (for one side to move) go whole to one worker.
    pub cut_from: u64,
    /// No table is begun before so many workers have joined.
    pub min_workers: usize,
    /// Larger than any epoch that an earlier coordinator of the same store has given out.
    pub first_epoch: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { patience: Duration::from_secs(15), cut_from: 4 << 20, min_workers: 1, first_epoch: 1 }
    }
}

/// What is to be done after an event, in this order.
#[derive(Debug)]
pub enum Action {
    /// A command for a worker.
    Tell(MemberId, Tell),
    /// A worker is no longer one; the text tells why.
    Expel(MemberId, String),
    /// A table is solved: write its manifest, then call [`Conductor::committed`].
    Commit(Box<Commit>),
}

/// All that a table's manifest says.
#[derive(Clone, Debug)]
pub struct Commit {
    /// What is to be reported when it is done.
    pub work: WorkId,
    /// Which table.
    pub table: TableName,
    /// Under which rules.
    pub rules: Rules,
    /// Where one capture leads.
    pub smaller: Vec<TableName>,
    /// The new metrics.
    pub solved: Vec<SolvedMetric>,
}

/// The coordinator's state.
pub struct Conductor {
    pub(crate) settings: Settings,
    pub(crate) members: BTreeMap<MemberId, Member>,
    pub(crate) jobs: BTreeMap<JobId, Job>,
    pub(crate) works: BTreeMap<WorkId, Work>,
    pub(crate) processes: BTreeMap<u64, wire::Usage>,
    /// Processes whose workers are gone: they count for the jobs that they had a part in, not for later ones.
    pub(crate) gone: BTreeSet<u64>,
    /// What was committed since the start, and as which commit: a plan may have been made before that.
    pub(crate) committed: BTreeMap<(Rules, TableName), BTreeMap<Metric, u64>>,
    commits: u64,
    pub(crate) actions: Vec<Action>,
    pub(crate) tally: Tally,
    pub(crate) next_job: u64,
    /// The next number of a member or a work.
    next: u64,
    epoch: u64,
}

impl Conductor {
    /// A coordinator without workers and jobs.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let epoch = settings.first_epoch;
        Self {
            settings,
            members: BTreeMap::new(),
            jobs: BTreeMap::new(),
            works: BTreeMap::new(),
            processes: BTreeMap::new(),
            gone: BTreeSet::new(),
            committed: BTreeMap::new(),
            commits: 0,
            actions: Vec::new(),
            tally: Tally::default(),
            next_job: 1,
            next: 1,
            epoch,
        }
    }

    /// What is to be done, in order; the list is then empty.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn new_epoch(&mut self) -> u64 {
        self.epoch += 1;
        self.epoch
    }

    /// How many tables were committed since the start.
    #[must_use]
    pub const fn commits(&self) -> u64 {
        self.commits
    }

    /// A worker wants to join. Returns its number and the epoch of its membership.
    pub fn join(&mut self, now: Duration, hello: &wire::Hello) -> (MemberId, u64) {
        let (id, epoch) = (MemberId(self.number()), self.new_epoch());
        let member = Member::new(id, epoch, hello, now);
        tracing::info!(worker = %member.name, address = %member.address, threads = member.threads, "worker joins");
        self.members.insert(id, member);
        if let Some(usage) = hello.usage {
            self.note_usage(usage);
        }
        (id, epoch)
    }

    /// A process reports what it has used.
    pub fn note_usage(&mut self, usage: wire::Usage) {
        let fresh = self.processes.insert(usage.process, usage).is_none();
        if self.gone.remove(&usage.process) || fresh {
            for job in self.jobs.values_mut().filter(|j| !j.is_over()) {
                job.baseline.entry(usage.process).or_insert(usage.cpu_seconds);
            }
        }
    }

    /// A worker's stream ended, or it was given up.
    pub fn leave(&mut self, now: Duration, id: MemberId, reason: &str) {
        let Some(member) = self.members.remove(&id) else { return };
        tracing::info!(worker = %member.name, reason, "worker is gone");
        let held: Vec<WorkId> = member.parts.keys().copied().collect();
        for work in held {
            self.fail(now, work, &format!("{} was lost: {reason}", member.title()));
        }
        if !self.members.values().any(|m| m.process == member.process) {
            self.gone.insert(member.process);
        }
        self.schedule(now);
        self.forget();
    }

    /// Forgets the oldest finished jobs, and processes that are gone and that no open job counts.
    pub(crate) fn forget(&mut self) {
        let over: Vec<JobId> = self.jobs.values().filter(|j| j.is_over()).map(|j| j.id).collect();
        for id in over.iter().take(over.len().saturating_sub(FINISHED)) {
            self.jobs.remove(id);
        }
        let Self { jobs, processes, gone, .. } = self;
        gone.retain(|process| {
            let counted = jobs.values().any(|j| !j.is_over() && j.baseline.contains_key(process));
            if !counted {
                processes.remove(process);
            }
            counted
        });
    }

    /// Gives up workers that have said nothing for too long.
    pub fn tick(&mut self, now: Duration) {
        let patience = self.settings.patience;
        let silent: Vec<MemberId> =
            self.members.values().filter(|m| now.saturating_sub(m.seen) > patience).map(|m| m.id).collect();
        for id in silent {
            let reason = format!("no heartbeat for {} s", patience.as_secs());
            self.actions.push(Action::Expel(id, reason.clone()));
            self.leave(now, id, &reason);
        }
    }

    /// A worker says something.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] when it is no member, or of another epoch.
    pub fn report(&mut self, now: Duration, id: MemberId, report: wire::Report) -> Result<(), ClusterError> {
        let member = self.members.get_mut(&id).filter(|m| m.epoch == report.epoch);
        let member = member.ok_or_else(|| {
            ClusterError::Refused(format!("worker {id} is no longer a member at epoch {}: join anew", report.epoch))
        })?;
        member.seen = now;
        member.gauge.note(now, &report);
        self.tally.reported(&report);
        match report.kind {
            None | Some(Said::Hello(_)) => Err(ClusterError::Protocol("a report that says nothing".into())),
            Some(Said::Ready(_)) => {
                member.ready = true;
                self.schedule(now);
                Ok(())
            }
            Some(Said::Heartbeat(beat)) => {
                if let Some(usage) = beat.usage {
                    self.note_usage(usage);
                }
                Ok(())
            }
            Some(Said::Leaving(leaving)) => {
                self.leave(now, id, &leaving.reason);
                Ok(())
            }
            Some(Said::Failed(failed)) => self.on_failed(now, id, failed),
            Some(Said::Prepared(said)) => self.on_work(now, id, said.task, |run| Ok(run.prepared(id))),
            Some(Said::Progress(said)) => {
                self.on_work(now, id, said.task, |run| Ok(run.progress(said.ply, said.labels, said.encoding)))
            }
            Some(Said::Plied(said)) => self.on_work(now, id, said.task.clone(), |run| run.plied(id, &said)),
            Some(Said::Encoded(said)) => {
                if let Some(usage) = said.usage {
                    self.note_usage(usage);
                }
                self.on_work(now, id, said.task.clone(), |run| run.encoded(now, id, said))
            }
        }
    }

    /// The work of this task at work with this member. Late words about work given up find none.
    fn work_of(&self, id: MemberId, task: &Task) -> Option<WorkId> {
        let parts = &self.members.get(&id)?.parts;
        parts.keys().copied().find(|w| self.works.get(w).and_then(Work::run).is_some_and(|r| r.task == *task))
    }

    fn on_failed(&mut self, now: Duration, id: MemberId, failed: wire::Failed) -> Result<(), ClusterError> {
        let task = Task::try_from(failed.task)?;
        if let Some(work) = self.work_of(id, &task) {
            let title = self.members.get(&id).map(Member::title).unwrap_or_default();
            self.fail(now, work, &format!("{title}: {}", failed.cause));
            self.schedule(now);
        }
        Ok(())
    }

    fn on_work(
        &mut self,
        now: Duration,
        id: MemberId,
        task: Option<wire::Task>,
        apply: impl FnOnce(&mut Run) -> Result<Progress, ClusterError>,
    ) -> Result<(), ClusterError> {
        let task = Task::try_from(task)?;
        let Some(work_id) = self.work_of(id, &task) else { return Ok(()) };
        let Some(Stage::Running(run)) = self.works.get_mut(&work_id).map(|w| &mut w.stage) else { return Ok(()) };
        let applied = apply(run);
        self.note_progress(now, work_id);
        match applied {
            Ok(Progress::Wait) => {}
            Ok(Progress::Tell(command)) => {
                let run = self.works.get(&work_id).and_then(Work::run);
                let members: Vec<MemberId> = run.into_iter().flat_map(Run::members).collect();
                self.actions.extend(members.into_iter().map(|m| Action::Tell(m, command.clone())));
            }
            Ok(Progress::Solved(solved)) => self.solved(now, work_id, *solved),
            Err(error) => {
                let title = self.members.get(&id).map(Member::title).unwrap_or_default();
                self.fail(now, work_id, &format!("{title}: {}", error.line()));
                self.schedule(now);
            }
        }
        Ok(())
    }

    /// A metric is finished: on with the next one, or with the manifest.
    fn solved(&mut self, now: Duration, id: WorkId, solved: SolvedMetric) {
        let Some(work) = self.works.get_mut(&id) else { return };
        tracing::info!(table = %work.plan.table, metric = %solved.metric, plies = solved.plies, labels = solved.labels,
            workers = solved.workers, bytes_sent = solved.bytes_sent, "solved");
        work.solved.push(solved);
        let Stage::Running(run) = std::mem::replace(&mut work.stage, Stage::Waiting) else { return };
        if work.next_metric().is_some() {
            self.start(now, id, run.owners);
            return;
        }
        work.stage = Stage::Committing;
        self.actions.push(Action::Commit(Box::new(Commit {
            work: id,
            table: work.plan.table.clone(),
            rules: work.rules,
            smaller: work.plan.smaller.clone(),
            solved: work.solved.clone(),
        })));
        for member in self.members.values_mut() {
            member.parts.remove(&id);
        }
        self.schedule(now);
    }

    /// A table's manifest was written, or not. `built` is what the job's summary says of it.
    pub fn committed(&mut self, now: Duration, id: WorkId, result: Result<Vec<wire::Built>, String>) {
        let built = match result {
            Ok(built) => built,
            Err(cause) => {
                self.fail(now, id, &cause);
                self.schedule(now);
                return;
            }
        };
        let Some(work) = self.works.remove(&id) else { return };
        tracing::info!(table = %work.plan.table, "committed");
        self.tally.committed(&built);
        let key = (work.rules, work.plan.table.clone());
        self.commits += 1;
        let fresh: BTreeSet<Metric> = work.plan.build.iter().copied().chain([Metric::Wdl]).collect();
        self.committed.entry(key).or_default().extend(fresh.iter().map(|&m| (m, self.commits)));
        for other in self.works.values_mut() {
            other.waits_for.remove(&id);
            if other.rules == work.rules && other.plan.table == work.plan.table {
                other.plan.present.extend(&fresh);
            }
        }
        for job in self.jobs.values_mut().filter(|j| work.jobs.contains(&j.id)) {
            job.open.remove(&id);
            job.done += 1;
            job.positions_done += work.plan.positions;
            job.labels += work.labels();
            job.built.extend(built.iter().cloned());
            if job.open.is_empty() {
                tracing::info!(job = %job.id, "job is done");
                job.end(JobState::Done, now, &self.processes);
            }
        }
        self.schedule(now);
    }

    /// All jobs that want this work fail.
    pub(crate) fn fail(&mut self, now: Duration, id: WorkId, cause: &str) {
        let Some(work) = self.works.get(&id) else { return };
        let metric = work.run().map_or_else(String::new, |r| format!(" ({})", r.task.metric));
        let error = format!("{}{metric} could not be built: {cause}", work.plan.table);
        tracing::warn!(table = %work.plan.table, cause, "work failed");
        let wanted_by = work.jobs.clone();
        for &job in &wanted_by {
            if let Some(job) = self.jobs.get_mut(&job) {
                job.failed = Some(id);
                job.end(JobState::Failed(error.clone()), now, &self.processes);
            }
        }
        self.discard(id);
        for job in wanted_by {
            self.abandon(job);
        }
    }

    /// A job no longer wants anything.
    pub(crate) fn abandon(&mut self, job: JobId) {
        let mut unwanted = Vec::new();
        for (&id, work) in &mut self.works {
            // A manifest that is being written is finished: the table is whole.
            if work.jobs.remove(&job) && work.jobs.is_empty() && !matches!(work.stage, Stage::Committing) {
                unwanted.push(id);
            }
        }
        for id in unwanted {
            self.discard(id);
        }
    }

    fn discard(&mut self, id: WorkId) {
        let Some(work) = self.works.remove(&id) else { return };
        for member in self.members.values_mut() {
            if member.parts.remove(&id).is_some()
                && let Some(run) = work.run()
            {
                let task = Some((&run.task).into());
                self.actions.push(Action::Tell(member.id, Tell::Drop(wire::Drop { task })));
            }
        }
        for other in self.works.values_mut() {
            other.waits_for.remove(&id);
        }
    }
}
