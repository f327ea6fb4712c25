//! Jobs come in, meet work that is there already, and are called off.

use std::collections::BTreeSet;
use std::time::Duration;

use canju_retro::{Metric, Rules};

use crate::job::{Job, JobState};
use crate::picture::Closed;
use crate::plan::{Plan, TablePlan};
use crate::record::JobRecord;
use crate::schedule::Placement;
use crate::work::Work;
use crate::{ClusterError, Conductor, JobId, WorkId};

impl Conductor {
    /// Checks that all of a plan fits into the memory of the workers that are there, if enough are.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] with the numbers of the first table that does not.
    pub fn check_fit(&self, plan: &Plan) -> Result<(), ClusterError> {
        if self.members.values().filter(|m| m.takes_work()).count() < self.settings.min_workers.max(1) {
            return Ok(());
        }
        for table in plan.missing() {
            // Who is left out now may not be when the table's turn comes.
            if let Placement::Never(reason) = self.placement(table, &BTreeSet::new()) {
                return Err(ClusterError::Refused(format!("{} cannot be built: {reason}", table.table)));
            }
        }
        Ok(())
    }

    /// The number of the next job.
    pub fn new_job(&mut self) -> JobId {
        self.next_job += 1;
        JobId(self.next_job - 1)
    }

    /// Takes a job. What the store has by now, or what another job builds already, is not built again.
    /// `commits` is what [`Conductor::commits`] said before the store was read for the plan.
    pub fn submit(&mut self, now: Duration, id: JobId, plan: Plan, commits: u64) {
        self.take(now, id, plan, commits, None);
    }

    /// Goes on with a job of an earlier coordinator.
    pub fn resume(&mut self, now: Duration, record: &JobRecord, plan: Plan, commits: u64) {
        self.take(now, JobId(record.id), plan, commits, Some(record));
    }

    /// Remembers a job of an earlier coordinator that is over, or that cannot go on for the given reason.
    ///
    /// # Errors
    /// A record that does not hold together.
    pub fn remember(&mut self, now: Duration, record: &JobRecord, failed: Option<String>) -> Result<(), ClusterError> {
        let mut job = Job::of_record(now, record)?;
        self.next_job = self.next_job.max(record.id + 1);
        let rewrite = failed.is_some();
        if let Some(error) = failed {
            job.state = JobState::Failed(error);
        }
        job.ended = Some(now);
        let id = job.id;
        self.jobs.insert(id, job);
        if rewrite {
            self.record(now, id);
        }
        self.forget();
        Ok(())
    }

    fn take(&mut self, now: Duration, id: JobId, plan: Plan, commits: u64, before: Option<&JobRecord>) {
        self.next_job = self.next_job.max(id.0 + 1);
        self.forget();
        let here = self.processes.iter().filter(|(process, _)| !self.gone.contains(process));
        let baseline = here.map(|(&process, usage)| (process, usage.cpu_seconds)).collect();
        let mut job = Job { baseline, ..Job::new(now, id, plan.asked, plan.metrics, plan.rules) };
        if let Some(record) = before {
            job.take_over(record);
        }
        for table in plan.tables {
            let positions = table.positions;
            let mut closed = Closed::new(&table);
            let works = self.enlist(id, plan.rules, table, commits);
            if works.is_empty() {
                job.note_present(&closed);
            } else {
                closed.works.clone_from(&works);
                job.total += works.len() as u32;
                job.positions += positions * works.len() as u64;
                job.open.extend(works);
            }
            job.closure.push(closed);
        }
        for taken in before.iter().flat_map(|record| &record.at_work) {
            for work in job.open.iter() {
                self.works.get_mut(work).into_iter().for_each(|work| taken.carry_over(work));
            }
        }
        tracing::info!(job = %id, tables = job.total, present = job.present, "job is taken");
        if job.open.is_empty() {
            job.end(JobState::Done, now, &self.processes);
        }
        self.jobs.insert(id, job);
        self.record(now, id);
        self.schedule(now);
    }

    /// Finds or makes the work that gives a table its missing metrics.
    fn enlist(&mut self, job: JobId, rules: Rules, mut plan: TablePlan, commits: u64) -> Vec<WorkId> {
        // What was committed before the store was read is there, or was deleted since: the plan knows.
        let later = self.committed.get(&(rules, plan.table.clone())).into_iter().flatten();
        let later: BTreeSet<Metric> =
            later.filter(|&(_, &number)| number > commits).map(|(&metric, _)| metric).collect();
        plan.present.extend(&later);
        // A distance that is there is counted once more for the sake of win, draw and loss alone, where that is gone.
        let has_wdl = plan.present.contains(&Metric::Wdl);
        let is_there = |metric: &Metric| later.contains(metric) || has_wdl && plan.present.contains(metric);
        let mut wanted: BTreeSet<Metric> = plan.build.iter().copied().filter(|metric| !is_there(metric)).collect();
        let mut works = Vec::new();
        let mut before = BTreeSet::new();
        for (&id, work) in self.works.iter_mut().filter(|(_, w)| w.rules == rules && w.plan.table == plan.table) {
            before.insert(id);
            if work.plan.build.iter().filter(|&m| wanted.remove(m)).count() > 0 {
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
        self.works.insert(id, Work::new(plan, rules, [job].into(), job, waits_for));
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
            self.record(now, id);
            self.abandon(id);
            self.schedule(now);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, wire};

    #[test]
    fn what_the_store_had_is_counted_by_the_next_coordinator_too() {
        let metrics = [Metric::Wdl, Metric::Dtm];
        let there = |name| TablePlan { present: metrics.into(), ..TablePlan::sample(name, vec![50], 4000) };
        let missing = TablePlan { build: vec![Metric::Dtm], ..TablePlan::sample("T3", vec![50], 4000) };
        let plan = Plan::sample(vec![there("T1"), there("T2"), missing]);
        let built = wire::Built { table: "T2".into(), metric: "dtm".into(), ..Default::default() };
        // The coordinator before was lost when the job was only just asked for, or after it had built a table for it.
        for (built, counts) in [(vec![], (1, 0, 2)), (vec![built], (2, 1, 1))] {
            let mut record = JobRecord::asked(JobId(7), vec!["T3".into()], vec!["dtm".into()], Rules::Plain);
            (record.done, record.built) = (built.len() as u32, built);
            let mut conductor = Conductor::new(Settings::default(), 1);
            conductor.resume(Duration::ZERO, &record, plan.clone(), 0);
            let job = conductor.job(Duration::ZERO, JobId(7)).unwrap();
            assert_eq!((job.total, job.done, job.present), counts);
        }
    }

    #[test]
    fn a_table_that_was_built_and_is_gone_counts_once() {
        let metrics = [Metric::Wdl, Metric::Dtm];
        let built = |name: &str| wire::Built { table: name.into(), metric: "dtm".into(), ..Default::default() };
        let plan = |name, is_there: bool| {
            let sample = TablePlan::sample(name, vec![50], 4000);
            if is_there {
                TablePlan { present: metrics.into(), ..sample }
            } else {
                TablePlan { build: vec![Metric::Dtm], ..sample }
            }
        };
        // The second one was deleted, or is found damaged later.
        for is_gone in [true, false] {
            let tables = vec![plan("T1", true), plan("T2", !is_gone), plan("T3", false)];
            let all: u64 = tables.iter().map(|table| table.positions).sum();
            let plan = Plan::sample(tables);
            let mut record = JobRecord::asked(JobId(7), vec!["T3".into()], vec!["dtm".into()], Rules::Plain);
            (record.done, record.built) = (2, vec![built("T1"), built("T2")]);
            let mut conductor = Conductor::new(Settings::default(), 1);
            conductor.resume(Duration::ZERO, &record, plan.clone(), 0);
            let job = conductor.jobs.get_mut(&JobId(7)).unwrap();
            if !is_gone {
                job.begin_again(WorkId(99), &plan.tables[1]);
                assert_eq!(job.closure[1].works, [WorkId(99)], "its box tells of the repair");
            }
            assert_eq!((job.total, job.done, job.present, job.positions), (3, 1, 0, all));
        }
    }
}
