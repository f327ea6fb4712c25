//! Finished tables of puzzles: what a position is worth, and whether all values follow from the rules.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use canju_puzzles::Puzzle;
use canju_retro::{Audit, Cell, Metric, Outcome, Players, Values, audit};
use canju_table::TableSet;
use serde::Serialize;

use crate::arguments::{ProbeArguments, Tables};
use crate::words::{counted, grouped, written};
use crate::{file, tables};

/// True where the words name a puzzle by its file or its table, and not a position of xiangqi.
pub(crate) fn is_meant(words: &[String]) -> bool {
    words.first().is_some_and(|word| canju_games::is_puzzle(word) || Path::new(word).is_file())
}

/// True for a name that `verify` is given of a puzzle's file or table.
pub(crate) fn is_named(name: &str) -> bool {
    canju_games::is_puzzle(name) || canju_games::is_file(name)
}

/// A puzzle by its file, or by its table, whose manifest has the text of the file.
pub(crate) fn find(name: &str, tables: &TableSet) -> anyhow::Result<Puzzle> {
    if !canju_games::is_puzzle(name) {
        return Ok(Puzzle::read(Path::new(name))?);
    }
    let table = canju_games::name(name)?;
    let manifest = tables.manifest(&table)?;
    let Some(definition) = &manifest.definition else {
        bail!("the manifest of {table} does not tell its puzzle: give the puzzle's file in place of {table}");
    };
    let puzzle = Puzzle::parse(table.as_str(), definition)?;
    if puzzle.name()? != table {
        bail!("the manifest of {table} has the text of another puzzle: give the puzzle's file in place of {table}");
    }
    Ok(puzzle)
}

/// Verifies the table of a puzzle; false where it is wrong.
pub(crate) fn verify(tables: &Tables, name: &str, out: &mut dyn Write) -> anyhow::Result<bool> {
    let prober = tables::open(tables)?;
    let set = prober.tables();
    let puzzle = find(name, set)?;
    let (table, game) = (puzzle.name()?, puzzle.table());
    let bytes = set.verify_shards(&table)?;
    writeln!(out, "{}", written(&table, bytes))?;
    let manifest = set.manifest(&table)?;
    let metrics: Vec<Metric> = manifest.metrics.keys().copied().collect();
    let names = metrics.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
    let mut all = Audit::default();
    let mut wrong_in = None;
    for metric in metrics {
        let values = Values::read(game.as_ref(), &table, metric, set)?;
        let found = audit(game.as_ref(), metric, &|cell| values.get(cell));
        all.checked = found.checked;
        all.wrong += found.wrong;
        if let Some(first) = found.first.filter(|_| all.first.is_none()) {
            (all.first, wrong_in) = (Some(first), Some(metric));
        }
    }
    let checked = grouped(all.checked);
    match (all.first, wrong_in) {
        (Some(first), Some(metric)) => {
            writeln!(out, "{table}: {checked} positions checked ({names}), {} wrong", grouped(all.wrong))?;
            let [stored, computed] = [first.stored, first.computed].map(told);
            let shown = game.show(first.cell);
            writeln!(out, "{table}: first wrong: {shown} ({metric}): stored {stored}, computed {computed}")?;
        }
        _ => writeln!(out, "{table}: {checked} positions checked ({names}), all follow from the rules")?,
    }
    Ok(all.wrong == 0)
}

#[derive(Serialize)]
struct Probed {
    puzzle: String,
    table: String,
    #[serde(flatten)]
    position: Rated,
    moves: Vec<Rated>,
}

#[derive(Serialize)]
struct Rated {
    position: String,
    number: u64,
    outcome: &'static str,
    steps: Option<u32>,
}

/// The value of a position and of what its moves lead to, best first: by the words after the puzzle, the one that it begins
/// with if there are none.
pub(crate) fn probe(arguments: &ProbeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let asked = &arguments.asked;
    if arguments.svg.is_some() {
        bail!(
            "--svg draws positions of EinStein würfelt nicht!; for the picture of a puzzle: canju solve FILE --svg OUT"
        );
    }
    let prober = tables::open(&asked.tables)?;
    let set = prober.tables();
    let (name, rest) = arguments.fen.split_first().context("no puzzle is given")?;
    let puzzle = match find(name, set) {
        // A file that is no puzzle may hold positions or games.
        Err(_) if file::read(Path::new(name)).is_ok() => return Err(file::meant(name)),
        found => found?,
    };
    let (table, game) = (puzzle.name()?, puzzle.table());
    let text = rest.join(" ");
    let cell = match game.parse(&text) {
        _ if rest.is_empty() => puzzle.start(),
        Some(cell) => cell,
        None => bail!("{text} is no position of {}: write it as {}", puzzle.title(), game.show(puzzle.start())),
    };
    if !game.legal(cell) {
        bail!("{text} is forbidden by the rules of {}", puzzle.title());
    }
    let rate = |cell: Cell| -> anyhow::Result<(Outcome, Rated)> {
        let value = set.code(&table, Metric::Dtm, cell)?.outcome();
        let (outcome, steps) = words(game.players(), value);
        Ok((value, Rated { position: game.show(cell), number: puzzle.number(cell), outcome, steps }))
    };
    let mut found = Vec::new();
    if game.end(cell).is_none() {
        game.successors(cell, &mut found);
    }
    found.retain(|&to| game.legal(to));
    let mut moves =
        found.iter().map(|&to| Ok((rate(to)?, puzzle.step(cell, to)))).collect::<anyhow::Result<Vec<_>>>()?;
    moves.sort_by_key(|((value, rated), _)| (rank(game.players(), *value), rated.number));
    let (_, position) = rate(cell)?;
    if asked.json {
        let moves = moves.into_iter().map(|((_, rated), _)| rated).collect();
        let probed = Probed { puzzle: puzzle.title().to_owned(), table: table.to_string(), position, moves };
        writeln!(out, "{}", serde_json::to_string(&probed)?)?;
        return Ok(());
    }
    writeln!(out, "{}: {} (number {}), {}", puzzle.title(), position.position, position.number, puzzle.describe(cell))?;
    writeln!(out, "{}", said(&position))?;
    for ((_, rated), step) in &moves {
        writeln!(out, "  {step}  {}: {}", rated.position, said(rated))?;
    }
    Ok(())
}

/// A value in a sentence's words. Steps may be more than plies can count: then they run over into the order.
fn told(value: Outcome) -> String {
    match value {
        Outcome::Draw => "draw".to_owned(),
        Outcome::Win(distance) => format!("win in {}", counted(distance.steps(), "step", "steps")),
        Outcome::Loss(distance) => format!("loss in {}", counted(distance.steps(), "step", "steps")),
    }
}

/// What a value says of a puzzle.
pub(crate) fn words(players: Players, value: Outcome) -> (&'static str, Option<u32>) {
    match (players, value) {
        (Players::One, Outcome::Win(distance)) => ("solvable", Some(distance.steps())),
        (Players::One, _) => ("dead", None),
        (Players::Two, Outcome::Win(distance) | Outcome::Loss(distance)) => ("caught", Some(distance.steps())),
        (Players::Two, Outcome::Draw) => ("safe", None),
    }
}

fn said(rated: &Rated) -> String {
    match rated.steps {
        Some(steps) => format!("{} in {steps}", rated.outcome),
        None => rated.outcome.to_owned(),
    }
}

/// Better moves are less, by what they lead to.
fn rank(players: Players, value: Outcome) -> (u8, i64) {
    match (players, value) {
        (Players::One, Outcome::Win(d)) | (Players::Two, Outcome::Loss(d)) => (0, i64::from(d.steps())),
        (_, Outcome::Draw) => (1, 0),
        (_, Outcome::Win(d) | Outcome::Loss(d)) => (2, -i64::from(d.steps())),
    }
}
