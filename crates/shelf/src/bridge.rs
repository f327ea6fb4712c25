//! From a thread that may wait to the tasks of a runtime.

use std::io;
use std::sync::mpsc;

use canju_store::StoreError;
use tokio::runtime::Handle;

/// Has a task of the runtime do it, and waits for its end. For threads of their own, such as rayon's: a thread
/// of the runtime that waits here keeps its tasks from running.
pub(crate) fn wait<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> io::Result<T> {
    let (answer, result) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Who waited has not gone away: it waits in this very function.
        let _ = answer.send(work.await);
    });
    match result.recv() {
        Ok(done) => done.map_err(told),
        Err(_) => Err(io::Error::other("the runtime that reads the store has ended")),
    }
}

/// The same failure in the words of files.
fn told(error: StoreError) -> io::Error {
    let kind = match &error {
        StoreError::NotFound { .. } => io::ErrorKind::NotFound,
        StoreError::OutOfRange { .. } => io::ErrorKind::UnexpectedEof,
        StoreError::Denied { .. } => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, Told(error))
}

/// A store's error that tells its cause too: of an io::Error only the first line is shown.
#[derive(Debug)]
struct Told(StoreError);

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match std::error::Error::source(&self.0) {
            Some(cause) => write!(f, "{} ({cause})", self.0),
            None => self.0.fmt(f),
        }
    }
}

impl std::error::Error for Told {}
