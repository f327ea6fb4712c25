//! When a user or the system wants the command to stop.

use std::future::Future;
use std::io;

/// Waits for the first signal to stop, and returns the exit code that is usual for it.
#[cfg(unix)]
pub(crate) fn first() -> io::Result<impl Future<Output = u8>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
        }
    })
}

/// Waits for the first Ctrl-C, and returns the exit code that is usual for it.
#[cfg(not(unix))]
pub(crate) fn first() -> io::Result<impl Future<Output = u8>> {
    Ok(async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => 130,
            Err(_) => std::future::pending().await,
        }
    })
}
