//! Where a server listens.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;

use crate::ClusterError;

/// Listens on an address. Port 0 takes any free one.
///
/// Nothing is encrypted and nobody is asked who they are, so that an address which other machines can
/// reach is refused unless `insecure_network` says that the network can be trusted.
///
/// # Errors
/// [`ClusterError::Refused`] for such an address, [`ClusterError::Listen`] when it cannot be had.
pub async fn listen(address: SocketAddr, insecure_network: bool) -> Result<TcpListener, ClusterError> {
    if !address.ip().is_loopback() {
        if !insecure_network {
            return Err(ClusterError::Refused(format!(
                "{address} can be reached from other machines, and connections are neither encrypted nor authenticated: \
                 listen on 127.0.0.1, or give --insecure-network if you trust everybody on this network"
            )));
        }
        tracing::warn!(%address, "open to the network without encryption or authentication");
    }
    TcpListener::bind(address).await.map_err(|source| ClusterError::Listen { address: address.to_string(), source })
}

/// The connections that come in. Short messages go out at once: a barrier waits for each of them.
pub(crate) fn incoming(listener: TcpListener) -> TcpIncoming {
    TcpIncoming::from(listener).with_nodelay(Some(true))
}

/// The URL of an address as users write it: `HOST:PORT` or a whole URL.
#[must_use]
pub fn url_of(address: &str) -> String {
    if address.contains("://") { address.to_owned() } else { format!("http://{address}") }
}
