//! What a manifest counts, with the sides in the order asked.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use canju_ewn::Signature;
use canju_probe::{ProbeError, Prober, Reason, Unknown};
use canju_retro::{Distance, Metric, Side, TableName};
use canju_table::{Histogram, LongestLine, LongestPair, Manifest, SideCounts, TableError};
use canju_xiangqi::{Material, Position};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answers::is_none;
use crate::asker::{Asker, Deadline};
use crate::ewn::{DiceTable, DiceTables};
use crate::failure::Failure;
use crate::unknown::store;

/// The endgames of xiangqi that are there.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Endgames {
    pub rules: &'static str,
    /// Where the tables are, in words.
    pub place: String,
    pub endgames: Vec<Listed>,
    /// Tables whose manifest cannot be used.
    pub damaged: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Listed {
    pub endgame: String,
    /// Some of `wdl`, `dtm`, `dtc`.
    pub metrics: Vec<&'static str>,
    /// Pieces, kings included.
    pub men: usize,
    /// Positions of the full board, both sides to move together.
    pub positions: u64,
}

/// What an endgame's table counts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Statistics {
    /// The endgame with its sides in the order asked; the first-named is Red.
    pub endgame: String,
    /// The name of the table.
    pub table: String,
    pub rules: &'static str,
    /// Positions of the full board, both sides to move together, impossible ones too.
    pub cells: u64,
    /// The same number.
    pub positions: u64,
    /// Pieces, kings included.
    pub men: usize,
    /// Some of `wdl`, `dtm`, `dtc`.
    pub metrics: Vec<&'static str>,
    pub sides: Sides<Counts>,
    /// The longest win of either side by metric, `null` where nobody ever wins.
    pub longest: LongestWins,
    /// The longest win and loss of each side to move, by metric.
    pub extremes: ByMetric<Sides<Extremes>>,
    /// Legal positions by value, by metric and side to move.
    pub histogram: ByMetric<Sides<Distribution>>,
}

/// By metric: absent where the metric was not built, `null` where nobody ever wins.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(crate) struct LongestWins {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Longest>)]
    pub dtm: Option<Option<Longest>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Longest>)]
    pub dtc: Option<Option<Longest>>,
}

/// By metric: absent where the metric was not built.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ByMetric<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtm: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtc: Option<T>,
}

/// Of each side to move.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Sides<T> {
    /// The first-named side, Red.
    pub w: T,
    /// The second-named side.
    pub b: T,
}

/// Positions of one side to move.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Counts {
    pub win: u64,
    pub draw: u64,
    pub loss: u64,
    pub illegal: u64,
}

/// How long, and a position that is so.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Longest {
    /// Violations of the rules of repetition that the loser must break off in turn; left out where there is none.
    #[serde(skip_serializing_if = "is_none")]
    #[schema(minimum = 1)]
    pub order: u16,
    /// To the end; where there is an order, to the first violation.
    pub plies: u16,
    pub fen: String,
}

/// The longest win and loss of one side to move, `null` where there is none.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Extremes {
    pub win: Option<Longest>,
    pub loss: Option<Longest>,
}

/// Legal positions of one side to move by value.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Distribution {
    pub draw: u64,
    /// Ascending by order, and by plies among equal orders.
    pub win: Vec<Bar>,
    /// In the same way.
    pub loss: Vec<Bar>,
}

/// How many positions are so far from the end.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Bar {
    /// As of the longest.
    #[serde(skip_serializing_if = "is_none")]
    #[schema(minimum = 1)]
    pub order: u16,
    pub plies: u16,
    pub positions: u64,
}

/// The tables that are there, game by game. Those of puzzles are not served.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub endgames: Endgames,
    pub dice: DiceTables,
}

impl Listing {
    /// The tables of the prober. One bad manifest does not hide the others.
    pub fn of(prober: &Prober, deadline: Deadline) -> Result<Self, Failure> {
        let tables = prober.tables();
        let (mut endgames, mut damaged, mut dice) = (Vec::new(), Vec::new(), DiceTables::default());
        for table in tables.endgames().map_err(|error| store(&error))? {
            deadline.check()?;
            let stones = table.as_str().parse::<Signature>().ok().map(Signature::count);
            if canju_games::is_puzzle(table.as_str()) {
                continue;
            }
            match tables.manifest(&table) {
                Ok(manifest) => {
                    let (name, positions) = (table.to_string(), manifest.positions);
                    match stones {
                        Some(stones) => dice.tables.push(DiceTable { table: name, stones, positions }),
                        None => {
                            let (metrics, men) = (names(&manifest), men(&table));
                            endgames.push(Listed { endgame: name, metrics, men, positions });
                        }
                    }
                }
                Err(error @ TableError::Io { .. }) => return Err(store(&error)),
                Err(error) => {
                    tracing::warn!(%table, %error, "a table cannot be used");
                    tables.forget(&table);
                    if stones.is_some() { &mut dice.damaged } else { &mut damaged }.push(table.to_string());
                }
            }
        }
        let endgames = Endgames { rules: tables.rules().name(), place: tables.place(), endgames, damaged };
        Ok(Self { endgames, dice })
    }
}

impl Statistics {
    /// What is counted of an endgame whose name may be in any order and case.
    pub fn of(asker: &Asker, name: &str) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::request("name", why);
        if let Ok(dice) = name.parse::<Signature>() {
            return Err(wrong(format!("{dice} is a table of EinStein würfelt nicht!: ask /v1/ewn, or look at /ewn")));
        }
        let material: Material =
            name.parse().map_err(|error: canju_xiangqi::MaterialError| wrong(error.to_string()))?;
        let (canonical, _) = material.canonical();
        let table = TableName::new(&canonical.to_string()).map_err(|error| wrong(error.to_string()))?;
        let manifest = match asker.prober().tables().manifest(&table) {
            Ok(manifest) => manifest,
            Err(error) => return Err(unusable(asker.judge(&ProbeError::Table(error))?)),
        };
        Self::new(material, &table, &manifest).ok_or_else(|| {
            tracing::error!(%table, "the manifest's longest wins are no positions");
            Failure::internal()
        })
    }

    /// `None` where the manifest has a FEN that is none.
    fn new(material: Material, table: &TableName, manifest: &Manifest) -> Option<Self> {
        let swapped = !material.is_canonical();
        let [w, b] = if swapped { [Side::Second, Side::First] } else { Side::BOTH };
        let counts = |side| Counts::of(manifest.sides.of(side));
        let mut longest = LongestWins::default();
        let (mut extremes, mut histogram) = (ByMetric::EMPTY, ByMetric::EMPTY);
        for (&metric, entry) in &manifest.metrics {
            // Of equally long wins that of the first-named side.
            let wins = [w, b].map(|side| entry.longest.of(side).win.as_ref());
            let best = wins.into_iter().flatten().rev().max_by_key(|line| (line.order, line.plies));
            let best = Longest::some(best, swapped)?;
            let extreme = |side| Extremes::of(entry.longest.of(side), swapped);
            let bars = |side| Distribution::of(entry.histogram.of(side));
            match metric {
                Metric::Wdl | Metric::Odds => continue,
                Metric::Dtm => longest.dtm = Some(best),
                Metric::Dtc => longest.dtc = Some(best),
            }
            extremes.set(metric, Sides { w: extreme(w)?, b: extreme(b)? });
            histogram.set(metric, Sides { w: bars(w), b: bars(b) });
        }
        Some(Self {
            endgame: material.to_string(),
            table: table.to_string(),
            rules: manifest.rules.name(),
            cells: manifest.sides.w.cells + manifest.sides.b.cells,
            positions: manifest.positions,
            men: material.men(),
            metrics: names(manifest),
            sides: Sides { w: counts(w), b: counts(b) },
            longest,
            extremes,
            histogram,
        })
    }
}

impl<T> ByMetric<T> {
    const EMPTY: Self = Self { dtm: None, dtc: None };

    fn set(&mut self, metric: Metric, what: T) {
        match metric {
            Metric::Wdl | Metric::Odds => {}
            Metric::Dtm => self.dtm = Some(what),
            Metric::Dtc => self.dtc = Some(what),
        }
    }
}

impl Counts {
    fn of(side: &SideCounts) -> Self {
        Self { win: side.win, draw: side.draw, loss: side.loss, illegal: side.illegal }
    }
}

impl Longest {
    fn new(line: &LongestLine, swapped: bool) -> Option<Self> {
        let position = Position::from_fen(&line.fen).ok()?;
        let position = if swapped { position.flip() } else { position };
        Some(Self { order: line.order, plies: line.plies, fen: position.to_fen() })
    }

    /// `None` where the FEN is none; `Some(None)` where there is no line.
    fn some(line: Option<&LongestLine>, swapped: bool) -> Option<Option<Self>> {
        line.map_or(Some(None), |line| Self::new(line, swapped).map(Some))
    }
}

impl Extremes {
    fn of(pair: &LongestPair, swapped: bool) -> Option<Self> {
        let line = |line: &Option<LongestLine>| Longest::some(line.as_ref(), swapped);
        Some(Self { win: line(&pair.win)?, loss: line(&pair.loss)? })
    }
}

impl Distribution {
    fn of(histogram: &Histogram) -> Self {
        let bars = |counts: &BTreeMap<Distance, u64>| {
            let bar = |(&Distance { order, plies }, &positions)| Bar { order, plies, positions };
            counts.iter().map(bar).collect()
        };
        Self { draw: histogram.draw, win: bars(&histogram.win), loss: bars(&histogram.loss) }
    }
}

/// No such table, or one that cannot be used.
fn unusable(unknown: Unknown) -> Failure {
    let (status, kind) = match unknown.reason {
        Reason::Missing | Reason::Metric => (StatusCode::NOT_FOUND, "missing"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "damaged"),
    };
    let mut failure = Failure::new(status, kind, unknown.message);
    failure.error.commands = unknown.commands;
    failure
}

fn names(manifest: &Manifest) -> Vec<&'static str> {
    manifest.metrics.keys().copied().map(Metric::name).collect()
}

/// Each piece is one letter of the name.
fn men(table: &TableName) -> usize {
    table.as_str().len()
}
