//! `canju line`: how play goes on to mate.

use std::io::Write;

use canju_probe::ProbeError;
use canju_retro::Metric;
use canju_table::TableError;
use canju_xiangqi::notation::write_move;
use serde::Serialize;

use crate::arguments::LineArguments;
use crate::{tables, words};

/// No line is as long; it only keeps a damaged table from an endless one.
const LIMIT: usize = 10_000;

#[derive(Serialize)]
struct Line {
    fen: String,
    endgame: String,
    rules: &'static str,
    metric: &'static str,
    outcome: &'static str,
    plies: usize,
    moves: Vec<Played>,
    end: &'static str,
    end_fen: String,
}

#[derive(Serialize)]
struct Played {
    #[serde(rename = "move")]
    chosen: String,
    text: String,
}

pub(crate) fn run(arguments: &LineArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let asked = &arguments.asked;
    let position = tables::position(&arguments.fen)?;
    let prober = tables::open(&asked.tables)?;
    // A table that is not there is to be built with what was asked for.
    let value = prober.probe(&position).map_err(|error| match error {
        ProbeError::Table(TableError::Missing { table, metric: None, rules, place }) => {
            ProbeError::Table(TableError::Missing { table, metric: arguments.metric, rules, place })
        }
        error => error,
    })?;
    let metric = arguments.metric.unwrap_or(match (value.dtm, value.dtc) {
        (None, Some(_)) => Metric::Dtc,
        _ => Metric::Dtm,
    });
    let line = prober.main_line(&position, metric, LIMIT)?;
    let mut board = position;
    let mut moves = Vec::new();
    for chosen in line {
        moves.push(Played { chosen: chosen.to_string(), text: write_move(&board, chosen, asked.notation.into()) });
        board = board.play(chosen);
    }
    let end = match (board.is_mate(), board.is_stalemate()) {
        (true, _) => "mate",
        (_, true) => "stalemate",
        _ if moves.len() < LIMIT => "perpetual",
        _ => "unfinished",
    };
    if asked.json {
        let line = Line {
            fen: position.to_fen(),
            endgame: tables::endgame_of(&position),
            rules: asked.tables.rules.name(),
            metric: metric.name(),
            outcome: value.outcome.name(),
            plies: moves.len(),
            moves,
            end,
            end_fen: board.to_fen(),
        };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
        return Ok(());
    }
    writeln!(out, "{}  {}", position.to_fen(), words::value(&value, asked.tables.rules))?;
    let texts: Vec<&str> = moves.iter().map(|m| m.text.as_str()).collect();
    // Where Black begins, its first move is the second half of a pair.
    let (half, pairs) = texts.split_at(position.turn().index().min(texts.len()));
    if let [first] = half {
        writeln!(out, "{:4}... {first}", 1)?;
    }
    for (number, pair) in (1 + half.len()..).zip(pairs.chunks(2)) {
        writeln!(out, "{number:4}. {}", pair.join("  "))?;
    }
    let plies = words::counted_plies(texts.len() as u64);
    writeln!(out, "{}  {end} after {plies}", board.to_fen())?;
    Ok(())
}
