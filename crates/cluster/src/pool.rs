//! The threads that compute, apart from those that wait.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::ClusterError;

/// A pool of threads for work that blocks or computes. Async code hands work over and awaits its end.
#[derive(Clone, Debug)]
pub struct Pool(Arc<rayon::ThreadPool>);

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
            .map(|pool| Self(Arc::new(pool)))
            .map_err(|e| ClusterError::Refused(format!("cannot start {threads} threads: {e}; use a smaller --threads")))
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Does the work on the pool.
    ///
    /// # Errors
    /// [`ClusterError::Panicked`]: a panic ends the work that caused it, never the process.
    pub async fn run<T, F>(&self, work: F) -> Result<T, ClusterError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        self.0.spawn(move || {
            // Whatever the work held is dropped with the panic: nothing half-changed is seen again.
            let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
        });
        match result.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(panic)) => Err(ClusterError::Panicked(words(panic.as_ref()))),
            Err(_) => Err(ClusterError::CalledOff),
        }
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
        let pool = Pool::new(1, "test").unwrap();
        let result: Result<(), _> = pool.run(|| panic!("oh {}", 7)).await;
        assert!(matches!(result, Err(ClusterError::Panicked(text)) if text == "oh 7"));
        assert_eq!(pool.run(|| 3).await.unwrap(), 3);
    }
}
