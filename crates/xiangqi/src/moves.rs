use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use crate::{Square, SquareError};

/// A move: where the piece stands and where it goes. What it captures, if anything, is for the
/// position to say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    /// The square that the piece leaves.
    pub from: Square,
    /// The square that it goes to.
    pub to: Square,
}

impl Move {
    /// A move from its two squares.
    #[must_use]
    pub const fn new(from: Square, to: Square) -> Move {
        Move { from, to }
    }

    /// The move on the board mirrored left to right.
    #[must_use]
    pub const fn mirror(self) -> Move {
        Move::new(self.from.mirror(), self.to.mirror())
    }

    /// The move on the board seen from the other side.
    #[must_use]
    pub const fn flip(self) -> Move {
        Move::new(self.from.flip(), self.to.flip())
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from, self.to)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Move {
    type Err = SquareError;

    /// Reads `h2e2`, also `H2-E2`. Whether the move is legal is for a position to say.
    fn from_str(text: &str) -> Result<Move, SquareError> {
        let unread = || SquareError(text.to_owned());
        let from = text.get(..2).ok_or_else(unread)?;
        let to = text.get(2..).ok_or_else(unread)?;
        let to = to.strip_prefix('-').unwrap_or(to);
        Ok(Move::new(from.parse()?, to.parse()?))
    }
}

/// The moves of a position, held on the stack.
#[derive(Clone)]
pub struct MoveList {
    moves: [Move; MoveList::CAPACITY],
    len: usize,
}

impl MoveList {
    /// No position has more moves: the full army has at most 34 by chariots, 34 by cannons, 16 by
    /// horses, 15 by soldiers, 8 by elephants, 8 by advisors and 4 by the king.
    pub const CAPACITY: usize = 128;

    pub(crate) const fn new() -> MoveList {
        MoveList { moves: [Move::new(Square::known(0), Square::known(0)); MoveList::CAPACITY], len: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, chosen: Move) {
        self.moves[self.len] = chosen;
        self.len += 1;
    }
}

impl Deref for MoveList {
    type Target = [Move];

    fn deref(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

impl fmt::Debug for MoveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for &'a MoveList {
    type Item = &'a Move;
    type IntoIter = std::slice::Iter<'a, Move>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for MoveList {
    type Item = Move;
    type IntoIter = std::iter::Take<std::array::IntoIter<Move, { MoveList::CAPACITY }>>;

    fn into_iter(self) -> Self::IntoIter {
        self.moves.into_iter().take(self.len)
    }
}
