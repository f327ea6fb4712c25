//! `canju probe --file`: the values of all positions of a file.

use std::io::Write;
use std::path::Path;

use canju_records::Record;
use canju_retro::Rules;
use canju_xiangqi::Position;
use canju_xiangqi::notation::{Notation, write_move};
use serde::Serialize;

use crate::arguments::Asked;
use crate::ask::{Answer, Asker, Known, WonBy};
use crate::{file, probe, tables, words};

#[derive(Serialize)]
struct Probed {
    format: &'static str,
    rules: &'static str,
    records: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    title: String,
    event: String,
    red: String,
    black: String,
    result: &'static str,
    comment: String,
    positions: Vec<Valued>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Valued {
    fen: String,
    /// The move that led here.
    #[serde(rename = "move")]
    chosen: Option<String>,
    text: Option<String>,
    endgame: String,
    #[serde(flatten)]
    value: Known,
    #[serde(skip_serializing_if = "Option::is_none")]
    won_by: Option<WonBy>,
}

/// A position with the move that led to it.
struct Met {
    position: Position,
    led: Option<(String, String)>,
    answer: Answer,
    /// Where it is unknown, and the move as it is to be written.
    won_by: Option<(WonBy, String)>,
}

pub(crate) fn run(path: &Path, asked: &Asked, out: &mut dyn Write) -> anyhow::Result<()> {
    let read = file::read(path)?;
    let asker = Asker::new(tables::open(&asked.tables)?);
    let rules = asked.tables.rules;
    let mut records = Vec::new();
    for (number, record) in (1..).zip(&read.records) {
        let met = meet(record, asked.notation.into(), &asker)?;
        if asked.json {
            records.push(list(record, met));
        } else {
            if number > 1 {
                writeln!(out)?;
            }
            writeln!(out, "{}", file::heading(number, record))?;
            tell(record, &met, rules, out)?;
        }
    }
    if asked.json {
        let probed = Probed { format: read.format.name(), rules: rules.name(), records };
        writeln!(out, "{}", serde_json::to_string(&probed)?)?;
    }
    Ok(())
}

/// The first position and those of the main line.
fn meet(record: &Record, notation: Notation, asker: &Asker) -> anyhow::Result<Vec<Met>> {
    let meet = |position: Position, led| -> anyhow::Result<Met> {
        let answer = asker.value(&position)?;
        let won_by = match &answer {
            Err(unknown) => asker.prober().won_by(&position, unknown).map(|(chosen, value)| WonBy { chosen, value }),
            Ok(_) => None,
        };
        let won_by = won_by.map(|won| {
            let text = write_move(&position, won.chosen, notation);
            (won, text)
        });
        Ok(Met { position, led, answer, won_by })
    };
    let mut met = vec![meet(record.start, None)?];
    for ply in record.main_line() {
        let led = (ply.chosen.to_string(), write_move(&ply.before, ply.chosen, notation));
        met.push(meet(ply.after, Some(led))?);
    }
    Ok(met)
}

fn tell(record: &Record, met: &[Met], rules: Rules, out: &mut dyn Write) -> anyhow::Result<()> {
    for Met { position, led, answer, won_by } in met {
        let won_by = won_by.as_ref().map(|(won, text)| (text.clone(), &won.value));
        let words = words::answer_or_win(answer, won_by, rules) + probe::ending(position);
        let led = led.as_ref().map(|(_, text)| format!("{text}  ")).unwrap_or_default();
        writeln!(out, "  {led}{}  {}: {words}", position.to_fen(), tables::endgame_of(position))?;
    }
    for warning in &record.warnings {
        writeln!(out, "  warning: {warning}")?;
    }
    Ok(())
}

fn list(record: &Record, met: Vec<Met>) -> Listed {
    let value = |Met { position, led, answer, won_by }: Met| {
        let (chosen, text) = led.unzip();
        Valued {
            fen: position.to_fen(),
            chosen,
            text,
            endgame: tables::endgame_of(&position),
            value: Known::from(&answer),
            won_by: won_by.map(|(won, _)| won),
        }
    };
    Listed {
        title: record.title.clone(),
        event: record.event.clone(),
        red: record.red.clone(),
        black: record.black.clone(),
        result: record.result.to_pgn(),
        comment: record.tree.comment(canju_records::NodeId::START).to_owned(),
        positions: met.into_iter().map(value).collect(),
        warnings: record.warnings.iter().map(ToString::to_string).collect(),
    }
}
