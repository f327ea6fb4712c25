//! A maze of regions that are no squares.

use canju_retro::{Cell, End, Explicit, Players, Side, SliceShape};

/// Most cells of a maze of regions, those within passages counted.
pub(crate) const MOST_CELLS: u64 = 1 << 24;

/// A maze of regions and the passages between them. A passage that is longer than one has cells of its own, so that steps
/// are lengths.
#[derive(Clone, Debug)]
pub struct Regions {
    names: Vec<String>,
    passages: Vec<Passage>,
    /// Of each region its passages, and whether it stands at their first end.
    at: Vec<Vec<(u32, bool)>>,
    entrance: u32,
    exit: u32,
    /// True where some passage has a length of its own.
    measured: bool,
    cells: u32,
    slice: u32,
}

/// A way between two regions.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) ends: [u32; 2],
    pub(crate) length: u32,
    /// The number of its first cell, from the first end on; it has one cell less than its length.
    first: u32,
}

impl Passage {
    pub(crate) fn new(ends: [u32; 2], length: u32) -> Self {
        Self { ends, length, first: 0 }
    }
}

impl Regions {
    /// The maze of some passages. The caller has seen to it that the numbers fit.
    pub(crate) fn new(
        names: Vec<String>,
        mut passages: Vec<Passage>,
        entrance: u32,
        exit: u32,
        measured: bool,
    ) -> Self {
        let mut at = vec![Vec::new(); names.len()];
        let mut cells = names.len() as u32;
        for (number, passage) in passages.iter_mut().enumerate() {
            passage.first = cells;
            cells += passage.length - 1;
            at[passage.ends[0] as usize].push((number as u32, true));
            at[passage.ends[1] as usize].push((number as u32, false));
        }
        Self { slice: crate::puzzle_slice(cells), names, passages, at, entrance, exit, measured, cells }
    }

    /// How many regions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True where there is no region.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// True where passages have lengths: then steps are lengths, else they are regions.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.measured
    }

    /// The name of a region, `None` for a cell within a passage.
    #[must_use]
    pub fn name(&self, cell: Cell) -> Option<&str> {
        self.names.get(self.id(cell) as usize).map(String::as_str)
    }

    /// The passages: the two regions, by number from 0, and the length.
    pub fn passages(&self) -> impl Iterator<Item = ([usize; 2], u32)> {
        self.passages.iter().map(|p| (p.ends.map(|end| end as usize), p.length))
    }

    /// The cell of a region by its number from 0.
    #[must_use]
    pub fn cell(&self, region: usize) -> Cell {
        self.place(region as u32)
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
        cell.slice * self.slice + cell.index
    }

    fn place(&self, id: u32) -> Cell {
        Cell { slice: id / self.slice, index: id % self.slice, side: Side::First }
    }

    /// The passage of a cell within one, and how far the cell is from the first end.
    fn within(&self, id: u32) -> Option<(&Passage, u32)> {
        // Passages without cells share their number with the next one that has some: the last of them is that.
        let at = self.passages.partition_point(|p| p.first <= id).checked_sub(1)?;
        Some((&self.passages[at], id - self.passages[at].first + 1)).filter(|_| id as usize >= self.names.len())
    }

    /// The cell of a passage that is so far from the first end.
    fn along(passage: &Passage, from_first: u32) -> u32 {
        match from_first {
            0 => passage.ends[0],
            far if far == passage.length => passage.ends[1],
            far => passage.first + far - 1,
        }
    }

    fn near(&self, id: u32) -> Vec<u32> {
        if let Some((passage, far)) = self.within(id) {
            return vec![Self::along(passage, far - 1), Self::along(passage, far + 1)];
        }
        let next = |&(passage, first): &(u32, bool)| {
            let passage = &self.passages[passage as usize];
            Self::along(passage, if first { 1 } else { passage.length - 1 })
        };
        self.at.get(id as usize).map(|passages| passages.iter().map(next).collect()).unwrap_or_default()
    }
}

impl Explicit for Regions {
    fn players(&self) -> Players {
        Players::One
    }

    fn slices(&self) -> Vec<SliceShape> {
        let mut slices: Vec<SliceShape> = (0..self.cells.div_ceil(self.slice))
            .map(|s| SliceShape { cells: self.slice.min(self.cells - s * self.slice), neighbours: Vec::new() })
            .collect();
        for id in 0..self.cells {
            let from = id / self.slice;
            let neighbours = &mut slices[from as usize].neighbours;
            for to in self.near(id).into_iter().map(|to| to / self.slice) {
                if to != from && !neighbours.contains(&to) {
                    neighbours.push(to);
                }
            }
        }
        slices
    }

    fn legal(&self, cell: Cell) -> bool {
        self.id(cell) < self.cells
    }

    fn end(&self, cell: Cell) -> Option<End> {
        (self.id(cell) == self.exit).then_some(End::Won)
    }

    fn successors(&self, cell: Cell, found: &mut Vec<Cell>) {
        found.extend(self.near(self.id(cell)).into_iter().map(|id| self.place(id)));
    }

    fn predecessors(&self, cell: Cell, found: &mut Vec<Cell>) -> bool {
        self.successors(cell, found);
        true
    }

    fn show(&self, cell: Cell) -> String {
        let name = |end: u32| self.names.get(end as usize).cloned().unwrap_or_default();
        match self.within(self.id(cell)) {
            None => name(self.id(cell)),
            Some((passage, far)) => format!("{}>{}>{far}", name(passage.ends[0]), name(passage.ends[1])),
        }
    }

    fn parse(&self, text: &str) -> Option<Cell> {
        let region = |name: &str| self.names.iter().position(|n| n == name.trim()).map(|n| n as u32);
        let mut words = text.split('>');
        let first = region(words.next()?)?;
        let Some(second) = words.next() else { return Some(self.place(first)) };
        let (second, far) = (region(second)?, words.next()?.trim().parse::<u32>().ok()?);
        let passage = self.passages.iter().find(|p| p.ends == [first, second])?;
        (1..passage.length).contains(&far).then(|| self.place(Self::along(passage, far)))
    }
}
