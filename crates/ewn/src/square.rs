use std::fmt;
use std::str::FromStr;

use crate::{Color, NotationError, NotationFault};

/// One of the 25 squares, numbered `5 * row + column` from the top left.
///
/// In writing columns are `a` to `e` from the left and rows are 5 to 1 from the top: Red's corner is `a5`,
/// Blue's is `e1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The number of squares.
    pub const COUNT: usize = 25;

    /// The square of a row and a column, both 0 to 4 from the top left.
    #[must_use]
    pub const fn new(row: u8, column: u8) -> Option<Square> {
        if row < 5 && column < 5 { Some(Square(5 * row + column)) } else { None }
    }

    /// For numbers that this crate has made.
    pub(crate) const fn known(index: u8) -> Square {
        debug_assert!(index < 25);
        Square(index)
    }

    /// The number, 0 to 24.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The row, 0 to 4 from the top.
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 5
    }

    /// The column, 0 to 4 from the left.
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 5
    }

    /// All squares, row by row.
    pub fn all() -> impl ExactSizeIterator<Item = Square> {
        (0..25).map(Square)
    }

    /// Row and column exchanged.
    #[must_use]
    pub const fn transposed(self) -> Square {
        Square(5 * self.column() + self.row())
    }

    /// The square here after half a turn of the board.
    #[must_use]
    pub const fn turned(self) -> Square {
        Square(24 - self.0)
    }

    /// True on the diagonal from the top left to the bottom right, from corner to corner of both sides.
    #[must_use]
    pub const fn on_main(self) -> bool {
        self.row() == self.column()
    }

    /// True on the diagonal from the bottom left to the top right, which both sides have to cross.
    #[must_use]
    pub const fn on_secondary(self) -> bool {
        self.row() + self.column() == 4
    }

    /// How far a stone of this side is from its goal: `5 * rows + columns`, 0 at the goal. The same number means the same
    /// way to go for both sides.
    #[must_use]
    pub const fn ahead(self, color: Color) -> u8 {
        match color {
            Color::Red => 24 - self.0,
            Color::Blue => self.0,
        }
    }

    /// The square that is so far [`ahead`](Square::ahead); for numbers that this crate has made.
    pub(crate) const fn from_ahead(ahead: u8, color: Color) -> Square {
        match color {
            Color::Red => Square::known(24 - ahead),
            Color::Blue => Square::known(ahead),
        }
    }

    /// Rows and columns to the goal together: one move takes off one or two.
    #[must_use]
    pub const fn distance(self, color: Color) -> u8 {
        let ahead = self.ahead(color);
        ahead / 5 + ahead % 5
    }

    /// Moves to the goal, at least: the greater of rows and columns.
    #[must_use]
    pub const fn moves_to_goal(self, color: Color) -> u8 {
        let ahead = self.ahead(color);
        if ahead / 5 > ahead % 5 { ahead / 5 } else { ahead % 5 }
    }

    /// Where a stone of this side can step to: along its row, along its column, and along the diagonal, as far as the board
    /// goes on.
    pub fn steps(self, color: Color) -> impl Iterator<Item = Square> {
        let ahead = self.ahead(color);
        steps(ahead).iter().map(move |step| Square::from_ahead(ahead - step, color))
    }
}

/// What a step takes off a number [`Square::ahead`]: a column, a row, both.
pub(crate) const fn steps(ahead: u8) -> &'static [u8] {
    match (ahead / 5, ahead % 5) {
        (0, 0) => &[],
        (0, _) => &[1],
        (_, 0) => &[5],
        _ => &[1, 5, 6],
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.column()), 5 - self.row())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Square {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        match text.as_bytes() {
            [column, row @ b'1'..=b'5'] if matches!(column.to_ascii_lowercase(), b'a'..=b'e') => {
                Ok(Square(5 * (b'5' - row) + (column.to_ascii_lowercase() - b'a')))
            }
            _ => Err(NotationError::new(text, NotationFault::Square)),
        }
    }
}
