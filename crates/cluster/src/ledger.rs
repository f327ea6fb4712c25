//! The records of jobs, written behind the coordinator's back in the order in which they change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use canju_store::{ETag, Store, StoreError};
use tokio::sync::Notify;

use crate::bucket::key;
use crate::record::JobRecord;
use crate::sabotage::{Safeguard, is_gone};
use crate::{ClusterError, JobId};

/// The wait before a record that could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// Writes records. Only the newest of each job is kept to be written.
#[derive(Debug)]
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    reign: u64,
    pending: Mutex<BTreeMap<u64, JobRecord>>,
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
        Self { store, reign, pending: Mutex::default(), work: Notify::new(), tags: tokio::sync::Mutex::default() }
    }

    /// All records there are. Those that cannot be read are told, and left alone.
    pub(crate) async fn read(&self) -> Result<Vec<JobRecord>, ClusterError> {
        let mut records = Vec::new();
        for object in self.store.list("jobs/").await? {
            let found = match self.store.get(&object.key).await {
                Ok(found) => found,
                Err(StoreError::NotFound { .. }) => continue,
                Err(e) => return Err(e.into()),
            };
            match JobRecord::parse(object.key.as_str(), &found.bytes) {
                Ok(record) => {
                    self.tags.lock().await.insert(record.id, found.etag);
                    records.push(record);
                }
                Err(error) => tracing::error!(error = %error.line(), "a job is left out"),
            }
        }
        records.sort_by_key(|r| r.id);
        Ok(records)
    }

    /// Has a record written soon.
    pub(crate) fn note(&self, record: JobRecord) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(record.id, record);
        self.work.notify_one();
    }

    fn next(&self) -> Option<JobRecord> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).pop_first().map(|(_, record)| record)
    }

    /// Has a record written after all, unless there is a newer one.
    fn put_back(&self, record: JobRecord) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.entry(record.id).or_insert(record);
    }

    /// Writes what there is to write, for ever; ends when another coordinator writes too.
    pub(crate) async fn keep(&self) {
        loop {
            let Some(record) = self.next() else {
                self.work.notified().await;
                continue;
            };
            match self.write(&record).await {
                Ok(()) => {}
                Err(Unwritten::Fenced) => return,
                Err(Unwritten::Failed(error)) => {
                    tracing::warn!(job = %JobId(record.id), error = %error.line(), "record is not written yet");
                    self.put_back(record);
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Writes what there is to write now, once.
    pub(crate) async fn flush(&self) {
        while let Some(record) = self.next() {
            if self.write(&record).await.is_err() {
                return;
            }
        }
    }

    /// Writes a record now.
    pub(crate) async fn write(&self, record: &JobRecord) -> Result<(), Unwritten> {
        let failed = |e: ClusterError| Unwritten::Failed(e);
        let name = key(&JobRecord::key_of(record.id)).map_err(failed)?;
        let mut record = record.clone();
        record.reign = self.reign;
        let bytes = Bytes::from(record.to_json().map_err(failed)?);
        let mut tags = self.tags.lock().await;
        let written = match tags.get(&record.id) {
            _ if is_gone(Safeguard::Lease) => self.store.put(&name, bytes).await,
            Some(tag) => self.store.put_if_match(&name, bytes, tag).await,
            None => self.store.put_if_absent(&name, bytes).await,
        };
        match written {
            Ok(tag) => {
                tags.insert(record.id, tag);
                Ok(())
            }
            Err(StoreError::Changed { .. } | StoreError::AlreadyExists { .. } | StoreError::NotFound { .. }) => {
                Err(Unwritten::Fenced)
            }
            Err(e) => Err(failed(e.into())),
        }
    }
}
