//! A folder whose writes below some prefix fail while a switch is on.
#![allow(dead_code)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use canju_cluster::{Bucket, Buckets, ClusterError, Folders};
use canju_store::{ETag, Key, Object, ObjectInfo, Store, StoreError};

#[derive(Clone)]
pub struct FailingFolders {
    pub prefix: &'static str,
    pub broken: Arc<AtomicBool>,
    /// How often it failed.
    pub failures: Arc<AtomicU32>,
}

#[async_trait]
impl Buckets for FailingFolders {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let bucket = Folders.open(location).await?;
        let store = Arc::new(Failing { inner: bucket.store, how: self.clone() });
        Ok(Bucket { store, source: bucket.source })
    }
}

struct Failing {
    inner: Arc<dyn Store>,
    how: FailingFolders,
}

impl std::fmt::Debug for Failing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Failing")
    }
}

impl Failing {
    fn try_write(&self, key: &Key) -> Result<(), StoreError> {
        if !key.as_str().starts_with(self.how.prefix) || !self.how.broken.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.how.failures.fetch_add(1, Ordering::SeqCst);
        let source = std::io::ErrorKind::TimedOut.into();
        Err(StoreError::Unavailable { what: key.to_string(), place: self.place(), source })
    }
}

#[async_trait]
impl Store for Failing {
    fn place(&self) -> String {
        "the shaky store".into()
    }
    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.inner.get(key).await
    }
    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        self.inner.get_range(key, range).await
    }
    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.inner.head(key).await
    }
    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.try_write(key)?;
        self.inner.put(key, bytes).await
    }
    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.try_write(key)?;
        self.inner.put_if_absent(key, bytes).await
    }
    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        self.try_write(key)?;
        self.inner.put_if_match(key, bytes, expected).await
    }
    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.inner.delete(key).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.inner.list(prefix).await
    }
}
