//! Fetches that stop half-way, at any byte, and go on.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use canju_fetch::{Event, Watch, get};
use tempfile::tempdir;

use crate::stage::{FILES, NAMES, PIECE, Source, all_is_sound, aside, fetch, is_complete, request};

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn all_bytes() -> u64 {
    FILES.values().map(|bytes| bytes.len() as u64).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_dies_at_any_byte() {
    let mut random = Random(3);
    let source = Source::new(|_| {}).await;
    for round in 0..60 {
        let folder = tempdir().unwrap();
        source.read.store(0, Ordering::Relaxed);
        source.limit.store(random.below(all_bytes()), Ordering::Relaxed);
        let error = fetch(&source, folder.path(), &request("KRKN")).await.unwrap_err();
        assert!(error.to_string().contains("the source failed"), "{round}: {error}");
        let whole = all_is_sound(folder.path());
        assert!(whole < NAMES.len(), "{round}");

        source.limit.store(u64::MAX, Ordering::Relaxed);
        fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
        is_complete(folder.path());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_does_not_come_again() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let half = all_bytes() / 2;
    source.limit.store(half, Ordering::Relaxed);
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap_err();
    assert!(!aside(folder.path()).is_empty());
    source.read.store(0, Ordering::Relaxed);
    source.limit.store(u64::MAX, Ordering::Relaxed);
    let fetched = fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    let read = source.read.load(Ordering::Relaxed);
    let manifests: u64 = FILES.iter().filter(|(key, _)| key.ends_with(".json")).map(|(_, b)| b.len() as u64).sum();
    assert_eq!(read, fetched.bytes + manifests);
    // Lost are only the requests that were under way.
    assert!(read < all_bytes() - half + manifests + 4 * PIECE, "{read}");
    is_complete(folder.path());
}

/// Stops the fetch from within after so many events.
struct Stop(std::sync::atomic::AtomicU64, tokio::sync::Notify);

impl Watch for Stop {
    fn see(&self, _: Event<'_>) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.notify_one();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_is_dropped_at_any_moment() {
    let mut random = Random(8);
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let mut stopped = 0;
    loop {
        // Comparing what is there takes more and more of the events.
        let stop = Arc::new(Stop((1 + random.below(12) + stopped * 2).into(), tokio::sync::Notify::new()));
        let (origin, asked) = (source.origin(), request("KRKN"));
        let fetched = tokio::select! {
            fetched = get(&origin, folder.path(), &asked, Arc::clone(&stop) as _) => Some(fetched.unwrap()),
            () = stop.1.notified() => None,
        };
        all_is_sound(folder.path());
        match fetched {
            Some(fetched) if fetched.tables == 0 => break,
            _ => stopped += 1,
        }
    }
    assert!(stopped > 3, "{stopped}");
    is_complete(folder.path());
}

#[tokio::test]
async fn what_is_kept_of_another_content_is_dropped() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    source.limit.store(all_bytes() / 2, Ordering::Relaxed);
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap_err();
    let kept = aside(folder.path());
    for file in kept.iter().filter(|file| file.ends_with(".record")) {
        let record = fs::read_to_string(file).unwrap();
        let (_, rest) = record.split_once('\n').unwrap();
        fs::write(file, format!("canju-fetch 1 {} 77\n{rest}", "0".repeat(64))).unwrap();
    }
    assert!(kept.iter().any(|file| file.ends_with(".record")));
    source.limit.store(u64::MAX, Ordering::Relaxed);
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    is_complete(folder.path());
}

#[tokio::test]
async fn bytes_aside_that_rot_are_found_out() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    source.limit.store(all_bytes() / 2, Ordering::Relaxed);
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap_err();
    for file in aside(folder.path()).iter().filter(|file| file.ends_with(".part")) {
        let mut bytes = fs::read(file).unwrap();
        bytes.iter_mut().step_by(1000).for_each(|byte| *byte ^= 1);
        fs::write(file, bytes).unwrap();
    }
    source.limit.store(u64::MAX, Ordering::Relaxed);
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    is_complete(folder.path());
}
