//! Tables to fetch, sources that fail, and what a folder must be like at any moment.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use canju_fetch::{Event, FetchError, Fetched, Origin, Request, Watch, get};
use canju_retro::{Metric, Rules, TableName};
use canju_store::{ETag, Key, MemoryStore, Object, ObjectInfo, Store, StoreError};
use canju_table::{FolderSource, Manifest, TableSet, manifest_key, shard_key};
use canju_tests::Workshop;

/// KRKN with KRK, KKN and so on, in all metrics: key and content. Solved once.
pub static FILES: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
    let mut files = BTreeMap::new();
    Workshop::new().write("KRKN", &[Metric::Dtm, Metric::Dtc], &mut |key, bytes| {
        files.insert(key, bytes);
    });
    files
});

/// The tables of [`FILES`].
pub const NAMES: [&str; 4] = ["KK", "KNK", "KRK", "KRKN"];

/// So small that all but the smallest shards take several.
pub const PIECE: u64 = 3000;

pub fn table(name: &str) -> TableName {
    TableName::new(name).unwrap()
}

pub fn manifest_of(name: &str) -> String {
    manifest_key(Rules::Plain, &table(name))
}

pub fn shard_of(name: &str, metric: Metric) -> String {
    shard_key(Rules::Plain, &table(name), metric, 0)
}

pub fn request(name: &str) -> Request {
    Request { piece: PIECE, jobs: 3, ..Request::new(vec![table(name)]) }
}

/// A manifest of [`FILES`].
pub fn manifest(name: &str) -> Manifest {
    Manifest::parse(name, &FILES[&manifest_of(name)]).unwrap()
}

/// A store that may fail once so many bytes have been read, and counts them.
#[derive(Debug)]
pub struct Source {
    store: MemoryStore,
    pub read: AtomicU64,
    /// Bytes after which every call fails.
    pub limit: AtomicU64,
    /// The keys that were read, as often as they were.
    pub asked: Mutex<Vec<String>>,
}

impl Source {
    /// All tables, changed by `change`.
    pub async fn new(change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Arc<Self> {
        let mut files = FILES.clone();
        change(&mut files);
        let store = MemoryStore::new();
        for (key, bytes) in files {
            store.put(&Key::new(&key).unwrap(), bytes.into()).await.unwrap();
        }
        let (read, limit, asked) = (AtomicU64::new(0), AtomicU64::new(u64::MAX), Mutex::default());
        Arc::new(Self { store, read, limit, asked })
    }

    /// The same with another content of one file.
    pub async fn with(key: &str, change: impl FnOnce(&mut Vec<u8>)) -> Arc<Self> {
        Self::new(|files| change(files.get_mut(key).unwrap())).await
    }

    pub fn origin(self: &Arc<Self>) -> Origin {
        Origin::new(Arc::clone(self) as _)
    }

    fn count(&self, key: &Key, bytes: usize) -> Result<(), StoreError> {
        self.asked.lock().unwrap().push(key.to_string());
        let read = self.read.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if read <= self.limit.load(Ordering::Relaxed) {
            return Ok(());
        }
        let source = std::io::Error::other("the line is dead");
        Err(StoreError::Unavailable { what: format!("to read {key}"), place: self.place(), source })
    }
}

#[async_trait]
impl Store for Source {
    fn place(&self) -> String {
        "the source".to_owned()
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        let object = self.store.get(key).await?;
        self.count(key, object.bytes.len())?;
        Ok(object)
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        let bytes = self.store.get_range(key, range).await?;
        self.count(key, bytes.len())?;
        // Others come between, as on a network.
        tokio::task::yield_now().await;
        Ok(bytes)
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.store.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.store.put(key, bytes).await
    }

    async fn put_if_absent(&self, _: &Key, _: Bytes) -> Result<ETag, StoreError> {
        unreachable!("sources are only read")
    }

    async fn put_if_match(&self, _: &Key, _: Bytes, _: &ETag) -> Result<ETag, StoreError> {
        unreachable!("sources are only read")
    }

    async fn delete(&self, _: &Key) -> Result<(), StoreError> {
        unreachable!("sources are only read")
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.store.list(prefix).await
    }
}

/// Keeps what is told.
#[derive(Default)]
pub struct Told(pub Mutex<Vec<String>>);

impl Watch for Told {
    fn see(&self, event: Event<'_>) {
        if !matches!(event, Event::Got(_) | Event::Checked(_)) {
            self.0.lock().unwrap().push(format!("{event:?}"));
        }
    }
}

impl Told {
    pub fn has(&self, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|line| line.contains(text))
    }
}

pub async fn fetch(source: &Arc<Source>, folder: &Path, request: &Request) -> Result<Fetched, FetchError> {
    get(&source.origin(), folder, request, Arc::new(())).await
}

/// What a fetch must fail with, in words.
pub async fn refused(source: &Arc<Source>, folder: &Path, request: &Request) -> String {
    fetch(source, folder, request).await.unwrap_err().to_string()
}

/// Panics unless every table that has a manifest is whole, with all tables that it was built from. Returns how many there are.
pub fn all_is_sound(folder: &Path) -> usize {
    let set = TableSet::open(Arc::new(FolderSource::new(folder)), Rules::Plain);
    let tables = set.endgames().unwrap();
    for table in &tables {
        set.verify_shards(table).unwrap();
        for smaller in set.manifest(table).unwrap().metrics.values().flat_map(|entry| &entry.smaller) {
            let there = set.manifest(&smaller.endgame).unwrap();
            assert_eq!(there.metric_hash(smaller.metric), Some(smaller.content.clone()), "{table}: {smaller:?}");
        }
    }
    tables.len()
}

/// All files of the folder's tables.
pub fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(path: &Path, key: String, files: &mut BTreeMap<String, Vec<u8>>) {
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                let entry = entry.unwrap();
                walk(&entry.path(), format!("{key}/{}", entry.file_name().to_string_lossy()), files);
            }
        } else if path.is_file() {
            files.insert(key, fs::read(path).unwrap());
        }
    }
    let mut files = BTreeMap::new();
    walk(&folder.join("tables"), "tables".to_owned(), &mut files);
    files
}

/// Panics unless the folder has just the tables of the source, byte by byte, and nothing aside.
pub fn is_complete(folder: &Path) {
    let (there, wanted) = (files_of(folder), &*FILES);
    assert_eq!(there.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    assert!(there == *wanted, "some bytes differ");
    assert!(aside(folder).is_empty(), "{:?}", aside(folder));
}

/// The files that are kept aside.
pub fn aside(folder: &Path) -> Vec<String> {
    fn walk(path: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.file_name().is_some_and(|name| name != "lock") {
                found.push(path.display().to_string());
            }
        }
    }
    let mut found = Vec::new();
    walk(&folder.join(".canju-fetch"), &mut found);
    found
}
