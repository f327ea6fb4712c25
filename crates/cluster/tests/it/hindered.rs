//! A store that does nothing without leave: what tests let fail.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use canju_store::{ETag, Key, Object, ObjectInfo, Store, StoreError};

/// What is to be done with an object, or with those below a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Delete,
}

/// Gives leave, or tells what has failed.
pub type Leave = Arc<dyn Fn(Access, &str) -> Result<(), StoreError> + Send + Sync>;

/// Asks for leave before it does anything.
pub struct Hindered {
    inner: Arc<dyn Store>,
    place: &'static str,
    leave: Leave,
}

impl Hindered {
    pub fn new(
        inner: Arc<dyn Store>,
        place: &'static str,
        leave: impl Fn(Access, &str) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { inner, place, leave: Arc::new(leave) })
    }
}

impl fmt::Debug for Hindered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.place)
    }
}

#[async_trait]
impl Store for Hindered {
    fn place(&self) -> String {
        self.place.into()
    }
    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        (self.leave)(Access::Read, key.as_str())?;
        self.inner.get(key).await
    }
    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        (self.leave)(Access::Read, key.as_str())?;
        self.inner.get_range(key, range).await
    }
    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        (self.leave)(Access::Read, key.as_str())?;
        self.inner.head(key).await
    }
    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        (self.leave)(Access::Write, key.as_str())?;
        self.inner.put(key, bytes).await
    }
    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        (self.leave)(Access::Write, key.as_str())?;
        self.inner.put_if_absent(key, bytes).await
    }
    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        (self.leave)(Access::Write, key.as_str())?;
        self.inner.put_if_match(key, bytes, expected).await
    }
    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        (self.leave)(Access::Delete, key.as_str())?;
        self.inner.delete(key).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        (self.leave)(Access::Read, prefix)?;
        self.inner.list(prefix).await
    }
}
