//! Names of what is at work: jobs, members, and one metric of one table in one attempt.

use std::fmt;
use std::str::FromStr;

use canju_retro::{Metric, TableName};

use crate::{ClusterError, wire};

/// A job's number, as users see it: `j1`, `j2`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("j{}", self.0))
    }
}

impl FromStr for JobId {
    type Err = ClusterError;

    fn from_str(text: &str) -> Result<Self, ClusterError> {
        let number = text.strip_prefix('j').unwrap_or(text).parse();
        number.map(Self).map_err(|_| ClusterError::UnknownJob(text.chars().take(32).collect()))
    }
}

/// A worker's number: given at each joining, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u64);

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One metric of one table, in one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The job that asked first.
    pub job: JobId,
    /// Which table.
    pub table: TableName,
    /// The distance that is counted.
    pub metric: Metric,
    /// The attempt: larger than that of every assignment before.
    pub epoch: u64,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (job {}, epoch {})", self.table, self.metric, self.job, self.epoch)
    }
}

impl From<&Task> for wire::Task {
    fn from(task: &Task) -> Self {
        Self {
            job: task.job.to_string(),
            table: task.table.to_string(),
            metric: task.metric.to_string(),
            epoch: task.epoch,
        }
    }
}

impl TryFrom<Option<wire::Task>> for Task {
    type Error = ClusterError;

    fn try_from(task: Option<wire::Task>) -> Result<Self, ClusterError> {
        let task = task.ok_or_else(|| ClusterError::Protocol("a message without its task".into()))?;
        Ok(Self {
            job: task.job.parse()?,
            table: TableName::new(&task.table)?,
            metric: task.metric.parse()?,
            epoch: task.epoch,
        })
    }
}
