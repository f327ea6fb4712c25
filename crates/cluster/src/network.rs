//! How processes reach each other: listening and connecting, over TCP or over whatever stands in for it.
//!
//! Everything that speaks gRPC goes through a [`Network`], so that the limits and the security of
//! connections are set in one place, and a simulation can take the place of the machine's network.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tonic::codegen::Service;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Server, Uri};
use tonic::{Code, Status};

use crate::entry::check_address;
use crate::error::told;
use crate::listen::{Listener, allow};
use crate::token::{Badge, Guarded};
use crate::{ClusterError, Security, causes};

/// How long opening a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How often the other end of a connection is asked whether it lives, and how long it may take to answer.
pub(crate) const KEEPALIVE: Duration = Duration::from_secs(10);
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
pub type Route = InterceptedService<Channel, Badge>;

/// How a process reaches others and is reached. The default is TCP, without any security.
#[derive(Clone)]
pub struct Network {
    transport: Arc<dyn Transport>,
    security: Security,
}

impl Default for Network {
    fn default() -> Self {
        Self::new(Arc::new(Tcp))
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("security", &self.security).finish_non_exhaustive()
    }
}

impl Network {
    /// A network over this transport.
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self { transport, security: Security::default() }
    }

    /// The same network with this security.
    #[must_use]
    pub fn secured(self, security: Security) -> Self {
        Self { security, ..self }
    }

    /// The same network for who shows no token.
    pub(crate) fn without_token(&self) -> Self {
        self.clone().secured(self.security.without_token())
    }

    /// True when servers encrypt, so that their URLs begin with `https`.
    #[must_use]
    pub const fn serves_tls(&self) -> bool {
        self.security.serves_tls()
    }

    /// Listens on an address. Port 0 takes any free one.
    ///
    /// On an address that other machines can reach, clients must show a token or a certificate; without that it is
    /// refused unless `insecure_network` says that the network can be trusted.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for such an address, [`ClusterError::Listen`] when it cannot be had.
    pub async fn listen(&self, address: SocketAddr, insecure_network: bool) -> Result<Listener, ClusterError> {
        allow(address, self.security.missing(), insecure_network)?;
        let error = |source| ClusterError::Listen { address: address.to_string(), option: "--listen", source };
        let listening = self.transport.listen(address).await.map_err(error)?;
        let local = listening.address().map_err(error)?;
        Ok(Listener::new(listening, local))
    }

    /// A server with the limits that all servers have, for services to be added.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] when its security cannot be had.
    pub fn server(&self) -> Result<Server, ClusterError> {
        let server = Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE))
            .http2_keepalive_timeout(Some(KEEPALIVE))
            .http2_max_header_list_size(HEADERS)
            .http2_max_pending_accept_reset_streams(Some(STREAMS as usize))
            .max_concurrent_streams(STREAMS);
        match self.security.server() {
            Some(tls) => {
                let refused = |e| ClusterError::Refused(format!("the certificate cannot be used: {}", causes(&e)));
                server.tls_config(tls).map_err(refused)
            }
            None => Ok(server),
        }
    }

    /// Puts a service where only those come who may.
    pub fn guarded<S>(&self, service: S) -> Guarded<S> {
        InterceptedService::new(service, self.security.guard())
    }

    /// True when this process was told whose certificates it is to trust.
    pub(crate) const fn has_authority(&self) -> bool {
        self.security.has_authority()
    }

    /// The hash of the header that shows the token, where there is one.
    pub(crate) fn token_hash(&self) -> Option<blake3::Hash> {
        self.security.token_hash()
    }

    /// The URL at which this machine reaches a server of this process.
    #[must_use]
    pub fn url(&self, mut address: SocketAddr) -> String {
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        let scheme = if self.security.serves_tls() { "https" } else { "http" };
        format!("{scheme}://{address}")
    }

    /// The URL of an address as users write it: `HOST:PORT` or a whole URL.
    #[must_use]
    pub fn url_of(&self, address: &str) -> String {
        if address.contains("://") {
            return address.to_owned();
        }
        let scheme = if self.security.wants_tls() { "https" } else { "http" };
        format!("{scheme}://{address}")
    }

    /// Connects to a server, now.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for what is no URL; [`ClusterError::Unreachable`], by the name `what`.
    pub async fn connect(&self, what: &'static str, url: &str) -> Result<Route, ClusterError> {
        let endpoint = self.endpoint(what, url)?;
        let began = Instant::now();
        let error = match endpoint.connect_with_connector(self.connector()).await {
            Ok(channel) => return Ok(self.route(channel)),
            Err(error) => ClusterError::unreachable(what, url, error),
        };
        // Who did not answer will not say more now.
        Err(if began.elapsed() < CONNECT { self.explain(error).await } else { error })
    }

    /// A connection to a server that is made when it is used, and again when it is lost.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for what is no URL.
    pub fn connect_lazy(&self, what: &'static str, url: &str) -> Result<Route, ClusterError> {
        Ok(self.route(self.endpoint(what, url)?.connect_with_connector_lazy(self.connector())))
    }

    /// What a call over this network ended with, and what may be wrong.
    pub(crate) fn told(&self, status: &Status) -> String {
        let text = told(status);
        // A server that asks for certificates closes the connection when it is open already.
        let closed = matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled);
        if closed && self.security.wants_tls() && !self.security.serves_tls() {
            return format!(
                "{text}; servers that were given --tls-ca want a certificate: give --tls-cert and --tls-key"
            );
        }
        text
    }

    /// A bare connection to the host and port of a URL.
    pub(crate) async fn open(&self, uri: &Uri) -> io::Result<Connection> {
        open(self.transport.as_ref(), uri).await
    }

    fn connector(&self) -> Connector {
        Connector(Arc::clone(&self.transport))
    }

    fn route(&self, channel: Channel) -> Route {
        InterceptedService::new(channel, self.security.badge())
    }

    fn endpoint(&self, what: &str, url: &str) -> Result<Endpoint, ClusterError> {
        check_address(url)?;
        let bad = |_| ClusterError::Refused(format!("{url:?} is no URL of {what}: write http://HOST:PORT"));
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(bad)?;
        let encrypted = endpoint.uri().scheme_str() == Some("https");
        let endpoint = endpoint
            .connect_timeout(CONNECT)
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
            .keep_alive_while_idle(true)
            .http2_max_header_list_size(HEADERS);
        if encrypted {
            let refused = |e| ClusterError::Refused(format!("{url} cannot be used: {}", causes(&e)));
            return endpoint.tls_config(self.security.client()).map_err(refused);
        }
        // Who was given certificates is not to be talked into doing without.
        if self.security.wants_tls() {
            return Err(ClusterError::Refused(format!(
                "{url} is not encrypted: write https://HOST:PORT, or leave out --tls-*"
            )));
        }
        Ok(endpoint)
    }
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
        Box::pin(async move { open(transport.as_ref(), &uri).await.map(TokioIo::new) })
    }
}

async fn open(transport: &dyn Transport, uri: &Uri) -> io::Result<Connection> {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    transport.connect(host, port).await
}
