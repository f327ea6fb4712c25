//! Where a server listens, and how its connections come in.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tokio_stream::Stream;
use tonic::transport::server::Connected;

use crate::ClusterError;
use crate::network::{Connection, Listening};
use crate::reminder::Reminder;

/// How long to wait when no connection can be taken; mostly for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a connection is kept over which nobody was let in.
const PATIENCE: Duration = Duration::from_secs(10);
/// Such connections that are kept at a time. Those of members do not count: nobody can drive them out.
const LOBBY: usize = 256;

/// A place where connections come in.
pub struct Listener {
    listening: Arc<dyn Listening>,
    address: SocketAddr,
}

impl Listener {
    pub(crate) fn new(listening: Box<dyn Listening>, address: SocketAddr) -> Self {
        Self { listening: Arc::from(listening), address }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The connections that come in, as servers take them.
    #[must_use]
    pub fn incoming(self) -> Incoming {
        let lobby = Arc::new(Lobby {
            places: Arc::new(Semaphore::new(LOBBY)),
            full: Reminder::default(),
            broken: Reminder::default(),
        });
        let next = next(Arc::clone(&self.listening), Arc::clone(&lobby));
        Incoming { listening: self.listening, lobby, next }
    }
}

type Next = Pin<Box<dyn Future<Output = Guest> + Send>>;

/// The connections that come in.
pub struct Incoming {
    listening: Arc<dyn Listening>,
    lobby: Arc<Lobby>,
    next: Next,
}

/// Where connections wait until somebody is let in over them.
struct Lobby {
    places: Arc<Semaphore>,
    full: Reminder,
    broken: Reminder,
}

fn next(listening: Arc<dyn Listening>, lobby: Arc<Lobby>) -> Next {
    Box::pin(async move {
        loop {
            match listening.accept().await {
                Ok((connection, peer)) => match Arc::clone(&lobby.places).try_acquire_owned() {
                    Ok(place) => return Guest::new(connection, place),
                    Err(_) => {
                        if let Some(closed) = lobby.full.due() {
                            let text = "too many connections that say nothing, more are closed";
                            tracing::warn!(%peer, waiting = LOBBY, closed, "{text}");
                        }
                    }
                },
                Err(error) => {
                    if let Some(times) = lobby.broken.due() {
                        tracing::warn!(%error, times, "a connection could not be taken");
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    })
}

impl Stream for Incoming {
    type Item = Result<Guest, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let guest = ready!(self.next.as_mut().poll(context));
        self.next = next(Arc::clone(&self.listening), Arc::clone(&self.lobby));
        Poll::Ready(Some(Ok(guest)))
    }
}

/// What is known of who opened a connection.
#[derive(Clone, Debug, Default)]
pub struct Visitor(Arc<AtomicBool>);

impl Visitor {
    /// A request of theirs was let in.
    pub(crate) fn welcome(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that came in. It is closed when no request over it is let in for too long.
pub struct Guest {
    connection: Connection,
    visitor: Visitor,
    /// Until somebody is let in: when to close, and the place in the lobby.
    waiting: Option<(Pin<Box<Sleep>>, OwnedSemaphorePermit)>,
}

impl Guest {
    fn new(connection: Connection, place: OwnedSemaphorePermit) -> Self {
        let patience = Box::pin(tokio::time::sleep(PATIENCE));
        Self { connection, visitor: Visitor::default(), waiting: Some((patience, place)) }
    }
}

impl Connected for Guest {
    type ConnectInfo = Visitor;

    fn connect_info(&self) -> Visitor {
        self.visitor.clone()
    }
}

impl AsyncRead for Guest {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.visitor.0.load(Ordering::Relaxed) {
            self.waiting = None;
        }
        if let Some((patience, _)) = &mut self.waiting
            && patience.as_mut().poll(cx).is_ready()
        {
            let text = "nothing was asked for that is allowed";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, text)));
        }
        Pin::new(&mut self.connection).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }
}

/// Refuses an address that other machines can reach where something of security is `missing` that must not be,
/// unless the network is trusted.
pub(crate) fn allow(
    address: SocketAddr,
    missing: Option<(&str, bool)>,
    insecure_network: bool,
) -> Result<(), ClusterError> {
    let Some((missing, must)) = missing.filter(|_| !address.ip().is_loopback()) else { return Ok(()) };
    if must && !insecure_network {
        return Err(ClusterError::Refused(format!(
            "{address} can be reached from other machines, and {missing}: give --token-file and --tls-cert, \
             listen on 127.0.0.1, or give --insecure-network if you trust everybody on this network"
        )));
    }
    tracing::warn!(%address, missing, "open to the network");
    Ok(())
}
