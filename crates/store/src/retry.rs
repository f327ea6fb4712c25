//! A store that bears with passing failures of another.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout};

use crate::{ETag, Key, Object, ObjectInfo, Store, StoreError, StoreOptions};

/// The first pause is at most this, the next twice that, and so on.
const SHORTEST: Duration = Duration::from_millis(100);
/// No pause is longer.
const LONGEST: Duration = Duration::from_secs(20);
/// How often a trouble that lasts is told in the log.
const REMIND: Duration = Duration::from_secs(60);
/// What a whole object is taken to have at most, for the time that reading it may take.
const LARGE: u64 = 256 << 20;
/// The same for a list, which may have many pages.
const LIST: u64 = 64 << 20;

/// A store around another one that repeats calls which failed for a passing reason, for as long as its
/// patience lasts, with growing random pauses; gives each attempt a limit of time; and bounds how many
/// calls are under way at once.
///
/// A conditional write whose answer was lost may have been done: when a later attempt finds its condition
/// broken, the object is read, and if it has the very bytes that were to be written, the write has succeeded.
/// So two writers must not write the same bytes where only one of them may succeed: put a name into them.
///
/// A write that ran out of time may still reach the store later. Keys that change must be written with a condition.
#[derive(Debug)]
pub struct Retrying {
    inner: Arc<dyn Store>,
    patience: Duration,
    timeout: Duration,
    turns: Semaphore,
    random: Mutex<fastrand::Rng>,
    state: Mutex<State>,
}

/// A failure that lasts, and that somebody should be shown.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Since when nothing has succeeded.
    pub since: Instant,
    /// The last failure, with its remedy.
    pub what: String,
    /// How many attempts have failed since then, of all calls.
    pub attempts: u64,
}

#[derive(Debug, Default)]
struct State {
    trouble: Option<Trouble>,
    told: Option<Instant>,
}

impl Retrying {
    /// A store around `inner` with the patience and the limits of `options`.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, options: &StoreOptions) -> Self {
        let random = options.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Self {
            inner,
            patience: options.patience,
            timeout: options.timeout,
            turns: Semaphore::new(options.at_once.clamp(1, Semaphore::MAX_PERMITS)),
            random: Mutex::new(random),
            state: Mutex::default(),
        }
    }

    /// What is wrong now; nothing as soon as a call has succeeded.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.state().trouble.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long an attempt may take that moves so many bytes.
    fn limit(&self, bytes: u64) -> Duration {
        self.timeout.saturating_add(Duration::from_secs(bytes.div_ceil(1 << 20)))
    }

    /// Calls until it is done, fails for good, or patience ends. Also tells whether an attempt failed that
    /// may have been done all the same.
    async fn call<T, F>(&self, what: &str, bytes: u64, mut attempt: impl FnMut() -> F) -> (Result<T, StoreError>, bool)
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let begun = Instant::now();
        let mut tried = 0;
        loop {
            tried += 1;
            let result = self.attempt(what, bytes, attempt()).await;
            let error = match result {
                Err(error) if error.is_transient() => error,
                done => {
                    self.heard();
                    return (done, tried > 1);
                }
            };
            self.failed(&error);
            let pause = self.pause(tried);
            let next = Instant::now() + pause;
            if next.duration_since(begun) > self.patience {
                return (Err(impatient(error, tried, begun.elapsed())), tried > 1);
            }
            sleep_until(next).await;
        }
    }

    async fn attempt<T>(
        &self,
        what: &str,
        bytes: u64,
        attempt: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        // Pauses are made without a turn: who waits does not keep others from trying.
        let _turn = self.turns.acquire().await;
        let limit = self.limit(bytes);
        timeout(limit, attempt).await.unwrap_or_else(|_| {
            Err(StoreError::Unreachable {
                what: what.to_owned(),
                place: self.place(),
                remedy: "it does not answer in time; check the network and the server",
                source: std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {limit:?}")),
            })
        })
    }

    /// A random pause: those who failed together do not come back together.
    fn pause(&self, tried: u32) -> Duration {
        let most = SHORTEST.saturating_mul(1 << (tried - 1).min(16)).min(LONGEST);
        let share = self.random.lock().unwrap_or_else(PoisonError::into_inner).f64();
        most.mul_f64(0.5 + share / 2.0)
    }

    fn failed(&self, error: &StoreError) {
        let now = Instant::now();
        let what = crate::transport::chain(error);
        let mut state = self.state();
        let trouble = state.trouble.get_or_insert_with(|| Trouble { since: now, what: String::new(), attempts: 0 });
        trouble.what.clone_from(&what);
        trouble.attempts += 1;
        let (attempts, lasting) = (trouble.attempts, now.duration_since(trouble.since));
        if state.told.is_none_or(|told| now.duration_since(told) >= REMIND) {
            state.told = Some(now);
            tracing::warn!(attempts, seconds = lasting.as_secs(), error = what, "the store fails; it is tried again");
        }
    }

    /// The store has answered, be it with a refusal.
    fn heard(&self) {
        let mut state = self.state();
        let Some(trouble) = state.trouble.take() else { return };
        // Told again only if it was told long ago: failures that come and go do not fill the log.
        if state.told.is_some_and(|told| told.elapsed() >= REMIND) {
            state.told = None;
        }
        tracing::info!(
            attempts = trouble.attempts,
            seconds = trouble.since.elapsed().as_secs(),
            "the store answers again"
        );
    }

    /// Looks whether a conditional write that is refused was our own.
    async fn own(&self, key: &Key, bytes: &Bytes, refused: StoreError) -> Result<ETag, StoreError> {
        let what = format!("to read {key}");
        let (found, _) = self.call(&what, LARGE, || self.inner.get(key)).await;
        match found {
            Ok(object) if object.bytes == *bytes => {
                tracing::debug!(%key, "a write was done though its answer was lost");
                Ok(object.etag)
            }
            Ok(_) | Err(StoreError::NotFound { .. }) => Err(refused),
            Err(error) => Err(error),
        }
    }
}

/// The last failure, and how long it was borne with.
fn impatient(error: StoreError, tried: u32, lasted: Duration) -> StoreError {
    let add = |what: String| format!("{what} ({tried} attempts in {} s)", lasted.as_secs());
    match error {
        StoreError::Unavailable { what, place, source } => StoreError::Unavailable { what: add(what), place, source },
        StoreError::Unreachable { what, place, remedy, source } => {
            StoreError::Unreachable { what: add(what), place, remedy, source }
        }
        other => other,
    }
}

#[async_trait]
impl Store for Retrying {
    fn place(&self) -> String {
        self.inner.place()
    }

    fn trouble(&self) -> Option<Trouble> {
        self.trouble()
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.call(&format!("to read {key}"), LARGE, || self.inner.get(key)).await.0
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        let len = range.end.saturating_sub(range.start).min(LARGE);
        self.call(&format!("to read {key}"), len, || self.inner.get_range(key, range.clone())).await.0
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.call(&format!("to read {key}"), 0, || self.inner.head(key)).await.0
    }

    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        let len = bytes.len() as u64;
        self.call(&format!("to write {key}"), len, || self.inner.put(key, bytes.clone())).await.0
    }

    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        let (what, len) = (format!("to write {key}"), bytes.len() as u64);
        match self.call(&what, len, || self.inner.put_if_absent(key, bytes.clone())).await {
            (Err(refused @ StoreError::AlreadyExists { .. }), true) => self.own(key, &bytes, refused).await,
            (result, _) => result,
        }
    }

    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        let (what, len) = (format!("to write {key}"), bytes.len() as u64);
        match self.call(&what, len, || self.inner.put_if_match(key, bytes.clone(), expected)).await {
            (Err(refused @ StoreError::Changed { .. }), true) => self.own(key, &bytes, refused).await,
            (result, _) => result,
        }
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.call(&format!("to delete {key}"), 0, || self.inner.delete(key)).await.0
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.call("to be listed", LIST, || self.inner.list(prefix)).await.0
    }
}
