//! A worker that joins is called back at the address that it gives to others: what none of them could reach is found
//! out before anything is given to it.

use std::time::Duration;

use tonic::Code;
use tonic::transport::Uri;

use crate::wire::exchange_client::ExchangeClient;
use crate::{ClusterError, Network, causes, wire};

/// How long a worker may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// Calls a worker that says Hello.
///
/// # Errors
/// What is found in its place.
pub(crate) async fn call_back(network: &Network, hello: &wire::Hello) -> Result<(), String> {
    let silent = || format!("nobody answers there within {} s; a firewall may drop what is sent", LIMIT.as_secs());
    tokio::time::timeout(LIMIT, call(network, hello)).await.unwrap_or_else(|_| Err(silent()))
}

async fn call(network: &Network, hello: &wire::Hello) -> Result<(), String> {
    let address = &hello.address;
    // Whose certificates are good is not known everywhere: a coordinator alone is nobody's client.
    if address.starts_with("https:") && !network.has_authority() {
        let uri: Uri = address.parse().map_err(|_| "it is no address".to_owned())?;
        return network.open(&uri).await.map(drop).map_err(|e| e.to_string());
    }
    let route = network.connect("the worker", address).await.map_err(found)?;
    match ExchangeClient::new(route).who(wire::WhoRequest {}).await {
        Ok(reply) if reply.get_ref().mark == hello.mark => Ok(()),
        Ok(_) => Err("another worker answers there".into()),
        Err(status) if status.code() == Code::Unimplemented => {
            Err("another server answers there, perhaps a coordinator".into())
        }
        Err(status)
            if matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled) =>
        {
            let broken = ClusterError::unreachable("the worker", address, network.told(&status));
            Err(found(network.explain(broken).await))
        }
        Err(status) => Err(network.told(&status)),
    }
}

/// What the network says, without the guesses that are made for clients.
fn found(error: ClusterError) -> String {
    match error {
        ClusterError::Unreachable { source, .. } => causes(source.as_ref()),
        error => error.line(),
    }
}
