//! Passing failures cost time and nothing else. The clock is tokio's, and stands still while anybody works.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::fake_s3::{FakeS3, Fault};
use async_trait::async_trait;
use bytes::Bytes;
use canju_store::{ETag, Key, MemoryStore, Object, ObjectInfo, Retrying, Store, StoreError, StoreOptions, open};
use tokio::time::Instant;

#[derive(Clone, Copy)]
enum Act {
    /// Nothing is done.
    Fail,
    /// It is done, and then fails.
    DoAndFail,
    /// Nothing is done, and no answer comes.
    Hang,
    /// It is refused for good.
    Refuse,
    /// It takes so many seconds.
    Take(u64),
}

/// A store in memory whose next calls go as written, and then well.
#[derive(Debug, Default)]
struct Scripted {
    inner: MemoryStore,
    acts: Mutex<VecDeque<Act>>,
    calls: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

impl std::fmt::Debug for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an act")
    }
}

impl Scripted {
    fn then(acts: &[Act]) -> Arc<Self> {
        Arc::new(Self { acts: Mutex::new(acts.iter().copied().collect()), ..Self::default() })
    }

    async fn act<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let failed = || StoreError::Unavailable {
            what: "to do it".into(),
            place: "the script".into(),
            source: std::io::Error::other("no luck"),
        };
        let act = self.acts.lock().unwrap().pop_front();
        match act {
            None => work.await,
            Some(Act::Fail) => Err(failed()),
            Some(Act::DoAndFail) => {
                work.await?;
                Err(failed())
            }
            Some(Act::Hang) => std::future::pending().await,
            Some(Act::Refuse) => Err(StoreError::Denied {
                what: "to do it".into(),
                place: "the script".into(),
                remedy: "do not ask",
                source: None,
            }),
            Some(Act::Take(seconds)) => {
                let now = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
                self.most.fetch_max(now, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                self.under_way.fetch_sub(1, Ordering::Relaxed);
                work.await
            }
        }
    }

    fn calls(&self) -> usize {
        self.calls.swap(0, Ordering::Relaxed)
    }
}

#[async_trait]
impl Store for Scripted {
    fn place(&self) -> String {
        "the script".into()
    }
    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.act(self.inner.get(key)).await
    }
    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        self.act(self.inner.get_range(key, range)).await
    }
    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.act(self.inner.head(key)).await
    }
    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.act(self.inner.put(key, bytes)).await
    }
    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.act(self.inner.put_if_absent(key, bytes)).await
    }
    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        self.act(self.inner.put_if_match(key, bytes, expected)).await
    }
    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.act(self.inner.delete(key)).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.act(self.inner.list(prefix)).await
    }
}

fn a() -> Key {
    Key::new("a").unwrap()
}

fn options() -> StoreOptions {
    StoreOptions { seed: Some(7), ..StoreOptions::default() }
}

#[tokio::test(start_paused = true)]
async fn every_call_bears_with_failures() {
    use Act::Fail;
    let script = Scripted::then(&[]);
    let store = Retrying::new(script.clone(), &options());
    let again = || script.acts.lock().unwrap().extend([Fail, Fail]);
    again();
    store.put(&a(), "one".into()).await.unwrap();
    again();
    assert_eq!(&store.get(&a()).await.unwrap().bytes[..], b"one");
    again();
    assert_eq!(&store.get_range(&a(), 1..3).await.unwrap()[..], b"ne");
    again();
    assert_eq!(store.head(&a()).await.unwrap().len, 3);
    again();
    assert_eq!(store.list("").await.unwrap().len(), 1);
    again();
    store.delete(&a()).await.unwrap();
    again();
    let etag = store.put_if_absent(&a(), "two".into()).await.unwrap();
    again();
    store.put_if_match(&a(), "three".into(), &etag).await.unwrap();
    assert_eq!(script.calls(), 8 * 3);
}

#[tokio::test(start_paused = true)]
async fn patience_ends_and_the_last_failure_says_how_long_it_lasted() {
    let script = Scripted::then(&[Act::Fail; 1000]);
    let store = Retrying::new(script.clone(), &StoreOptions { patience: Duration::from_secs(600), ..options() });
    let begun = Instant::now();
    let error = store.get(&a()).await.unwrap_err();
    let (calls, lasted) = (script.calls(), begun.elapsed().as_secs());
    assert!((560..=600).contains(&lasted), "{lasted} s");
    // Pauses grow: some at first, then one in 10 to 20 seconds.
    assert!((36..=72).contains(&calls), "{calls} calls");
    assert!(error.to_string().contains(&format!("({calls} attempts in {lasted} s)")), "{error}");
}

#[tokio::test(start_paused = true)]
async fn refusals_are_not_tried_again() {
    let script = Scripted::then(&[Act::Refuse]);
    let store = Retrying::new(script.clone(), &options());
    assert!(matches!(store.get(&a()).await, Err(StoreError::Denied { .. })));
    assert!(matches!(store.get(&a()).await, Err(StoreError::NotFound { .. })));
    assert_eq!(script.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_makes_the_same_pauses_and_others_make_others() {
    let mut lasted = Vec::new();
    for seed in [1, 1, 2] {
        let store = Retrying::new(Scripted::then(&[Act::Fail; 5]), &StoreOptions { seed: Some(seed), ..options() });
        let begun = Instant::now();
        store.list("").await.unwrap();
        lasted.push(begun.elapsed());
    }
    assert_eq!(lasted[0], lasted[1]);
    assert_ne!(lasted[1], lasted[2]);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_done_though_its_answer_was_lost_has_succeeded() {
    use Act::{DoAndFail, Fail};
    let script = Scripted::then(&[DoAndFail, Fail]);
    let store = Retrying::new(script.clone(), &options());
    let etag = store.put_if_absent(&a(), "mine".into()).await.unwrap();
    assert_eq!(etag, script.inner.get(&a()).await.unwrap().etag);
    script.acts.lock().unwrap().extend([DoAndFail]);
    let etag = store.put_if_match(&a(), "mine again".into(), &etag).await.unwrap();
    let now = script.inner.get(&a()).await.unwrap();
    assert_eq!((&now.bytes[..], now.etag), (&b"mine again"[..], etag));
}

#[tokio::test(start_paused = true)]
async fn a_write_of_somebody_else_is_not_taken_for_ones_own() {
    let script = Scripted::then(&[Act::Fail]);
    let other = script.inner.put(&a(), "theirs".into()).await.unwrap();
    let store = Retrying::new(script.clone(), &options());
    let late = store.put_if_absent(&a(), "mine".into()).await;
    assert!(matches!(late, Err(StoreError::AlreadyExists { .. })), "{late:?}");
    script.inner.put(&a(), "theirs again".into()).await.unwrap();
    script.acts.lock().unwrap().extend([Act::Fail]);
    let late = store.put_if_match(&a(), "mine".into(), &other).await;
    assert!(matches!(late, Err(StoreError::Changed { .. })), "{late:?}");
    // Without a failure before it, equal bytes are no proof.
    let same = store.put_if_absent(&a(), "theirs again".into()).await;
    assert!(matches!(same, Err(StoreError::AlreadyExists { .. })), "{same:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_tried_again() {
    let script = Scripted::then(&[Act::Hang, Act::Hang]);
    let store = Retrying::new(script.clone(), &options());
    assert!(store.list("").await.unwrap().is_empty());
    assert_eq!(script.calls(), 3);
    let script = Scripted::then(&[Act::Hang; 100]);
    let store = Retrying::new(script, &options());
    let error = store.get(&a()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("does not answer in time"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn trouble_is_seen_while_it_lasts() {
    let script = Scripted::then(&[Act::Fail; 8]);
    let store: Arc<dyn Store> = Arc::new(Retrying::new(script, &options()));
    assert!(store.trouble().is_none());
    let call = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.list("").await }
    });
    let mut seen = None;
    while !call.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
        seen = store.trouble().or(seen);
    }
    let seen = seen.unwrap();
    assert_eq!(seen.attempts, 8);
    assert!(seen.what.contains("no luck"), "{}", seen.what);
    assert!(seen.since.elapsed() >= Duration::from_secs(5));
    assert!(store.trouble().is_none());
    call.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_than_allowed_are_under_way() {
    let script = Scripted::then(&[Act::Take(1); 20]);
    let store = Arc::new(Retrying::new(script.clone(), &StoreOptions { at_once: 3, ..options() }));
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.list("").await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(script.most.load(Ordering::Relaxed), 3);
}

/// The same against a server, whose connections really end.
#[tokio::test]
async fn lost_answers_and_busy_servers_are_borne_with() {
    let server = FakeS3::start().await;
    let options = StoreOptions { writable: true, ..server.options() };
    let store = open(&"s3://xq".parse().unwrap(), &options).await.unwrap();
    server.fail("PUT", "/a", Fault::Answer(503, "SlowDown"), 2);
    server.fail("PUT", "/a", Fault::LostAnswer, 1);
    let first = store.put_if_absent(&a(), "first".into()).await.unwrap();
    server.fail("PUT", "/a", Fault::LostAnswer, 2);
    let second = store.put_if_match(&a(), "second".into(), &first).await.unwrap();
    server.fail("GET", "/a", Fault::HalfBody, 1);
    server.fail("GET", "/a", Fault::Answer(500, "InternalError"), 1);
    let object = store.get(&a()).await.unwrap();
    assert_eq!((&object.bytes[..], object.etag), (&b"second"[..], second));
    // Of an upload in parts only the last answer counts.
    let options = StoreOptions { parts_above: 10, ..server.options() };
    let store = open(&"s3://xq".parse().unwrap(), &options).await.unwrap();
    server.fail("POST", "uploadId", Fault::LostAnswer, 1);
    let key = Key::new("large").unwrap();
    let etag = store.put_if_absent(&key, vec![5; 100].into()).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap().etag, etag);
    assert_eq!(server.uploads(), 0);
}

/// A server that does not answer is given up after the limit of an attempt, and tried again.
#[tokio::test]
async fn a_server_that_hangs_is_tried_again() {
    let server = FakeS3::start().await;
    let options = StoreOptions { timeout: Duration::from_millis(300), ..server.options() };
    let store = open(&"s3://xq".parse().unwrap(), &options).await.unwrap();
    server.fail("GET", "list-type", Fault::Hang, 1);
    assert!(store.list("").await.unwrap().is_empty());
    assert_eq!(server.asked().len(), 3);
}
