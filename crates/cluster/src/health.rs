//! Whether a process is well, by the health protocol of gRPC, for those who watch over it.
//!
//! The service `""` is serving while the process is ready for its work; the service [`LIVE`] while it answers.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health as Service, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::seek::{Heard, seek_well};
use crate::{ClusterError, Network};

/// The service that is well as long as the process answers.
pub const LIVE: &str = "live";

/// Tells those who ask whether the process is ready. All clones are one.
#[derive(Clone, Debug)]
pub struct Health(watch::Sender<bool>);

impl Default for Health {
    /// Not ready yet.
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Health {
    /// Says whether the process is ready for its work.
    pub fn set(&self, ready: bool) {
        self.0.send_if_modified(|was| std::mem::replace(was, ready) != ready);
    }

    /// What was said last.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        *self.0.borrow()
    }

    /// The service that answers. It needs no token: who watches over a process is told only whether it is well.
    #[must_use]
    pub fn service(&self) -> HealthServer<impl Service> {
        HealthServer::from_arc(Arc::new(Doctor(self.clone()))).max_decoding_message_size(1024)
    }
}

struct Doctor(Health);

impl Doctor {
    /// The state of a service as it changes.
    fn states(&self, service: &str) -> Result<watch::Receiver<bool>, Status> {
        match service {
            "" => Ok(self.0.0.subscribe()),
            LIVE => Ok(watch::Sender::new(true).subscribe()),
            _ => Err(Status::not_found("no such service")),
        }
    }
}

fn answer(ready: bool) -> HealthCheckResponse {
    let status = if ready { ServingStatus::Serving } else { ServingStatus::NotServing };
    HealthCheckResponse { status: status.into() }
}

type Answers = tokio_stream::adapters::Map<WatchStream<bool>, fn(bool) -> Result<HealthCheckResponse, Status>>;

#[tonic::async_trait]
impl Service for Doctor {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let ready = *self.states(&request.get_ref().service)?.borrow();
        Ok(Response::new(answer(ready)))
    }

    type WatchStream = Answers;

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Answers>, Status> {
        let states = WatchStream::new(self.states(&request.get_ref().service)?);
        let tell: fn(bool) -> Result<HealthCheckResponse, Status> = |ready| Ok(answer(ready));
        Ok(Response::new(states.map(tell)))
    }
}

/// Asks a process whether it is ready, or with [`LIVE`] as the service whether it answers.
///
/// # Errors
/// [`ClusterError::Unreachable`] when it does not answer.
pub async fn is_well(network: &Network, what: &'static str, url: &str, service: &str) -> Result<bool, ClusterError> {
    let mut client = HealthClient::new(network.connect(what, url).await?);
    match client.check(HealthCheckRequest { service: service.to_owned() }).await {
        Ok(reply) => Ok(reply.into_inner().status() == ServingStatus::Serving),
        // It answers, and does not say that it is ready.
        Err(status) if matches!(status.code(), Code::NotFound | Code::Unimplemented) => Ok(false),
        Err(status) => Err(network.explain(ClusterError::unreachable(what, url, network.told(&status))).await),
    }
}

/// As [`is_well`] of several, one of which is enough. One that hangs does not hold up the others.
///
/// # Errors
/// What is wrong with each of them, in words.
pub async fn any_is_well(
    network: &Network,
    what: &'static str,
    urls: &[String],
    service: &str,
) -> Result<(), Vec<String>> {
    let wrong = |heard: Heard<String>| match heard {
        Ok((_, url)) => format!("{what} at {url} is not ready"),
        Err(error) => format!("error: {}", error.line()),
    };
    match seek_well(network, what, urls, service).await {
        Ok(_) => Ok(()),
        Err(heard) => Err(heard.into_iter().map(wrong).collect()),
    }
}
