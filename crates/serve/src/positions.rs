//! The routes that are asked about positions.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use canju_retro::Metric;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{AnyOf, ArrayBuilder};
use utoipa::openapi::{Ref, Schema};
use utoipa::{IntoParams, ToSchema};

use crate::answers::{Line, Outcome, Probed, Rated, WithMoves};
use crate::asker::read;
use crate::failure::{ErrorBody, ErrorDetail, Failure};
use crate::reply::{Keep, json};
use crate::service::Service;

/// A position.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Asked {
    /// The board from Black's home rank down, and the side to move, `w` or `b`; Red's where it is left out.
    #[param(example = "5k3/9/9/9/9/9/9/9/9/4K2R1 w")]
    fen: String,
}

/// A position, and how its line is counted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AskedLine {
    /// The board from Black's home rank down, and the side to move, `w` or `b`; Red's where it is left out.
    #[param(example = "5k3/9/9/9/9/9/9/9/9/4K2R1 w")]
    fen: String,
    /// `dtm` or `dtc`; the distance to mate unless told otherwise, or to conversion where the table has only that.
    metric: Option<String>,
    /// The most moves.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 10_000)]
    limit: Option<String>,
}

/// Positions to be answered at once.
#[derive(Deserialize, ToSchema)]
#[serde(expecting = "an object with `positions`")]
pub(crate) struct Batch {
    /// At most 1000, or 100 with moves.
    positions: Vec<BatchPosition>,
    /// Whether each move is wanted too.
    #[serde(default)]
    moves: bool,
}

/// One of them.
#[derive(Deserialize, ToSchema)]
#[serde(expecting = "an object with `fen`")]
pub(crate) struct BatchPosition {
    fen: String,
}

/// The answers of a batch.
#[derive(Serialize, ToSchema)]
pub(crate) struct Results {
    /// In the order of the positions.
    #[schema(schema_with = answered)]
    results: Vec<Answered>,
}

/// What one position of a batch may be answered. An answer with moves is one without them too.
fn answered() -> Schema {
    let any = ["WithMoves", "Probed", "ErrorBody"];
    let any = any.into_iter().fold(AnyOf::builder(), |any, name| any.item(Ref::from_schema_name(name)));
    Schema::Array(ArrayBuilder::new().items(any).build())
}

/// The answer for one position of a batch.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Answered {
    Moves(WithMoves),
    Position(Probed),
    Error { error: ErrorDetail },
}

type Asking<T> = Result<Query<T>, QueryRejection>;

/// The value of a position.
#[utoipa::path(get, path = "/v1/probe", tag = "positions", params(Asked), responses(
    (status = 200, description = "its value, or why that is unknown", body = Probed),
    (status = "4XX", description = "the question is wrong", body = ErrorBody),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn probe(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    asked: Asking<Asked>,
) -> Result<Response, Failure> {
    let position = read(&query(asked)?.fen, service.limits().fen)?;
    let probed = service.ask(move |asker, _| asker.probe(&position)).await?;
    Ok(json(&headers, keep(&probed, &[]), &probed))
}

/// The value of a position and of each of its moves.
#[utoipa::path(get, path = "/v1/moves", tag = "positions", params(Asked), responses(
    (status = 200, description = "its value and its moves, best first", body = WithMoves),
    (status = "4XX", description = "the question is wrong", body = ErrorBody),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn moves(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    asked: Asking<Asked>,
) -> Result<Response, Failure> {
    let position = read(&query(asked)?.fen, service.limits().fen)?;
    let moves = service.ask(move |asker, _| asker.moves(&position)).await?;
    Ok(json(&headers, keep(&moves.position, &moves.moves), &moves))
}

/// How play goes on when both sides do their best.
#[utoipa::path(get, path = "/v1/line", tag = "positions", params(AskedLine), responses(
    (status = 200, description = "the moves to mate, or why there are none", body = Line),
    (status = "4XX", description = "the question is wrong", body = ErrorBody),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn line(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    asked: Asking<AskedLine>,
) -> Result<Response, Failure> {
    let asked = query(asked)?;
    let position = read(&asked.fen, service.limits().fen)?;
    let metric = match asked.metric.as_deref() {
        None | Some("") => None,
        Some(word) => Some(counted(word)?),
    };
    let limit = match asked.limit.as_deref() {
        None | Some("") => service.limits().line,
        Some(word) => plies(word, service.limits().line)?,
    };
    let line = service.ask(move |asker, deadline| asker.line(&position, metric, limit, deadline)).await?;
    Ok(json(&headers, keep(&line.position, &line.moves), &line))
}

/// The values of many positions, with their moves if wanted.
#[utoipa::path(post, path = "/v1/probe", tag = "positions", request_body = Batch, responses(
    (status = 200, description = "an answer or an error for each position, in their order", body = Results),
    (status = "4XX", description = "the question is wrong", body = ErrorBody),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn batch(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let limits = service.limits().clone();
    let body = service.body(&headers, body).await?;
    let batch: Batch = serde_json::from_slice(&body).map_err(|error| {
        Failure::request("body", format!("the body is not {{\"positions\": [{{\"fen\": …}}], \"moves\": …}}: {error}"))
    })?;
    let most = if batch.moves { limits.batch_with_moves } else { limits.batch };
    if batch.positions.len() > most {
        let (n, with) = (batch.positions.len(), if batch.moves { " with moves" } else { "" });
        return Err(Failure::request("too_many", format!("{n} positions: give at most {most}{with}")));
    }
    let results = service.ask(move |asker, deadline| {
        let answer = |fen: &str| -> Result<Answered, Failure> {
            deadline.check()?;
            let position = read(fen, limits.fen)?;
            Ok(match batch.moves {
                true => Answered::Moves(asker.moves(&position)?),
                false => Answered::Position(asker.probe(&position)?),
            })
        };
        let answers = batch.positions.iter().map(|one| match answer(&one.fen) {
            // What is wrong with one position is told there; what fails the server fails them all.
            Err(Failure { status, error }) if status.is_client_error() => Ok(Answered::Error { error }),
            answer => answer,
        });
        Ok(Results { results: answers.collect::<Result<_, Failure>>()? })
    });
    let results = results.await?;
    Ok(json(&HeaderMap::new(), Keep::Passing, &results))
}

/// The parameters of an address.
pub(crate) fn query<T>(asked: Asking<T>) -> Result<T, Failure> {
    let Query(asked) = asked.map_err(|rejected| {
        let text = rejected.body_text();
        let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
        Failure::request("parameter", format!("the address's parameters: {text}"))
    })?;
    Ok(asked)
}

fn counted(word: &str) -> Result<Metric, Failure> {
    match word.parse() {
        Ok(metric @ (Metric::Dtm | Metric::Dtc)) => Ok(metric),
        _ => Err(Failure::request("parameter", format!("metric={word}: give dtm or dtc"))),
    }
}

fn plies(word: &str, most: usize) -> Result<usize, Failure> {
    let limit = word.parse().ok().filter(|limit| (1..=most).contains(limit));
    limit.ok_or_else(|| Failure::request("parameter", format!("limit={word}: give a number of moves from 1 to {most}")))
}

/// What a table may still get, a distance, must be asked for again.
fn keep(probed: &Probed, moves: &[Rated]) -> Keep {
    let whole = |outcome, [dtm, dtc]: [Option<u16>; 2]| match outcome {
        Outcome::Unknown => false,
        Outcome::Draw => true,
        Outcome::Win | Outcome::Loss => dtm.is_some() && dtc.is_some(),
    };
    let known = probed.unknown.is_none()
        && whole(probed.outcome, [probed.dtm, probed.dtc])
        && moves.iter().all(|one| whole(one.outcome, [one.dtm, one.dtc]));
    if known { Keep::Known } else { Keep::Passing }
}
