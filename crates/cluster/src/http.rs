//! The HTTP port of a coordinator or a worker: read only, for browsers, probes and Prometheus.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tonic::transport::server::Connected;

use crate::listen::Listener;
use crate::{ClusterError, Network, metrics};

/// Connections at the same time; more wait.
const CONNECTIONS: usize = 64;
/// How long a request's head may take to come in, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(15);
/// How long a connection is kept: then those that wait have their turn.
const AGE: Duration = Duration::from_secs(30);

/// Where HTTP is served, and to whom.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Where it listens; port 0 for any.
    pub listen: SocketAddr,
    /// Allows listening where other machines can reach it.
    pub insecure_network: bool,
}

/// An HTTP port that is open and not yet served.
pub(crate) struct HttpPort {
    listener: Listener,
    token: Option<blake3::Hash>,
}

/// What probes and Prometheus ask.
pub(crate) trait Answers: Send + Sync + 'static {
    /// True when it does its work.
    fn is_ready(&self) -> bool;
    /// The metrics in the text format of OpenMetrics.
    fn metrics(&self) -> String;
}

impl HttpPort {
    pub(crate) async fn open(network: &Network, settings: &HttpSettings) -> Result<Self, ClusterError> {
        let HttpSettings { listen, insecure_network } = *settings;
        let token = network.token_hash();
        if !listen.ip().is_loopback() && !insecure_network && token.is_none() {
            return Err(ClusterError::Refused(format!(
                "{listen} can be reached from other machines, and the page is shown to everybody: give --token-file, \
                 take 127.0.0.1 for --http, or give --insecure-network if you trust everybody on this network"
            )));
        }
        let listener = network.listen(listen, true).await.map_err(|error| match error {
            ClusterError::Listen { address, source, .. } => ClusterError::Listen { address, option: "--http", source },
            other => other,
        });
        Ok(Self { listener: listener?, token })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves `pages` to those who have the network's token, probes and metrics to everybody. It ends when it is
    /// dropped.
    pub(crate) async fn serve<H: Answers>(self, health: Arc<H>, pages: Router) {
        let open = Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(readyz::<H>))
            .route("/metrics", get(told::<H>))
            .with_state(health);
        let guarded = pages.layer(from_fn_with_state(self.token, guard));
        let router = open.merge(guarded).layer(map_response(seal));
        let permits = Arc::new(Semaphore::new(CONNECTIONS));
        let mut incoming = self.listener.incoming();
        let mut connections = JoinSet::new();
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let Some(Ok(guest)) = incoming.next().await else { return };
            // It is held to the limits here.
            guest.connect_info().welcome();
            while connections.try_join_next().is_some() {}
            let service = TowerToHyperService::new(router.clone());
            connections.spawn(async move {
                let mut server = hyper::server::conn::http1::Builder::new();
                server.timer(TokioTimer::new()).header_read_timeout(HEAD);
                let mut served = pin!(server.serve_connection(TokioIo::new(guest), service));
                // Whatever ends a connection is the browser's business.
                if timeout(AGE, served.as_mut()).await.is_err() {
                    served.as_mut().graceful_shutdown();
                    let _ = timeout(HEAD, served).await;
                }
                drop(permit);
            });
        }
    }
}

async fn readyz<H: Answers>(State(health): State<Arc<H>>) -> (StatusCode, &'static str) {
    if health.is_ready() { (StatusCode::OK, "ready\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "not ready\n") }
}

async fn told<H: Answers>(State(health): State<Arc<H>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, metrics::TEXT)], health.metrics())
}

#[derive(serde::Deserialize)]
struct Shown {
    token: Option<String>,
}

/// Lets nobody see a page without the token, where there is one: in the header, or for browsers in the address.
async fn guard(
    State(token): State<Option<blake3::Hash>>,
    Query(shown): Query<Shown>,
    request: Request,
    next: Next,
) -> Response {
    let Some(token) = token else { return next.run(request).await };
    let given = request.headers().get(header::AUTHORIZATION).map(|value| blake3::hash(value.as_bytes()));
    let given = given.or_else(|| shown.token.map(|word| blake3::hash(format!("Bearer {word}").as_bytes())));
    // Hashes are compared in constant time.
    if given == Some(token) {
        return next.run(request).await;
    }
    let text =
        "this cluster has a token: add ?token=TOKEN to the address, or send it as `Authorization: Bearer TOKEN`\n";
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], text).into_response()
}

/// What every answer says to browsers: nothing is kept, guessed, framed or passed on.
async fn seal(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let seals = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in seals {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}
