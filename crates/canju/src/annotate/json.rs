//! As JSON.

use std::io::Write;

use canju_records::{Format, NodeId, Ply, Step};
use canju_xiangqi::notation::write_move;
use serde::Serialize;

use super::{Annotated, Style};
use crate::ask::Known;
use crate::judge::{Judged, Summary};
use crate::tables;

#[derive(Serialize)]
struct Games {
    format: &'static str,
    rules: &'static str,
    games: Vec<Game>,
}

#[derive(Serialize)]
pub(super) struct Game {
    title: String,
    event: String,
    red: String,
    black: String,
    result: &'static str,
    fen: String,
    endgame: String,
    value: Known,
    comment: String,
    moves: Vec<Played>,
    summary: Summary,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Played {
    ply: usize,
    /// 0 in the main line, 1 in its variations, and so on.
    depth: usize,
    #[serde(rename = "move")]
    chosen: String,
    text: String,
    /// The position after it.
    fen: String,
    comment: String,
    /// For who makes the move.
    before: Known,
    after: Known,
    /// How the game has ended after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'static str>,
    mark: Option<&'static str>,
    plies_lost: Option<u16>,
    #[serde(skip_serializing_if = "crate::stats::is_none")]
    orders_lost: u16,
    best: Vec<Best>,
}

#[derive(Serialize)]
struct Best {
    #[serde(rename = "move")]
    chosen: String,
    text: String,
}

pub(super) fn game(game: &Annotated<'_>, style: Style) -> Game {
    let record = game.record;
    let mut depth = 0;
    let mut moves = Vec::new();
    for (step, judged) in &game.steps {
        match (step, judged) {
            (Step::Open, _) => depth += 1,
            (Step::Close, _) => depth -= 1,
            (Step::Move(ply), Some(judged)) => {
                moves.push(played(ply, judged, depth, record.tree.comment(ply.node), style));
            }
            (Step::Move(_), None) => {}
        }
    }
    Game {
        title: record.title.clone(),
        event: record.event.clone(),
        red: record.red.clone(),
        black: record.black.clone(),
        result: record.result.to_pgn(),
        fen: record.start.to_fen(),
        endgame: tables::endgame_of(&record.start),
        value: Known::from(&game.start),
        comment: record.tree.comment(NodeId::START).to_owned(),
        moves,
        summary: game.summary,
        warnings: record.warnings.iter().map(ToString::to_string).collect(),
    }
}

pub(super) fn write(format: Format, games: Vec<Game>, style: Style, out: &mut dyn Write) -> anyhow::Result<()> {
    let all = Games { format: format.name(), rules: style.rules.name(), games };
    writeln!(out, "{}", serde_json::to_string(&all)?)?;
    Ok(())
}

fn played(ply: &Ply, judged: &Judged, depth: usize, comment: &str, style: Style) -> Played {
    let text = |chosen| write_move(&ply.before, chosen, style.notation);
    Played {
        ply: ply.number,
        depth,
        chosen: ply.chosen.to_string(),
        text: text(ply.chosen),
        fen: ply.after.to_fen(),
        comment: comment.to_owned(),
        before: Known::from(&judged.before),
        after: Known::from(&judged.after),
        ended: match (ply.after.is_mate(), ply.after.is_stalemate()) {
            (true, _) => Some("checkmate"),
            (_, true) => Some("stalemate"),
            _ => None,
        },
        mark: judged.mark.map(|mark| mark.name()),
        plies_lost: judged.mark.and_then(|mark| mark.plies()),
        orders_lost: judged.mark.map_or(0, |mark| mark.orders()),
        best: judged.best.iter().map(|&chosen| Best { chosen: chosen.to_string(), text: text(chosen) }).collect(),
    }
}
