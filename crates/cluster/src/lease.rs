//! The lease: of all coordinators of a store, one is active.
//!
//! It is the object `lease/coordinator`. The holder rewrites it every few seconds by compare-and-swap; who wants it watches
//! by its own clock whether it changes. No two clocks are compared, and nobody ever writes it without having
//! seen what it replaces.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canju_store::{ETag, Key, Store, StoreError};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::bucket::key;
use crate::{ClusterError, process};

const LEASE: &str = "lease/coordinator";
const VERSION: u32 = 1;

/// How a lease is held and taken.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTiming {
    /// How often the holder rewrites it.
    pub renew: Duration,
    /// How long it must stand unchanged before another may take it: several times `renew`.
    pub hold: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self { renew: Duration::from_secs(2), hold: Duration::from_secs(10) }
    }
}

/// Who holds the lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// Where it is reached.
    pub(crate) address: String,
    /// Which process it is, in words that no other process ever has.
    process: String,
    /// The machine, its start and its space of processes, where the system tells: only there a process's end can be seen.
    #[serde(default)]
    place: String,
}

/// The object's content.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    /// The number of the lease: one more with every new holder.
    reign: u64,
    /// Nobody, where the last holder gave it up.
    holder: Option<Holder>,
    /// Names of the workers that attend the holder.
    crew: BTreeSet<String>,
    /// Makes every content another one.
    beat: u64,
}

/// What became of a renewal.
#[derive(Debug)]
pub(crate) enum Renewal {
    Kept,
    /// Somebody else has it, or took it away.
    Lost,
    /// The store does not answer: nobody can have taken it meanwhile, and nobody can tell.
    Unknown(StoreError),
}

/// The lease, held.
#[derive(Debug)]
pub(crate) struct Lease {
    store: Arc<dyn Store>,
    key: Key,
    record: Record,
    etag: ETag,
}

/// A content of the lease as somebody sees it who wants it.
struct Sight {
    etag: ETag,
    first: Instant,
    last: Instant,
}

impl Holder {
    /// This process, reached at an address.
    pub(crate) fn here(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            process: format!("{}-{:016x}", process::name(), fastrand::u64(..)),
            place: process::place().unwrap_or_default(),
        }
    }

    /// True when the holder was a process of this very system and is no more.
    fn has_ended(&self) -> bool {
        let here = process::place().is_some_and(|place| !place.is_empty() && place == self.place);
        let name = self.process.rsplit_once('-').map(|(name, _)| name);
        here && name.is_some_and(|name| !process::lives(name))
    }
}

impl Lease {
    /// Waits until the lease can be had, and takes it. `watch` is told who holds it meanwhile.
    ///
    /// # Errors
    /// What the store says, when that does not heal; a lease that cannot be read.
    pub(crate) async fn take(
        store: Arc<dyn Store>,
        holder: Holder,
        timing: LeaseTiming,
        at_least: u64,
        mut watch: impl FnMut(&Holder),
    ) -> Result<Self, ClusterError> {
        let key = key(LEASE)?;
        let mut seen: Option<Sight> = None;
        loop {
            let found = match store.get(&key).await {
                Ok(object) => Some(object),
                Err(StoreError::NotFound { .. }) => None,
                Err(e) => return Err(e.into()),
            };
            let (before, etag) = match found {
                Some(object) => (Some(read(&object.bytes)?), Some(object.etag)),
                None => (None, None),
            };
            let unchanged = match (&etag, &mut seen) {
                // While the store was away the holder could not write either: that time does not count.
                (Some(etag), Some(sight)) if sight.etag == *etag && sight.last.elapsed() < timing.hold / 2 => {
                    sight.last = Instant::now();
                    sight.first.elapsed() >= timing.hold
                }
                _ => {
                    let now = Instant::now();
                    seen = etag.clone().map(|etag| Sight { etag, first: now, last: now });
                    false
                }
            };
            let other = before.as_ref().and_then(|r| r.holder.as_ref());
            if other.is_none_or(|h| unchanged || h.has_ended()) {
                let reign = before.as_ref().map_or(0, |r| r.reign).max(at_least) + 1;
                let crew = before.map(|r| r.crew).unwrap_or_default();
                let record = Record { version: VERSION, reign, holder: Some(holder.clone()), crew, beat: 0 };
                let bytes = write(&record)?;
                let written = match &etag {
                    Some(etag) => store.put_if_match(&key, bytes, etag).await,
                    None => store.put_if_absent(&key, bytes).await,
                };
                match written {
                    Ok(etag) => return Ok(Self { store, key, record, etag }),
                    Err(
                        StoreError::AlreadyExists { .. } | StoreError::Changed { .. } | StoreError::NotFound { .. },
                    ) => {}
                    Err(e) => return Err(e.into()),
                }
            } else if let Some(other) = other {
                watch(other);
            }
            sleep(timing.renew).await;
        }
    }

    /// The lease's number.
    pub(crate) const fn reign(&self) -> u64 {
        self.record.reign
    }

    /// The workers that attended the holder before this one.
    pub(crate) const fn crew(&self) -> &BTreeSet<String> {
        &self.record.crew
    }

    /// Says that the holder lives, and who attends it.
    pub(crate) async fn renew(&mut self, crew: BTreeSet<String>) -> Renewal {
        let next = Record { crew, beat: self.record.beat + 1, ..self.record.clone() };
        self.replace(next).await
    }

    /// Gives the lease up, so that the next one need not wait.
    pub(crate) async fn release(mut self) {
        let next = Record { holder: None, beat: self.record.beat + 1, ..self.record.clone() };
        if let Renewal::Unknown(error) = self.replace(next).await {
            tracing::warn!(%error, "the lease could not be given up, the next coordinator waits until it is old");
        }
    }

    async fn replace(&mut self, next: Record) -> Renewal {
        let Ok(bytes) = write(&next) else { return Renewal::Lost };
        let mut again = true;
        loop {
            match self.store.put_if_match(&self.key, bytes.clone(), &self.etag).await {
                Ok(etag) => {
                    self.record = next;
                    self.etag = etag;
                    return Renewal::Kept;
                }
                Err(StoreError::Changed { .. }) if again => again = false,
                Err(StoreError::Changed { .. } | StoreError::NotFound { .. }) => return Renewal::Lost,
                Err(error) => return Renewal::Unknown(error),
            }
            // It may be what this holder wrote itself, in a call that was given up or whose answer was lost.
            match self.store.get(&self.key).await {
                Ok(object) if read(&object.bytes).is_ok_and(|r| r.is_of(&self.record)) => self.etag = object.etag,
                Ok(_) | Err(StoreError::NotFound { .. }) => return Renewal::Lost,
                Err(error) => return Renewal::Unknown(error),
            }
        }
    }
}

/// Where the holder of a later lease than this one is reached, once there is one that can be read. Who attends a
/// coordinator that has lost the store, and with it the lease, learns so of the next one.
pub(crate) async fn successor(store: &dyn Store, reign: u64) -> Option<String> {
    let object = store.get(&key(LEASE).ok()?).await.ok()?;
    let record = read(&object.bytes).ok()?;
    record.holder.filter(|_| record.reign > reign).map(|holder| holder.address)
}

impl Record {
    /// True for the same holder's same lease.
    fn is_of(&self, other: &Self) -> bool {
        self.reign == other.reign && self.holder.is_some() && self.holder == other.holder
    }
}

fn read(bytes: &[u8]) -> Result<Record, ClusterError> {
    let wrong = |what: &str| {
        ClusterError::Refused(format!(
            "the lease {LEASE} in the store cannot be read ({what}): if no coordinator of this store runs, delete it and start all workers again"
        ))
    };
    let record: Record = serde_json::from_slice(bytes).map_err(|e| wrong(&e.to_string()))?;
    if record.version == VERSION { Ok(record) } else { Err(wrong("it is of another version of the software")) }
}

fn write(record: &Record) -> Result<Bytes, ClusterError> {
    let json = serde_json::to_vec_pretty(record).map_err(|e| ClusterError::Protocol(e.to_string()))?;
    Ok(Bytes::from(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use canju_store::MemoryStore;

    fn holder(name: &str) -> Holder {
        Holder { address: format!("http://{name}"), process: name.to_owned(), place: String::new() }
    }

    async fn take(store: &Arc<dyn Store>, name: &str) -> Lease {
        Lease::take(Arc::clone(store), holder(name), LeaseTiming::default(), 0, |_| {}).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_renewed_is_not_taken() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut first = take(&store, "a").await;
        let mut second = Box::pin(Lease::take(Arc::clone(&store), holder("b"), LeaseTiming::default(), 0, |h| {
            assert_eq!(h.address, "http://a");
        }));
        for _ in 0..60 {
            tokio::select! {
                _ = &mut second => panic!("it was taken"),
                () = sleep(Duration::from_secs(2)) => {
                    assert!(matches!(first.renew(["w".to_owned()].into()).await, Renewal::Kept));
                }
            }
        }
        // Silence: it goes to the other, and the first one learns of it.
        let second = second.await.unwrap();
        assert_eq!((first.reign(), second.reign()), (1, 2));
        assert_eq!(second.crew().iter().collect::<Vec<_>>(), ["w"]);
        assert!(matches!(first.renew(BTreeSet::new()).await, Renewal::Lost));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_given_up_is_taken_at_once() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        take(&store, "a").await.release().await;
        let began = Instant::now();
        let second = take(&store, "b").await;
        assert_eq!(second.reign(), 2);
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn an_own_write_whose_answer_was_lost_is_no_loss() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut lease = take(&store, "a").await;
        let before = lease.etag.clone();
        assert!(matches!(lease.renew(["w".to_owned()].into()).await, Renewal::Kept));
        lease.etag = before;
        assert!(matches!(lease.renew(BTreeSet::new()).await, Renewal::Kept));
        lease.etag = ETag::new("old");
        lease.release().await;
        assert_eq!(take(&store, "b").await.reign(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_one_takes_it() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        drop(take(&store, "a").await);
        let others = ["b", "c", "d"].map(|name| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                tokio::time::timeout(Duration::from_secs(60), take(&store, name)).await.map(|l| l.reign())
            })
        });
        let mut taken = Vec::new();
        for other in others {
            taken.extend(other.await.unwrap().ok());
        }
        // The loser sees a new content, and waits anew: after a minute of silence it has its turn.
        taken.sort_unstable();
        assert_eq!(taken, [2, 3, 4]);
    }

    #[tokio::test]
    async fn a_process_of_this_machine_that_is_gone_is_not_waited_for() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut gone = Holder::here("http://gone");
        gone.process = "4194304.1-0".into();
        if gone.place.is_empty() {
            return;
        }
        let lease = Lease::take(Arc::clone(&store), gone, LeaseTiming::default(), 0, |_| {}).await.unwrap();
        drop(lease);
        let next = Lease::take(store, Holder::here("http://here"), LeaseTiming::default(), 0, |_| {});
        assert_eq!(tokio::time::timeout(Duration::from_secs(5), next).await.unwrap().unwrap().reign(), 2);
        assert!(!Holder::here("http://here").has_ended());
    }

    #[tokio::test]
    async fn a_lease_that_is_none_is_named() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        store.put(&Key::new(LEASE).unwrap(), Bytes::from_static(b"{}")).await.unwrap();
        let error = Lease::take(store, holder("a"), LeaseTiming::default(), 0, |_| {}).await.unwrap_err().line();
        assert!(error.contains("lease/coordinator") && error.contains("delete it"), "{error}");
    }
}
