//! The routes that are asked about tables and the server.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::failure::{ErrorBody, Failure};
use crate::reply::{Keep, json};
use crate::service::Service;
use crate::statistics::{Endgames, Statistics};

/// What the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Info {
    version: &'static str,
    /// The rule of repetition.
    rules: &'static str,
    /// Where the tables are, in words.
    place: String,
    /// The version of the numbering of positions that the software knows.
    index: u32,
}

/// The endgames of xiangqi that are there.
#[utoipa::path(get, path = "/v1/endgames", tag = "endgames", responses(
    (status = 200, description = "in the order of their names", body = Endgames),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn endgames(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Failure> {
    Ok(json(&headers, Keep::Passing, &service.listing().await?.endgames))
}

/// What the table of an endgame counts.
#[utoipa::path(get, path = "/v1/endgames/{name}", tag = "endgames", params(
    ("name" = String, Path, description = "the endgame, in any order and case", example = "KRKN"),
), responses(
    (status = 200, description = "counts, histogram and longest wins", body = Statistics),
    (status = "4XX", description = "no endgame has that name, or its table is not there", body = ErrorBody),
    (status = "5XX", description = "damaged, busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn statistics(
    State(service): State<Arc<Service>>,
    name: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let Path(name) = name.map_err(|rejected| Failure::request("name", rejected.body_text()))?;
    let statistics = service.ask(move |asker, _| Statistics::of(asker, &name)).await?;
    Ok(json(&headers, Keep::Passing, &statistics))
}

/// What the server is.
#[utoipa::path(get, path = "/v1/info", tag = "server", responses(
    (status = 200, description = "version, rules and place", body = Info),
))]
pub(crate) async fn info(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let tables = service.prober().tables();
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        rules: tables.rules().name(),
        place: tables.place(),
        index: canju_endgame::INDEX_VERSION,
    };
    json(&headers, Keep::Passing, &info)
}

/// Whether the server is at work.
#[utoipa::path(get, path = "/healthz", tag = "server", responses(
    (status = 200, description = "it is", body = String, content_type = "text/plain"),
))]
pub(crate) async fn healthz() -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "no-store")], "ok\n")
}
