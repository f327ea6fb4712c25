//! A store that is away while a switch is on, and that is borne with as every store is.
#![allow(dead_code)]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use canju_cluster::{Bucket, Buckets, ClusterError, Folders};
use canju_shelf::StoreSource;
use canju_store::{ETag, Key, Object, ObjectInfo, Retrying, Store, StoreError, StoreOptions};
use tokio::runtime::Handle;

/// The switch; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Away {
    is_away: Arc<AtomicBool>,
    /// What was asked for in vain.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Away {
    pub fn leave(&self) {
        self.is_away.store(true, Ordering::SeqCst);
    }

    pub fn come_back(&self) {
        self.is_away.store(false, Ordering::SeqCst);
    }

    /// How often something below a prefix was asked for in vain.
    pub fn failures(&self, prefix: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|what| what.starts_with(prefix)).count()
    }

    fn ask(&self, what: &str) -> Result<(), StoreError> {
        if !self.is_away.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.asked.lock().unwrap().push(what.to_owned());
        let source = std::io::ErrorKind::ConnectionRefused.into();
        Err(StoreError::Unavailable { what: what.to_owned(), place: "the store".into(), source })
    }
}

#[async_trait]
impl Buckets for Away {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let inner = Folders.open(location).await?.store;
        let store = Distant { inner, how: self.clone() };
        let store: Arc<dyn Store> = Arc::new(Retrying::new(Arc::new(store), &StoreOptions::default()));
        Ok(Bucket { source: Arc::new(StoreSource::new(Arc::clone(&store), Handle::current())), store })
    }
}

#[derive(Debug)]
struct Distant {
    inner: Arc<dyn Store>,
    how: Away,
}

#[async_trait]
impl Store for Distant {
    fn place(&self) -> String {
        "the store".into()
    }
    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.get(key).await
    }
    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.get_range(key, range).await
    }
    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.head(key).await
    }
    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.put(key, bytes).await
    }
    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.put_if_absent(key, bytes).await
    }
    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.put_if_match(key, bytes, expected).await
    }
    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.how.ask(key.as_str())?;
        self.inner.delete(key).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.how.ask(prefix)?;
        self.inner.list(prefix).await
    }
}
