use crate::Square;

/// The side of a stone. Red starts at the top left corner, Blue at the bottom right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Color {
    /// Moves right and down.
    Red,
    /// Moves left and up.
    Blue,
}

impl Color {
    /// Both, in order.
    pub const BOTH: [Color; 2] = [Color::Red, Color::Blue];

    /// 0 for Red, 1 for Blue.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The enemy.
    #[must_use]
    pub const fn other(self) -> Color {
        match self {
            Color::Red => Color::Blue,
            Color::Blue => Color::Red,
        }
    }

    /// The corner that this side runs for.
    #[must_use]
    pub const fn goal(self) -> Square {
        match self {
            Color::Red => Square::known(24),
            Color::Blue => Square::known(0),
        }
    }

    /// The six squares on which this side's stones start: the corner's triangle, row by row from the corner.
    #[must_use]
    pub fn start(self) -> [Square; 6] {
        let red = [0, 1, 2, 5, 6, 10].map(Square::known);
        match self {
            Color::Red => red,
            Color::Blue => red.map(Square::turned),
        }
    }

    /// The capital letter in positions: `R` or `B`.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Color::Red => 'R',
            Color::Blue => 'B',
        }
    }

    /// The name in English.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Color::Red => "Red",
            Color::Blue => "Blue",
        }
    }
}
