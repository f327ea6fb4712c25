//! A maze of squares.

use canju_retro::{Cell, End, Explicit, Players, Side, SliceShape};

/// Most squares of a maze.
pub(crate) const MOST_SQUARES: usize = 1 << 26;

/// A maze of squares: from one to the next up, down, left or right is a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maze {
    width: u32,
    height: u32,
    /// True where there is no wall, by rows.
    open: Vec<bool>,
    entrance: u32,
    exit: u32,
    /// Rows of a slice.
    rows: u32,
}

impl Maze {
    /// A maze of a rectangle of squares. The caller has seen to it that the numbers fit.
    pub(crate) fn new(width: u32, open: Vec<bool>, entrance: u32, exit: u32) -> Self {
        let squares = open.len() as u32;
        let rows = (crate::puzzle_slice(squares) / width.max(1)).max(1);
        Self { width, height: squares / width.max(1), open, entrance, exit, rows }
    }

    /// Squares from left to right.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Squares from top to bottom.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// True where there is no wall. Rows and columns are counted from 0.
    #[must_use]
    pub fn is_open(&self, row: u32, column: u32) -> bool {
        column < self.width && self.open.get((row * self.width + column) as usize).copied().unwrap_or(false)
    }

    /// The row and the column of a cell, counted from 0.
    #[must_use]
    pub fn square(&self, cell: Cell) -> (u32, u32) {
        let id = self.id(cell);
        (id / self.width.max(1), id % self.width.max(1))
    }

    /// The cell of a square.
    #[must_use]
    pub fn cell(&self, row: u32, column: u32) -> Option<Cell> {
        (row < self.height && column < self.width).then(|| self.place(row * self.width + column))
    }

    /// Where the way begins.
    #[must_use]
    pub fn entrance(&self) -> Cell {
        self.place(self.entrance)
    }

    /// Where it ends.
    #[must_use]
    pub fn exit(&self) -> Cell {
        self.place(self.exit)
    }

    pub(crate) fn number(&self, cell: Cell) -> u64 {
        u64::from(self.id(cell)) + 1
    }

    fn id(&self, cell: Cell) -> u32 {
        cell.slice * self.rows * self.width + cell.index
    }

    fn place(&self, id: u32) -> Cell {
        let slice = self.rows * self.width;
        Cell { slice: id / slice.max(1), index: id % slice.max(1), side: Side::First }
    }
}

impl Explicit for Maze {
    fn players(&self) -> Players {
        Players::One
    }

    fn slices(&self) -> Vec<SliceShape> {
        let slices = self.height.div_ceil(self.rows);
        let of = |slice: u32| SliceShape {
            cells: self.rows.min(self.height - slice * self.rows) * self.width,
            neighbours: if slice + 1 < slices { vec![slice + 1] } else { Vec::new() },
        };
        (0..slices).map(of).collect()
    }

    fn legal(&self, cell: Cell) -> bool {
        self.open.get(self.id(cell) as usize).copied().unwrap_or(false)
    }

    fn end(&self, cell: Cell) -> Option<End> {
        (self.id(cell) == self.exit).then_some(End::Won)
    }

    fn successors(&self, cell: Cell, found: &mut Vec<Cell>) {
        let (row, column) = self.square(cell);
        let up = row.checked_sub(1).map(|row| (row, column));
        let left = column.checked_sub(1).map(|column| (row, column));
        for (row, column) in [up, left, Some((row, column + 1)), Some((row + 1, column))].into_iter().flatten() {
            found.extend(self.cell(row, column));
        }
    }

    fn predecessors(&self, cell: Cell, found: &mut Vec<Cell>) -> bool {
        self.successors(cell, found);
        true
    }

    fn show(&self, cell: Cell) -> String {
        let (row, column) = self.square(cell);
        format!("{},{}", row + 1, column + 1)
    }

    fn parse(&self, text: &str) -> Option<Cell> {
        let (row, column) = text.split_once(',')?;
        let number = |text: &str| text.trim().parse::<u32>().ok()?.checked_sub(1);
        self.cell(number(row)?, number(column)?)
    }
}
