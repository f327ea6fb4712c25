//! `canju probe`: the value of a position and of its moves.

use std::io::Write;

use anyhow::bail;
use canju_xiangqi::notation::write_move;
use canju_xiangqi::{Move, Position};
use serde::Serialize;

use crate::arguments::ProbeArguments;
use crate::ask::{Answer, Asker, Why, WonBy, Worth};
use crate::{probe_file, tables, words};

#[derive(Serialize)]
struct Probed {
    fen: String,
    endgame: String,
    rules: &'static str,
    #[serde(flatten)]
    value: Told,
    /// Where the outcome is unknown and a move is known to win all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    won_by: Option<WonBy>,
    moves: Vec<Rated>,
}

#[derive(Serialize)]
struct Rated {
    #[serde(rename = "move")]
    chosen: String,
    text: String,
    #[serde(flatten)]
    value: Told,
}

/// A value, or why there is none.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    value: Worth,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<Why>,
}

impl From<&Answer> for Told {
    fn from(answer: &Answer) -> Self {
        Self { value: answer.into(), unknown: answer.as_ref().err().map(Why::from) }
    }
}

/// The value of a position and of its moves. Where the tables do not tell that of the position, the moves that are known are
/// told before it is an error; and where one of them wins it is none.
pub(crate) fn run(arguments: &ProbeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let asked = &arguments.asked;
    if let Some(path) = &arguments.file {
        return probe_file::run(path, asked, out);
    }
    if arguments.svg.is_some() {
        bail!("--svg draws positions of EinStein würfelt nicht!, as R1d1 R4a1 B1b5 r: leave it out");
    }
    let position = tables::position(&arguments.fen)?;
    let prober = tables::open(&asked.tables)?;
    let asker = Asker::new(prober);
    let answer = asker.value(&position)?;
    let moves: Vec<(Move, Answer)> = match &answer {
        Ok(_) => asker.prober().moves(&position)?.into_iter().map(|(chosen, value)| (chosen, Ok(value))).collect(),
        Err(unknown) => {
            let moves = if position.is_legal() { asker.moves(&position)? } else { Vec::new() };
            if moves.iter().all(|(_, answer)| answer.is_err()) {
                bail!("{}", words::missing(unknown));
            }
            moves
        }
    };
    let won_by = WonBy::of(&answer, &moves);
    let is_won = won_by.is_some();
    let text = |chosen| write_move(&position, chosen, asked.notation.into());
    let rules = asked.tables.rules;
    if asked.json {
        let rate = |(chosen, answer): &(Move, Answer)| Rated {
            chosen: chosen.to_string(),
            text: text(*chosen),
            value: answer.into(),
        };
        let probed = Probed {
            fen: position.to_fen(),
            endgame: tables::endgame_of(&position),
            rules: rules.name(),
            value: (&answer).into(),
            won_by,
            moves: moves.iter().map(rate).collect(),
        };
        writeln!(out, "{}", serde_json::to_string(&probed)?)?;
    } else {
        writeln!(out, "{}  {}, {} rules", position.to_fen(), tables::endgame_of(&position), rules.name())?;
        let told = words::answer_or_win(&answer, won_by.as_ref().map(|won| (text(won.chosen), &won.value)), rules);
        writeln!(out, "{} to move: {told}{}", position.turn(), ending(&position))?;
        for (chosen, answer) in &moves {
            writeln!(out, "  {}  {}", text(*chosen), words::answer(answer, rules))?;
        }
    }
    match &answer {
        Err(unknown) if !is_won => bail!("{}", words::missing(unknown)),
        _ => Ok(()),
    }
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
