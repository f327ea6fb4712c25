//! `canju probe`: the value of a position and of its moves.

use std::io::Write;

use canju_probe::Value;
use canju_xiangqi::Position;
use canju_xiangqi::notation::write_move;
use serde::Serialize;

use crate::arguments::ProbeArguments;
use crate::{probe_file, tables, words};

#[derive(Serialize)]
struct Probed {
    fen: String,
    endgame: String,
    rules: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "crate::stats::is_none")]
    order: u16,
    dtm: Option<u16>,
    dtc: Option<u16>,
    moves: Vec<Rated>,
}

#[derive(Serialize)]
struct Rated {
    #[serde(rename = "move")]
    chosen: String,
    text: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "crate::stats::is_none")]
    order: u16,
    dtm: Option<u16>,
    dtc: Option<u16>,
}

pub(crate) fn run(arguments: &ProbeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let asked = &arguments.asked;
    if let Some(path) = &arguments.file {
        return probe_file::run(path, asked, out);
    }
    if arguments.svg.is_some() {
        anyhow::bail!("--svg draws positions of EinStein würfelt nicht!, as R1d1 R4a1 B1b5 r: leave it out");
    }
    let position = tables::position(&arguments.fen)?;
    let prober = tables::open(&asked.tables)?;
    let value = prober.probe(&position)?;
    let moves = prober.moves(&position)?;
    let rules = asked.tables.rules.name();
    let texts: Vec<String> = moves.iter().map(|(m, _)| write_move(&position, *m, asked.notation.into())).collect();
    if asked.json {
        let rate = |((chosen, value), text): (&(canju_xiangqi::Move, Value), String)| Rated {
            chosen: chosen.to_string(),
            text,
            outcome: value.outcome.name(),
            order: value.order,
            dtm: value.dtm,
            dtc: value.dtc,
        };
        let probed = Probed {
            fen: position.to_fen(),
            endgame: tables::endgame_of(&position),
            rules,
            outcome: value.outcome.name(),
            order: value.order,
            dtm: value.dtm,
            dtc: value.dtc,
            moves: moves.iter().zip(texts).map(rate).collect(),
        };
        writeln!(out, "{}", serde_json::to_string(&probed)?)?;
        return Ok(());
    }
    writeln!(out, "{}  {}, {rules} rules", position.to_fen(), tables::endgame_of(&position))?;
    writeln!(out, "{} to move: {}{}", position.turn(), words::value(&value), ending(&position))?;
    for ((_, value), text) in moves.iter().zip(texts) {
        writeln!(out, "  {text}  {}", words::value(value))?;
    }
    Ok(())
}

/// How the game has ended, if it has.
pub(crate) fn ending(position: &Position) -> &'static str {
    if position.is_mate() {
        ", checkmated"
    } else if position.is_stalemate() {
        ", stalemated"
    } else {
        ""
    }
}
