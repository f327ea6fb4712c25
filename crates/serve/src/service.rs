//! Between the tasks that serve and the threads that ask.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use canju_probe::Prober;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::Limits;
use crate::asker::{Asker, Deadline};
use crate::failure::Failure;
use crate::statistics::Endgames;

/// How long a list of tables is shown again before the store is asked anew.
const FRESH: Duration = Duration::from_secs(5);

/// Answers questions about the tables of a prober, within limits.
pub struct Service {
    asker: Arc<Asker>,
    limits: Limits,
    /// Places for requests that are worked on or wait for it.
    entered: Arc<Semaphore>,
    /// Places for threads that ask.
    working: Arc<Semaphore>,
    listed: Mutex<Option<(Instant, Arc<Endgames>)>>,
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
        let working = Arc::new(Semaphore::new(limits.threads.max(1)));
        Self { asker: Arc::new(asker), limits, entered, working, listed: Mutex::default() }
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

    /// The tables that are there, as they were a moment ago.
    pub(crate) async fn endgames(&self) -> Result<Arc<Endgames>, Failure> {
        let listed = || self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, endgames)) = &*listed()
            && when.elapsed() < FRESH
        {
            return Ok(Arc::clone(endgames));
        }
        let endgames = Arc::new(self.ask(|asker, _| asker.endgames()).await?);
        *listed() = Some((Instant::now(), Arc::clone(&endgames)));
        Ok(endgames)
    }
}
