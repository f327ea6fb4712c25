//! Tables of a store are read right, with a cache and without, whatever has become of the cache's files.

#![allow(clippy::unwrap_used, reason = "a test may stop")]
#![allow(clippy::single_range_in_vec_init, reason = "a table of one run")]

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use canju_retro::{Cell, Code, Metric, Rules, Shape, Side, SliceCodes, SliceShape, Statistics, TableName};
use canju_shelf::{Cache, CacheSettings, StoreSource};
use canju_store::{ETag, Key, MemoryStore, Object, ObjectInfo, Store, StoreError};
use canju_table::{Manifest, MetricEntry, ShardSpec, Source, TableError, TableSet, write_shard};
use tokio::runtime::Handle;

/// A store in memory that counts the ranges that are read.
#[derive(Debug, Default)]
struct Counted {
    inner: MemoryStore,
    ranges: AtomicUsize,
}

#[async_trait]
impl Store for Counted {
    fn place(&self) -> String {
        "the count".into()
    }
    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.inner.get(key).await
    }
    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        self.ranges.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.inner.get_range(key, range).await
    }
    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.inner.head(key).await
    }
    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.inner.put(key, bytes).await
    }
    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.inner.put_if_absent(key, bytes).await
    }
    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        self.inner.put_if_match(key, bytes, expected).await
    }
    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.inner.delete(key).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.inner.list(prefix).await
    }
}

const NAMES: [&str; 3] = ["KNK", "KPK", "KRK"];

/// Three small tables in a store.
struct Tables {
    store: Arc<Counted>,
    /// For each: the key of its shard, its length, and the name of its file in a cache.
    shards: Vec<(Key, u64, String)>,
}

impl Tables {
    async fn new() -> Self {
        let store = Arc::new(Counted::default());
        let mut shards = Vec::new();
        for name in NAMES {
            let table = TableName::new(name).unwrap();
            let slices = vec![SliceShape { cells: 4, neighbours: vec![] }];
            let shape = Shape { slices, runs: vec![0..1], row: 2, positions: 8, indexed: 8, set_bytes: 0 };
            let spec = ShardSpec::of_run(&table, Rules::Plain, Metric::Wdl, &shape, 0).unwrap();
            let cells = SliceCodes::Narrow { palette: vec![Code::DRAW, Code::WIN], cells: vec![0, 1, 1, 0] };
            let (bytes, info) = write_shard(&spec, |_, _| Ok(cells.clone())).unwrap();
            let key = Key::new(&spec.key()).unwrap();
            shards.push((key.clone(), info.bytes, format!("{}.shard", info.blake3)));
            let counts = Statistics::default();
            let entry = MetricEntry::new(Metric::Wdl, &counts, vec![info], vec![], |_| Ok::<_, ()>(String::new()));
            let manifest = Manifest::new(&table, Rules::Plain, 1, &shape, &counts);
            let manifest = manifest.with_metric(Metric::Wdl, entry.unwrap());
            store.put(&key, bytes.into()).await.unwrap();
            let text = manifest.to_json().unwrap();
            store.put(&Key::new(&manifest.key()).unwrap(), text.into()).await.unwrap();
        }
        Self { store, shards }
    }

    /// What a fresh reader reads in one table, with a cache or without.
    async fn read(&self, number: usize, cache: Option<&Arc<Cache>>) -> Result<Code, TableError> {
        let source = StoreSource::new(Arc::clone(&self.store) as Arc<dyn Store>, Handle::current());
        let source: Arc<dyn Source> = match cache {
            Some(cache) => Arc::new(source.with_cache(Arc::clone(cache))),
            None => Arc::new(source),
        };
        let read = move || {
            let set = TableSet::open(source, Rules::Plain);
            assert_eq!(set.endgames().unwrap().len(), NAMES.len());
            let table = TableName::new(NAMES[number]).unwrap();
            set.code(&table, Metric::Wdl, Cell { slice: 0, index: 2, side: Side::First })
        };
        tokio::task::spawn_blocking(read).await.unwrap()
    }

    fn file(&self, folder: &Path, number: usize) -> PathBuf {
        folder.join(&self.shards[number].2)
    }

    fn ranges(&self) -> usize {
        self.store.ranges.swap(0, Ordering::Relaxed)
    }
}

fn cache(folder: &Path, bytes: u64) -> Arc<Cache> {
    Arc::new(Cache::open(folder, bytes).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cold_cell_costs_two_ranges_without_a_cache() {
    let tables = Tables::new().await;
    assert_eq!(tables.read(0, None).await.unwrap(), Code::WIN);
    assert_eq!(tables.ranges(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_is_fetched_once_and_then_read_from_the_disk() {
    let (tables, folder) = (Tables::new().await, tempfile::tempdir().unwrap());
    for _ in 0..3 {
        // A process of its own each time.
        assert_eq!(tables.read(1, Some(&cache(folder.path(), 1 << 20))).await.unwrap(), Code::WIN);
    }
    assert_eq!(tables.ranges(), 1);
    assert!(tables.file(folder.path(), 1).is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_and_missing_files_are_fetched_again() {
    let (tables, folder) = (Tables::new().await, tempfile::tempdir().unwrap());
    let file = tables.file(folder.path(), 1);
    tables.read(1, Some(&cache(folder.path(), 1 << 20))).await.unwrap();
    let whole = fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for left in [Some(damaged), Some(whole[1..].to_vec()), Some(vec![]), None] {
        match left {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        tables.ranges();
        assert_eq!(tables.read(1, Some(&cache(folder.path(), 1 << 20))).await.unwrap(), Code::WIN);
        assert_eq!((tables.ranges(), fs::read(&file).unwrap() == whole), (1, true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_removed_is_made_again() {
    let (tables, folder) = (Tables::new().await, tempfile::tempdir().unwrap());
    let home = folder.path().join("cache");
    let kept = cache(&home, 1 << 20);
    assert_eq!(tables.read(0, Some(&kept)).await.unwrap(), Code::WIN);
    fs::remove_dir_all(&home).unwrap();
    assert_eq!(tables.read(1, Some(&kept)).await.unwrap(), Code::WIN);
    assert!(tables.file(&home, 1).exists());
    // Where it cannot be made either, tables are read without it.
    fs::remove_dir_all(&home).unwrap();
    fs::write(&home, "not a folder").unwrap();
    assert_eq!(tables.read(2, Some(&kept)).await.unwrap(), Code::WIN);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_in_the_store_is_never_used() {
    let (tables, folder) = (Tables::new().await, tempfile::tempdir().unwrap());
    let key = &tables.shards[0].0;
    let mut bytes = tables.store.get(key).await.unwrap().bytes.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    tables.store.put(key, bytes.into()).await.unwrap();
    let error = tables.read(0, Some(&cache(folder.path(), 1 << 20))).await.unwrap_err();
    let told = format!("{error} {:?}", std::error::Error::source(&error).map(ToString::to_string));
    assert!(told.contains("is damaged in the store"), "{told}");
    assert!(!tables.file(folder.path(), 0).exists());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|n| n.to_str().unwrap().ends_with(".lock")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_used_longest_ago_makes_room() {
    let (tables, folder) = (Tables::new().await, tempfile::tempdir().unwrap());
    let most: u64 = tables.shards.iter().map(|s| s.1).max().unwrap();
    let cache = cache(folder.path(), 2 * most + most / 2);
    for number in [0, 1, 0, 2] {
        tables.read(number, Some(&cache)).await.unwrap();
    }
    let there: Vec<_> = (0..3).map(|n| tables.file(folder.path(), n).exists()).collect();
    assert_eq!(there, [true, false, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_that_has_no_room_is_read_in_place() {
    let (tables, folder) = (Tables::new().await, tempfile::tempdir().unwrap());
    let small = cache(folder.path(), tables.shards[0].1 - 1);
    assert_eq!(tables.read(0, Some(&small)).await.unwrap(), Code::WIN);
    assert!(!tables.file(folder.path(), 0).exists());
    assert!(CacheSettings { folder: None, bytes: 0 }.open().unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_that_share_a_folder_fetch_a_shard_once() {
    let (tables, folder) = (Arc::new(Tables::new().await), tempfile::tempdir().unwrap());
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (tables, cache) = (Arc::clone(&tables), cache(folder.path(), 1 << 20));
            tokio::spawn(async move { tables.read(2, Some(&cache)).await })
        })
        .collect();
    for reader in readers {
        assert_eq!(reader.await.unwrap().unwrap(), Code::WIN);
    }
    assert_eq!(tables.ranges(), 1);
}

#[test]
fn what_a_dead_process_left_is_removed_and_what_a_living_one_writes_is_not() {
    use fs4::fs_std::FileExt;
    let folder = tempfile::tempdir().unwrap();
    let (dead, living) = (folder.path().join("aside-1-1-1"), folder.path().join("aside-1-1-2"));
    fs::write(&dead, "half a shard").unwrap();
    let held = fs::File::create(&living).unwrap();
    FileExt::lock_exclusive(&held).unwrap();
    let cache = cache(folder.path(), 1 << 20);
    assert_eq!(cache.folder(), folder.path());
    assert!(!dead.exists() && living.exists());
}

#[test]
fn a_folder_that_cannot_be_used_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Cache::open(&file, 1).unwrap_err();
    assert!(error.to_string().contains("choose another with --cache"), "{error}");
}
