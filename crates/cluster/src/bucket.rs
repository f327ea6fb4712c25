//! The one place where anything lasts, as workers and the coordinator open it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use canju_retro::{Rules, Tables};
use canju_shelf::{CacheSettings, StoreSource, source_of_folder};
use canju_store::{FolderStore, Key, Location, LocationError, Store, StoreError, StoreOptions};
use canju_table::{Source, TableSet};
use tokio::runtime::Handle;

use crate::ClusterError;

/// A store, and the finished tables in it.
#[derive(Clone)]
pub struct Bucket {
    /// Where shards and manifests are written.
    pub store: Arc<dyn Store>,
    /// Where finished tables are read.
    pub source: Arc<dyn Source>,
}

/// Opens a store by what the coordinator calls it: the seam for stores that are reached otherwise than as folders.
#[async_trait]
pub trait Buckets: Send + Sync {
    /// Opens the store.
    ///
    /// # Errors
    /// [`ClusterError::Store`] when it cannot be read and written.
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError>;
}

/// Stores that are local folders; the location is the folder's path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Folders;

#[async_trait]
impl Buckets for Folders {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let path = Path::new(location).to_path_buf();
        let open = move || {
            let store = FolderStore::open(&path)?;
            Ok((store, source_of_folder(&path)))
        };
        let opened = tokio::task::spawn_blocking(open).await;
        let opened: Result<_, StoreError> = opened.map_err(|e| ClusterError::Panicked(e.to_string()))?;
        let (store, source) = opened?;
        Ok(Bucket { store: Arc::new(store), source: Arc::new(source) })
    }
}

/// Stores of any kind: the location is written as [`Location`] reads it. Tables of stores that are no local folders
/// are read through the cache, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// How to open them; they are opened for writing in any case.
    pub options: StoreOptions,
    /// Where shards are kept that were read.
    pub cache: CacheSettings,
}

#[async_trait]
impl Buckets for Stores {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let location: Location = location.parse().map_err(|e: LocationError| ClusterError::Refused(e.to_string()))?;
        let options = StoreOptions { writable: true, ..self.options.clone() };
        let store = canju_store::open(&location, &options).await?;
        let source: Arc<dyn Source> = match location.folder() {
            Some(path) => Arc::new(source_of_folder(path)),
            None => {
                let settings = self.cache.clone();
                let cache = tokio::task::spawn_blocking(move || settings.open()).await;
                let cache = cache.map_err(|e| ClusterError::Panicked(e.to_string()))?;
                let source = StoreSource::new(Arc::clone(&store), Handle::current());
                match cache.map_err(|e| ClusterError::Refused(e.to_string()))? {
                    Some(cache) => Arc::new(source.with_cache(cache)),
                    None => Arc::new(source),
                }
            }
        };
        Ok(Bucket { store, source })
    }
}

/// The object that tells one store from another.
pub(crate) const IDENTITY: &str = "store.json";

impl Bucket {
    /// A reader of finished tables. It holds open files: make one for each part, and let it go.
    #[must_use]
    pub fn tables(&self, rules: Rules) -> Arc<dyn Tables> {
        Arc::new(TableSet::with_cache(Arc::clone(&self.source), rules, 0))
    }

    /// What tells this store from others; made up of `fresh` where it has no identity yet.
    ///
    /// # Errors
    /// What the store says.
    pub async fn identity(&self, fresh: u64) -> Result<String, ClusterError> {
        let key = key(IDENTITY)?;
        let text = format!("{{\"store\":\"{fresh:016x}\"}}\n");
        match self.store.put_if_absent(&key, Bytes::from(text.clone())).await {
            Ok(_) => Ok(text),
            Err(StoreError::AlreadyExists { .. }) => Ok(text_of(&self.store.get(&key).await?.bytes)),
            Err(e) => Err(e.into()),
        }
    }

    /// Checks that this is the store with that identity, and that it can be written by `writer`.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for another store; what the store says.
    pub async fn check(&self, identity: &str, writer: &str) -> Result<(), ClusterError> {
        let found = match self.store.get(&key(IDENTITY)?).await {
            Ok(object) => Some(text_of(&object.bytes)),
            Err(StoreError::NotFound { .. }) => None,
            Err(e) => return Err(e.into()),
        };
        if found.as_deref() != Some(identity) {
            return Err(ClusterError::Refused(format!(
                "{} is not the coordinator's store: give all members a store that they share",
                self.store.place()
            )));
        }
        let trial = key(&format!("trial-{writer}"))?;
        self.store.put(&trial, Bytes::from_static(b"can be written\n")).await?;
        Ok(self.store.delete(&trial).await?)
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A key that this crate made itself.
pub(crate) fn key(text: &str) -> Result<Key, ClusterError> {
    Key::new(text).map_err(|e| ClusterError::Protocol(e.to_string()))
}
