//! Positions of EinStein würfelt nicht!: the chance of winning before the roll, for each roll and each move.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use canju_ewn::{Color, Die, INDEX_VERSION, Index, MOST_STONES, Position, Signature, picture, read_rolled, rolls};
use canju_probe::{ProbeError, Reason};
use canju_retro::Metric;
use canju_table::{TableError, commands};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::asker::Asker;
use crate::failure::{ErrorBody, Failure};
use crate::fault::PositionFault;
use crate::positions::query;
use crate::reply::{Keep, json, tagged};
use crate::service::Service;
use crate::unknown::Unknown;

/// A position of EinStein würfelt nicht!.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AskedStones {
    /// Its stones and the side to move, `r` or `b`; with what that side has rolled, as `r3`, only that roll is told.
    #[param(example = "R1d1 R4a1 B1b5 r")]
    position: String,
}

/// A position to be drawn.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AskedBoard {
    /// Its stones and the side to move, `r` or `b`.
    #[param(example = "R1d1 R4a1 B1b5 r")]
    position: String,
    /// A move that is drawn as an arrow.
    #[serde(rename = "move")]
    #[param(example = "1d1-e1")]
    chosen: Option<String>,
}

/// A side.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dicer {
    Red,
    Blue,
}

/// What a position is worth for the side to move.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Chances {
    /// Its stones and the side to move.
    position: String,
    /// The name of its table; `null` where the game is over.
    table: Option<String>,
    turn: Dicer,
    /// Who has won, if the game is over.
    winner: Option<Dicer>,
    /// The chance that the side to move wins, before it rolls; 0 and 1 are certain. `null` where it is not known.
    #[schema(minimum = 0, maximum = 1)]
    chance: Option<f64>,
    /// Each roll, or the one that was asked for; none where the game is over.
    rolls: Vec<Rolled>,
    /// Why the chance is not known; `null` where it is.
    unknown: Option<Unknown>,
}

/// A roll.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rolled {
    #[schema(minimum = 1, maximum = 6)]
    die: u8,
    /// The chance of winning by its best move; `null` where it is not known.
    #[schema(minimum = 0, maximum = 1)]
    chance: Option<f64>,
    /// The moves that it allows: the known ones best first, then the others.
    moves: Vec<Step>,
}

/// A move.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Step {
    /// The stone, from where and to where: `4a1-b1`, with an `x` where it takes a stone.
    #[serde(rename = "move")]
    chosen: String,
    /// The position after it.
    position: String,
    /// The chance of winning after it; `null` where it is not known.
    #[schema(minimum = 0, maximum = 1)]
    chance: Option<f64>,
}

/// The tables of this game that are there.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(crate) struct DiceTables {
    /// In the order of their names.
    pub tables: Vec<DiceTable>,
    /// Tables whose manifest cannot be used.
    pub damaged: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DiceTable {
    pub table: String,
    /// Stones of both sides together.
    pub stones: usize,
    /// Positions of the full board, both sides to move together.
    pub positions: u64,
}

type Asking<T> = Result<Query<T>, QueryRejection>;

/// The chance of winning a position of EinStein würfelt nicht!, of each roll and each move.
#[utoipa::path(get, path = "/v1/ewn", tag = "ewn", params(AskedStones), responses(
    (status = 200, description = "the chances, or why they are not known", body = Chances),
    (status = "4XX", description = "the question is wrong", body = ErrorBody),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn chances(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    asked: Asking<AskedStones>,
) -> Result<Response, Failure> {
    let (position, rolled) = read(&query(asked)?.position, service.limits().fen)?;
    let chances = service.ask(move |asker, _| asker.chances(&position, rolled)).await?;
    let known =
        chances.unknown.is_none() && chances.rolls.iter().all(|roll| roll.moves.iter().all(|m| m.chance.is_some()));
    Ok(json(&headers, if known { Keep::Known } else { Keep::Passing }, &chances))
}

/// The board as SVG.
#[utoipa::path(get, path = "/v1/ewn/board.svg", tag = "ewn", params(AskedBoard), responses(
    (status = 200, description = "the picture", body = String, content_type = "image/svg+xml"),
    (status = "4XX", description = "the question is wrong", body = ErrorBody),
))]
pub(crate) async fn board(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    asked: Asking<AskedBoard>,
) -> Result<Response, Failure> {
    let asked = query(asked)?;
    let (position, _) = read(&asked.position, service.limits().fen)?;
    let chosen = asked.chosen.filter(|word| !word.is_empty()).map(|word| {
        // Any roll will do.
        let mut tries = Die::ALL.map(|die| position.read_move(&word, die)).into_iter();
        tries.find(Result::is_ok).unwrap_or_else(|| position.read_move(&word, Die::ALL[0]))
    });
    let chosen = chosen.transpose().map_err(|_| {
        let text = format!("no stone of {} has that move: give one that /v1/ewn tells", position.to_move().name());
        Failure::request("parameter", text)
    })?;
    Ok(tagged(&headers, Keep::Known, "image/svg+xml", picture(&position, chosen.as_ref()).into()))
}

/// The tables of EinStein würfelt nicht! that are there.
#[utoipa::path(get, path = "/v1/ewn/tables", tag = "ewn", responses(
    (status = 200, description = "in the order of their names", body = DiceTables),
    (status = "5XX", description = "busy, too late, or the store is away", body = ErrorBody),
))]
pub(crate) async fn tables(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Failure> {
    Ok(json(&headers, Keep::Passing, &service.listing().await?.dice))
}

/// A position, and what was rolled in it.
fn read(text: &str, most: usize) -> Result<(Position, Option<Die>), Failure> {
    if text.len() > most {
        let words = format!("the position has {} bytes: give at most {most}", text.len());
        return Err(Failure::position("position", words, PositionFault::long(text.len())));
    }
    read_rolled(text).map_err(|error| Failure::position("position", error.to_string(), (&error).into()))
}

impl From<Color> for Dicer {
    fn from(color: Color) -> Self {
        match color {
            Color::Red => Self::Red,
            Color::Blue => Self::Blue,
        }
    }
}

impl Asker {
    fn chances(&self, position: &Position, rolled: Option<Die>) -> Result<Chances, Failure> {
        // What is not there is not looked for again for each move.
        let mut absent: Vec<(Signature, Unknown)> = Vec::new();
        let mut ask = |position: &Position| self.chance(position, &mut absent);
        let (chance, unknown) = match ask(position)? {
            Ok(chance) => (Some(chance), None),
            Err(unknown) => (None, Some(unknown)),
        };
        let dice = rolled.as_ref().map_or(&Die::ALL[..], std::slice::from_ref);
        let rolls = rolls(position, dice, |after| Ok::<_, Failure>(ask(after)?.ok()))?;
        let rolls = rolls.iter().map(|roll| {
            let moves = roll.moves.iter().map(|rated| Step {
                chosen: rated.chosen.to_string(),
                position: position.after(&rated.chosen).to_string(),
                chance: rated.chance,
            });
            Rolled { die: roll.die.number(), chance: roll.chance, moves: moves.collect() }
        });
        Ok(Chances {
            position: position.to_string(),
            table: Index::find(position).map(|(index, _)| index.signature().to_string()),
            turn: position.to_move().into(),
            winner: position.winner().map(Dicer::from),
            chance,
            rolls: rolls.collect(),
            unknown,
        })
    }

    /// The chance that the side to move wins before it rolls, or why it is not known.
    fn chance(
        &self,
        position: &Position,
        absent: &mut Vec<(Signature, Unknown)>,
    ) -> Result<Result<f64, Unknown>, Failure> {
        let Some((index, cell)) = Index::find(position) else {
            return Ok(Ok(if position.winner() == Some(position.to_move()) { 1.0 } else { 0.0 }));
        };
        let signature = index.signature();
        if signature.count() > MOST_STONES {
            let message = format!("there are no tables of {} stones: {MOST_STONES} are the most", signature.count());
            return Ok(Err(Unknown { reason: Reason::TooLarge.name(), message, endgame: None, commands: Vec::new() }));
        }
        if let Some((_, unknown)) = absent.iter().find(|(missing, _)| *missing == signature) {
            return Ok(Err(unknown.clone()));
        }
        let name = signature.name().map_err(|error| Failure::request("position", error.to_string()))?;
        let asked = || -> Result<f64, ProbeError> {
            let tables = self.prober().tables();
            let table = tables.table(&name)?;
            let found = table.manifest().index;
            if found != INDEX_VERSION {
                return Err(ProbeError::IndexVersion { table: name.clone(), found, known: INDEX_VERSION });
            }
            let code = tables.ask(&table, Metric::Odds, cell)?;
            let odds = code.odds().ok_or_else(|| TableError::NoSuchCell { table: name.clone(), cell })?;
            Ok(odds.chance())
        };
        match asked() {
            Ok(chance) => Ok(Ok(chance)),
            Err(error) => {
                let mut unknown = Unknown::from(&self.judge(&error)?);
                if unknown.reason == Reason::Missing.name() {
                    let (rules, place) = (self.prober().tables().rules(), self.prober().tables().place());
                    unknown.message = format!("there is no table {name} in {place}");
                    unknown.commands = commands(&name, Some(Metric::Odds), rules, &place);
                }
                absent.push((signature, unknown.clone()));
                Ok(Err(unknown))
            }
        }
    }
}
