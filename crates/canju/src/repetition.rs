//! `canju judge`: what repetition makes of a played line.

use std::io::Write;

use anyhow::{Context, bail};
use canju_records::Record;
use canju_retro::Rules;
use canju_xiangqi::notation::read_move;
use canju_xiangqi::{Color, Conduct, Move, Position, Repetition, Rule, Verdict};
use serde::Serialize;

use crate::arguments::JudgeArguments;
use crate::words::counted;
use crate::{file, tables};

#[derive(Serialize)]
struct Judged {
    fen: String,
    rules: &'static str,
    moves: Vec<String>,
    /// `null` where no position came back.
    repetition: Option<Told>,
}

#[derive(Serialize)]
struct Told {
    fen: String,
    first: usize,
    again: usize,
    red: Conducted,
    black: Conducted,
    verdict: &'static str,
    rule: &'static str,
    /// Of what is forbidden: what is chased.
    piece: Option<char>,
    text: String,
}

/// What a side does, and what it chases.
#[derive(Serialize)]
struct Conducted {
    conduct: &'static str,
    piece: Option<char>,
    #[serde(skip)]
    words: String,
}

/// Each position is looked for among all before it: no game is as long.
const LIMIT: usize = 10_000;

#[derive(Serialize)]
struct Listed {
    format: &'static str,
    games: Vec<Game>,
}

#[derive(Serialize)]
struct Game {
    title: String,
    #[serde(flatten)]
    outcome: Outcome,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Judged(Box<Judged>),
    /// Why it cannot be judged.
    Failed {
        error: String,
    },
}

pub(crate) fn run(arguments: &JudgeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let rules = arguments.rules;
    let Some(path) = &arguments.file else {
        let (start, line) = line(&arguments.line)?;
        let judged = judge(&start, &line, rules)?;
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(&judged)?)?;
            return Ok(());
        }
        return tell(&judged, out);
    };
    let read = file::read(path)?;
    let games: Vec<Game> = read.records.iter().map(|record| game(record, rules)).collect();
    let failed = games.iter().filter(|game| matches!(game.outcome, Outcome::Failed { .. })).count();
    let all = games.len();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&Listed { format: read.format.name(), games })?)?;
    } else {
        for (number, (record, game)) in (1..).zip(read.records.iter().zip(&games)) {
            if number > 1 {
                writeln!(out)?;
            }
            writeln!(out, "{}", file::heading(number, record))?;
            match &game.outcome {
                Outcome::Judged(judged) => tell(judged, out)?,
                Outcome::Failed { error } => writeln!(out, "not judged: {error}")?,
            }
            game.warnings.iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))?;
        }
    }
    if failed > 0 {
        bail!("of {} {failed} cannot be judged, as is told with each", counted(all as u64, "game", "games"));
    }
    Ok(())
}

/// A position of two words, whatever else a FEN has, and the moves after it.
fn line(given: &[String]) -> anyhow::Result<(Position, Vec<Move>)> {
    let words: Vec<&str> = given.iter().flat_map(|word| word.split_whitespace()).collect();
    let (fen, rest) = words.split_at(2.min(words.len()));
    let start = tables::position(&fen.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())?;
    // Two fields that xiangqi does not use, and two counts.
    let fields =
        rest.iter().take(4).take_while(|word| **word == "-" || word.bytes().all(|b| b.is_ascii_digit())).count();
    let mut board = start;
    let mut line = Vec::new();
    for (number, text) in (1..).zip(&rest[fields..]) {
        let chosen = read_move(&board, text).with_context(|| format!("move {number}, in {}", board.to_fen()))?;
        board = board.play(chosen);
        line.push(chosen);
    }
    Ok((start, line))
}

/// The main line of a game. One that cannot be judged keeps none of the others from it.
fn game(record: &Record, rules: Rules) -> Game {
    let line: Vec<Move> = record.main_line().map(|ply| ply.chosen).collect();
    let judged = judge(&record.start, &line, rules).map(Box::new);
    let outcome = judged.map_or_else(|error| Outcome::Failed { error: format!("{error:#}") }, Outcome::Judged);
    let warnings = record.warnings.iter().map(ToString::to_string).collect();
    Game { title: record.title.clone(), outcome, warnings }
}

fn judge(start: &Position, line: &[Move], rules: Rules) -> anyhow::Result<Judged> {
    if let Some(reason) = start.illegality() {
        bail!("{} is no legal position: {reason}", start.to_fen());
    }
    if line.len() > LIMIT {
        bail!(
            "the line has {} moves and at most {LIMIT} are judged: leave out what comes before the repetition",
            line.len()
        );
    }
    let repetition = Repetition::last(start, line)?;
    let repetition = repetition.map(|found| {
        let there = line[..found.again].iter().fold(*start, |board, &chosen| board.play(chosen));
        told(&found, &there, rules)
    });
    Ok(Judged {
        fen: start.to_fen(),
        rules: rules.name(),
        moves: line.iter().map(Move::to_string).collect(),
        repetition: repetition.transpose()?,
    })
}

fn told(found: &Repetition, there: &Position, rules: Rules) -> anyhow::Result<Told> {
    let (verdict, rule) = match rules {
        // Nothing is forbidden.
        Rules::Plain => (Verdict::Draw, Rule::Nothing),
        Rules::Check => found.by_check(),
        Rules::Axf => found.by_chase(),
        other => bail!("repetitions are not judged under the rules {other}: give --rules check or axf"),
    };
    let verdict_name = match verdict {
        Verdict::Draw => "draw",
        Verdict::Loses(Color::Red) => "red_loses",
        Verdict::Loses(Color::Black) => "black_loses",
    };
    let (rule_name, piece) = match rule {
        Rule::Nothing => ("nothing", None),
        Rule::PerpetualCheck => ("perpetual_check", None),
        Rule::BothCheck => ("both_check", None),
        Rule::PerpetualChase(piece) => ("perpetual_chase", Some(piece.to_char())),
        Rule::BothChase => ("both_chase", None),
    };
    Ok(Told {
        fen: there.to_fen(),
        first: found.first,
        again: found.again,
        red: conducted(found.red),
        black: conducted(found.black),
        verdict: verdict_name,
        rule: rule_name,
        piece,
        text: format!("{verdict}: {rule}"),
    })
}

fn conducted(conduct: Conduct) -> Conducted {
    let (name, piece, words) = match conduct {
        Conduct::Free => ("free", None, "is free: a move of it neither checks nor chases".to_owned()),
        Conduct::InTurn => {
            ("in_turn", None, "checks or chases with every move, but not in one way with all".to_owned())
        }
        Conduct::Chases(piece) => ("chases", Some(piece.to_char()), format!("chases the {piece} with every move")),
        Conduct::Checks => ("checks", None, "checks with every move".to_owned()),
    };
    Conducted { conduct: name, piece, words }
}

fn tell(judged: &Judged, out: &mut dyn Write) -> anyhow::Result<()> {
    let moves = |n: usize| counted(n as u64, "move", "moves");
    writeln!(out, "{}  {}, {} rules", judged.fen, moves(judged.moves.len()), judged.rules)?;
    let Some(told) = &judged.repetition else {
        writeln!(out, "no position comes back: nothing to judge")?;
        return Ok(());
    };
    writeln!(out, "{}  stands after {} and again after {}", told.fen, moves(told.first), told.again)?;
    for (side, conducted) in [(Color::Red, &told.red), (Color::Black, &told.black)] {
        writeln!(out, "{side} {}", conducted.words)?;
    }
    writeln!(out, "{}", told.text)?;
    Ok(())
}
