//! Between the tasks that serve and the threads that ask.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use canju_probe::Prober;
use tokio::sync::Semaphore;
use tokio::time::{timeout, timeout_at};

use crate::Limits;
use crate::asker::{Asker, Deadline};
use crate::failure::Failure;
use crate::statistics::Listing;

/// Answers questions about the tables of a prober, within limits.
pub struct Service {
    asker: Arc<Asker>,
    limits: Limits,
    /// Places for requests that are worked on or wait for it.
    entered: Arc<Semaphore>,
    /// Places for threads that ask.
    working: Arc<Semaphore>,
    listed: Mutex<Option<(Instant, Arc<Listing>)>>,
    /// Held by who lists the tables anew.
    listing: tokio::sync::Mutex<()>,
    /// Places for bodies that come in.
    bodies: Semaphore,
    /// When it was last thought that tables may have got metrics.
    doubted: Mutex<Instant>,
}

impl Service {
    /// A service that asks a prober.
    #[must_use]
    pub fn new(prober: Arc<Prober>, limits: Limits) -> Self {
        Self::with(Asker::new(prober, None), limits)
    }

    /// The same, whose tables lie in a folder: where that is gone, nothing is said about tables, not even that they
    /// are missing.
    #[must_use]
    pub fn of_folder(prober: Arc<Prober>, folder: PathBuf, limits: Limits) -> Self {
        Self::with(Asker::new(prober, Some(folder)), limits)
    }

    fn with(asker: Asker, limits: Limits) -> Self {
        let entered = Arc::new(Semaphore::new(limits.requests));
        let bodies = Semaphore::new(limits.bodies.max(1));
        let working = Arc::new(Semaphore::new(limits.threads.max(1)));
        Self {
            asker: Arc::new(asker),
            limits,
            entered,
            working,
            listed: Mutex::default(),
            listing: tokio::sync::Mutex::default(),
            bodies,
            doubted: Mutex::new(Instant::now()),
        }
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn prober(&self) -> &Prober {
        self.asker.prober()
    }

    /// Has a thread do it, in time. A thread that is too late goes on until it sees its deadline, and keeps its place: so
    /// there are never more of them.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Asker, Deadline) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let _entered = self.entered.try_acquire().map_err(|_| Failure::busy())?;
        let deadline = Instant::now() + self.limits.timeout;
        let late = |_| Failure::timeout();
        let place = timeout_at(deadline.into(), Arc::clone(&self.working).acquire_owned()).await.map_err(late)?;
        let place = place.map_err(|_| Failure::internal())?;
        self.doubt();
        let asker = Arc::clone(&self.asker);
        let task = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&asker, Deadline(deadline))
        });
        timeout_at(deadline.into(), task).await.map_err(late)?.unwrap_or_else(|error| {
            tracing::error!(%error, "a question failed");
            Err(Failure::internal())
        })
    }

    /// Has tables that lack a metric looked at again, now and then.
    fn doubt(&self) {
        let mut doubted = self.doubted.lock().unwrap_or_else(PoisonError::into_inner);
        if doubted.elapsed() >= self.limits.fresh {
            *doubted = Instant::now();
            self.prober().tables().doubt();
        }
    }

    /// The tables that are there, as they were a moment ago. While they are listed anew, which may take long, others are
    /// shown the list of before.
    pub(crate) async fn listing(&self) -> Result<Arc<Listing>, Failure> {
        let listed = || self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let known = listed();
        if let Some((when, listing)) = &known
            && when.elapsed() < self.limits.fresh
        {
            return Ok(Arc::clone(listing));
        }
        let _anew = match (self.listing.try_lock(), known) {
            (Ok(anew), _) => anew,
            (Err(_), Some((_, listing))) => return Ok(listing),
            (Err(_), None) => {
                let late = |_| Failure::timeout();
                let anew = timeout_at((Instant::now() + self.limits.timeout).into(), self.listing.lock());
                let anew = anew.await.map_err(late)?;
                if let Some((_, listing)) = listed() {
                    return Ok(listing);
                }
                anew
            }
        };
        let listing = Arc::new(self.ask(|asker, deadline| asker.listing(deadline)).await?);
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), Arc::clone(&listing)));
        Ok(listing)
    }

    /// The body of a request, within bounds of size, number and time.
    pub(crate) async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
        let _place = self.bodies.try_acquire().map_err(|_| Failure::busy())?;
        let (most, patience) = (self.limits.body, self.limits.timeout);
        let large = || {
            let text = format!("the body is too large: give at most {most} bytes");
            Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text)
        };
        let told = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if told.is_some_and(|length| length > most as u64) {
            return Err(large());
        }
        match timeout(patience, to_bytes(body, most)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            // A body without a length is cut off here; one that breaks off has nobody left to be told.
            Ok(Err(_)) => Err(large()),
            Err(_) => {
                let text = format!("the body did not come within {} seconds", patience.as_secs());
                Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "slow", text))
            }
        }
    }
}
