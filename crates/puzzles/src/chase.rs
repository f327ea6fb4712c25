//! Cat and mouse.

use canju_retro::{Cell, End, Explicit, Players, Side, SliceShape};

/// Most nodes.
pub(crate) const MOST_NODES: usize = 4096;

/// Most moves of all positions together, either side's.
pub(crate) const MOST_MOVES: u64 = 1 << 30;

/// What holds on the nodes that protect the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanctuary {
    /// The cat may not enter.
    Closed,
    /// Both may stand there, and nothing happens.
    Shared,
}

/// A cat that catches a mouse, or not: they move in turn along edges and must move. The cat is the first side. The mouse
/// cannot win: it draws.
///
/// Positions are listed with the cat to move first, then by the cat's node, then by the mouse's.
#[derive(Clone, Debug)]
pub struct Chase {
    nodes: Vec<String>,
    next: Vec<Vec<u32>>,
    sanctuary: Vec<bool>,
    rule: Sanctuary,
    start: Cell,
}

impl Chase {
    /// The game. The caller has seen to it that numbers are nodes.
    pub(crate) fn new(
        nodes: Vec<String>,
        next: Vec<Vec<u32>>,
        sanctuary: Vec<bool>,
        rule: Sanctuary,
        start: (u32, u32, Side),
    ) -> Self {
        let (cat, mouse, side) = start;
        Self { nodes, next, sanctuary, rule, start: Cell { slice: cat, index: mouse, side } }
    }

    /// The names of the nodes, by number from 0.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The edges, by numbers, the smaller one first.
    pub fn edges(&self) -> impl Iterator<Item = [usize; 2]> {
        let from = self.next.iter().enumerate();
        from.flat_map(|(a, next)| next.iter().map(move |&b| [a, b as usize])).filter(|[a, b]| a < b)
    }

    /// True for a node that protects the mouse.
    #[must_use]
    pub fn protects(&self, node: usize) -> bool {
        self.sanctuary.get(node).copied().unwrap_or(false)
    }

    /// The position that play begins with.
    #[must_use]
    pub fn start(&self) -> Cell {
        self.start
    }

    pub(crate) fn number(&self, cell: Cell) -> u64 {
        let nodes = self.nodes.len() as u64;
        (cell.side.index() as u64 * nodes + u64::from(cell.slice)) * nodes + u64::from(cell.index) + 1
    }

    /// The nodes of cat and mouse, by number from 0.
    #[must_use]
    pub fn places(&self, cell: Cell) -> [usize; 2] {
        [cell.slice as usize, cell.index as usize]
    }

    fn around(&self, cell: Cell, cat_moves: bool, found: &mut Vec<Cell>) {
        let moving = if cat_moves { cell.slice } else { cell.index };
        let side = cell.side.other();
        for &node in self.next.get(moving as usize).into_iter().flatten() {
            found.push(if cat_moves { Cell { slice: node, side, ..cell } } else { Cell { index: node, side, ..cell } });
        }
    }
}

impl Explicit for Chase {
    fn players(&self) -> Players {
        Players::Two
    }

    fn slices(&self) -> Vec<SliceShape> {
        self.next.iter().map(|next| SliceShape { cells: self.nodes.len() as u32, neighbours: next.clone() }).collect()
    }

    fn legal(&self, cell: Cell) -> bool {
        let [cat, mouse] = self.places(cell);
        let exist = cat < self.nodes.len() && mouse < self.nodes.len();
        exist && !(self.rule == Sanctuary::Closed && self.protects(cat))
    }

    fn end(&self, cell: Cell) -> Option<End> {
        let [cat, mouse] = self.places(cell);
        let caught = cat == mouse && !self.protects(cat);
        caught.then_some(if cell.side == Side::First { End::Won } else { End::Lost })
    }

    fn successors(&self, cell: Cell, found: &mut Vec<Cell>) {
        self.around(cell, cell.side == Side::First, found);
    }

    fn predecessors(&self, cell: Cell, found: &mut Vec<Cell>) -> bool {
        self.around(cell, cell.side == Side::Second, found);
        true
    }

    fn show(&self, cell: Cell) -> String {
        let name = |node: u32| self.nodes.get(node as usize).map_or("", String::as_str);
        let mover = if cell.side == Side::First { "cat" } else { "mouse" };
        format!("{}-{}-{mover}", name(cell.slice), name(cell.index))
    }

    fn parse(&self, text: &str) -> Option<Cell> {
        let mut words = text.split('-').map(str::trim);
        let mut node = || {
            let name = words.next()?;
            self.nodes.iter().position(|n| n == name).map(|n| n as u32)
        };
        let (slice, index) = (node()?, node()?);
        let side = match words.next()? {
            "cat" => Side::First,
            "mouse" => Side::Second,
            _ => return None,
        };
        words.next().is_none().then_some(Cell { slice, index, side })
    }
}
