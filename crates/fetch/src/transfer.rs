//! One shard's way: pieces, check, into place.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use canju_store::{Key, StoreError};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::Semaphore;

use crate::home::Lock;
use crate::partial::{Partial, total};
use crate::plan::Missing;
use crate::{Event, FetchError, Home, Origin, Watch};

/// Wrong bytes may have become so on the way: they are fetched once more.
const TRIES: usize = 2;
/// Between two looks whether a piece is written.
const WAIT: Duration = Duration::from_millis(1);

/// What all shards of a fetch share.
pub(crate) struct Transfer {
    pub origin: Origin,
    pub home: Home,
    /// Held by all file work, too: it goes on for a moment when the fetch itself is dropped.
    pub lock: Arc<Lock>,
    pub watch: Arc<dyn Watch>,
    /// One permit for each request that may be under way.
    pub requests: Semaphore,
    pub jobs: usize,
    pub piece: u64,
}

/// Why a try came to nothing.
enum Failed {
    /// Another try may help.
    Wrong(String),
    For(FetchError),
}

impl From<FetchError> for Failed {
    fn from(error: FetchError) -> Self {
        Self::For(error)
    }
}

impl Transfer {
    /// Fetches what is missing of a shard, checks the whole, and puts it in place.
    pub(crate) async fn shard(&self, shard: &Missing) -> Result<(), FetchError> {
        let mut wrong = String::new();
        for _ in 0..TRIES {
            if !wrong.is_empty() {
                self.watch.see(Event::Again { key: &shard.key });
            }
            match self.once(shard).await {
                Ok(()) => return Ok(()),
                Err(Failed::Wrong(what)) => wrong = what,
                Err(Failed::For(error)) => return Err(error),
            }
        }
        Err(FetchError::DamagedSource { key: shard.key.clone(), place: self.origin.place(), what: wrong })
    }

    async fn once(&self, shard: &Missing) -> Result<(), Failed> {
        let key = Key::new(&shard.key).map_err(|e| self.local(shard, "named")(io::Error::other(e)))?;
        let aside = self.home.aside(&shard.key);
        let info = shard.info.clone();
        let partial = self.blocking(shard, move || Partial::open(&aside, &info)).await?;
        let partial = Arc::new(partial);
        let missing = partial.missing(self.piece);
        let lacking = total(&missing);
        let pieces = missing.into_iter().map(|range| {
            let (partial, key) = (Arc::clone(&partial), &key);
            async move {
                let bytes = {
                    let _permit = self.requests.acquire().await;
                    self.origin.store().get_range(key, range.clone()).await
                };
                let bytes = bytes.map_err(|error| as_damage(error, shard.info.bytes))?;
                if bytes.len() as u64 != range.end - range.start {
                    return Err(Failed::Wrong(format!("{} bytes came for {range:?}", bytes.len())));
                }
                let len = bytes.len() as u64;
                self.blocking(shard, move || partial.write(range.start, &bytes)).await?;
                self.watch.see(Event::Got(len));
                Ok(())
            }
        });
        let got = stream::iter(pieces).buffer_unordered(self.jobs).try_collect::<Vec<()>>().await;
        if let Err(failed) = got {
            if let Failed::Wrong(_) = failed {
                // What came may be of another content than what would come now.
                self.watch.see(Event::Lost(lacking - total(&partial.missing(self.piece)).min(lacking)));
                self.discard(shard, partial).await?;
            }
            return Err(failed);
        }
        let hashed = Arc::clone(&partial);
        let hash = self.blocking(shard, move || hashed.hash()).await?;
        if hash != shard.info.blake3 {
            self.watch.see(Event::Lost(shard.info.bytes));
            self.discard(shard, partial).await?;
            return Err(Failed::Wrong("its BLAKE3 is not that of the manifest".to_owned()));
        }
        let target = self.home.file(&shard.key);
        self.blocking(shard, move || own(partial).place(&target)).await?;
        Ok(())
    }

    /// Returns when no file is worked on any more, so that a fetch that failed leaves the folder to others at rest.
    pub(crate) async fn rest(self) {
        let lock = self.lock;
        // It is stopped only with its runtime, and then nobody is left to wait.
        drop(tokio::task::spawn_blocking(move || own(lock)).await);
    }

    async fn discard(&self, shard: &Missing, partial: Arc<Partial>) -> Result<(), FetchError> {
        self.blocking(shard, move || own(partial).discard()).await
    }

    /// Runs file work where it may block.
    async fn blocking<T: Send + 'static>(
        &self,
        shard: &Missing,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, FetchError> {
        let lock = Arc::clone(&self.lock);
        let locked = move || {
            let done = work();
            drop(lock);
            done
        };
        let done = tokio::task::spawn_blocking(locked).await;
        done.unwrap_or_else(|stopped| Err(io::Error::other(stopped))).map_err(self.local(shard, "written"))
    }

    fn local(&self, shard: &Missing, what: &'static str) -> impl FnOnce(io::Error) -> FetchError + use<> {
        FetchError::local(&self.home.file(&shard.key), what)
    }
}

/// What was shared, once nobody else works on it. A piece that is being written is so to its end, though nobody waits for
/// it any more when another piece has failed.
fn own<T>(mut shared: Arc<T>) -> T {
    loop {
        match Arc::try_unwrap(shared) {
            Ok(own) => return own,
            Err(still) => shared = still,
        }
        std::thread::sleep(WAIT);
    }
}

/// Sorts out where the source's shard is not the one that its manifest lists.
fn as_damage(error: StoreError, bytes: u64) -> Failed {
    match error {
        StoreError::NotFound { .. } => Failed::Wrong("the manifest lists it, but it is not there".to_owned()),
        StoreError::OutOfRange { len, .. } => Failed::Wrong(format!("it has {len} bytes, {bytes} by the manifest")),
        other => Failed::For(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use canju_table::ShardInfo;

    use super::*;

    #[test]
    fn a_piece_that_is_being_written_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let aside = folder.path().join("shard");
        let info = ShardInfo { number: 0, first_slice: 0, slices: 1, bytes: 4, blake3: "0".repeat(64) };
        let partial = Arc::new(Partial::open(&aside, &info).unwrap());
        let writer = Arc::clone(&partial);
        let writing = std::thread::spawn(move || {
            std::thread::sleep(30 * WAIT);
            writer.write(0, b"late").unwrap();
        });
        own(partial).discard().unwrap();
        writing.join().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
