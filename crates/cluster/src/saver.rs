//! Writes a part's log to the store now and then, while the part goes on.

use std::sync::Arc;
use std::time::Duration;

use canju_store::StoreError;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::bench::Bench;
use crate::checkpoint::{Stamp, name, seal};
use crate::held::Held;
use crate::wire::report::Kind as Say;
use crate::{ClusterError, Task, wire};

/// The longest wait before a checkpoint that was asked for is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Keeps the checkpoints of one share at work, one at a time.
pub(crate) struct Saver {
    pub(crate) bench: Bench,
    pub(crate) held: Arc<Held>,
    pub(crate) task: Task,
    pub(crate) share: u32,
    /// Rings when a checkpoint is wanted at once.
    pub(crate) flush: Arc<Notify>,
}

/// What is in the store.
struct Saved {
    plies: u16,
    bytes: u64,
}

impl Saver {
    /// Writes checkpoints, by time and when it is asked to. A store that fails only delays them; what it returns is an
    /// error of the part.
    pub(crate) async fn run(&self) -> ClusterError {
        let every = self.bench.checkpoints;
        let mut due = Instant::now() + every;
        let mut wanted = false;
        loop {
            tokio::select! {
                biased;
                () = self.flush.notified() => wanted = true,
                () = sleep_until(due) => {}
            }
            due = Instant::now() + every;
            match self.save().await {
                Ok(saved) => {
                    if wanted || saved.bytes > 0 {
                        self.tell(&saved).await;
                    }
                    wanted = false;
                }
                Err(ClusterError::Store(error)) => {
                    self.warn(&error);
                    if wanted {
                        due = due.min(Instant::now() + AGAIN);
                    }
                }
                Err(error) => return error,
            }
        }
    }

    /// Puts the plies into the store that are not there yet. The part is held only while they are copied.
    async fn save(&self) -> Result<Saved, ClusterError> {
        let from = self.held.facts().saved;
        let (task, key) = (self.task.clone(), self.held.key.clone());
        let sealed = self.held.read(&self.bench.pool, task.epoch, move |part| {
            let plies = from..part.known();
            if plies.is_empty() {
                return Ok(None);
            }
            let stamp = Stamp::new(&task, key.rules, &key.runs, plies.clone());
            Ok(Some((plies.clone(), seal(&stamp, &part.save(plies)?))))
        });
        let Some((plies, sealed)) = sealed.await? else { return Ok(Saved { plies: from, bytes: 0 }) };
        let bytes = sealed.len() as u64;
        self.bench.bucket.store.put(&name(&self.task, self.share, &plies)?, sealed).await?;
        self.held.facts().saved = plies.end;
        tracing::debug!(plies = plies.end, bytes, "checkpoint written");
        Ok(Saved { plies: plies.end, bytes })
    }

    async fn tell(&self, saved: &Saved) {
        let checkpointed = wire::Checkpointed {
            task: Some((&self.task).into()),
            share: self.share,
            plies: u32::from(saved.plies),
            bytes: saved.bytes,
        };
        self.bench.reports.say(Say::Checkpointed(checkpointed)).await;
    }

    fn warn(&self, error: &StoreError) {
        let cause = crate::causes(error);
        tracing::warn!(task = %self.task, share = self.share, cause, "a checkpoint could not be written; it is tried again");
    }
}
