//! How often the bytes of tables are read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use canju_probe::{Distances, OpenOptions, Prober};
use canju_retro::Rules;
use canju_table::{MemorySource, ReadAt, Source, TableSet};

use crate::wells::{FILES, positions};

/// Counts whole files and ranges, as a network has them.
struct Counting {
    files: MemorySource,
    whole: AtomicUsize,
    ranges: Arc<AtomicUsize>,
}

struct Counted(Arc<dyn ReadAt>, Arc<AtomicUsize>);

impl ReadAt for Counted {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_at(offset, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

impl Source for Counting {
    fn place(&self) -> String {
        self.files.place()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(Counted(self.files.open(key)?, Arc::clone(&self.ranges))))
    }

    fn read_all(&self, key: &str) -> io::Result<Vec<u8>> {
        self.whole.fetch_add(1, Ordering::Relaxed);
        self.files.read_all(key)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        self.files.manifests()
    }
}

/// A prober that has read nothing yet, and its reads so far: manifests and ranges.
fn cold(distances: Distances) -> (Prober, impl Fn() -> (usize, usize)) {
    let files = MemorySource::new();
    for (key, bytes) in &*FILES {
        files.insert(key, bytes.clone());
    }
    let counting = Arc::new(Counting { files, whole: AtomicUsize::new(0), ranges: Arc::default() });
    let tables = TableSet::with_cache(Arc::clone(&counting) as _, Rules::Plain, OpenOptions::default().cache);
    let reads = move || (counting.whole.load(Ordering::Relaxed), counting.ranges.load(Ordering::Relaxed));
    (Prober::new(tables).with_distances(distances), reads)
}

#[test]
fn a_cold_probe_reads_a_manifest_and_two_ranges_of_each_metric() {
    for (distances, ranges) in [(Distances::None, 2), (Distances::Dtm, 2), (Distances::Dtc, 2), (Distances::All, 4)] {
        for position in positions("KRKN", 29_989) {
            let (prober, reads) = cold(distances);
            prober.probe(&position).unwrap();
            assert_eq!(reads(), (1, ranges), "{position}");
            prober.probe(&position).unwrap();
            assert_eq!(reads(), (1, ranges), "{position}");
        }
    }
}

/// Doubt costs a manifest where something may be missing, and closes nothing that is open.
#[test]
fn doubt_reads_only_what_may_have_changed() {
    let (prober, reads) = cold(Distances::All);
    let position = positions("KRKN", 29_989)[0];
    let value = prober.probe(&position).unwrap();
    let before = reads();
    prober.tables().doubt();
    assert_eq!(prober.probe(&position).unwrap(), value);
    assert_eq!(reads(), before, "the table has all metrics");
}

#[test]
fn a_known_shard_costs_one_range_and_a_known_block_none() {
    let (prober, reads) = cold(Distances::None);
    let all = positions("KRKN", 4999);
    for position in &all {
        let before = reads().1;
        prober.wdl(position).unwrap();
        assert!(reads().1 - before <= 2);
    }
    let shards = FILES.keys().filter(|key| key.contains("/KRKN/wdl/")).count();
    let (manifests, ranges) = reads();
    assert_eq!(manifests, 1);
    // A head for each shard, and each block once.
    assert!(ranges > shards && ranges < all.len(), "{ranges} ranges, {} positions", all.len());
    for position in &all {
        prober.wdl(position).unwrap();
    }
    assert_eq!(reads(), (manifests, ranges));
}
