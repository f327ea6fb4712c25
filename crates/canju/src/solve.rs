//! `canju solve`: a puzzle from a file.

mod store;

use std::io::Write;

use anyhow::Context;
use canju_puzzles::{Board, Puzzle, Solution};
use canju_retro::{Cell, Outcome, Players};
use serde::Serialize;

use crate::arguments::SolveArguments;
use crate::memory;
use crate::puzzle::words;
use crate::words::{counted_plies, grouped};

pub(crate) fn run(arguments: &SolveArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let puzzle = Puzzle::read(&arguments.file)?;
    let file = arguments.file.display();
    memory::check(&format!("{file} takes"), puzzle.memory(arguments.store.is_some()), "solve it on a larger machine")?;
    let solution = match &arguments.store {
        None => Solution::of(&puzzle).with_context(|| format!("cannot solve {file}"))?,
        Some(place) => {
            let (solution, part) =
                Solution::with_part(&puzzle).with_context(|| format!("cannot make a table of {file}"))?;
            store::write(place, &puzzle, part.as_ref())?;
            solution
        }
    };
    if let Some(path) = &arguments.svg {
        std::fs::write(path, solution.svg())
            .with_context(|| format!("the picture cannot be written to {}", path.display()))?;
        if !arguments.json && !solution.is_labelled() {
            writeln!(out, "the picture has no labels, which so many squares have no place for: --table prints them")?;
        }
    }
    if let Some(path) = &arguments.html {
        let page = solution.page().with_context(|| format!("no page can be made of {file}"))?;
        std::fs::write(path, page).with_context(|| format!("the page cannot be written to {}", path.display()))?;
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&Solved::new(&solution, arguments.table)?)?)?;
        return Ok(());
    }
    writeln!(out, "{}", puzzle.title())?;
    match puzzle.table().players() {
        Players::One => alone(&solution, out)?,
        Players::Two => against(&solution, out)?,
    }
    if arguments.table {
        table(&solution, out)?;
    }
    Ok(())
}

/// A puzzle of one player.
fn alone(solution: &Solution, out: &mut dyn Write) -> anyhow::Result<()> {
    let (puzzle, counts) = (solution.puzzle(), solution.counts());
    writeln!(
        out,
        "{} positions, {} legal: {} solvable, {} dead",
        grouped(counts.positions),
        grouped(counts.legal),
        grouped(counts.decided),
        grouped(counts.open)
    )?;
    let Some(steps) = solution.steps() else {
        writeln!(out, "there is no solution")?;
        return Ok(());
    };
    let measure = match puzzle.board() {
        Board::Regions(regions) if !regions.is_measured() => {
            ", the least number of regions: how long the way is, is not known"
        }
        _ => "",
    };
    let ways = match solution.shortest() {
        Some(1) => "the only shortest solution".to_owned(),
        Some(n) => format!("one of {n} shortest solutions"),
        None => "one of more than 2^128 shortest solutions".to_owned(),
    };
    writeln!(out, "{steps} step{}{measure}; {ways}:", if steps == 1 { "" } else { "s" })?;
    print(solution, out)
}

/// Cat and mouse.
fn against(solution: &Solution, out: &mut dyn Write) -> anyhow::Result<()> {
    let (puzzle, counts, table) = (solution.puzzle(), solution.counts(), solution.puzzle().table());
    writeln!(
        out,
        "{} positions, {} legal: in {} the mouse is caught, in {} it is safe",
        grouped(counts.positions),
        grouped(counts.legal),
        grouped(counts.decided),
        grouped(counts.open)
    )?;
    let start = puzzle.start();
    match solution.steps() {
        Some(plies) => {
            writeln!(out, "the cat wins: it catches the mouse in {}:", counted_plies(plies))?;
            print(solution, out)?;
        }
        None => {
            writeln!(out, "{}: {}: the mouse is safe", table.show(start), puzzle.describe(start))?;
            for to in solution.best(start) {
                writeln!(out, "  {}", puzzle.step(start, to))?;
            }
        }
    }
    if let Some((cell, plies)) = solution.longest() {
        writeln!(out, "the longest chase takes {}, from {}", counted_plies(plies), table.show(cell))?;
    }
    Ok(())
}

/// The line from the start, a position a line.
fn print(solution: &Solution, out: &mut dyn Write) -> anyhow::Result<()> {
    let (puzzle, table) = (solution.puzzle(), solution.puzzle().table());
    let line = solution.line(puzzle.start());
    let width = line.iter().map(|&cell| puzzle.number(cell).to_string().len()).max().unwrap_or(1);
    for (at, &cell) in line.iter().enumerate() {
        let step = match at.checked_sub(1) {
            None => puzzle.describe(cell),
            Some(before) => puzzle.step(line[before], cell),
        };
        writeln!(out, "  {:>width$}  {}  {step}", puzzle.number(cell), table.show(cell))?;
    }
    Ok(())
}

/// Every position with its number, its label and the best position to go on to.
fn table(solution: &Solution, out: &mut dyn Write) -> anyhow::Result<()> {
    let (puzzle, table) = (solution.puzzle(), solution.puzzle().table());
    let shown = solution.cells().map(|cell| table.show(cell).chars().count());
    let width = shown.max().unwrap_or(0).max("position".len());
    let head = if is_maze(puzzle) { "label" } else { "steps" };
    writeln!(out, "{:>8}  {:width$}  {head:>7}  next", "number", "position")?;
    for cell in solution.cells() {
        let label = match solution.value(cell) {
            None => "-".to_owned(),
            Some(value) => match words(table.players(), value) {
                // Authors count the exit of a maze as 1.
                (_, Some(steps)) => (steps + u32::from(is_maze(puzzle))).to_string(),
                (outcome, None) => outcome.to_owned(),
            },
        };
        let next = solution.best(cell).first().map(|&next| puzzle.number(next).to_string()).unwrap_or_default();
        let row = format!("{:>8}  {:width$}  {label:>7}  {next}", puzzle.number(cell), table.show(cell));
        writeln!(out, "{}", row.trim_end())?;
    }
    Ok(())
}

fn is_maze(puzzle: &Puzzle) -> bool {
    matches!(puzzle.board(), Board::Maze(_) | Board::Regions(_))
}

#[derive(Serialize)]
struct Solved {
    puzzle: String,
    table: String,
    positions: u64,
    legal: u64,
    decided: u64,
    open: u64,
    start: String,
    outcome: &'static str,
    steps: Option<u32>,
    /// In decimal: there may be more than numbers of JSON hold, and more than are counted. Only for one player.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortest: Option<Option<String>>,
    line: Vec<Stop>,
    /// The best first moves: those that keep the mouse safe where it is. Left out for one player.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Vec<Stop>>,
    longest: Option<Stop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<Label>>,
}

#[derive(Serialize)]
struct Stop {
    number: u64,
    position: String,
    steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
}

#[derive(Serialize)]
struct Label {
    number: u64,
    position: String,
    legal: bool,
    outcome: Option<&'static str>,
    steps: Option<u32>,
    next: Vec<u64>,
}

impl Solved {
    fn new(solution: &Solution, labels: bool) -> anyhow::Result<Self> {
        let (puzzle, counts, table) = (solution.puzzle(), solution.counts(), solution.puzzle().table());
        let start = puzzle.start();
        let line = solution.line(start);
        let stop = |cell: Cell, before: Option<Cell>| Stop {
            number: puzzle.number(cell),
            position: table.show(cell),
            steps: solution.steps_from(cell),
            step: before.map(|before| puzzle.step(before, cell)),
        };
        let before = std::iter::once(None).chain(line.iter().copied().map(Some));
        let label = |cell: Cell| {
            let value = solution.value(cell);
            Label {
                number: puzzle.number(cell),
                position: table.show(cell),
                legal: value.is_some(),
                outcome: value.map(|value| words(table.players(), value).0),
                steps: solution.steps_from(cell),
                next: solution.best(cell).into_iter().map(|next| puzzle.number(next)).collect(),
            }
        };
        Ok(Self {
            puzzle: puzzle.title().to_owned(),
            table: puzzle.name()?.to_string(),
            positions: counts.positions,
            legal: counts.legal,
            decided: counts.decided,
            open: counts.open,
            start: table.show(start),
            outcome: words(table.players(), solution.value(start).unwrap_or(Outcome::Draw)).0,
            steps: solution.steps(),
            shortest: match table.players() {
                Players::One => Some(solution.shortest().map(|n| n.to_string())),
                Players::Two => None,
            },
            best: match table.players() {
                Players::One => None,
                Players::Two => Some(solution.best(start).into_iter().map(|to| stop(to, Some(start))).collect()),
            },
            longest: solution.longest().map(|(cell, _)| stop(cell, None)),
            line: line.iter().zip(before).map(|(&cell, before)| stop(cell, before)).collect(),
            labels: labels.then(|| solution.cells().map(label).collect()),
        })
    }
}
