//! `canju stats`: what the manifest counts, of xiangqi with the sides in the order asked.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context;
use canju_ewn::Signature;
use canju_puzzles::Puzzle;
use canju_retro::{Metric, Players, Side};
use canju_table::{LongestLine, Manifest, SideCounts, TableSet};
use canju_xiangqi::Position;
use serde::Serialize;

use crate::arguments::StatsArguments;
use crate::tables::{self, Named};
use crate::words::{distance, grouped};
use crate::{ewn, puzzle};

/// What a table is about.
enum What {
    Endgame,
    Puzzle(Box<Puzzle>),
    /// EinStein würfelt nicht!
    Ewn,
}

impl What {
    /// True where only the first side moves.
    fn is_alone(&self) -> bool {
        matches!(self, Self::Puzzle(puzzle) if puzzle.table().players() == Players::One)
    }
}

/// What a name names, where it tells that alone: not of a puzzle, whose text may be in the tables.
fn named(name: &str) -> anyhow::Result<Option<(Named, What)>> {
    if puzzle::is_named(name) {
        return Ok(None);
    }
    if !canju_games::is_ewn(name) {
        return Ok(Some((tables::endgame(name)?, What::Endgame)));
    }
    let table = name.parse::<Signature>()?.name()?;
    Ok(Some((Named { asked: table.to_string(), table, swapped: false }, What::Ewn)))
}

/// A puzzle by its file or its table.
fn find(name: &str, tables: &TableSet) -> anyhow::Result<(Named, What)> {
    let puzzle = puzzle::find(name, tables)?;
    let table = puzzle.name()?;
    Ok((Named { asked: table.to_string(), table, swapped: false }, What::Puzzle(Box::new(puzzle))))
}

#[derive(Serialize)]
struct Stats {
    endgame: String,
    rules: &'static str,
    cells: u64,
    sides: Sides<Counts>,
    longest: LongestWins,
    /// Wins and losses by order, ascending; left out where there is no order but 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    orders: Vec<OfOrder>,
}

#[derive(Serialize)]
struct Sides<T> {
    w: T,
    b: T,
}

#[derive(Serialize)]
struct OfOrder {
    order: u16,
    #[serde(flatten)]
    sides: Sides<Decided>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Decided {
    win: u64,
    loss: u64,
}

#[derive(Serialize)]
struct Counts {
    win: u64,
    draw: u64,
    loss: u64,
    illegal: u64,
}

/// By metric: absent where the metric was not built, `null` where nobody ever wins.
#[derive(Default, Serialize)]
struct LongestWins {
    #[serde(skip_serializing_if = "Option::is_none")]
    dtm: Option<Option<Longest>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtc: Option<Option<Longest>>,
}

#[derive(Serialize)]
struct Longest {
    #[serde(skip_serializing_if = "is_none")]
    order: u16,
    plies: u16,
    fen: String,
}

/// The plain rules know no orders, and say none.
pub(crate) fn is_none<T: Default + PartialEq>(orders: &T) -> bool {
    *orders == T::default()
}

impl Counts {
    fn of(side: &SideCounts) -> Self {
        Self { win: side.win, draw: side.draw, loss: side.loss, illegal: side.illegal }
    }
}

impl OfOrder {
    /// Counts of what is decided by order: the same by every distance, so that the first will do.
    fn all(manifest: &Manifest, sides: [Side; 2]) -> Vec<Self> {
        let Some(entry) = manifest.metrics.iter().find(|(metric, _)| metric.is_distance()).map(|(_, entry)| entry)
        else {
            return Vec::new();
        };
        let mut by_order: BTreeMap<u16, [Decided; 2]> = BTreeMap::new();
        for (number, side) in sides.into_iter().enumerate() {
            let histogram = entry.histogram.of(side);
            for (distance, count) in &histogram.win {
                by_order.entry(distance.order).or_default()[number].win += count;
            }
            for (distance, count) in &histogram.loss {
                by_order.entry(distance.order).or_default()[number].loss += count;
            }
        }
        if by_order.keys().all(|&order| order == 0) {
            return Vec::new();
        }
        by_order.into_iter().map(|(order, [w, b])| Self { order, sides: Sides { w, b } }).collect()
    }
}

impl Stats {
    fn new(named: Named, what: &What, manifest: &Manifest) -> anyhow::Result<Self> {
        let [w, b] = if named.swapped { [Side::Second, Side::First] } else { Side::BOTH };
        let counts = |side| Counts::of(manifest.sides.of(side));
        let mut longest = LongestWins::default();
        for (metric, entry) in &manifest.metrics {
            // Of equally long wins that of the first-named side.
            let wins = [w, b].map(|side| entry.longest.of(side).win.as_ref());
            let best = wins.into_iter().flatten().rev().max_by_key(|line| (line.order, line.plies));
            let line = best.map(|line| match what {
                What::Endgame => Longest::new(line, named.swapped),
                What::Puzzle(_) | What::Ewn => {
                    Ok(Longest { order: line.order, plies: line.plies, fen: line.fen.clone() })
                }
            });
            let line = line.transpose()?;
            match metric {
                Metric::Dtm => longest.dtm = Some(line),
                Metric::Dtc => longest.dtc = Some(line),
                Metric::Wdl | Metric::Odds => {}
            }
        }
        let orders = match what {
            What::Endgame => OfOrder::all(manifest, [w, b]),
            // Their steps run over into the order.
            What::Puzzle(_) | What::Ewn => Vec::new(),
        };
        Ok(Self {
            endgame: named.asked,
            rules: manifest.rules.name(),
            cells: manifest.sides.w.cells + manifest.sides.b.cells,
            sides: Sides { w: counts(w), b: counts(b) },
            longest,
            orders,
        })
    }
}

impl Longest {
    fn new(line: &LongestLine, swapped: bool) -> anyhow::Result<Self> {
        let position = Position::from_fen(&line.fen).with_context(|| {
            format!("the manifest has {} as its longest win, which is no position: build it again", line.fen)
        })?;
        let position = if swapped { position.flip() } else { position };
        Ok(Self { order: line.order, plies: line.plies, fen: position.to_fen() })
    }
}

pub(crate) fn run(arguments: &StatsArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    // A name that is none is told before a folder that is none.
    let known = named(&arguments.name)?;
    if let Some((_, What::Ewn)) = known {
        ewn::check_rules(arguments.tables.rules)?;
    }
    let prober = tables::open(&arguments.tables)?;
    let (named, what) = match known {
        Some(known) => known,
        None => find(&arguments.name, prober.tables())?,
    };
    let manifest = prober.tables().manifest(&named.table)?;
    let stats = Stats::new(named, &what, &manifest)?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&stats)?)?;
        return Ok(());
    }
    if let What::Puzzle(puzzle) = &what {
        write!(out, "{}: ", puzzle.title())?;
    }
    writeln!(out, "{}, {} rules, {} positions", stats.endgame, stats.rules, grouped(stats.cells))?;
    writeln!(out, "{:8}{:>18}{:>18}{:>18}{:>18}", "to move", "win", "draw", "loss", "illegal")?;
    for (name, side) in [("first", &stats.sides.w), ("second", &stats.sides.b)] {
        if what.is_alone() && name == "second" {
            continue;
        }
        let [win, draw, loss, illegal] = [side.win, side.draw, side.loss, side.illegal].map(grouped);
        writeln!(out, "{name:8}{win:>18}{draw:>18}{loss:>18}{illegal:>18}")?;
    }
    let longest = [(Metric::Dtm, &stats.longest.dtm), (Metric::Dtc, &stats.longest.dtc)];
    for (metric, longest) in longest.into_iter().filter_map(|(metric, line)| Some((metric, line.as_ref()?))) {
        match longest {
            Some(Longest { order, plies, fen }) => {
                writeln!(out, "longest win ({metric}): {}, {fen}", distance(*order, *plies))?;
            }
            None => writeln!(out, "longest win ({metric}): none")?,
        }
    }
    if !stats.orders.is_empty() {
        writeln!(
            out,
            "{:8}{:>18}{:>18}{:>18}{:>18}",
            "order", "first wins", "first loses", "second wins", "second loses"
        )?;
    }
    for OfOrder { order, sides: Sides { w, b } } in &stats.orders {
        let [win, loss, second_win, second_loss] = [w.win, w.loss, b.win, b.loss].map(grouped);
        writeln!(out, "{order:<8}{win:>18}{loss:>18}{second_win:>18}{second_loss:>18}")?;
    }
    match &what {
        What::Endgame => {}
        What::Puzzle(_) if what.is_alone() => {
            writeln!(out, "a win is a position that can be solved, a draw one that cannot")?;
        }
        What::Puzzle(_) => writeln!(out, "the first side is the cat; in a draw the mouse is safe")?,
        What::Ewn => writeln!(out, "won and lost are certain; in the others the dice decide")?,
    }
    Ok(())
}
