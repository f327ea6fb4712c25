//! Deletes checkpoints that nobody needs any more.
//!
//! They are looked through when a table is finished, for those of no work, and now and then as well: a put that was under
//! way, of a worker that was cut off, may arrive after that.

use std::collections::BTreeSet;
use std::time::Duration;

use canju_store::Key;
use tokio::time::{MissedTickBehavior, interval};

use crate::JobId;
use crate::checkpoint::FOLDER;
use crate::office::Office;

/// The shortest time between two looks: listing is paid for.
const OFTEN: Duration = Duration::from_secs(1);

impl Office {
    /// Deletes checkpoints of no work, when there may be some and as often as checkpoints are written.
    pub(crate) async fn tidy(&self) {
        let mut beat = interval(self.settings.checkpoint.max(OFTEN));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = beat.tick() => {}
                () = self.untidy.notified() => {}
            }
            self.sweep_strays().await;
        }
    }

    async fn sweep_strays(&self) {
        let found = match self.bucket.store.list(FOLDER).await {
            Ok(found) => found.into_iter().map(|object| object.key),
            Err(error) => return tracing::warn!(%error, "checkpoints that nobody needs are not deleted"),
        };
        // In this order: a work that begins after the list was made has nothing in it.
        let needed: BTreeSet<String> = self.look(|conductor, _| conductor.checkpoints());
        let is_stray = |key: &Key| owner(key).is_some_and(|owner| !needed.contains(owner));
        let strays: Vec<Key> = found.filter(is_stray).collect();
        // Another coordinator knows works of its own. If the lease is held now, there was none when the list was made.
        if !strays.is_empty() && self.confirm().await.is_ok() {
            self.delete(strays).await;
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
