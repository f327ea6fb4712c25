//! What a worker solves parts with in one membership, and how it tells of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use canju_retro::{Game, GameError, Room, TableName};
use canju_table::TableError;
use tokio::sync::mpsc;

use crate::assignment::{Assignment, Layout};
use crate::exchange::{Inboxes, Post};
use crate::wire::report::Kind as Say;
use crate::{Bucket, ClusterError, MemberId, Pool, Task, bytes_in_words, wire};

/// The way of reports to the coordinator.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    pub(crate) epoch: u64,
    pub(crate) line: mpsc::Sender<wire::Report>,
}

impl Reports {
    /// Says something; waits while the line is busy. Nobody may listen any more: then the session ends anyway.
    pub(crate) async fn say(&self, kind: Say) {
        let _ = self.line.send(wire::Report { epoch: self.epoch, kind: Some(kind) }).await;
    }

    /// Says something unless the line is busy.
    pub(crate) fn mention(&self, kind: Say) {
        let _ = self.line.try_send(wire::Report { epoch: self.epoch, kind: Some(kind) });
    }
}

/// What a part is solved with.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) game: Arc<dyn Game>,
    pub(crate) bucket: Bucket,
    pub(crate) pool: Pool,
    pub(crate) inboxes: Inboxes,
    pub(crate) post: Post,
    pub(crate) me: MemberId,
    /// Where other workers reach this one.
    pub(crate) address: String,
    /// Bytes that a part may take; 0 for no bound.
    pub(crate) memory: u64,
    /// A folder, and bytes of its disk, for what does not fit.
    pub(crate) scratch: Option<(PathBuf, u64)>,
    /// How often the logs of parts go to the store.
    pub(crate) checkpoints: Duration,
    pub(crate) reports: Reports,
}

impl Bench {
    /// Refuses a part of a table that takes more than there is.
    pub(crate) fn check_memory(&self, table: &TableName, bytes: u64, what: &str) -> Result<(), ClusterError> {
        let paged = self.game.keeps_to_room(table);
        let scratch = self.scratch.as_ref().filter(|_| paged).map_or(0, |(_, bytes)| *bytes);
        if self.memory == 0 || bytes <= self.memory.saturating_add(scratch) {
            return Ok(());
        }
        let (need, mut have) = (bytes_in_words(bytes), bytes_in_words(self.memory));
        if scratch > 0 {
            have += &format!(" and {} free on its scratch disk", bytes_in_words(scratch));
        }
        let remedy = match paged {
            true if scratch > 0 => "add workers, raise --memory, or make room on the disk of --scratch",
            true => "add workers, raise --memory, or give --scratch",
            false => "add workers or raise --memory; --scratch does not help, this game keeps its parts in memory",
        };
        Err(ClusterError::Elsewhere(format!("the part {what} {need} of memory and this worker has {have}: {remedy}")))
    }

    /// Lays out a share, with the room that its part has here.
    pub(crate) async fn layout(&self, assignment: &Arc<Assignment>, number: u32) -> Result<Layout, ClusterError> {
        let mut layout = assignment.layout(&self.game, &self.pool, number).await?;
        if self.memory > 0 {
            // Whole tables are at work one on each thread; of a cut one the own shares are, and nothing else.
            let beside = if assignment.alone { self.pool.threads() } else { assignment.of(self.me).count() };
            let bytes = self.memory / beside.max(1) as u64;
            layout.spec.room = Some(Room { bytes, scratch: self.scratch.as_ref().map(|(folder, _)| folder.clone()) });
        }
        Ok(layout)
    }
}

/// What the coordinator is told of a part that cannot go on.
pub(crate) fn failure(task: &Task, error: &ClusterError) -> wire::Failed {
    let mut damaged = None;
    let remedy = match error {
        ClusterError::Game(GameError::Tables { table, metric, source }) if is_damage(source.as_ref()) => {
            damaged = Some((table.to_string(), metric.to_string()));
            wire::Remedy::Rebuild
        }
        ClusterError::Game(GameError::Tables { .. })
        | ClusterError::Game(GameError::Scratch { .. })
        | ClusterError::Elsewhere(_)
        | ClusterError::Panicked(_)
        | ClusterError::Unreachable { .. }
        | ClusterError::CalledOff => wire::Remedy::Elsewhere,
        ClusterError::Store(error) if error.is_transient() => wire::Remedy::Elsewhere,
        _ => wire::Remedy::Unspecified,
    };
    let (table, metric) = damaged.unwrap_or_default();
    wire::Failed { task: Some(task.into()), cause: error.line(), remedy: remedy.into(), table, metric }
}

/// False where only the way to the table is bad: the table itself may be whole.
fn is_damage(error: &(dyn std::error::Error + 'static)) -> bool {
    // What the cache fetched was twice not what the manifest says: then its bytes in the store are not either.
    use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    match error.downcast_ref() {
        Some(TableError::Io { source, .. }) => matches!(source.kind(), InvalidData | NotFound | UnexpectedEof),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use canju_retro::{Metric, TableName};

    use super::*;
    use crate::JobId;

    #[test]
    fn every_failure_has_its_remedy() {
        let name = |text| TableName::new(text).unwrap();
        let task = Task { job: JobId(1), table: name("T4"), metric: Metric::Dtc, epoch: 3 };
        let tables = |source: TableError| ClusterError::Game(source.into_game_error(&name("T2"), Metric::Wdl));
        let io = |kind: io::ErrorKind| TableError::Io { key: "k".into(), place: "p".into(), source: kind.into() };
        let full = || GameError::Scratch { folder: "/scratch".into(), source: io::ErrorKind::StorageFull.into() };
        let missing = TableError::Missing {
            table: name("T2"),
            metric: None,
            rules: canju_retro::Rules::Plain,
            place: "p".into(),
        };
        let cases = [
            (tables(missing), wire::Remedy::Rebuild),
            (tables(io(io::ErrorKind::NotFound)), wire::Remedy::Rebuild),
            (tables(io(io::ErrorKind::InvalidData)), wire::Remedy::Rebuild),
            (ClusterError::Game(full()), wire::Remedy::Elsewhere),
            (tables(io(io::ErrorKind::TimedOut)), wire::Remedy::Elsewhere),
            (ClusterError::Panicked("oh".into()), wire::Remedy::Elsewhere),
            (ClusterError::Remote("a chunk contradicts".into()), wire::Remedy::Unspecified),
            (ClusterError::Game(GameError::Frontier("odd".into())), wire::Remedy::Unspecified),
        ];
        for (error, remedy) in cases {
            let failed = failure(&task, &error);
            assert_eq!(failed.remedy(), remedy, "{}", failed.cause);
            let rebuild = remedy == wire::Remedy::Rebuild;
            let damaged = if rebuild { ("T2", "wdl") } else { ("", "") };
            assert_eq!((failed.table.as_str(), failed.metric.as_str()), damaged);
        }
    }
}
