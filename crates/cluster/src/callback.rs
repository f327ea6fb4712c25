//! A worker that joins is called back at the address that it gives to others: what none of them could reach is found
//! out before anything is given to it.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tonic::transport::Uri;
use tonic::{Code, Request, Response, Status};

use crate::error::told;
use crate::spoken::Spoken;
use crate::wire::callback_client::CallbackClient;
use crate::wire::callback_server::Callback;
use crate::{Network, wire};

/// How long a worker may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// What a worker says at its address, to everybody.
pub(crate) struct Presence {
    mark: u64,
    has_token: bool,
}

impl Presence {
    /// Of a worker that is known by this mark.
    pub(crate) fn new(mark: u64, network: &Network) -> Self {
        Self { mark, has_token: network.token_hash().is_some() }
    }
}

#[tonic::async_trait]
impl Callback for Presence {
    async fn who(self: Arc<Self>, _: Request<wire::WhoRequest>) -> Result<Response<wire::WhoReply>, Status> {
        Ok(Response::new(wire::WhoReply { mark: self.mark, has_token: self.has_token }))
    }
}

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
    // Somebody else may be there, whom the token is not for.
    let stranger = network.without_token();
    let route = stranger.connect_lazy("the worker", &hello.address).map_err(|error| Fault::doubtful(error.line()))?;
    let status = match CallbackClient::new(route).who(wire::WhoRequest {}).await.map(Response::into_inner) {
        Ok(reply) if reply.mark != hello.mark => return Err(Fault::certain("another worker answers there")),
        Ok(reply) if reply.has_token && network.token_hash().is_none() => {
            return Err(Fault::doubtful(
                "it has a token and the coordinator has none: give both the same with --token-file",
            ));
        }
        Ok(_) => return Ok(()),
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
