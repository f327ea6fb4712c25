//! Where the server listens, and its connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::Limits;
use crate::patient::Patient;

/// How long to wait when no connection can be taken; mostly for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub IpAddr);

/// Why a server could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is another's.
    #[error("{address} is in use by another program: stop that, or listen elsewhere")]
    InUse {
        /// Which address.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}: give an address of this machine and a port that this user may have")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A port that is open and not yet served.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl Server {
    /// Opens a port; port 0 is any.
    ///
    /// # Errors
    /// [`ServeError`] where it cannot be had.
    pub async fn bind(address: SocketAddr, limits: Limits) -> Result<Self, ServeError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::InUse { address },
            _ => ServeError::Listen { address, source },
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, limits })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown`; then answers that are under way are finished, for as long as [`Limits::grace`].
    pub async fn run(self, router: Router, shutdown: impl Future<Output = ()>) {
        let Self { listener, limits, .. } = self;
        let permits = Arc::new(Semaphore::new(limits.connections));
        let graceful = GracefulShutdown::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let taken = async {
                let permit = Arc::clone(&permits).acquire_owned().await;
                (listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                taken = taken => taken,
                () = &mut shutdown => break,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            // Answers are small and written at once.
            let _ = stream.set_nodelay(true);
            let service = router.clone().layer(Extension(Peer(peer.ip())));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(64 << 10);
            let stream = TokioIo::new(Patient::new(stream, limits.stall));
            let connection = server.serve_connection(stream, TowerToHyperService::new(service));
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                // Whatever ends a connection is the client's business.
                let _ = connection.await;
                drop(permit);
            });
        }
        // Nobody is let in any more.
        drop(listener);
        let open = graceful.count();
        tracing::info!(open, "ending");
        if tokio::time::timeout(limits.grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("some answers were not finished in time");
        }
    }
}
