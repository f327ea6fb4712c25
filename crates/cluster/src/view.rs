//! The coordinator's state as clients see it.

use std::time::Duration;

use crate::conductor::Conductor;
use crate::job::{Job, JobState};
use crate::picture::{host, job_seconds_left, seconds_left};
use crate::work::{Stage, Work, WorkId};
use crate::{ClusterError, JobId, wire};

impl Conductor {
    /// A job as it stands.
    ///
    /// # Errors
    /// [`ClusterError::UnknownJob`].
    pub fn job(&self, now: Duration, id: JobId) -> Result<wire::Job, ClusterError> {
        let job = self.jobs.get(&id).ok_or_else(|| ClusterError::UnknownJob(id.to_string()))?;
        Ok(self.job_view(now, job))
    }

    /// All jobs, oldest first.
    #[must_use]
    pub fn jobs(&self, now: Duration) -> Vec<wire::Job> {
        self.jobs.values().map(|j| self.job_view(now, j)).collect()
    }

    /// The jobs that are not over.
    #[must_use]
    pub fn open_jobs(&self, now: Duration) -> Vec<wire::Job> {
        let open = self.jobs.values().filter(|j| !j.is_over());
        open.map(|j| wire::Job { tables_state: self.tables_state(now, j), ..self.job_view(now, j) }).collect()
    }

    /// All workers.
    #[must_use]
    pub fn workers(&self, now: Duration) -> Vec<wire::Worker> {
        let table = |id: &WorkId| self.works.get(id).map(|w| w.plan.table.to_string());
        self.members
            .values()
            .map(|m| wire::Worker {
                id: m.id.0,
                name: m.name.clone(),
                address: m.address.clone(),
                memory: m.memory,
                threads: m.threads,
                memory_used: m.in_memory(),
                scratch_used: m.memory_used().saturating_sub(m.in_memory()),
                tables: m.parts.keys().filter_map(table).collect(),
                cpu_seconds: self.processes.get(&m.process).map_or(0.0, |u| u.cpu_seconds),
                host: host(&m.address),
                bytes_sent: m.gauge.sent,
                bytes_received: m.gauge.received,
                seen_seconds: now.saturating_sub(m.seen).as_secs_f64(),
                ready: m.ready,
                draining: m.draining,
                cpu_share: m.gauge.cpu_share(now),
                peak_memory: self.processes.get(&m.process).map_or(0, |u| u.peak_memory),
            })
            .collect()
    }

    pub(crate) fn job_view(&self, now: Duration, job: &Job) -> wire::Job {
        let open: Vec<&Work> = job.open.iter().filter_map(|id| self.works.get(id)).collect();
        let running: Vec<wire::Running> = open.iter().filter_map(|w| self.running(now, w)).collect();
        let ready = self.members.values().filter(|m| m.ready).count();
        let (state, error) = match &job.state {
            JobState::Running if running.is_empty() && ready < self.settings.min_workers.max(1) => {
                (wire::JobState::Waiting, String::new())
            }
            JobState::Running => (wire::JobState::Running, String::new()),
            JobState::Done => (wire::JobState::Done, String::new()),
            JobState::Cancelled => (wire::JobState::Cancelled, String::new()),
            JobState::Failed(error) => (wire::JobState::Failed, error.clone()),
        };
        let (cpu_seconds, peak_memory) = job.spent(&self.processes);
        let seconds = job.seconds(now);
        wire::Job {
            id: job.id.to_string(),
            state: state.into(),
            tables: job.asked.iter().map(ToString::to_string).collect(),
            metrics: job.metrics.iter().map(ToString::to_string).collect(),
            error,
            total: job.total,
            done: job.done,
            present: job.present,
            positions: job.positions,
            positions_done: job.positions_done,
            labels: job.labels + open.iter().map(|w| w.labels()).sum::<u64>(),
            seconds_left: if job.is_over() { 0.0 } else { job_seconds_left(seconds, job, &running) },
            labels_per_second: if job.is_over() { 0.0 } else { job.pace.rate(now) },
            running,
            built: job.built.clone(),
            seconds,
            cpu_seconds,
            peak_memory,
            bytes_sent: job.built.iter().map(|b| b.bytes_sent).chain(open.iter().map(|w| w.bytes_sent())).sum(),
            bytes_stored: job.built.iter().map(|b| b.bytes_stored).sum(),
            tables_state: Vec::new(),
        }
    }

    pub(crate) fn running(&self, now: Duration, work: &Work) -> Option<wire::Running> {
        let name = |m| self.members.get(&m).map(|m| m.name.clone());
        let view = wire::Running {
            table: work.plan.table.to_string(),
            positions: work.plan.positions,
            labels: work.labels(),
            fraction: work.fraction(now),
            ..wire::Running::default()
        };
        match &work.stage {
            Stage::Waiting => None,
            Stage::Committing => Some(wire::Running { stage: "commit".into(), ..view }),
            Stage::Running(run) => Some(wire::Running {
                metric: run.task.metric.to_string(),
                stage: run.stage().into(),
                ply: run.ply(),
                workers: run.members().into_iter().filter_map(name).collect(),
                frontier: run.history.frontier().to_vec(),
                frontier_stride: run.history.stride(),
                late: run.late(now).into_iter().filter_map(name).collect(),
                ply_seconds: run.open_for(now).as_secs_f64(),
                labels_per_second: run.history.rate(now),
                seconds_left: seconds_left(
                    now.saturating_sub(run.began).as_secs_f64(),
                    work.fraction_of_labels(run.replayed()),
                    work.fraction_of_run(now),
                ),
                ..view
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use canju_retro::{Metric, Rules, TableName};

    use super::*;
    use crate::plan::{Plan, TablePlan};
    use crate::wire::report::Kind as Say;
    use crate::{Settings, VERSION};

    #[test]
    fn a_job_takes_no_less_than_its_table_and_its_time_left_falls_while_shards_are_made() {
        let at = Duration::from_secs;
        let mut conductor = Conductor::new(Settings::default(), 1);
        let hello = wire::Hello { name: "a".into(), version: VERSION.into(), ..Default::default() };
        let (id, epoch) = conductor.join(at(0), &hello);
        let say = |conductor: &mut Conductor, second, kind| {
            conductor.report(at(second), id, wire::Report { epoch, kind: Some(kind) }).unwrap();
        };
        say(&mut conductor, 0, Say::Ready(wire::Ready {}));
        let table = TablePlan { build: vec![Metric::Dtm], ..TablePlan::sample("KRK", vec![50; 4], 4000) };
        let job = conductor.new_job();
        conductor.submit(at(0), job, Plan::sample(vec![table]), 0);
        let task = conductor.works.values().find_map(|work| work.run().map(|run| (&run.task).into()));
        let left = |conductor: &Conductor, second| {
            let job = conductor.job(at(second), job).unwrap();
            (job.seconds_left, job.running[0].seconds_left)
        };
        let progress = |conductor: &mut Conductor, second, labels, encoding| {
            let said = wire::Progress { task: task.clone(), ply: 1, labels, encoding };
            say(conductor, second, Say::Progress(said));
        };
        progress(&mut conductor, 10, 200, false);
        assert_eq!(left(&conductor, 10), (30.0, 30.0));
        progress(&mut conductor, 20, 300, true);
        assert_eq!(left(&conductor, 20), (20.0, 20.0));
        assert_eq!(left(&conductor, 25), (15.0, 15.0));
        assert_eq!(left(&conductor, 35), (5.0, 5.0));
        // Nobody knows any more.
        assert_eq!(left(&conductor, 50), (0.0, 0.0));
    }

    #[test]
    fn the_time_left_of_a_job_is_at_least_that_of_a_table_at_work() {
        let (table, metrics) = (vec![TableName::new("KRK").unwrap()], vec![Metric::Dtm]);
        let mut job = Job::new(Duration::ZERO, JobId(1), table, metrics, Rules::Plain);
        (job.positions, job.positions_done) = (100, 50);
        let running =
            |seconds_left| [wire::Running { positions: 50, fraction: 0.5, seconds_left, ..Default::default() }];
        assert_eq!(job_seconds_left(30.0, &job, &running(4.0)), 10.0);
        assert_eq!(job_seconds_left(30.0, &job, &running(25.0)), 25.0);
        // Of a job of which too little is known nothing is told.
        job.positions = 1_000_000;
        assert_eq!(job_seconds_left(30.0, &job, &running(25.0)), 0.0);
    }
}
