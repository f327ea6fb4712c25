//! The records of jobs, written behind the coordinator's back in the order in which they change.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use canju_store::{ETag, Key, Object, Store, StoreError};
use futures_util::future::{join_all, try_join_all};
use tokio::sync::Notify;

use crate::bucket::key;
use crate::conductor::FINISHED;
use crate::record::JobRecord;
use crate::reminder::Reminder;
use crate::sabotage::{Safeguard, is_gone};
use crate::{ClusterError, JobId};

/// The wait before a record that could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// Records that are read at a time.
const AT_ONCE: usize = 16;
/// Old records that are deleted when a reign begins: it should not take long.
const DELETED: usize = 1000;

/// Writes records. Only the newest of each job is kept to be written.
#[derive(Debug)]
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    reign: u64,
    /// What is not written yet, with numbers that tell older records of a job from newer ones.
    pending: Mutex<BTreeMap<u64, (u64, JobRecord)>>,
    versions: AtomicU64,
    work: Notify,
    /// The tags of what was written or read last.
    tags: tokio::sync::Mutex<BTreeMap<u64, ETag>>,
}

/// Why a record was not written.
pub(crate) enum Unwritten {
    /// Another coordinator has written it.
    Fenced,
    /// The store failed.
    Failed(ClusterError),
}

impl Ledger {
    /// The ledger of a coordinator with this lease.
    pub(crate) fn new(store: Arc<dyn Store>, reign: u64) -> Self {
        Self {
            store,
            reign,
            pending: Mutex::default(),
            versions: AtomicU64::new(0),
            work: Notify::new(),
            tags: tokio::sync::Mutex::default(),
        }
    }

    /// All records there are, without the oldest finished ones beyond [`FINISHED`]: some of those are deleted. What
    /// cannot be read is told, and left alone.
    pub(crate) async fn read(&self) -> Result<Vec<JobRecord>, ClusterError> {
        let objects = self.store.list("jobs/").await?;
        let mut found = Vec::new();
        for some in objects.chunks(AT_ONCE) {
            let asked: Vec<_> = some.iter().map(|object| self.get(object.key.clone())).collect();
            found.extend(try_join_all(asked).await?);
        }
        let mut records = Vec::new();
        let mut tags = self.tags.lock().await;
        for (key, object) in found.into_iter().flatten() {
            match JobRecord::parse(key.as_str(), &object.bytes) {
                Ok(record) => {
                    tags.insert(record.id, object.etag);
                    records.push(record);
                }
                Err(error) => tracing::error!(error = %error.line(), "a job is left out"),
            }
        }
        records.sort_by_key(|r| r.id);
        let over: Vec<u64> = records.iter().filter(|r| r.is_over()).map(|r| r.id).collect();
        let old = &over[..over.len().saturating_sub(FINISHED)];
        records.retain(|r| old.binary_search(&r.id).is_err());
        for some in old[..old.len().min(DELETED)].chunks(AT_ONCE) {
            let deleting: Vec<_> = some.iter().map(|&id| self.delete(id)).collect();
            join_all(deleting).await;
        }
        Ok(records)
    }

    /// Best effort: what is left is deleted another time.
    async fn delete(&self, id: u64) {
        if let Ok(key) = key(&JobRecord::key_of(id))
            && let Err(error) = self.store.delete(&key).await
        {
            tracing::warn!(%key, %error, "an old job's record is not deleted");
        }
    }

    async fn get(&self, key: Key) -> Result<Option<(Key, Object)>, ClusterError> {
        match self.store.get(&key).await {
            Ok(object) => Ok(Some((key, object))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Has a record written soon.
    pub(crate) fn note(&self, record: JobRecord) {
        let version = self.versions.fetch_add(1, Ordering::Relaxed);
        self.pending().insert(record.id, (version, record));
        self.work.notify_one();
    }

    fn pending(&self) -> MutexGuard<'_, BTreeMap<u64, (u64, JobRecord)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job whose record is to be written: the next one after this, and then from the beginning.
    fn next(&self, after: u64) -> Option<u64> {
        let pending = self.pending();
        pending.range((Excluded(after), Unbounded)).chain(pending.iter()).next().map(|(&id, _)| id)
    }

    /// Writes the newest record of a job that is not written yet. It stays pending until it is written.
    pub(crate) async fn settle(&self, id: u64) -> Result<(), Unwritten> {
        let mut tags = self.tags.lock().await;
        let Some((version, record)) = self.pending().get(&id).cloned() else { return Ok(()) };
        self.put(&mut tags, &record).await?;
        let mut pending = self.pending();
        if pending.get(&id).is_some_and(|(newest, _)| *newest == version) {
            pending.remove(&id);
        }
        Ok(())
    }

    /// Writes what there is to write, for ever; ends when another coordinator writes too.
    pub(crate) async fn keep(&self) {
        let mut unwritten: BTreeMap<u64, Reminder> = BTreeMap::new();
        let mut last = 0;
        loop {
            // A record that cannot be written keeps no other from being written.
            let Some(id) = self.next(last) else {
                self.work.notified().await;
                continue;
            };
            last = id;
            match self.settle(id).await {
                Ok(()) => drop(unwritten.remove(&id)),
                Err(Unwritten::Fenced) => return,
                Err(Unwritten::Failed(error)) => {
                    if let Some(times) = unwritten.entry(id).or_default().due() {
                        tracing::warn!(job = %JobId(id), error = %error.line(), times, "record is not written yet");
                    }
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Tries once to write each record that is to be written now: one that cannot be written keeps no other from it, but
    /// nothing more is written where another coordinator writes.
    ///
    /// # Errors
    /// What was wrong with the first that was not written.
    pub(crate) async fn flush(&self) -> Result<(), Unwritten> {
        let ids: Vec<u64> = self.pending().keys().copied().collect();
        let mut first = Ok(());
        for id in ids {
            match self.settle(id).await {
                Err(Unwritten::Fenced) => return Err(Unwritten::Fenced),
                settled => first = first.and(settled),
            }
        }
        first
    }

    /// Writes a record now.
    pub(crate) async fn write(&self, record: &JobRecord) -> Result<(), Unwritten> {
        let mut tags = self.tags.lock().await;
        self.put(&mut tags, record).await
    }

    async fn put(&self, tags: &mut BTreeMap<u64, ETag>, record: &JobRecord) -> Result<(), Unwritten> {
        let failed = |e: ClusterError| Unwritten::Failed(e);
        let name = key(&JobRecord::key_of(record.id)).map_err(failed)?;
        let mut record = record.clone();
        record.reign = self.reign;
        let bytes = Bytes::from(record.to_json().map_err(failed)?);
        for again in [true, false] {
            let written = match tags.get(&record.id) {
                _ if is_gone(Safeguard::Lease) => self.store.put(&name, bytes.clone()).await,
                Some(tag) => self.store.put_if_match(&name, bytes.clone(), tag).await,
                None => self.store.put_if_absent(&name, bytes.clone()).await,
            };
            match written {
                Ok(tag) => {
                    tags.insert(record.id, tag);
                    return Ok(());
                }
                // It may be what this reign wrote itself, in a call that was given up or whose answer was lost.
                Err(StoreError::Changed { .. } | StoreError::AlreadyExists { .. }) if again => {
                    match self.store.get(&name).await {
                        Ok(found) if self.is_own(record.id, &found) => drop(tags.insert(record.id, found.etag)),
                        Ok(_) | Err(StoreError::NotFound { .. }) => return Err(Unwritten::Fenced),
                        Err(error) => return Err(failed(error.into())),
                    }
                }
                Err(StoreError::Changed { .. } | StoreError::AlreadyExists { .. } | StoreError::NotFound { .. }) => {
                    return Err(Unwritten::Fenced);
                }
                Err(e) => return Err(failed(e.into())),
            }
        }
        Err(Unwritten::Fenced)
    }

    fn is_own(&self, id: u64, found: &Object) -> bool {
        JobRecord::parse(&JobRecord::key_of(id), &found.bytes).is_ok_and(|record| record.reign == self.reign)
    }
}

#[cfg(test)]
mod tests {
    use canju_retro::Rules;
    use canju_store::FolderStore;

    use super::*;

    #[tokio::test]
    async fn what_this_reign_wrote_in_a_call_that_was_given_up_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(FolderStore::open(folder.path()).unwrap());
        let record = JobRecord::asked(JobId(7), Vec::new(), Vec::new(), Rules::Plain);
        let of = |reign| Ledger::new(Arc::clone(&store) as Arc<dyn Store>, reign);
        let (ledger, given_up, next) = (of(1), of(1), of(2));
        for writer in [&ledger, &given_up] {
            assert!(writer.write(&record).await.is_ok());
        }
        ledger.note(record.clone());
        assert!(ledger.settle(7).await.is_ok() && ledger.pending().is_empty());
        assert!(matches!(next.write(&record).await, Err(Unwritten::Fenced)));
    }

    #[tokio::test]
    async fn a_record_that_cannot_be_written_keeps_no_other_from_being_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(Arc::new(FolderStore::open(folder.path()).unwrap()), 1);
        for id in 1..=4 {
            ledger.note(JobRecord::asked(JobId(id), Vec::new(), Vec::new(), Rules::Plain));
        }
        // Folders stand where these would be written.
        let place = |id| folder.path().join(JobRecord::key_of(id));
        for id in [1, 3] {
            std::fs::create_dir_all(place(id)).unwrap();
        }
        let told = ledger.flush().await;
        assert!(matches!(told, Err(Unwritten::Failed(error)) if error.line().contains("j1.json")));
        assert!(place(2).is_file() && place(4).is_file());
        assert_eq!(ledger.pending().keys().copied().collect::<Vec<_>>(), [1, 3]);
    }
}
