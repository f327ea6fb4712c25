//! A store in memory, for tests and for jobs that leave nothing behind.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{ETag, Key, Object, ObjectInfo, Store, StoreError};

/// Objects in memory. They end with the process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<Key, Object>>);

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<Key, Object>> {
        // A map is whole between its calls: what a panicking thread left is usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_found(&self, key: &Key) -> StoreError {
        StoreError::NotFound { key: key.clone(), place: self.place() }
    }

    /// Inserts, unless the key is a folder of another or lies below one.
    fn insert(&self, objects: &mut BTreeMap<Key, Object>, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        let text = key.as_str();
        let folder = format!("{text}/");
        let is_folder = objects.range(key.clone()..).any(|(k, _)| k.as_str().starts_with(&folder));
        let below =
            text.match_indices('/').any(|(at, _)| Key::new(&text[..at]).is_ok_and(|k| objects.contains_key(&k)));
        if is_folder || below {
            return Err(StoreError::Denied {
                what: format!("to write {key}"),
                place: self.place(),
                remedy: "one key would be a folder of another; choose another key",
                source: None,
            });
        }
        let etag = ETag::of(&bytes);
        objects.insert(key.clone(), Object { bytes, etag: etag.clone() });
        Ok(etag)
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.objects().get(key).cloned().ok_or_else(|| self.not_found(key))
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        let object = self.get(key).await?;
        let len = object.bytes.len() as u64;
        if range.start > range.end || range.end > len {
            let (start, end) = (range.start, range.end);
            return Err(StoreError::OutOfRange { key: key.clone(), place: self.place(), len, start, end });
        }
        Ok(object.bytes.slice(range.start as usize..range.end as usize))
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        let object = self.get(key).await?;
        Ok(ObjectInfo { key: key.clone(), len: object.bytes.len() as u64 })
    }

    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.insert(&mut self.objects(), key, bytes)
    }

    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        let mut objects = self.objects();
        if objects.contains_key(key) {
            return Err(StoreError::AlreadyExists { key: key.clone(), place: self.place() });
        }
        self.insert(&mut objects, key, bytes)
    }

    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        let mut objects = self.objects();
        match objects.get(key) {
            None => Err(self.not_found(key)),
            Some(object) if object.etag != *expected => {
                Err(StoreError::Changed { key: key.clone(), place: self.place() })
            }
            Some(_) => self.insert(&mut objects, key, bytes),
        }
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.objects().remove(key);
        Ok(())
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        let objects = self.objects();
        let found = objects.iter().filter(|(key, _)| key.as_str().starts_with(prefix));
        Ok(found.map(|(key, o)| ObjectInfo { key: key.clone(), len: o.bytes.len() as u64 }).collect())
    }
}
