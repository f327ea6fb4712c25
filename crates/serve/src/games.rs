//! The route that reads files of games.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use canju_records::{Limits as FileLimits, NodeId, Record, RecordError};
use canju_xiangqi::notation::{Notation, write_move};
use serde::Serialize;
use utoipa::ToSchema;

use crate::failure::{ErrorBody, Failure};
use crate::fault::FileFault;
use crate::reply::{Keep, json};
use crate::service::Service;

/// Games of one file.
const GAMES: usize = 1000;
/// Moves of all of them, variations included.
const MOVES: usize = 50_000;

/// What a file holds.
#[derive(Serialize, ToSchema)]
pub(crate) struct Games {
    /// `fen`, `names`, `dhtmlxq`, `pgn` or `xqf`.
    format: &'static str,
    games: Vec<Game>,
}

/// A game, a study, or a position. Texts are empty where the file says nothing.
#[derive(Serialize, ToSchema)]
pub(crate) struct Game {
    title: String,
    event: String,
    red: String,
    black: String,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    result: &'static str,
    /// The first position.
    fen: String,
    /// The main line; variations are passed over.
    moves: Vec<Played>,
    /// What is said before the first move.
    comment: String,
    /// What could not be read, and where.
    warnings: Vec<String>,
    /// The same in parts.
    faults: Vec<FileFault>,
}

/// A move of a game.
#[derive(Serialize, ToSchema)]
pub(crate) struct Played {
    /// Its squares: `h2e2`.
    #[serde(rename = "move")]
    squares: String,
    /// In the notation of the World Xiangqi Federation.
    wxf: String,
    /// In Chinese.
    chinese: String,
    /// The position after it.
    fen: String,
    /// What is said after it.
    comment: String,
}

/// The games and positions of a file or a pasted text.
#[utoipa::path(post, path = "/v1/games", tag = "games",
    request_body(description = "a FEN list, a list of name|FEN side|moves, DhtmlXQ, PGN or XQF, told apart by its bytes",
        content((String = "text/plain"), (Vec<u8> = "application/octet-stream"))),
    responses(
        (status = 200, description = "what it holds", body = Games),
        (status = "4XX", description = "it cannot be read; the message says where", body = ErrorBody),
        (status = "5XX", description = "busy, or too late", body = ErrorBody),
    ))]
pub(crate) async fn games(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let most = service.limits().body;
    let bytes = service.body(&headers, body).await?;
    let games = service.ask(move |_, _| read(&bytes, most)).await?;
    Ok(json(&HeaderMap::new(), Keep::Passing, &games))
}

fn read(bytes: &[u8], most: usize) -> Result<Games, Failure> {
    let limits = FileLimits { bytes: most, games: GAMES, moves: MOVES };
    let file = canju_records::read_within(bytes, &limits);
    let file = file.map_err(|error| wrong(&error))?;
    Ok(Games { format: file.format.name(), games: file.records.iter().map(Game::of).collect() })
}

fn wrong(error: &RecordError) -> Failure {
    let mut failure = Failure::request("games", error.to_string());
    failure.error.file = Some(Box::new(error.into()));
    failure
}

impl Game {
    fn of(record: &Record) -> Self {
        let moves = record.main_line().map(|ply| Played {
            squares: ply.chosen.to_string(),
            wxf: write_move(&ply.before, ply.chosen, Notation::Wxf),
            chinese: write_move(&ply.before, ply.chosen, Notation::Chinese),
            fen: ply.after.to_fen(),
            comment: record.tree.comment(ply.node).to_owned(),
        });
        Self {
            title: record.title.clone(),
            event: record.event.clone(),
            red: record.red.clone(),
            black: record.black.clone(),
            result: record.result.to_pgn(),
            fen: record.start.to_fen(),
            moves: moves.collect(),
            comment: record.tree.comment(NodeId::START).to_owned(),
            warnings: record.warnings.iter().map(ToString::to_string).collect(),
            faults: record.warnings.iter().map(FileFault::from).collect(),
        }
    }
}
