//! The threads that compute, apart from those that wait.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::ClusterError;

/// A pool of threads for work that blocks or computes. Async code hands work over and awaits its end.
#[derive(Clone, Debug)]
pub struct Pool(Threads);

#[derive(Clone, Debug)]
enum Threads {
    Own(Arc<rayon::ThreadPool>),
    /// The thread that asks.
    Caller,
}

impl Pool {
    /// A pool of so many threads.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] when the system gives no threads.
    pub fn new(threads: usize, name: &str) -> Result<Self, ClusterError> {
        let name = name.to_owned();
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(move |i| format!("{name}-{i}"))
            .build()
            .map(|pool| Self(Threads::Own(Arc::new(pool))))
            .map_err(|e| ClusterError::Refused(format!("cannot start {threads} threads: {e}; use a smaller --threads")))
    }

    /// No threads: work is done at once on the thread that asks for it. For simulations, which must go the same
    /// way each time.
    #[must_use]
    pub const fn inline() -> Self {
        Self(Threads::Caller)
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        match &self.0 {
            Threads::Own(pool) => pool.current_num_threads(),
            Threads::Caller => 1,
        }
    }

    /// Does the work on the pool. Work that has begun runs to its end, also when nobody waits for it any more.
    ///
    /// # Errors
    /// [`ClusterError::Panicked`]: a panic ends the work that caused it, never the process.
    pub async fn run<T, F>(&self, work: F) -> Result<T, ClusterError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        // Who can see what the work has half changed finds out by itself: see `Held`.
        let work = move || catch_unwind(AssertUnwindSafe(work));
        let result = match &self.0 {
            Threads::Caller => work(),
            Threads::Own(pool) => {
                let (answer, result) = oneshot::channel();
                pool.spawn(move || {
                    let _ = answer.send(work());
                });
                result.await.map_err(|_| ClusterError::CalledOff)?
            }
        };
        result.map_err(|panic| ClusterError::Panicked(words(panic.as_ref())))
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error() {
        for pool in [Pool::new(1, "test").unwrap(), Pool::inline()] {
            let result: Result<(), _> = pool.run(|| panic!("oh {}", 7)).await;
            assert!(matches!(result, Err(ClusterError::Panicked(text)) if text == "oh 7"));
            assert_eq!(pool.run(|| 3).await.unwrap(), 3);
        }
    }

    #[tokio::test]
    async fn inline_work_is_done_by_who_asks() {
        let me = std::thread::current().id();
        assert_eq!(Pool::inline().run(|| std::thread::current().id()).await.unwrap(), me);
    }
}
