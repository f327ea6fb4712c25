//! Games that are given position by position: the smallest interface to the engine, and a solver behind it.
//!
//! What a game must tell is in [`Explicit`]. [`ExplicitTables`] makes it a [`Game`], whose parts are solved, exchanged,
//! recovered and written as those of any other game are. A game with its own faster kernel implements
//! [`Game`] and [`Part`] itself and has no use for this.

mod audit;
mod breadth;
mod graph;
mod ground;
mod part;
mod saved;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use audit::{Audit, Disagreement, Values, audit, examine};
pub use breadth::by_breadth;

use crate::{Cell, Game, GameError, Metric, Part, PartSpec, Rules, Shape, Side, SliceShape, TableName, Tables};

/// How labels combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Players {
    /// There is no enemy and only the first side moves: a label is one more than the least that a move leads to. Cells from
    /// which no end is reached are draws.
    One,
    /// Moves alternate: a cell is won in one more than the least lost one that a move leads to; it is lost in one more than
    /// the greatest won one, where all moves lead to such. What is left over is drawn.
    Two,
}

/// How play ends in a cell, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It has won, or has come to the goal.
    Won,
    /// It has lost.
    Lost,
    /// Nobody has won.
    Drawn,
}

/// One table of a game that is given position by position.
///
/// Cells are legal or not; a legal one is an end, or has moves. A legal cell that is no end and has no move is a draw: a
/// game in which the side to move has then lost says so by [`end`](Self::end). The answers must not change.
pub trait Explicit: Send + Sync {
    /// How labels combine.
    fn players(&self) -> Players;

    /// The slices, by number: the cells of each for one side to move, and the slices to which moves lead from it. The list of
    /// those may be longer than needed, and need not be in order; who is led to need not lead back.
    fn slices(&self) -> Vec<SliceShape>;

    /// True for a cell that is a position of the game.
    fn legal(&self, cell: Cell) -> bool;

    /// How play ends in a legal cell; `None` where it goes on.
    fn end(&self, cell: Cell) -> Option<End>;

    /// Appends the cells to which the moves of a legal cell that is no end lead. Those that are not legal are left out by
    /// the engine.
    fn successors(&self, cell: Cell, found: &mut Vec<Cell>);

    /// Appends the cells of which the moves lead to a legal cell, and returns true; or returns false where the game cannot
    /// tell: then the engine turns the successors round, which takes memory for every move. Those that are not
    /// legal, or ends, are left out by the engine.
    fn predecessors(&self, _cell: Cell, _found: &mut Vec<Cell>) -> bool {
        false
    }

    /// A cell as users write it.
    fn show(&self, cell: Cell) -> String;

    /// The cell that a user wrote, or `None` where it is none.
    fn parse(&self, text: &str) -> Option<Cell>;
}

/// Most shards of a metric.
const RUNS: usize = 64;
/// Bytes that a cell takes while it is solved: label, open moves, and some moves turned round.
const CELL_BYTES: u64 = 48;

/// The shape of a table that is given position by position.
pub(crate) fn shape(table: &dyn Explicit) -> Shape {
    let mut slices = table.slices();
    let pairs: Vec<(u32, u32)> =
        slices.iter().enumerate().flat_map(|(s, shape)| shape.neighbours.iter().map(move |&n| (s as u32, n))).collect();
    for (a, b) in pairs {
        if let Some(shape) = slices.get_mut(b as usize) {
            shape.neighbours.push(a);
        }
    }
    for (slice, shape) in slices.iter_mut().enumerate() {
        shape.neighbours.sort_unstable();
        shape.neighbours.dedup();
        shape.neighbours.retain(|&n| n != slice as u32);
    }
    let cells: u64 = slices.iter().map(|s| u64::from(s.cells)).sum();
    let positions = cells * sides(table).len() as u64;
    let run = slices.len().div_ceil(RUNS).max(1);
    let starts = (0..slices.len()).step_by(run);
    let runs = starts.map(|start| start as u32..slices.len().min(start + run) as u32).collect();
    Shape { slices, runs, row: 1, positions, indexed: positions, set_bytes: positions * CELL_BYTES }
}

/// The sides that move.
pub(crate) fn sides(table: &dyn Explicit) -> &'static [Side] {
    match table.players() {
        Players::One => &Side::BOTH[..1],
        Players::Two => &Side::BOTH,
    }
}

/// Tables that are given position by position, as a game. They have no smaller ones.
#[derive(Clone, Default)]
pub struct ExplicitTables(BTreeMap<TableName, Arc<dyn Explicit>>);

impl ExplicitTables {
    /// No tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more table.
    #[must_use]
    pub fn with(mut self, name: TableName, table: Arc<dyn Explicit>) -> Self {
        self.0.insert(name, table);
        self
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &TableName> {
        self.0.keys()
    }

    /// A table by its name.
    ///
    /// # Errors
    /// [`GameError::Name`] when there is no such table.
    pub fn get(&self, table: &TableName) -> Result<&Arc<dyn Explicit>, GameError> {
        self.0.get(table).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(TableName::as_str).collect();
            let reason = match &known[..] {
                [] => "it comes from a file, which was not given: give it with --game FILE".to_owned(),
                known => format!("the files that were given have {}: give its file with --game FILE", known.join(", ")),
            };
            GameError::Name { given: table.to_string(), reason }
        })
    }
}

impl Game for ExplicitTables {
    fn table(&self, name: &str) -> Result<TableName, GameError> {
        let table = TableName::new(&name.to_ascii_uppercase())?;
        self.get(&table).map(|_| table)
    }

    fn smaller(&self, table: &TableName) -> Result<Vec<TableName>, GameError> {
        self.get(table).map(|_| Vec::new())
    }

    fn shape(&self, table: &TableName) -> Result<Shape, GameError> {
        Ok(shape(self.get(table)?.as_ref()))
    }

    fn part(&self, spec: &PartSpec, _tables: Arc<dyn Tables>) -> Result<Box<dyn Part>, GameError> {
        if spec.metric != Metric::Dtm {
            return Err(GameError::OutOfTurn(format!(
                "{} has only dtm, the moves to the end: not {}",
                spec.table, spec.metric
            )));
        }
        if spec.rules != Rules::Plain {
            return Err(GameError::Rules { table: spec.table.clone(), rules: spec.rules });
        }
        let table = Arc::clone(self.get(&spec.table)?);
        Ok(Box::new(part::ExplicitPart::new(table, spec)?))
    }

    fn metrics(&self, _table: &TableName) -> &'static [Metric] {
        &[Metric::Dtm]
    }

    fn repetition_bytes(&self, table: &TableName, rules: Rules) -> Result<u64, GameError> {
        if rules == Rules::Plain { Ok(0) } else { Err(GameError::Rules { table: table.clone(), rules }) }
    }

    fn show(&self, table: &TableName, cell: Cell) -> Result<String, GameError> {
        Ok(self.get(table)?.show(cell))
    }
}
