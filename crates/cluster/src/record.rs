//! What lasts of a job: the object `jobs/<id>.json`.

use std::time::Duration;

use canju_retro::{Metric, Rules};
use serde::{Deserialize, Serialize};

use crate::job::{Job, JobState};
use crate::work::Work;
use crate::{ClusterError, JobId, wire};

/// The version of the record's form.
const VERSION: u32 = 1;

/// A job as a later coordinator reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    version: u32,
    /// Which coordinator wrote it last: two of them never write the same bytes, by which one could be taken for the other.
    #[serde(default)]
    pub(crate) reign: u64,
    /// Which job.
    pub id: u64,
    /// What was asked, canonical.
    pub tables: Vec<String>,
    /// The distances.
    pub metrics: Vec<String>,
    /// The rules.
    pub rules: String,
    /// How it stands.
    pub state: RecordState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// Tables to build, and how many of them are committed.
    pub total: u32,
    /// Those that are committed.
    pub done: u32,
    /// Tables that were there already.
    pub present: u32,
    /// Positions of the tables to build.
    pub positions: u64,
    /// Positions of those that are committed.
    pub positions_done: u64,
    /// Labels of those that are committed.
    pub labels: u64,
    /// Time that it took until now.
    pub seconds: f64,
    /// CPU time of all processes.
    pub cpu_seconds: f64,
    /// Memory of all processes.
    pub peak_memory: u64,
    /// What was committed, in order.
    pub built: Vec<wire::Built>,
    /// What was begun and is not committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_work: Vec<AtWork>,
}

/// A metric of a table at work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AtWork {
    /// Which table.
    pub table: String,
    /// Which metric.
    pub metric: String,
    /// How long it has been at work, under all coordinators.
    pub seconds: f64,
}

impl AtWork {
    /// Nothing where nothing is begun.
    pub(crate) fn new(now: Duration, work: &Work) -> Option<Self> {
        let (metric, taken) = work.taken(now)?;
        Some(Self { table: work.plan.table.to_string(), metric: metric.to_string(), seconds: taken.as_secs_f64() })
    }

    /// Adds what it took under earlier coordinators to a table's work, if it is of that table.
    pub(crate) fn carry_over(&self, work: &mut Work) {
        let Ok(metric) = self.metric.parse::<Metric>() else { return };
        let Ok(taken) = Duration::try_from_secs_f64(self.seconds) else { return };
        if work.plan.table.as_str() == self.table {
            // Two jobs that share it tell of the same time.
            let spent = work.spent.entry(metric).or_default();
            *spent = taken.max(*spent);
        }
    }
}

/// How a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordState {
    /// Something is still to be built.
    Running,
    /// All is built.
    Done,
    /// It ended with an error.
    Failed,
    /// A user ended it.
    Cancelled,
}

impl JobRecord {
    pub(crate) fn new(job: &Job, view: wire::Job, at_work: Vec<AtWork>) -> Self {
        let state = match job.state {
            JobState::Running => RecordState::Running,
            JobState::Done => RecordState::Done,
            JobState::Failed(_) => RecordState::Failed,
            JobState::Cancelled => RecordState::Cancelled,
        };
        Self {
            version: VERSION,
            reign: 0,
            id: job.id.0,
            tables: view.tables,
            metrics: view.metrics,
            rules: job.rules.to_string(),
            state,
            error: view.error,
            total: view.total,
            done: view.done,
            present: view.present,
            positions: view.positions,
            positions_done: view.positions_done,
            // Those of tables at work are counted when they are committed.
            labels: job.labels,
            seconds: view.seconds,
            cpu_seconds: view.cpu_seconds,
            peak_memory: view.peak_memory,
            built: view.built,
            at_work,
        }
    }

    /// The record of a job that was only just asked for.
    pub(crate) fn asked(id: JobId, tables: Vec<String>, metrics: Vec<String>, rules: Rules) -> Self {
        Self {
            version: VERSION,
            reign: 0,
            id: id.0,
            tables,
            metrics,
            rules: rules.to_string(),
            state: RecordState::Running,
            error: String::new(),
            total: 0,
            done: 0,
            present: 0,
            positions: 0,
            positions_done: 0,
            labels: 0,
            seconds: 0.0,
            cpu_seconds: 0.0,
            peak_memory: 0,
            built: Vec::new(),
            at_work: Vec::new(),
        }
    }

    /// The key of a job's record.
    pub(crate) fn key_of(id: u64) -> String {
        format!("jobs/{}.json", JobId(id))
    }

    /// True when nothing more happens to the job.
    pub(crate) fn is_over(&self) -> bool {
        self.state != RecordState::Running
    }

    pub(crate) fn parse(name: &str, bytes: &[u8]) -> Result<Self, ClusterError> {
        let wrong = |what: String| {
            ClusterError::Refused(format!("the job's record {name} cannot be read ({what}): delete it, and ask again"))
        };
        let record: Self = serde_json::from_slice(bytes).map_err(|e| wrong(e.to_string()))?;
        if record.version != VERSION {
            return Err(wrong(format!("its form has version {}, this software knows {VERSION}", record.version)));
        }
        if Self::key_of(record.id) != name {
            return Err(wrong(format!("it is of job {}", JobId(record.id))));
        }
        Ok(record)
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, ClusterError> {
        let mut json = serde_json::to_vec_pretty(self).map_err(|e| ClusterError::Protocol(e.to_string()))?;
        json.push(b'\n');
        Ok(json)
    }
}
