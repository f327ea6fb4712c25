//! Jobs come in, meet work that is there already, and are called off.

use std::collections::BTreeSet;
use std::time::Duration;

use canju_retro::{Metric, Rules};

use crate::job::{Job, JobState};
use crate::pace::Pace;
use crate::picture::Closed;
use crate::plan::{Plan, TablePlan};
use crate::work::{Stage, Work};
use crate::{ClusterError, Conductor, JobId, WorkId};

impl Conductor {
    /// Takes a job. What the store has by now, or what another job builds already, is not built again.
    /// `commits` is what [`Conductor::commits`] said before the store was read for the plan.
    pub fn submit(&mut self, now: Duration, plan: Plan, commits: u64) -> JobId {
        let id = JobId(self.next_job);
        self.next_job += 1;
        self.forget();
        let here = self.processes.iter().filter(|(process, _)| !self.gone.contains(process));
        let baseline = here.map(|(&process, usage)| (process, usage.cpu_seconds)).collect();
        let mut job = Job {
            id,
            asked: plan.asked,
            metrics: plan.metrics,
            state: JobState::Running,
            closure: Vec::new(),
            failed: None,
            pace: Pace::default(),
            open: BTreeSet::new(),
            total: 0,
            done: 0,
            present: 0,
            positions: 0,
            positions_done: 0,
            labels: 0,
            built: Vec::new(),
            began: now,
            ended: None,
            baseline,
            spent: (0.0, 0),
        };
        for table in plan.tables {
            let positions = table.positions;
            let mut closed = Closed::new(&table);
            let works = self.enlist(id, plan.rules, table, commits);
            if works.is_empty() {
                job.present += 1;
            } else {
                closed.works.clone_from(&works);
                job.total += works.len() as u32;
                job.positions += positions * works.len() as u64;
                job.open.extend(works);
            }
            job.closure.push(closed);
        }
        tracing::info!(job = %id, tables = job.total, present = job.present, "job is taken");
        if job.open.is_empty() {
            job.end(JobState::Done, now, &self.processes);
        }
        self.jobs.insert(id, job);
        self.schedule(now);
        id
    }

    /// Finds or makes the work that gives a table its missing metrics.
    fn enlist(&mut self, job: JobId, rules: Rules, mut plan: TablePlan, commits: u64) -> Vec<WorkId> {
        // What was committed before the store was read is there, or was deleted since: the plan knows.
        let later = self.committed.get(&(rules, plan.table.clone())).into_iter().flatten();
        plan.present.extend(later.filter(|&(_, &number)| number > commits).map(|(metric, _)| metric));
        let mut wanted: BTreeSet<Metric> = plan.build.iter().copied().filter(|m| !plan.present.contains(m)).collect();
        let mut works = Vec::new();
        let mut before = BTreeSet::new();
        for (&id, work) in self.works.iter_mut().filter(|(_, w)| w.rules == rules && w.plan.table == plan.table) {
            before.insert(id);
            if work.plan.build.iter().any(|m| wanted.remove(m)) {
                work.jobs.insert(job);
                works.push(id);
            }
        }
        if wanted.is_empty() {
            return works;
        }
        // What the smaller tables still lack comes first, and what is at work on the same table too: a
        // manifest grows metric by metric, in one order.
        let smaller = self.works.iter().filter(|(_, w)| w.rules == rules && plan.smaller.contains(&w.plan.table));
        let waits_for = smaller.map(|(&id, _)| id).chain(before.iter().copied()).collect();
        plan.build = wanted.into_iter().collect();
        let id = WorkId(self.number());
        let jobs = [job].into();
        self.works.insert(id, Work { plan, rules, jobs, waits_for, solved: Vec::new(), stage: Stage::Waiting });
        works.push(id);
        works
    }

    /// Ends a job. Work that no other job wants is dropped.
    ///
    /// # Errors
    /// [`ClusterError::UnknownJob`].
    pub fn cancel(&mut self, now: Duration, id: JobId) -> Result<(), ClusterError> {
        let job = self.jobs.get_mut(&id).ok_or_else(|| ClusterError::UnknownJob(id.to_string()))?;
        if !job.is_over() {
            tracing::info!(job = %id, "job is cancelled");
            job.end(JobState::Cancelled, now, &self.processes);
            self.abandon(id);
            self.schedule(now);
        }
        Ok(())
    }
}
