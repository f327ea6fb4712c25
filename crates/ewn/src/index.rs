//! Which cell of which table a position is.
//!
//! A stone's digit is how far it is [`ahead`](Square::ahead) of it, less one: 0 to 23, and a move always lowers it. The
//! digits of all stones, the first side's before the second's, make the number of a position. Of two transposed
//! positions one is kept: that whose first stone, the *anchor*, has at least as many rows as columns to go; its digit
//! counts those 14 squares only. The first half of the digits is the slice, the rest the cell in it, so that a
//! quiet move leads to a smaller slice, or to a smaller cell of the same one.

use canju_retro::{Cell, Side};

use crate::signature::{Canonical, canonical};
use crate::{Color, Position, Signature, Square};

/// Squares of a stone that has not arrived.
pub(crate) const DIGITS: u32 = 24;
/// Those of them that an anchor can have.
pub(crate) const ANCHORS: u32 = 14;

/// The anchor's digit for each number ahead, or `None` where the position is kept transposed.
const ANCHOR: [Option<u8>; 25] = {
    let mut digits = [None; 25];
    let mut next = 0;
    let mut ahead = 1;
    while ahead < 25 {
        if ahead / 5 >= ahead % 5 {
            digits[ahead] = Some(next);
            next += 1;
        }
        ahead += 1;
    }
    digits
};

/// The number ahead of each digit of an anchor.
pub(crate) const ANCHOR_AHEAD: [u8; ANCHORS as usize] = {
    let mut ahead = [0; ANCHORS as usize];
    let mut from = 1;
    while from < 25 {
        if let Some(digit) = ANCHOR[from] {
            ahead[digit as usize] = from as u8;
        }
        from += 1;
    }
    ahead
};

/// The anchor's digit, or `None` where all must be transposed first.
pub(crate) const fn anchor(ahead: u8) -> Option<u8> {
    ANCHOR[ahead as usize]
}

/// What is ahead when rows and columns are exchanged.
pub(crate) const fn transposed(ahead: u8) -> u8 {
    ahead % 5 * 5 + ahead / 5
}

/// The cells of one signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    signature: Signature,
    count: usize,
    leads: usize,
}

impl Index {
    /// The index of a signature.
    #[must_use]
    pub fn new(signature: Signature) -> Index {
        let count = signature.count();
        Index { signature, count, leads: count / 2 }
    }

    /// Whose cells these are.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// Stones whose digits are the slice.
    pub(crate) fn leads(&self) -> usize {
        self.leads
    }

    /// How many slices there are.
    #[must_use]
    pub fn slices(&self) -> u32 {
        ANCHORS * DIGITS.pow(self.leads as u32 - 1)
    }

    /// Cells of a slice for each side to move.
    #[must_use]
    pub fn cells(&self) -> u32 {
        DIGITS.pow((self.count - self.leads) as u32)
    }

    /// How far each leading stone of a slice is from its goal, as [`Square::ahead`].
    pub(crate) fn leading(&self, slice: u32) -> Vec<u8> {
        let mut rest = slice;
        let mut ahead = vec![0; self.leads];
        for place in ahead[1..].iter_mut().rev() {
            *place = (rest % DIGITS) as u8 + 1;
            rest /= DIGITS;
        }
        ahead[0] = ANCHOR_AHEAD[rest as usize];
        ahead
    }

    /// The slice of leading stones, and whether all stones must be transposed to be in it.
    pub(crate) fn slice(&self, leading: &[u8]) -> (u32, bool) {
        let (digit, turn) = match anchor(leading[0]) {
            Some(digit) => (digit, false),
            None => (anchor(transposed(leading[0])).unwrap_or(0), true),
        };
        let place = |slice: u32, &ahead: &u8| {
            let ahead = if turn { transposed(ahead) } else { ahead };
            slice * DIGITS + u32::from(ahead) - 1
        };
        (leading[1..].iter().fold(u32::from(digit), place), turn)
    }

    /// The distances of a slice's leading stones in all: a move lowers that or leaves the slice as it is.
    #[must_use]
    pub fn layer(&self, slice: u32) -> u32 {
        self.leading(slice).iter().map(|&ahead| u32::from(ahead / 5 + ahead % 5)).sum()
    }

    /// True where the anchor has as many rows to go as columns: its transposed image is in the slice as well.
    pub(crate) fn on_diagonal(&self, slice: u32) -> bool {
        self.leading(slice).first().is_some_and(|&ahead| transposed(ahead) == ahead)
    }

    /// The largest [`layer`](Index::layer).
    #[must_use]
    pub fn last_layer(&self) -> u32 {
        8 * self.leads as u32
    }

    /// Which table and cell a position is, or `None` where the game is over.
    #[must_use]
    pub fn find(position: &Position) -> Option<(Index, Cell)> {
        if position.winner().is_some() {
            return None;
        }
        let Canonical { signature, swapped, order } = canonical(Color::BOTH.map(|color| position.stones(color)));
        let index = Index::new(signature);
        let mut ahead = Vec::with_capacity(order.len());
        for (side, number) in order {
            let color = Color::BOTH[side];
            ahead.push(position.square(color, number)?.ahead(color));
        }
        let (slice, turn) = index.slice(&ahead[..index.leads]);
        let place = |cell: u32, &ahead: &u8| {
            let ahead = if turn { transposed(ahead) } else { ahead };
            cell * DIGITS + u32::from(ahead) - 1
        };
        let cell = ahead[index.leads..].iter().fold(0, place);
        let side = if (position.to_move() == Color::Blue) == swapped { Side::First } else { Side::Second };
        Some((index, Cell { slice, index: cell, side }))
    }

    /// The position of a cell, Red being the first side; `None` where two stones share a square, or the table has no such cell.
    #[must_use]
    pub fn position(&self, cell: Cell) -> Option<Position> {
        if cell.slice >= self.slices() || cell.index >= self.cells() {
            return None;
        }
        let mut ahead = self.leading(cell.slice);
        ahead.resize(self.count, 0);
        let mut rest = cell.index;
        for place in ahead[self.leads..].iter_mut().rev() {
            *place = (rest % DIGITS) as u8 + 1;
            rest /= DIGITS;
        }
        let stones = Side::BOTH.into_iter().zip(Color::BOTH);
        let stones = stones.flat_map(|(side, color)| self.signature.stones(side).numbers().map(move |n| (color, n)));
        let placed = stones.zip(ahead).map(|((color, n), ahead)| (color, n, Square::from_ahead(ahead, color)));
        Position::new(placed, Color::BOTH[cell.side.index()]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cell of small tables is found again from its position and from all images of it.
    #[test]
    fn cells_and_positions() {
        for name in ["EWN1B1", "EWN13B1", "EWN16B1"] {
            let index = Index::new(name.parse().unwrap());
            let mut empty = 0;
            for slice in 0..index.slices() {
                for (cell, side) in (0..index.cells()).flat_map(|cell| Side::BOTH.map(|side| (cell, side))) {
                    let cell = Cell { slice, index: cell, side };
                    let Some(position) = index.position(cell) else {
                        empty += 1;
                        continue;
                    };
                    // Where the anchor is on its diagonal, two cells are the same position transposed.
                    let straight = Index::find(&position).unwrap();
                    assert_eq!(straight, (index, cell));
                    let turned = Index::find(&position.turned()).unwrap();
                    if index.signature().is_symmetric() {
                        let other = index.position(turned.1).unwrap();
                        assert!([position.turned(), position.turned().transposed()].contains(&other));
                    } else {
                        assert_eq!(turned, (index, cell));
                    }
                    for image in [position.renumbered(Color::Red), position.renumbered(Color::Blue)] {
                        let (at, found) = Index::find(&image).unwrap();
                        assert_eq!(at, index);
                        assert!(name == "EWN16B1" || found == cell);
                    }
                }
            }
            // One square of 25 is shared in one against one: 23 of 24 * 24, of which 14 * 24 are kept.
            assert!(name != "EWN1B1" || empty == 2 * 13, "{empty}");
        }
    }

    #[test]
    fn quiet_moves_go_down() {
        let index = Index::new("EWN13B12".parse().unwrap());
        assert_eq!((index.slices(), index.cells(), index.last_layer()), (336, 576, 16));
        for slice in 0..index.slices() {
            let leading = index.leading(slice);
            assert_eq!(index.slice(&leading), (slice, false));
            for lead in 0..leading.len() {
                for step in crate::square::steps(leading[lead]) {
                    let mut next = leading.clone();
                    next[lead] -= step;
                    if next[lead] != 0 {
                        let (to, _) = index.slice(&next);
                        assert!(index.layer(to) < index.layer(slice));
                    }
                }
            }
        }
    }
}
