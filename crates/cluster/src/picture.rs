//! The whole cluster in one picture: what a status shows beside jobs and workers themselves.

use std::time::Duration;

use canju_retro::TableName;

use crate::job::{Job, JobState};
use crate::office::Office;
use crate::plan::TablePlan;
use crate::work::{Stage, Work};
use crate::{Conductor, VERSION, WorkId, wire};

/// Jobs that are over and still shown.
const ENDED: usize = 10;

/// A table of a job's closure.
#[derive(Clone, Debug)]
pub(crate) struct Closed {
    pub(crate) table: TableName,
    pub(crate) smaller: Vec<TableName>,
    pub(crate) positions: u64,
    /// What gives it its missing metrics, or builds it once more; empty when the store had them.
    pub(crate) works: Vec<WorkId>,
}

impl Closed {
    pub(crate) fn new(plan: &TablePlan) -> Self {
        let TablePlan { table, smaller, positions, .. } = plan.clone();
        Self { table, smaller, positions, works: Vec::new() }
    }
}

/// False where another coordinator may be active, and this picture be old.
#[must_use]
pub fn is_sure(status: &wire::StatusReply) -> bool {
    status.active && !status.unsure
}

impl Office {
    /// All that a status tells.
    pub(crate) fn status_reply(&self) -> wire::StatusReply {
        let store = self.bucket.store.place();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.look(|conductor, now| {
            let [turned_away, unreached, left_out] = conductor.links.counts(now).map(count);
            wire::StatusReply {
                workers: conductor.workers(now),
                jobs: conductor.open_jobs(now),
                ended: conductor.ended_jobs(now),
                store,
                store_trouble: self.bucket.store.trouble().map_or_else(String::new, |trouble| trouble.what),
                reign: self.reign,
                active: !self.is_over(),
                version: VERSION.to_owned(),
                uptime_seconds: now.as_secs_f64(),
                lease_seconds: self.unsure_for().as_secs_f64(),
                troubles: self.lease_trouble().into_iter().chain(conductor.links.troubles(now)).collect(),
                turned_away,
                unreached,
                left_out,
                unsure: self.unsure_for() > self.settings.lease.hold,
            }
        })
    }
}

impl Conductor {
    /// The jobs that ended last, newest first.
    #[must_use]
    pub fn ended_jobs(&self, now: Duration) -> Vec<wire::Job> {
        let mut over: Vec<&Job> = self.jobs.values().filter(|j| j.is_over()).collect();
        over.sort_by_key(|j| std::cmp::Reverse((j.ended, j.id)));
        over.into_iter().take(ENDED).map(|j| self.job_view(now, j)).collect()
    }

    /// The tables of a job's closure as they stand.
    pub(crate) fn tables_state(&self, now: Duration, job: &Job) -> Vec<wire::TableState> {
        job.closure.iter().map(|closed| self.table_state(now, job, closed)).collect()
    }

    fn table_state(&self, now: Duration, job: &Job, closed: &Closed) -> wire::TableState {
        let mut view = wire::TableState {
            table: closed.table.to_string(),
            smaller: closed.smaller.iter().map(ToString::to_string).collect(),
            positions: closed.positions,
            ..wire::TableState::default()
        };
        // A table may have several works; the first that is not committed tells where it stands.
        let open: Vec<&Work> = closed.works.iter().filter_map(|id| self.works.get(id)).collect();
        let busy = open.iter().find(|w| !matches!(w.stage, Stage::Waiting));
        let failed = job.failed.is_some_and(|id| closed.works.contains(&id));
        let standing = match busy {
            _ if failed => wire::Standing::Failed,
            Some(work) => {
                view.fraction = work.fraction(now);
                view.stage = "commit".into();
                if let Some(run) = work.run() {
                    (view.metric, view.stage) = (run.task.metric.to_string(), run.stage().into());
                    view.ply = run.ply();
                }
                if work.repair { wire::Standing::Repairing } else { wire::Standing::Running }
            }
            None if closed.works.is_empty() => wire::Standing::Present,
            None if open.is_empty() && matches!(job.state, JobState::Running | JobState::Done) => {
                wire::Standing::Committed
            }
            None => wire::Standing::Waiting,
        };
        view.state = standing.into();
        view
    }

    /// A report has come in that may have brought a run on.
    pub(crate) fn note_progress(&mut self, now: Duration, id: WorkId) {
        let Some(work) = self.works.get_mut(&id) else { return };
        let Stage::Running(run) = &mut work.stage else { return };
        let (ply, labels) = (run.ply(), run.labels());
        let gain = run.history.note(now, ply, labels, run.replayed());
        run.trace.gained(gain, ply);
        self.tally.gained(gain);
        for job in &work.jobs {
            if let Some(job) = self.jobs.get_mut(job) {
                job.pace.add(now, gain.labels as f64);
            }
        }
    }
}

/// How much of a job's positions is done, from 0 to 1. Tables at work count by what is done of them.
fn job_fraction(job: &Job, running: &[wire::Running]) -> f64 {
    let begun: f64 = running.iter().map(|r| r.fraction * r.positions as f64).sum();
    ((job.positions_done as f64 + begun) / job.positions.max(1) as f64).min(1.0)
}

/// How long it will still take what has taken `seconds` from one fraction of all to another; 0 when too little is known.
pub(crate) fn seconds_left(seconds: f64, from: f64, fraction: f64) -> f64 {
    let done = fraction - from;
    if done > 0.02 && seconds > 1.0 { (seconds * (1.0 - fraction) / done).clamp(0.0, 1e9) } else { 0.0 }
}

/// How long a job that is not over will still take; 0 when too little is known. No less than the tables at work.
pub(crate) fn job_seconds_left(seconds: f64, job: &Job, running: &[wire::Running]) -> f64 {
    let own = seconds_left(seconds, 0.0, job_fraction(job, running));
    // What the tables at work take says nothing of those that wait.
    if own > 0.0 { running.iter().map(|r| r.seconds_left).fold(own, f64::max) } else { 0.0 }
}

/// The host of a URL.
pub(crate) fn host(url: &str) -> String {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    host.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_urls() {
        assert_eq!(host("http://10.0.0.7:7421"), "10.0.0.7");
        assert_eq!(host("https://[::1]:9/x"), "[::1]");
        assert_eq!(host("worker-3"), "worker-3");
        assert_eq!(host(""), "");
    }

    #[test]
    fn time_left_is_told_only_when_something_is_known() {
        assert_eq!(seconds_left(10.0, 0.0, 0.25), 30.0);
        assert_eq!(seconds_left(0.5, 0.0, 0.5), 0.0);
        assert_eq!(seconds_left(100.0, 0.0, 0.0), 0.0);
        assert_eq!(seconds_left(100.0, 0.0, 1.0), 0.0);
        // What was there before took no time.
        assert_eq!(seconds_left(10.0, 0.5, 0.75), 10.0);
        assert_eq!(seconds_left(10.0, 0.5, 0.5), 0.0);
    }
}
