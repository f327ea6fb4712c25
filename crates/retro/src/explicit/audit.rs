//! What must hold for every game and every table that is given position by position.

use std::collections::BTreeMap;

use super::{End, Explicit, Players, shape, sides};
use crate::{Cell, Code, Distance, GameError, Metric, Outcome, Part, Side, TableName, Tables};

/// All values of a table, in memory.
pub struct Values {
    /// Where each slice begins among the cells of a side to move, and at last how many there are.
    starts: Vec<usize>,
    /// The cells of both sides, slice after slice.
    codes: [Vec<Code>; 2],
}

impl Values {
    /// Reads a finished table.
    ///
    /// # Errors
    /// As [`Tables::read`].
    pub fn read(
        table: &dyn Explicit,
        name: &TableName,
        metric: Metric,
        tables: &dyn Tables,
    ) -> Result<Self, GameError> {
        Self::collect(table, |slice, side, _, codes| {
            tables.read(name, metric, side, slice, &mut |block| {
                codes.extend(block.cells.iter().map(|&c| block.palette[usize::from(c)]));
            })
        })
    }

    /// What a part that holds the whole table has solved.
    ///
    /// # Errors
    /// As [`Part::codes`].
    pub fn of(table: &dyn Explicit, part: &dyn Part) -> Result<Self, GameError> {
        Self::collect(table, |slice, side, cells, codes| {
            let solved = part.codes(slice, side, Metric::Dtm)?;
            codes.extend((0..cells).map(|i| solved.get(i).unwrap_or(Code::DRAW)));
            Ok(())
        })
    }

    /// Gathers the cells of all slices; `add` appends those of one for one side to move.
    fn collect(
        table: &dyn Explicit,
        mut add: impl FnMut(u32, Side, usize, &mut Vec<Code>) -> Result<(), GameError>,
    ) -> Result<Self, GameError> {
        let (mut starts, mut codes) = (vec![0], [Vec::new(), Vec::new()]);
        let mut end = 0;
        for (slice, shape) in (0..).zip(table.slices()) {
            end += shape.cells as usize;
            for &side in sides(table) {
                let codes = &mut codes[side.index()];
                add(slice, side, shape.cells as usize, codes)?;
                // A slice has its room whatever was told of it.
                codes.resize(end, Code::DRAW);
            }
            starts.push(end);
        }
        Ok(Self { starts, codes })
    }

    /// The codes of the first side to move, slice after slice, where there is no other.
    pub(super) fn alone(table: &dyn Explicit, codes: Vec<Code>) -> Self {
        let mut starts = vec![0];
        starts.extend(table.slices().iter().scan(0, |end, shape| {
            *end += shape.cells as usize;
            Some(*end)
        }));
        Self { starts, codes: [codes, Vec::new()] }
    }

    /// How many cells there are for one side to move.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The place of a cell among those of its side; `None` where there is no such cell.
    #[must_use]
    #[inline]
    pub fn place(&self, cell: Cell) -> Option<usize> {
        let slice = cell.slice as usize;
        let place = self.starts.get(slice)? + cell.index as usize;
        self.starts.get(slice + 1).filter(|&&end| place < end).map(|_| place)
    }

    /// The code of a legal cell; of another one anything. A draw where there is no such cell.
    #[must_use]
    #[inline]
    pub fn code(&self, cell: Cell) -> Code {
        let code = self.place(cell).and_then(|place| self.codes[cell.side.index()].get(place));
        code.copied().unwrap_or(Code::DRAW)
    }

    /// What the code of a cell says.
    #[must_use]
    pub fn get(&self, cell: Cell) -> Outcome {
        self.code(cell).outcome()
    }
}

/// What a check of all labels came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Legal cells.
    pub checked: u64,
    /// How many of them have another label than what follows from their moves.
    pub wrong: u64,
    /// The first of these.
    pub first: Option<Disagreement>,
}

/// A cell with a label that does not follow from its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Which cell.
    pub cell: Cell,
    /// Its label.
    pub stored: Outcome,
    /// What follows from the labels that its moves lead to.
    pub computed: Outcome,
}

/// Checks that every label of a table follows from those that its moves lead to. `metric` tells whether there are distances.
#[must_use]
pub fn audit(table: &dyn Explicit, metric: Metric, value: &dyn Fn(Cell) -> Outcome) -> Audit {
    let mut audit = Audit::default();
    let mut found = Vec::new();
    for cell in cells(table).filter(|&cell| table.legal(cell)) {
        audit.checked += 1;
        let stored = value(cell);
        let computed = judge(table, cell, metric, value, &mut found);
        if stored != computed {
            audit.wrong += 1;
            audit.first.get_or_insert(Disagreement { cell, stored, computed });
        }
    }
    audit
}

/// All cells of a table, legal or not, by slices, sides and numbers.
pub(crate) fn cells(table: &dyn Explicit) -> impl Iterator<Item = Cell> {
    let sides = sides(table);
    let slices = table.slices().into_iter().enumerate();
    slices.flat_map(move |(slice, shape)| {
        let of_side = move |&side: &Side| (0..shape.cells).map(move |index| Cell { slice: slice as u32, index, side });
        sides.iter().flat_map(of_side)
    })
}

/// What a cell's label is by its moves.
fn judge(
    table: &dyn Explicit,
    cell: Cell,
    metric: Metric,
    value: &dyn Fn(Cell) -> Outcome,
    found: &mut Vec<Cell>,
) -> Outcome {
    match table.end(cell) {
        Some(End::Won) => return Outcome::Win(Distance::default()),
        Some(End::Lost) => return Outcome::Loss(Distance::default()),
        Some(End::Drawn) => return Outcome::Draw,
        None => {}
    }
    found.clear();
    table.successors(cell, found);
    let one_more = |d: Distance| {
        if metric == Metric::Wdl { d } else { Distance::of_steps(d.steps().saturating_add(1)) }
    };
    let (mut win, mut loss, mut moves, mut lost) = (None::<Distance>, Distance::default(), 0, 0);
    for &to in found.iter().filter(|&&to| table.legal(to)) {
        moves += 1;
        match (table.players(), value(to)) {
            (Players::One, Outcome::Win(d)) | (Players::Two, Outcome::Loss(d)) => {
                win = Some(win.map_or(d, |win| win.min(d)));
            }
            (Players::Two, Outcome::Win(d)) => {
                lost += 1;
                loss = loss.max(d);
            }
            _ => {}
        }
    }
    match win {
        Some(distance) => Outcome::Win(one_more(distance)),
        None if moves > 0 && moves == lost => Outcome::Loss(one_more(loss)),
        None => Outcome::Draw,
    }
}

/// Checks what a game says against itself: cells are what they are shown as, predecessors are successors turned round, and
/// moves lead to slices that are named as neighbours. For tests: it takes memory for every move.
///
/// # Errors
/// The first thing that does not hold, in words.
pub fn examine(table: &dyn Explicit) -> Result<(), String> {
    let shape = shape(table);
    let mut forward: BTreeMap<Cell, Vec<Cell>> = BTreeMap::new();
    let mut found = Vec::new();
    for cell in cells(table).filter(|&cell| table.legal(cell)) {
        let shown = table.show(cell);
        if table.parse(&shown) != Some(cell) {
            return Err(format!("{cell:?} is shown as {shown:?}, which is {:?}", table.parse(&shown)));
        }
        if table.end(cell).is_some() {
            continue;
        }
        found.clear();
        table.successors(cell, &mut found);
        for &to in found.iter().filter(|&&to| table.legal(to)) {
            let near = to.slice == cell.slice || shape.slices[cell.slice as usize].neighbours.contains(&to.slice);
            if !near || to.index >= shape.slices[to.slice as usize].cells {
                return Err(format!("{shown} leads to {to:?}, which is not near"));
            }
            if (table.players() == Players::Two) == (to.side == cell.side) {
                return Err(format!("{shown} leads to {}: the wrong side is to move there", table.show(to)));
            }
            forward.entry(to).or_default().push(cell);
        }
    }
    for cell in cells(table).filter(|&cell| table.legal(cell)) {
        found.clear();
        if !table.predecessors(cell, &mut found) {
            continue;
        }
        found.retain(|&from| table.legal(from) && table.end(from).is_none());
        found.sort_unstable();
        let mut expected = forward.remove(&cell).unwrap_or_default();
        expected.sort_unstable();
        if found != expected {
            return Err(format!("{} has the predecessors {found:?}, by successors {expected:?}", table.show(cell)));
        }
    }
    Ok(())
}
