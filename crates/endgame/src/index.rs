//! Which cell is which position.
//!
//! A position is a mixed-radix number: Red's fortress, Black's fortress, the attackers beside the
//! bit axis, the bit axis. Of mirror images only the one with Red's fortress canonical is kept.
//! A slice is one canonical red fortress and a block of black ones; a word is the rest but the bit axis.

use std::ops::Range;

use canju_retro::{Cell, GameError, Shape, Side, SliceShape, TableName};
use canju_xiangqi::{Color, Material, Piece, Position, Role, Square, role_mask};

use crate::attackers::{Attackers, Axis, IMPOSSIBLE};
use crate::fortress::Fortress;
use crate::geometry::{members, square};
use crate::word;

/// The version of the numbering; it stands in every manifest.
pub const INDEX_VERSION: u32 = 1;

/// One bitmap of a slice stays below this many words where black placements can be split.
const WORDS_A_SLICE: usize = 1 << 18;
/// Cells of one side to move that a run of slices, and so a shard, holds.
const CELLS_A_RUN: u64 = 24 << 20;
/// The most words of one slice: cells are numbered by 32 bits.
const MOST_WORDS: u64 = u32::MAX as u64 / 90;

/// The numbering of one endgame's positions.
#[derive(Clone, Debug)]
pub struct Index {
    material: Material,
    name: TableName,
    pub(crate) forts: [Fortress; 2],
    pub(crate) attackers: Attackers,
    /// Black placements in a slice; the last block of a red placement may have fewer. Even, so that mirror
    /// images stay in their block.
    block: usize,
    blocks: usize,
    /// The possible squares of the bit axis, ascending; the cells of a word.
    axis_squares: Vec<u8>,
    /// The number of each square among them, or `NO_ROW`.
    rows: [u8; 90],
    /// Which of the identical pieces is the bit axis: so many come before it.
    axis_after: usize,
    /// True where soldiers beside the bit axis may stand on one file.
    crowded: bool,
    /// Pieces of both sides, kings too.
    men: u32,
}

const NO_ROW: u8 = u8::MAX;

/// Where a slice stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Red's placement.
    pub first: usize,
    /// Black's placements.
    pub second: Range<usize>,
}

impl Index {
    /// The index of a material, with Red as its first side.
    ///
    /// # Errors
    /// [`GameError::TooLarge`], with what is exceeded.
    pub fn new(material: Material) -> Result<Self, GameError> {
        let name = TableName::new(&material.to_string())?;
        let too_large = |reason| GameError::TooLarge { table: name.clone(), reason };
        let attackers = Attackers::new(&material).map_err(too_large)?;
        let fort =
            |color| Fortress::new(color, material.count(color, Role::Advisor), material.count(color, Role::Elephant));
        let forts = [fort(Color::Red), fort(Color::Black)];
        let fits = (WORDS_A_SLICE / attackers.len()).max(2) & !1;
        let block = fits.min(forts[1].len());
        let blocks = forts[1].len().div_ceil(block);
        if block as u64 * attackers.len() as u64 > MOST_WORDS {
            return Err(too_large("a slice would have more than 2^32 cells".into()));
        }
        let axis_squares: Vec<u8> = members(attackers.cells).map(|s| s as u8).collect();
        let mut rows = [NO_ROW; 90];
        for (row, &s) in axis_squares.iter().enumerate() {
            // Without attackers the only cell has a square beyond the board.
            if let Some(place) = rows.get_mut(usize::from(s)) {
                *place = row as u8;
            }
        }
        let same = |axis: Axis| attackers.groups.iter().find(|g| g.color == axis.color && g.role == axis.role);
        let axis_after = attackers.axis.and_then(same).map_or(0, |g| g.count);
        let crowded = attackers.groups.iter().any(|g| g.role == Role::Soldier && g.count > 1);
        let men = material.men() as u32;
        Ok(Self { material, name, forts, attackers, block, blocks, axis_squares, rows, axis_after, crowded, men })
    }

    /// Makes sure that a material can be indexed, at no cost: the index itself may take much memory.
    ///
    /// # Errors
    /// [`GameError::TooLarge`], with what is exceeded.
    pub fn check(material: &Material) -> Result<(), GameError> {
        let table = TableName::new(&material.to_string())?;
        Attackers::price(material).map(drop).map_err(|reason| GameError::TooLarge { table, reason })
    }

    /// The material, Red first.
    #[must_use]
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// The table's name.
    #[must_use]
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Cells of a word: one for each square of the bit axis. Rows of finished tables have this length.
    #[must_use]
    pub fn row(&self) -> usize {
        self.axis_squares.len()
    }

    pub(crate) fn axis_squares(&self) -> &[u8] {
        &self.axis_squares
    }

    pub(crate) fn slices(&self) -> usize {
        self.forts[0].canonical_len() * self.blocks
    }

    pub(crate) fn place(&self, slice: usize) -> Place {
        // Slices are numbered by 32 bits, in which division is fast.
        let (number, blocks) = (slice as u32, self.blocks as u32);
        let first = self.forts[0].of_canonical((number / blocks) as usize);
        let start = (number % blocks) as usize * self.block;
        Place { first, second: start..(start + self.block).min(self.forts[1].len()) }
    }

    /// Which block of black placements a slice has.
    pub(crate) fn block_of(&self, slice: usize) -> usize {
        slice % self.blocks
    }

    pub(crate) fn words(&self, slice: usize) -> usize {
        self.place(slice).second.len() * self.attackers.len()
    }

    /// The slice of a canonical red placement and a black one, and the black one's number in it.
    pub(crate) fn slice_of(&self, canonical: usize, second: usize) -> (usize, usize) {
        (canonical * self.blocks + second / self.block, second % self.block)
    }

    /// How many positions of the full board a cell of this slice stands for, times the copies of the bit axis.
    pub(crate) fn weight(&self, slice: usize) -> u64 {
        if self.forts[0].is_symmetric(self.place(slice).first) { 1 } else { 2 }
    }

    /// All placements of the full board that a slice stands for, impossible ones too, identical pieces unordered.
    pub(crate) fn placements(&self, slice: usize) -> u64 {
        self.weight(slice) * self.place(slice).second.len() as u64 * self.attackers.combinations
    }

    /// The slices that read this one's frontiers with `side` to move, itself left out: those from which the other
    /// side's fortress moves into it.
    pub(crate) fn readers(&self, slice: usize, side: Side) -> Vec<u32> {
        let place = self.place(slice);
        let mut found = Vec::new();
        match side {
            Side::Second => {
                for edge in &self.forts[0].placements[place.first].edges {
                    let (canonical, _) = self.forts[0].canonical(usize::from(edge.to));
                    found.push((canonical * self.blocks + slice % self.blocks) as u32);
                }
            }
            Side::First => {
                for edge in place.second.clone().flat_map(|second| &self.forts[1].placements[second].edges) {
                    found.push((slice / self.blocks * self.blocks + usize::from(edge.to) / self.block) as u32);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&n| n != slice as u32);
        found
    }

    fn neighbours(&self, slice: usize) -> Vec<u32> {
        let mut both = self.readers(slice, Side::First);
        both.extend(self.readers(slice, Side::Second));
        both.sort_unstable();
        both.dedup();
        both
    }

    /// How the table is cut.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let slices: Vec<SliceShape> = (0..self.slices())
            .map(|s| SliceShape { cells: (self.words(s) * self.row()) as u32, neighbours: self.neighbours(s) })
            .collect();
        let mut runs = Vec::new();
        let (mut start, mut cells) = (0, 0);
        for (s, slice) in slices.iter().enumerate() {
            if cells > 0 && cells + u64::from(slice.cells) > CELLS_A_RUN {
                runs.push(start..s as u32);
                (start, cells) = (s as u32, 0);
            }
            cells += u64::from(slice.cells);
        }
        runs.push(start..slices.len() as u32);
        let words: usize = (0..self.slices()).map(|s| self.words(s)).sum();
        let forts = 2 * (self.forts[0].len() * self.forts[1].len()) as u64;
        let indexed = forts * (self.attackers.len() * self.row()) as u64;
        let (positions, row) = (forts * self.attackers.combinations, self.row() as u32);
        Shape { slices, runs, row, positions, indexed, set_bytes: words as u64 * 4 * 16 }
    }

    /// The cell of a position whose material is this index's, Red first.
    ///
    /// `None` where the material is another one, or two own uncrossed soldiers stand on one file.
    #[must_use]
    pub fn cell(&self, position: &Position) -> Option<Cell> {
        self.cell_seen(position, false)
    }

    /// The same of a position that is `swapped`: the index's first side is Black in it.
    #[must_use]
    pub fn cell_seen(&self, position: &Position, swapped: bool) -> Option<Cell> {
        self.placed(position, swapped).map(|(cell, _)| cell)
    }

    /// The same, and whether the cell is the position's mirror image.
    pub(crate) fn placed(&self, position: &Position, swapped: bool) -> Option<(Cell, bool)> {
        let color = |own: Color| if swapped { own.opposite() } else { own };
        let seen = |s: Square| if swapped { s.flip() } else { s };
        if position.occupied().count_ones() != self.men {
            return None;
        }
        let fort = |fort: &Fortress| {
            let squares = |role| position.squares_of(color(fort.color), role).map(seen);
            fort.placed(squares(Role::King).next()?, squares(Role::Advisor), squares(Role::Elephant))
        };
        let (first, mut second) = (fort(&self.forts[0])?, fort(&self.forts[1])?);
        let (first, mirrored) = self.forts[0].canonical(first);
        if mirrored {
            second = self.forts[1].mirror(second);
        }
        let turn = |s: Square| {
            let s = seen(s).index() as u8;
            if mirrored { word::mirror_square(s) } else { s }
        };
        let mut config = 0;
        for group in &self.attackers.groups {
            let mut squares = [0; 3];
            let squares = squares.get_mut(..group.count)?;
            // Where one of the identical pieces is the bit axis, it is the last one.
            let mut own = position.squares_of(color(group.color), group.role);
            for square in &mut *squares {
                *square = turn(own.next()?);
            }
            config += group.digit(squares)? * group.stride;
        }
        let config = config as usize;
        let mut row = 0;
        let mut bit = self.attackers.cells.trailing_zeros() as u8;
        if let Some(axis) = self.attackers.axis {
            let mut own = position.squares_of(color(axis.color), axis.role);
            bit = turn(own.nth(self.axis_after)?);
            row = self.rows[usize::from(bit)];
        }
        // Pieces on a board share no square: only soldiers on one file are left to be impossible.
        if row == NO_ROW
            || self.crowded && self.attackers.occupied[config] == IMPOSSIBLE
            || self.attackers.doubled(config) >> bit & 1 != 0
        {
            return None;
        }
        let (slice, at) = if self.blocks == 1 { (first, second) } else { self.slice_of(first, second) };
        let side = if position.turn() == color(Color::Red) { Side::First } else { Side::Second };
        let index = (at * self.attackers.len() + config) * self.row() + usize::from(row);
        Some((Cell { slice: slice as u32, index: index as u32, side }, mirrored))
    }

    /// The pieces of a cell, put on `board` (which is cleared first). Returns false, with the board in any state,
    /// where pieces share a square, two own uncrossed soldiers a file, or the cell does not exist.
    pub fn set_up(&self, cell: Cell, board: &mut Position) -> bool {
        board.clear();
        board.set_turn(if cell.side == Side::First { Color::Red } else { Color::Black });
        let slice = cell.slice as usize;
        if slice >= self.slices() {
            return false;
        }
        let place = self.place(slice);
        let (word, row) = (cell.index as usize / self.row(), cell.index as usize % self.row());
        let (at, config) = (word / self.attackers.len(), word % self.attackers.len());
        if at >= place.second.len() {
            return false;
        }
        let bit = self.axis_squares[row];
        if self.attackers.occupied[config] == IMPOSSIBLE || self.attackers.doubled(config) >> bit & 1 != 0 {
            return false;
        }
        let mut put = |color, role, s: usize| board.place(Piece::new(color, role), square(s)).is_ok();
        for (fort, placement) in self.forts.iter().zip([place.first, place.second.start + at]) {
            let p = &fort.placements[placement];
            let whole = put(fort.color, Role::King, usize::from(p.king))
                && members(p.advisors).all(|s| put(fort.color, Role::Advisor, s))
                && members(p.elephants).all(|s| put(fort.color, Role::Elephant, s));
            if !whole {
                return false;
            }
        }
        let men = self.attackers.men.iter();
        men.map(|m| (m.color, m.role, self.attackers.squares[config][m.at])).all(|(c, r, s)| put(c, r, usize::from(s)))
            && self.attackers.axis.is_none_or(|a| put(a.color, a.role, usize::from(bit)))
    }

    /// The word's possible cells: no piece on another, no own uncrossed soldiers on one file.
    pub(crate) fn possible(&self, fixed: u128, config: usize) -> u128 {
        self.attackers.cells & !fixed & !self.attackers.doubled(config)
    }

    /// The cells of a row, as the row's numbering has them, from bits by square.
    pub(crate) fn row_bits(&self, w: u128) -> u128 {
        compact(w, self.attackers.cells)
    }
}

/// Gathers the bits of `w` that `cells` selects into the lowest ones.
pub(crate) fn compact(w: u128, cells: u128) -> u128 {
    match cells {
        word::BOARD => w,
        RED_SOLDIER => compact_bits(w, cells & HOME_OF_RED) | w >> 45 << 10,
        BLACK_SOLDIER => w & word::ranks(0, 5) | compact_bits(w >> 45, cells >> 45) << 45,
        _ => compact_bits(w, cells),
    }
}

const RED_SOLDIER: u128 = role_mask(Color::Red, Role::Soldier);
const BLACK_SOLDIER: u128 = role_mask(Color::Black, Role::Soldier);
const HOME_OF_RED: u128 = word::ranks(0, 5);

fn compact_bits(w: u128, cells: u128) -> u128 {
    if w & cells == 0 {
        return 0;
    }
    members(cells).enumerate().fold(0, |row, (i, s)| row | (w >> s & 1) << i)
}

/// The endgame of a position: its table's material with the stronger side as Red, and the position so turned.
#[must_use]
pub fn normalize(position: &Position) -> (Material, Position) {
    let (material, swapped) = Material::of(position).canonical();
    (material, if swapped { position.flip() } else { *position })
}

/// The material of a table, or `None` where the name is no canonical endgame.
#[must_use]
pub fn material_of(table: &TableName) -> Option<Material> {
    table.as_str().parse().ok().filter(Material::is_canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_again() {
        for color in Color::ALL {
            let cells = role_mask(color, Role::Soldier);
            for w in [u128::MAX, 0x1234_5678_9abc_def0_0fed_cba9_8765_4321, 1 << 27, 1 << 62] {
                let w = w & cells;
                assert_eq!(compact(w, cells), compact_bits(w, cells));
            }
        }
        for name in ["KCKA", "KPPK", "KPPKP", "KRRKC", "KABKAB", "KAKAABB"] {
            let index = Index::new(name.parse().unwrap()).unwrap();
            let mut board = Position::empty(Color::Red);
            let mut seen = 0u64;
            for slice in (0..index.slices()).step_by(3) {
                let cells = (index.words(slice) * index.row()) as u32;
                for number in (0..cells).step_by(7) {
                    let cell = Cell { slice: slice as u32, index: number, side: Side::Second };
                    if !index.set_up(cell, &mut board) {
                        continue;
                    }
                    seen += 1;
                    let again = index.cell(&board).unwrap();
                    let mut same = Position::empty(Color::Red);
                    assert!(index.set_up(again, &mut same), "{name}");
                    assert_eq!(same.to_fen(), board.to_fen(), "{name}");
                    assert_eq!(index.cell_seen(&board.flip(), true), Some(again), "{name}");
                    let mirrored = index.cell(&board.mirror()).unwrap();
                    assert!(index.set_up(mirrored, &mut same));
                    let fens = [board.to_fen(), board.mirror().to_fen()];
                    assert!(fens.contains(&same.to_fen()), "{name}");
                    if index.attackers.copies == 1 {
                        assert_eq!(again, cell, "{name}");
                    }
                }
            }
            assert!(seen > 100, "{name}: {seen}");
        }
    }

    #[test]
    fn positions_are_those_that_slices_stand_for() {
        for (name, copies) in [("KABCPKAABB", 1), ("KRKPP", 1), ("KPPK", 2), ("KCCKB", 2), ("KPPPK", 3), ("KPPKPP", 2)]
        {
            let index = Index::new(name.parse().unwrap()).unwrap();
            let shape = index.shape();
            let positions = (0..index.slices()).map(|slice| 2 * index.placements(slice)).sum::<u64>();
            assert_eq!((shape.positions, index.attackers.copies), (positions, copies), "{name}");
            // The index has impossible placements besides.
            assert!((shape.indexed > copies * shape.positions) == (copies > 1), "{name}: {}", shape.indexed);
        }
    }

    #[test]
    fn neighbours_are_mutual() {
        for name in ["KRKAABB", "KABCPKAABB", "KPPKPP"] {
            let shape = Index::new(name.parse().unwrap()).unwrap().shape();
            for (s, slice) in shape.slices.iter().enumerate() {
                for &n in &slice.neighbours {
                    assert!(shape.slices[n as usize].neighbours.contains(&(s as u32)), "{name} {s} {n}");
                }
            }
            assert_eq!(shape.runs.last().unwrap().end as usize, shape.slices.len());
        }
    }
}
