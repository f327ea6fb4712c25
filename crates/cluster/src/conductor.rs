//! The coordinator's mind: what happens when a worker or a user says something. No network, no clock,
//! no store: events come in as calls with the time, and what is to be done goes out as [`Action`]s.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use canju_retro::{Metric, Rules, TableName};

use crate::job::{Job, JobState};
use crate::links::Links;
use crate::member::Member;
use crate::record::{AtWork, JobRecord};
use crate::recover::{Move, Settling};
use crate::run::{Progress, Run};
use crate::tally::Tally;
use crate::wire::{command::Kind as Tell, report::Kind as Said};
use crate::work::{SolvedMetric, Stage, Work, WorkId};
use crate::{ClusterError, JobId, MemberId, Task, wire};

/// Finished jobs that are remembered.
pub(crate) const FINISHED: usize = 1000;
/// Epochs of one reign: more than a coordinator can give out.
const REIGN_SHIFT: u32 = 40;

/// How a coordinator behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A worker that says nothing for so long is given up for lost.
    pub patience: Duration,
    /// Tables of fewer cells (for one side to move) go whole to one worker.
    pub cut_from: u64,
    /// No table is begun before so many workers have joined.
    pub min_workers: usize,
    /// Cells (for one side to move) from which a share is halved for a worker that has nothing to do.
    pub split_from: u64,
    /// Workers that a table may lose in a row, without a ply between them, before its jobs fail.
    pub losses: u32,
    /// Smaller tables that are built again for one table before its jobs fail.
    pub repairs: u32,
    /// How long a worker that others cannot reach is left out of tables that are cut, the first time.
    pub left_out: Duration,
    /// How often the time that jobs have taken is written: what a later coordinator may count too little.
    pub record: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(15),
            cut_from: 4 << 20,
            min_workers: 1,
            split_from: 16 << 20,
            losses: 12,
            repairs: 4,
            left_out: Duration::from_secs(600),
            record: Duration::from_secs(10),
        }
    }
}

/// What is to be done after an event, in this order.
#[derive(Debug)]
pub enum Action {
    /// A command for a worker.
    Tell(MemberId, Tell),
    /// A worker is no longer one; the text tells why.
    Expel(MemberId, String),
    /// A metric of a table is solved: write it into the manifest, then call [`Conductor::committed`].
    Commit(Box<Commit>),
    /// A job has changed: write its record.
    Record(Box<JobRecord>),
    /// Checkpoints of a work are of no use any more: there is no such work.
    Sweep,
    /// A table is damaged: plan it anew, then call [`Conductor::repair`].
    Replan(Damage),
}

/// A finished table that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The number of the work that builds it again.
    pub id: WorkId,
    /// Which table.
    pub table: TableName,
    /// Which of its metrics.
    pub metric: Metric,
    /// Under which rules.
    pub rules: Rules,
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
    /// The new metric, and win, draw and loss where that is new too.
    pub solved: SolvedMetric,
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
    pub(crate) settling: Option<Settling>,
    pub(crate) moves: Vec<Move>,
    /// Damaged tables that are being planned.
    pub(crate) replanning: BTreeMap<(Rules, TableName), WorkId>,
    /// Who cannot be reached by whom.
    pub(crate) links: Links,
    pub(crate) tally: Tally,
    pub(crate) next_job: u64,
    /// The next number of a member or a work.
    next: u64,
    epoch: u64,
    /// When the time of jobs was written last.
    recorded: Duration,
}

impl Conductor {
    /// A coordinator without workers and jobs. `reign` is the number of its lease: larger than that of any
    /// coordinator before it, so that its epochs are too.
    #[must_use]
    pub fn new(settings: Settings, reign: u64) -> Self {
        let epoch = reign << REIGN_SHIFT;
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
            settling: None,
            moves: Vec::new(),
            replanning: BTreeMap::new(),
            links: Links::default(),
            tally: Tally::default(),
            next_job: 1,
            next: 1,
            epoch,
            recorded: Duration::ZERO,
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
        let mut member = Member::new(id, epoch, hello, now);
        member.name = self.free_name(now, hello);
        tracing::info!(worker = %member.name, address = %member.address, threads = member.threads, "worker joins");
        self.links.joined(&hello.name);
        self.members.insert(id, member);
        if let Some(usage) = hello.usage {
            self.note_usage(usage);
        }
        (id, epoch)
    }

    /// The name of a worker; with a number where another one that lives has it, as metrics and people tell workers apart by
    /// their names. One that comes back before it is known that it was away keeps its own.
    fn free_name(&self, now: Duration, hello: &wire::Hello) -> String {
        let lives = |m: &Member| m.address != hello.address && now.saturating_sub(m.seen) < self.settings.patience / 3;
        let is_taken = |name: &str| self.members.values().any(|m| m.name == name && lives(m));
        if !is_taken(&hello.name) {
            return hello.name.clone();
        }
        let mut names = (2_u64..).map(|number| format!("{}-{number}", hello.name));
        let name = names.find(|name| !is_taken(name)).unwrap_or_else(|| hello.name.clone());
        let (asked, address) = (&hello.name, &hello.address);
        tracing::warn!(worker = %asked, %address, "two workers have this name, one is called {name}: give each its own --name");
        name
    }

    /// The workers that a later coordinator waits for: those that take work, or those that this one waits for itself.
    pub(crate) fn crew(&self) -> BTreeSet<String> {
        let missing = self.settling.iter().flat_map(|s| s.missing.iter().cloned());
        let here = self.members.values().filter(|m| m.takes_work()).map(|m| m.name.clone());
        here.chain(missing).collect()
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
        self.links.forget(id);
        self.lose(now, &member, reason);
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
        if self.settling.is_some() && !self.is_settling(now) {
            self.schedule(now);
        }
        self.record_time(now);
        self.judge_links(now);
        let patience = self.settings.patience;
        let silent: Vec<MemberId> =
            self.members.values().filter(|m| now.saturating_sub(m.seen) > patience).map(|m| m.id).collect();
        for id in silent {
            let reason = format!("no heartbeat for {} s", patience.as_secs());
            self.actions.push(Action::Expel(id, reason.clone()));
            self.leave(now, id, &reason);
        }
    }

    /// Has the records of jobs at work written now and then: a later coordinator knows their time only from there.
    fn record_time(&mut self, now: Duration) {
        if now.saturating_sub(self.recorded) < self.settings.record {
            return;
        }
        self.recorded = now;
        for record in self.records_at_work(now) {
            self.actions.push(Action::Record(Box::new(record)));
        }
    }

    /// The records of jobs at work as they stand now.
    pub(crate) fn records_at_work(&self, now: Duration) -> Vec<JobRecord> {
        let at_work = |id: &WorkId| self.works.get(id).is_some_and(|work| work.run().is_some());
        let jobs = self.jobs.values().filter(|job| job.open.iter().any(at_work));
        jobs.map(|job| self.record_of(now, job)).collect()
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
                self.on_ready(now, id);
                Ok(())
            }
            Some(Said::Draining(_)) => {
                self.drain(now, id);
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
            Some(Said::Unreached(said)) => self.on_unreached(now, id, said),
            Some(Said::Failed(failed)) => self.on_failed(now, id, failed),
            Some(Said::Prepared(said)) => self.on_work(now, id, said.task.clone(), |run| run.prepared(now, id, &said)),
            Some(Said::Checkpointed(said)) => {
                self.on_work(now, id, said.task.clone(), |run| run.checkpointed(id, &said))
            }
            Some(Said::Progress(said)) => {
                self.on_work(now, id, said.task, |run| Ok(run.progress(now, said.ply, said.labels, said.encoding)))
            }
            Some(Said::Plied(said)) => self.on_work(now, id, said.task.clone(), |run| run.plied(now, id, &said)),
            Some(Said::Encoded(said)) => {
                if let Some(usage) = said.usage {
                    self.note_usage(usage);
                }
                self.on_work(now, id, said.task.clone(), |run| run.encoded(now, id, said))
            }
        }
    }

    /// The work of this task at work with this member. Late words about work given up find none.
    pub(crate) fn work_of(&self, id: MemberId, task: &Task) -> Option<WorkId> {
        let parts = &self.members.get(&id)?.parts;
        parts.keys().copied().find(|w| self.works.get(w).and_then(Work::run).is_some_and(|r| r.task == *task))
    }

    fn on_failed(&mut self, now: Duration, id: MemberId, failed: wire::Failed) -> Result<(), ClusterError> {
        let remedy = failed.remedy();
        let task = Task::try_from(failed.task)?;
        let Some(work) = self.work_of(id, &task) else { return Ok(()) };
        let Some(member) = self.members.get(&id) else { return Ok(()) };
        let cause = format!("{}: {}", member.title(), failed.cause);
        match remedy {
            wire::Remedy::Elsewhere => self.lose_part(now, id, work, &cause),
            wire::Remedy::Rebuild => {
                let (table, metric) = (TableName::new(&failed.table)?, failed.metric.parse()?);
                self.damaged(now, work, table, metric, &cause);
            }
            wire::Remedy::Unspecified => self.fail(now, work, &cause),
        }
        self.schedule(now);
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
            Ok(Progress::Wait) => self.carry_on_moves(now, work_id),
            Ok(Progress::Tell(command)) => {
                let run = self.works.get(&work_id).and_then(Work::run);
                let members = run.map(Run::members).unwrap_or_default();
                self.actions.extend(members.into_iter().map(|m| Action::Tell(m, command.clone())));
                self.carry_on_moves(now, work_id);
                self.make_room_for_idle(now);
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

    /// A metric is finished: on with the manifest.
    fn solved(&mut self, now: Duration, id: WorkId, solved: SolvedMetric) {
        let Some(work) = self.works.get_mut(&id) else { return };
        tracing::info!(table = %work.plan.table, metric = %solved.metric, plies = solved.plies, labels = solved.labels,
            workers = solved.workers, bytes_sent = solved.bytes_sent, "solved");
        let commit = Commit {
            work: id,
            table: work.plan.table.clone(),
            rules: work.rules,
            smaller: work.plan.smaller.clone(),
            solved: solved.clone(),
        };
        work.solved.push(solved);
        (work.failures, work.failed_at) = (0, 0);
        (work.losses, work.lost_at) = (0, 0);
        let stage = std::mem::replace(&mut work.stage, Stage::Committing);
        if let Stage::Running(run) = stage {
            self.drop_parts(&run, true);
        }
        self.actions.push(Action::Commit(Box::new(commit)));
        self.count_memory(id);
        self.moves.retain(|m| m.work != id);
        self.schedule(now);
    }

    /// A worker no longer needs its parts of a task.
    pub(crate) fn tell_drop(&mut self, member: MemberId, task: &Task, solved: bool) {
        self.actions.push(Action::Tell(member, Tell::Drop(wire::Drop { task: Some(task.into()), solved })));
    }

    /// Those who have parts of a run no longer need them: it is solved, or nobody wants it.
    pub(crate) fn drop_parts(&mut self, run: &Run, solved: bool) {
        for member in run.members() {
            self.tell_drop(member, &run.task, solved);
            if let Some(member) = self.members.get_mut(&member) {
                member.holdings.retain(|h| h.task.table != run.task.table || h.task.metric != run.task.metric);
            }
        }
    }

    /// A metric was written into its table's manifest, or not. `built` is what the job's summary says of it.
    pub fn committed(&mut self, now: Duration, id: WorkId, result: Result<wire::Built, String>) {
        let built = match result {
            Ok(built) => built,
            Err(cause) => {
                self.fail(now, id, &cause);
                self.schedule(now);
                return;
            }
        };
        let Some(work) = self.works.get_mut(&id) else { return };
        let Some(solved) = work.solved.last() else { return };
        tracing::info!(table = %work.plan.table, metric = %solved.metric, "committed");
        self.tally.committed(&built);
        let fresh = [solved.metric, Metric::Wdl];
        self.commits += 1;
        let key = (work.rules, work.plan.table.clone());
        self.committed.entry(key).or_default().extend(fresh.map(|m| (m, self.commits)));
        work.stage = Stage::Waiting;
        let jobs = work.jobs.clone();
        // Nobody wants the rest of a table whose jobs are over.
        let whole = work.next_metric().is_none() || jobs.is_empty();
        let (positions, labels) = (work.plan.positions, solved.labels);
        let (rules, table) = (work.rules, work.plan.table.clone());
        if whole {
            self.works.remove(&id);
            self.actions.push(Action::Sweep);
        }
        for other in self.works.values_mut() {
            if whole {
                other.waits_for.remove(&id);
            }
            if other.rules == rules && other.plan.table == table {
                other.plan.present.extend(fresh);
            }
        }
        for job in jobs {
            let Some(job) = self.jobs.get_mut(&job) else { continue };
            job.labels += labels;
            job.note_built(built.clone());
            if whole {
                job.positions_done += positions;
                job.open.remove(&id);
                job.done += 1;
            }
            if job.open.is_empty() {
                tracing::info!(job = %job.id, "job is done");
                job.end(JobState::Done, now, &self.processes);
            }
            let id = job.id;
            self.record(now, id);
        }
        self.schedule(now);
    }

    /// The folders of checkpoints that may be needed.
    pub(crate) fn checkpoints(&self) -> BTreeSet<String> {
        self.works.values().map(Work::checkpoints).collect()
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
            self.record(now, job);
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
        if let Some(run) = work.run() {
            self.drop_parts(run, false);
        }
        self.moves.retain(|m| m.work != id);
        for member in self.members.values_mut() {
            member.parts.remove(&id);
        }
        self.actions.push(Action::Sweep);
        for other in self.works.values_mut() {
            other.waits_for.remove(&id);
        }
    }

    /// Has the record of a job written.
    pub(crate) fn record(&mut self, now: Duration, id: JobId) {
        if let Some(job) = self.jobs.get(&id) {
            let record = self.record_of(now, job);
            self.actions.push(Action::Record(Box::new(record)));
        }
    }

    fn record_of(&self, now: Duration, job: &Job) -> JobRecord {
        let works = job.open.iter().filter_map(|id| self.works.get(id));
        let at_work = works.filter_map(|work| AtWork::new(now, work)).collect();
        JobRecord::new(job, self.job_view(now, job), at_work)
    }
}
