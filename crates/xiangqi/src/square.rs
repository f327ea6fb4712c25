use std::fmt;
use std::str::FromStr;

/// One of the 90 points of the board, numbered `9 * rank + file`.
///
/// Rank 0 is Red's home rank and file 0 is the file `a`, at Red's left hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The number of squares.
    pub const COUNT: usize = 90;
    /// The number of files.
    pub const FILES: u8 = 9;
    /// The number of ranks.
    pub const RANKS: u8 = 10;

    /// The square with this number, if it is below 90.
    #[must_use]
    pub const fn new(index: u8) -> Option<Square> {
        if index < 90 { Some(Square(index)) } else { None }
    }

    /// For numbers that the crate's own tables and lists hold, which are always squares.
    pub(crate) const fn known(index: u8) -> Square {
        debug_assert!(index < 90);
        Square(index)
    }

    /// The square on a file (0 to 8) and a rank (0 to 9).
    ///
    /// # Panics
    ///
    /// If the file or the rank is off the board.
    #[must_use]
    pub const fn at(file: u8, rank: u8) -> Square {
        assert!(file < 9 && rank < 10, "file or rank off the board");
        Square(9 * rank + file)
    }

    /// The number of the square, 0 to 89.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The file, 0 to 8.
    #[must_use]
    pub const fn file(self) -> u8 {
        self.0 % 9
    }

    /// The rank, 0 to 9.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.0 / 9
    }

    /// The square as a set of one: bit [`index`](Square::index).
    #[must_use]
    pub const fn bit(self) -> u128 {
        1 << self.0
    }

    /// The same rank on the other wing.
    #[must_use]
    pub const fn mirror(self) -> Square {
        Square(9 * self.rank() + (8 - self.file()))
    }

    /// The same file seen from the other side of the river.
    #[must_use]
    pub const fn flip(self) -> Square {
        Square(9 * (9 - self.rank()) + self.file())
    }

    /// All squares in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..90).map(Square)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'a' + self.file()) as char, self.rank())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that names no square.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a square: give a file a to i and a rank 0 to 9, such as h2")]
pub struct SquareError(pub(crate) String);

impl FromStr for Square {
    type Err = SquareError;

    fn from_str(text: &str) -> Result<Square, SquareError> {
        match text.as_bytes() {
            [file, rank @ b'0'..=b'9'] if matches!(file.to_ascii_lowercase(), b'a'..=b'i') => {
                Ok(Square::at(file.to_ascii_lowercase() - b'a', rank - b'0'))
            }
            _ => Err(SquareError(text.to_owned())),
        }
    }
}

/// The squares of a set of bits, in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct Squares(u128);

/// Walks over a set of squares such as [`Position::occupied`](crate::Position::occupied) gives.
/// Bits beyond the board are passed over.
#[must_use]
pub const fn squares(set: u128) -> Squares {
    Squares(set & ((1 << 90) - 1))
}

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        if self.0 == 0 {
            return None;
        }
        let index = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(Square(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Squares {}
