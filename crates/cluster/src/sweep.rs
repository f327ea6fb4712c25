//! Deletes checkpoints that nobody needs any more.
//!
//! Those of a table go when it is finished. A put that was under way then, of a worker that was cut off, may arrive
//! after that: now and then all checkpoints are looked through for those of no work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use canju_store::Key;
use tokio::time::{MissedTickBehavior, interval};

use crate::JobId;
use crate::checkpoint::FOLDER;
use crate::office::Office;

/// The shortest time between two looks: listing is paid for.
const OFTEN: Duration = Duration::from_secs(1);

impl Office {
    /// Deletes the checkpoints below a prefix.
    pub(crate) async fn sweep(self: Arc<Self>, prefix: String) {
        if let Some(found) = self.checkpoints(&prefix).await {
            self.delete(found).await;
        }
    }

    /// Deletes checkpoints of no work, as often as checkpoints are written.
    pub(crate) async fn tidy(&self) {
        let mut beat = interval(self.settings.checkpoint.max(OFTEN));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            self.sweep_strays().await;
        }
    }

    async fn sweep_strays(&self) {
        let Some(found) = self.checkpoints(FOLDER).await else { return };
        // In this order: a work that begins after the list was made has nothing in it.
        let needed: BTreeSet<String> = self.look(|conductor, _| conductor.checkpoints());
        let is_stray = |key: &Key| owner(key).is_some_and(|owner| !needed.contains(owner));
        let strays: Vec<Key> = found.into_iter().filter(is_stray).collect();
        // Another coordinator knows works of its own. If the lease is held now, there was none when the list was made.
        if !strays.is_empty() && self.confirm().await.is_ok() {
            self.delete(strays).await;
        }
    }

    async fn checkpoints(&self, prefix: &str) -> Option<Vec<Key>> {
        match self.bucket.store.list(prefix).await {
            Ok(objects) => Some(objects.into_iter().map(|object| object.key).collect()),
            Err(error) => {
                tracing::warn!(prefix, %error, "checkpoints that nobody needs are not deleted");
                None
            }
        }
    }

    async fn delete(&self, keys: Vec<Key>) {
        for key in keys {
            if self.is_over() {
                return;
            }
            if let Err(error) = self.bucket.store.delete(&key).await {
                tracing::warn!(%key, %error, "a checkpoint that nobody needs is not deleted");
                return;
            }
        }
    }
}

/// The folder of the work that a checkpoint is of; nothing for what is no checkpoint.
fn owner(key: &Key) -> Option<&str> {
    let key = key.as_str();
    let mut fields = key.split('/');
    let (top, job, table) = (fields.next()?, fields.next()?, fields.next()?);
    let _: JobId = job.parse().ok()?;
    fields.next()?;
    key.get(..top.len() + job.len() + table.len() + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_checkpoint() {
        let owner_of = |key: &str| owner(&Key::new(key).unwrap()).map(str::to_owned);
        assert_eq!(owner_of("work/j3/T4/dtm/77-2-4-9").as_deref(), Some("work/j3/T4/"));
        for other in ["work/j3/T4", "work/notes/T4/dtm/77-2-4-9", "work"] {
            assert_eq!(owner_of(other), None);
        }
    }
}
