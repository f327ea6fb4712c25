use std::fmt;
use std::ops::Not;

/// A side of the board. Red moves first and sits at rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Color {
    /// The side at ranks 0 to 4, `w` in FEN.
    Red,
    /// The side at ranks 5 to 9, `b` in FEN.
    Black,
}

impl Color {
    /// Both sides, Red first.
    pub const ALL: [Color; 2] = [Color::Red, Color::Black];

    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Color {
        match self {
            Color::Red => Color::Black,
            Color::Black => Color::Red,
        }
    }

    /// 0 for Red, 1 for Black.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The letter of the side to move in FEN: `w` or `b`.
    #[must_use]
    pub const fn to_char(self) -> char {
        match self {
            Color::Red => 'w',
            Color::Black => 'b',
        }
    }

    /// Reads the letter of a side to move: `w` or `r` for Red, `b` for Black, in either case.
    #[must_use]
    pub const fn from_char(letter: char) -> Option<Color> {
        match letter {
            'w' | 'r' | 'W' | 'R' => Some(Color::Red),
            'b' | 'B' => Some(Color::Black),
            _ => None,
        }
    }
}

impl Not for Color {
    type Output = Color;

    fn not(self) -> Color {
        self.opposite()
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Color::Red => "Red",
            Color::Black => "Black",
        })
    }
}
