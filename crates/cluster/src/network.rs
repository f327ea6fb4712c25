//! How processes reach each other: listening and connecting, over TCP or over whatever stands in for it.
//!
//! Everything that speaks gRPC goes through a [`Network`], so that the limits and the security of
//! connections are set in one place, and a simulation can take the place of the machine's network.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint, Server, Uri};

use crate::ClusterError;
use crate::listen::{Listener, allow};

/// How long opening a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How often the other end of a connection is asked whether it lives, and how long it may take to answer.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// Requests that one connection may have open.
const STREAMS: u32 = 256;
/// Bytes of a request's headers.
const HEADERS: u32 = 16 << 10;

/// Both directions of a connection.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection of whatever kind.
pub type Connection = Box<dyn Duplex>;

/// What carries bytes between processes.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Begins to listen. Port 0 takes any free one.
    ///
    /// # Errors
    /// What the system says.
    async fn listen(&self, address: SocketAddr) -> io::Result<Box<dyn Listening>>;

    /// Opens a connection to a host by its name or address.
    ///
    /// # Errors
    /// What the system says.
    async fn connect(&self, host: &str, port: u16) -> io::Result<Connection>;
}

/// A place where connections come in.
#[async_trait]
pub trait Listening: Send + Sync {
    /// The next connection.
    ///
    /// # Errors
    /// What the system says; the next one may be better.
    async fn accept(&self) -> io::Result<(Connection, SocketAddr)>;

    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    fn address(&self) -> io::Result<SocketAddr>;
}

/// The network of the machine.
struct Tcp;

#[async_trait]
impl Transport for Tcp {
    async fn listen(&self, address: SocketAddr) -> io::Result<Box<dyn Listening>> {
        Ok(Box::new(TcpListener::bind(address).await?))
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Connection> {
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}

#[async_trait]
impl Listening for TcpListener {
    async fn accept(&self) -> io::Result<(Connection, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        // Short messages go out at once: a barrier waits for each of them.
        stream.set_nodelay(true)?;
        Ok((Box::new(stream), peer))
    }

    fn address(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}

/// A way to a server, as the clients of its services take it.
pub type Route = Channel;

/// How a process reaches others and is reached. The default is TCP.
#[derive(Clone)]
pub struct Network {
    transport: Arc<dyn Transport>,
}

impl Default for Network {
    fn default() -> Self {
        Self::new(Arc::new(Tcp))
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

impl Network {
    /// A network over this transport.
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self { transport }
    }

    /// Listens on an address. Port 0 takes any free one.
    ///
    /// Nothing is encrypted and nobody is asked who they are, so that an address which other machines can
    /// reach is refused unless `insecure_network` says that the network can be trusted.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for such an address, [`ClusterError::Listen`] when it cannot be had.
    pub async fn listen(&self, address: SocketAddr, insecure_network: bool) -> Result<Listener, ClusterError> {
        allow(address, insecure_network)?;
        let error = |source| ClusterError::Listen { address: address.to_string(), source };
        let listening = self.transport.listen(address).await.map_err(error)?;
        let local = listening.address().map_err(error)?;
        Ok(Listener::new(listening, local))
    }

    /// A server with the limits that all servers have, for services to be added.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] when its security cannot be had.
    pub fn server(&self) -> Result<Server, ClusterError> {
        Ok(Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE))
            .http2_keepalive_timeout(Some(KEEPALIVE))
            .http2_max_header_list_size(HEADERS)
            .max_concurrent_streams(STREAMS))
    }

    /// The URL at which an address of this process is reached.
    #[must_use]
    pub fn url(&self, address: SocketAddr) -> String {
        format!("http://{address}")
    }

    /// Connects to a server, now.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for what is no URL; [`ClusterError::Unreachable`], by the name `what`.
    pub(crate) async fn connect(&self, what: &'static str, url: &str) -> Result<Route, ClusterError> {
        let endpoint = endpoint(what, url)?;
        let connected = endpoint.connect_with_connector(self.connector()).await;
        connected.map_err(|e| ClusterError::Unreachable { what, address: url.to_owned(), source: Box::new(e) })
    }

    /// A connection to a server that is made when it is used, and again when it is lost.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for what is no URL.
    pub(crate) fn connect_lazy(&self, what: &'static str, url: &str) -> Result<Route, ClusterError> {
        Ok(endpoint(what, url)?.connect_with_connector_lazy(self.connector()))
    }

    fn connector(&self) -> Connector {
        Connector(Arc::clone(&self.transport))
    }
}

fn endpoint(what: &str, url: &str) -> Result<Endpoint, ClusterError> {
    let bad = || ClusterError::Refused(format!("{url:?} is no URL of {what}: write http://HOST:PORT"));
    let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|_| bad())?;
    if endpoint.uri().host().is_none() {
        return Err(bad());
    }
    Ok(endpoint
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE)
        .keep_alive_while_idle(true)
        .http2_max_header_list_size(HEADERS))
}

/// Opens the connections of a channel.
struct Connector(Arc<dyn Transport>);

impl Service<Uri> for Connector {
    type Response = TokioIo<Connection>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let transport = Arc::clone(&self.0);
        Box::pin(async move {
            let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
            let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
            transport.connect(host, port).await.map(TokioIo::new)
        })
    }
}
