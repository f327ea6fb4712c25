//! All routes, and what every answer has in common.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any as Anything, CorsLayer};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Description;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::failure::Failure;
use crate::reply::{Keep, tagged};
use crate::server::Peer;
use crate::service::Service;
use crate::{endgames, ewn, games, page, positions, scripts};

/// How long browsers may keep that other pages may ask.
const ALLOWED: Duration = Duration::from_secs(24 * 3600);

#[derive(OpenApi)]
#[openapi(
    info(
        title = "canju serve",
        description = "Xiangqi endgame tables: who wins, in how many plies, and by which moves. Distances are in plies."
    ),
    tags(
        (name = "positions", description = "Who wins, in how many plies, and by which moves"),
        (name = "games", description = "Games and studies as files hold them"),
        (name = "endgames", description = "The tables and what they count"),
        (name = "ewn", description = "EinStein würfelt nicht!: chances of winning"),
        (name = "chessdb", description = "The query form of the public xiangqi database"),
        (name = "server", description = "The server itself"),
    )
)]
struct Title;

/// The routes that are described, and their description.
fn described() -> (Router<Arc<Service>>, Description) {
    OpenApiRouter::with_openapi(Title::openapi())
        .routes(routes!(positions::probe, positions::batch))
        .routes(routes!(positions::moves))
        .routes(routes!(positions::line))
        .routes(routes!(games::games))
        .routes(routes!(endgames::endgames))
        .routes(routes!(endgames::statistics))
        .routes(routes!(ewn::chances))
        .routes(routes!(ewn::board))
        .routes(routes!(ewn::tables))
        .routes(routes!(endgames::info))
        .routes(routes!(endgames::healthz))
        .routes(routes!(scripts::chessdb, scripts::chessdb_form))
        .routes(routes!(scripts::chessdb_php, scripts::chessdb_php_form))
        .split_for_parts()
}

/// All that a server answers. Questions about tables are put to threads of their own.
pub fn router(service: Service) -> Router {
    let (routes, description) = described();
    let description = Bytes::from(serde_json::to_vec(&description).unwrap_or_default());
    let cors = CorsLayer::new()
        .allow_origin(Anything)
        .allow_methods([Method::GET, Method::HEAD, Method::POST])
        .allow_headers([header::CONTENT_TYPE, header::IF_NONE_MATCH])
        .expose_headers([header::ETAG, header::RETRY_AFTER])
        .max_age(ALLOWED);
    routes
        .route("/", get(page::explorer))
        .route("/ewn", get(page::ewn))
        .route("/openapi.json", get(openapi).with_state(description))
        .fallback(nowhere)
        .method_not_allowed_fallback(otherwise)
        .with_state(Arc::new(service))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(CompressionLayer::new())
        .layer(cors)
        .layer(map_response(seal))
        .layer(from_fn(log))
}

async fn openapi(State(description): State<Bytes>, headers: HeaderMap) -> Response {
    tagged(&headers, Keep::Passing, "application/json", description)
}

async fn nowhere(request: Request) -> Failure {
    let text = format!("nothing is at {}: see /openapi.json", request.uri().path());
    Failure::new(StatusCode::NOT_FOUND, "path", text)
}

async fn otherwise(request: Request) -> Failure {
    let text = format!("{} cannot be asked by {}", request.uri().path(), request.method());
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method", text)
}

#[allow(clippy::needless_pass_by_value, reason = "the layer calls it so")]
fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text, "an answer failed");
    Failure::internal().into_response()
}

/// What every answer says to browsers: nothing is guessed, framed or passed on.
async fn seal(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let seals = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    for (name, value) in seals {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// One line for each request.
async fn log(request: Request, next: Next) -> Response {
    let (method, address) = (request.method().clone(), request.uri().clone());
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.to_string());
    let start = Instant::now();
    let response = next.run(request).await;
    let (status, micros) = (response.status().as_u16(), start.elapsed().as_micros() as u64);
    tracing::info!(target: "canju_serve::access", peer, %method, %address, status, micros);
    response
}
