//! Where a server listens, and how its connections come in.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_stream::Stream;
use tonic::transport::server::Connected;

use crate::ClusterError;
use crate::network::{Connection, Listening};

/// How long to wait when no connection can be taken; mostly for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

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
        let next = next(Arc::clone(&self.listening));
        Incoming { listening: self.listening, next }
    }
}

type Next = Pin<Box<dyn Future<Output = Guest> + Send>>;

/// The connections that come in.
pub struct Incoming {
    listening: Arc<dyn Listening>,
    next: Next,
}

fn next(listening: Arc<dyn Listening>) -> Next {
    Box::pin(async move {
        loop {
            match listening.accept().await {
                Ok((connection, peer)) => return Guest { connection, peer },
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
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
        self.next = next(Arc::clone(&self.listening));
        Poll::Ready(Some(Ok(guest)))
    }
}

/// A connection that came in.
pub struct Guest {
    connection: Connection,
    peer: SocketAddr,
}

impl Connected for Guest {
    type ConnectInfo = SocketAddr;

    fn connect_info(&self) -> SocketAddr {
        self.peer
    }
}

impl AsyncRead for Guest {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
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

/// Refuses an address that other machines can reach, unless the network is trusted.
pub(crate) fn allow(address: SocketAddr, insecure_network: bool) -> Result<(), ClusterError> {
    if !address.ip().is_loopback() {
        if !insecure_network {
            return Err(ClusterError::Refused(format!(
                "{address} can be reached from other machines, and connections are neither encrypted nor authenticated: \
                 listen on 127.0.0.1, or give --insecure-network if you trust everybody on this network"
            )));
        }
        tracing::warn!(%address, "open to the network without encryption or authentication");
    }
    Ok(())
}

/// The URL of an address as users write it: `HOST:PORT` or a whole URL.
#[must_use]
pub fn url_of(address: &str) -> String {
    if address.contains("://") { address.to_owned() } else { format!("http://{address}") }
}
