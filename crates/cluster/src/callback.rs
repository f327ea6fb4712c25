//! A worker that joins is called back at the address that it gives to others: what none of them could reach is found
//! out before anything is given to it.

use std::error::Error;
use std::io;
use std::time::Duration;

use tonic::Code;
use tonic::transport::Uri;

use crate::error::told;
use crate::spoken::Spoken;
use crate::wire::exchange_client::ExchangeClient;
use crate::{Network, wire};

/// How long a worker may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// Why a worker is not reached.
#[derive(Debug)]
pub(crate) struct Fault {
    /// What is found in its place.
    pub(crate) cause: String,
    /// Others will find the same. Otherwise it may be between coordinator and worker alone: a firewall, certificates or a
    /// token of the coordinator, or a machine that is busy.
    pub(crate) certain: bool,
}

impl Fault {
    fn certain(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), certain: true }
    }

    fn doubtful(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), certain: false }
    }

    /// Of a connection that did not come to be.
    fn of(cause: String, error: &(dyn Error + 'static)) -> Self {
        let mut chain = std::iter::successors(Some(error), |&error| error.source());
        let refused = chain.any(|error| {
            error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::ConnectionRefused)
        });
        // Who judges certificates says so in words alone.
        let misnamed = cause.contains("not valid for name");
        Self { certain: refused || misnamed, cause }
    }
}

/// Calls a worker that says Hello.
///
/// # Errors
/// What is found in its place.
pub(crate) async fn call_back(network: &Network, hello: &wire::Hello) -> Result<(), Fault> {
    let silent = || Fault::doubtful(format!("nobody answers there within {} s", LIMIT.as_secs()));
    tokio::time::timeout(LIMIT, call(network, hello)).await.unwrap_or_else(|_| Err(silent()))
}

async fn call(network: &Network, hello: &wire::Hello) -> Result<(), Fault> {
    let uri: Uri = hello.address.parse().map_err(|_| Fault::certain("it is no address"))?;
    let encrypted = uri.scheme_str() == Some("https");
    // Whose certificates are good is not known everywhere: a coordinator alone is nobody's client.
    if encrypted && !network.has_authority() {
        return network.open(&uri).await.map(drop).map_err(|error| Fault::of(error.to_string(), &error));
    }
    let route = network.connect_lazy("the worker", &hello.address).map_err(|error| Fault::doubtful(error.line()))?;
    let status = match ExchangeClient::new(route).who(wire::WhoRequest {}).await {
        Ok(reply) if reply.get_ref().mark == hello.mark => return Ok(()),
        Ok(_) => return Err(Fault::certain("another worker answers there")),
        Err(status) => status,
    };
    if status.code() == Code::Unimplemented {
        return Err(Fault::certain("another server answers there, perhaps a coordinator"));
    }
    // What a connection breaks of is told better by what is spoken there.
    if matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled) {
        match network.spoken(&uri).await {
            Some(Spoken::Web) => return Err(Fault::certain("a web server answers there")),
            Some(Spoken::Encrypted) if !encrypted => {
                return Err(Fault::certain("it encrypts, and its address begins with http:"));
            }
            Some(Spoken::Plain) if encrypted => {
                return Err(Fault::certain("it does not encrypt, and its address begins with https:"));
            }
            _ => {}
        }
    }
    Err(Fault::of(told(&status), &status))
}
