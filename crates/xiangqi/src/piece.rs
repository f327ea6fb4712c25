use std::fmt;

use crate::{Color, Role};

/// A role and the side it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// Whose piece it is.
    pub color: Color,
    /// What it is.
    pub role: Role,
}

impl Piece {
    /// A piece from its side and role.
    #[must_use]
    pub const fn new(color: Color, role: Role) -> Piece {
        Piece { color, role }
    }

    /// The FEN letter: upper case for Red, lower case for Black.
    #[must_use]
    pub const fn to_char(self) -> char {
        match self.color {
            Color::Red => self.role.to_char(),
            Color::Black => self.role.to_char().to_ascii_lowercase(),
        }
    }

    /// Reads a FEN letter, E and H included.
    #[must_use]
    pub const fn from_char(letter: char) -> Option<Piece> {
        let color = if letter.is_ascii_uppercase() { Color::Red } else { Color::Black };
        match Role::from_char(letter) {
            Some(role) => Some(Piece { color, role }),
            None => None,
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.color, self.role)
    }
}
