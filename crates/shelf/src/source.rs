//! Tables of a store as a source for threads that wait.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use canju_store::{Key, Store, StoreError};
use canju_table::{Manifest, ReadAt, ShardInfo, Source, TABLES, manifest_key, parse_manifest_key, shard_key};
use tokio::runtime::Handle;

use crate::Cache;
use crate::bridge::wait;
use crate::remote::Remote;

/// What one request of several fetches.
const RANGE: u64 = 8 << 20;

/// The finished tables of a store. Called by threads of their own, never by those of the runtime.
///
/// Manifests are read anew whenever they are asked for. A shard is opened by what its manifest says of it, so that
/// nothing is asked of the store for that; without a cache it is then read by ranges.
pub struct StoreSource {
    store: Arc<dyn Store>,
    runtime: Handle,
    cache: Option<Arc<Cache>>,
    /// The shards of the manifests that were read, by key.
    shards: Mutex<HashMap<String, ShardInfo>>,
}

impl StoreSource {
    /// The tables of a store, read by tasks of `runtime`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, runtime: Handle) -> Self {
        Self { store, runtime, cache: None, shards: Mutex::default() }
    }

    /// The same with shards kept in a cache, which others may share.
    #[must_use]
    pub fn with_cache(self, cache: Arc<Cache>) -> Self {
        Self { cache: Some(cache), ..self }
    }

    fn get(&self, key: &str) -> io::Result<Vec<u8>> {
        let (store, key) = (Arc::clone(&self.store), parsed(key)?);
        Ok(wait(&self.runtime, async move { store.get(&key).await })?.bytes.into())
    }

    /// A manifest; what it says of shards is kept.
    fn manifest(&self, key: &str) -> io::Result<Vec<u8>> {
        let bytes = self.get(key)?;
        // What is no manifest is the reader's to tell.
        if let (Some((rules, table)), Ok(manifest)) = (parse_manifest_key(key), Manifest::parse(key, &bytes)) {
            let mut shards = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
            for (&metric, entry) in &manifest.metrics {
                for info in &entry.shards {
                    shards.insert(shard_key(rules, &table, metric, info.number), info.clone());
                }
            }
        }
        Ok(bytes)
    }

    /// What the manifest says of a shard; it is read where it was not yet, or had no such shard.
    fn info(&self, key: &str) -> io::Result<ShardInfo> {
        let known = |key| self.shards.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if let Some(info) = known(key) {
            return Ok(info);
        }
        self.manifest(&manifest_of(key).ok_or(io::ErrorKind::NotFound)?)?;
        known(key).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Bytes of an object, in several ranges at once: one connection seldom fills a line.
async fn side_by_side(store: Arc<dyn Store>, key: Key, offset: u64, len: u64) -> Result<Bytes, StoreError> {
    let starts = (offset..offset + len).step_by(RANGE as usize);
    let parts: Vec<_> = starts
        .map(|start| {
            let (store, key) = (Arc::clone(&store), key.clone());
            tokio::spawn(async move { store.get_range(&key, start..(start + RANGE).min(offset + len)).await })
        })
        .collect();
    let mut whole = BytesMut::with_capacity(len as usize);
    for part in parts {
        let part = part.await.map_err(|stopped| StoreError::Unavailable {
            what: format!("to read {key}"),
            place: store.place(),
            source: io::Error::other(stopped),
        })?;
        whole.extend_from_slice(&part?);
    }
    Ok(whole.freeze())
}

/// The key of the manifest beside `tables/<rules>/<ENDGAME>/<metric>/<number>.shard`.
fn manifest_of(key: &str) -> Option<String> {
    let mut parts = key.strip_prefix(TABLES)?.split('/');
    let beside = format!("{TABLES}{}/{}/manifest.json", parts.next()?, parts.next()?);
    let (rules, table) = parse_manifest_key(&beside)?;
    Some(manifest_key(rules, &table))
}

fn parsed(key: &str) -> io::Result<Key> {
    Key::new(key).map_err(|e| io::Error::new(io::ErrorKind::NotFound, e))
}

impl Source for StoreSource {
    fn place(&self) -> String {
        self.store.place()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        if parse_manifest_key(key).is_some() {
            return Ok(Arc::new(self.manifest(key)?));
        }
        let info = self.info(key)?;
        let object = parsed(key)?;
        if let Some(cache) = &self.cache {
            let fetch = |offset, len| {
                let (store, key) = (Arc::clone(&self.store), object.clone());
                wait(&self.runtime, side_by_side(store, key, offset, len))
            };
            if let Some(file) = cache.shard(key, &info, &fetch)? {
                return Ok(Arc::new(file));
            }
        }
        Ok(Arc::new(Remote {
            store: Arc::clone(&self.store),
            runtime: self.runtime.clone(),
            key: object,
            len: info.bytes,
        }))
    }

    fn read_all(&self, key: &str) -> io::Result<Vec<u8>> {
        if parse_manifest_key(key).is_some() { self.manifest(key) } else { self.get(key) }
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        let store = Arc::clone(&self.store);
        let objects = wait(&self.runtime, async move { store.list(TABLES).await })?;
        let keys = objects.into_iter().map(|o| o.key.to_string());
        Ok(keys.filter(|key| parse_manifest_key(key).is_some()).collect())
    }
}
