//! What WXF and Chinese have in common: a move as its player would speak it.

use crate::{Color, Move, Position, Role, Square};

/// Which way a move goes, as the mover sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Sideways,
    Back,
}

/// Which of the pieces on one file, in words whose meaning depends on how many these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Last,
    /// The third of five or the second of three.
    Middle,
    /// WXF's `P+`: the first, but the second of four and five.
    Plus,
    /// WXF's `P-`: the last, but the last but one of four and five.
    Minus,
}

impl Place {
    /// The index from the front among the pieces of a tandem.
    fn index(self, pieces: usize) -> Option<usize> {
        let outer = usize::from(pieces >= 4);
        match self {
            Place::First => Some(0),
            Place::Last => Some(pieces - 1),
            Place::Middle => (pieces % 2 == 1).then_some(pieces / 2),
            Place::Plus => Some(outer),
            Place::Minus => Some(pieces - 1 - outer),
        }
    }
}

/// Which piece of a role moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The one on a file, or the middle one of three or five there.
    File(u8),
    /// One of a tandem, on this file or any.
    Tandem(Option<u8>, Place),
    /// One of all in tandem, from 1: from the right to the left and from the front to the rear.
    Ordinal(u8),
}

/// A move in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    pub role: Role,
    pub which: Which,
    pub way: Way,
    /// The file it goes to, or the distance when it goes straight forward or back.
    pub number: u8,
}

impl Phrase {
    /// The squares of the pieces that may be meant.
    pub(super) fn pieces(&self, position: &Position, color: Color) -> Vec<Square> {
        let tandems = || tandems(position, color, self.role);
        match self.which {
            Which::File(file) => {
                let squares = column(position, color, self.role, file);
                match squares.len() {
                    3 | 5 => vec![squares[squares.len() / 2]],
                    _ => squares,
                }
            }
            Which::Tandem(file, place) => (tandems().into_iter())
                .filter(|tandem| file.is_none_or(|file| file == file_number(color, tandem[0])))
                .filter_map(|tandem| Some(tandem[place.index(tandem.len())?]))
                .collect(),
            Which::Ordinal(ordinal) => {
                let all = tandems().into_iter().flatten();
                all.skip(usize::from(ordinal).wrapping_sub(1)).take(1).collect()
            }
        }
    }

    /// Whether a move by one of these pieces is the one in words.
    pub(super) fn goes(&self, color: Color, chosen: Move) -> bool {
        course(color, self.role, chosen) == (self.way, self.number)
    }
}

/// The way of a move and its number: a distance, or the file it goes to.
pub(super) fn course(color: Color, role: Role, chosen: Move) -> (Way, u8) {
    let (from, to) = (chosen.from.rank(), chosen.to.rank());
    let way = if from == to {
        Way::Sideways
    } else if (to > from) == (color == Color::Red) {
        Way::Forward
    } else {
        Way::Back
    };
    let straight = !matches!(role, Role::Advisor | Role::Elephant | Role::Horse);
    if straight && way != Way::Sideways { (way, from.abs_diff(to)) } else { (way, file_number(color, chosen.to)) }
}

/// The number of a file from a side's right, from 1.
pub(super) fn file_number(color: Color, square: Square) -> u8 {
    match color {
        Color::Red => 9 - square.file(),
        Color::Black => square.file() + 1,
    }
}

/// A side's pieces of a role on the file with a number, from the front.
pub(super) fn column(position: &Position, color: Color, role: Role, file: u8) -> Vec<Square> {
    let mut squares: Vec<Square> =
        position.squares_of(color, role).filter(|&square| file_number(color, square) == file).collect();
    squares.sort_unstable();
    if color == Color::Red {
        squares.reverse();
    }
    squares
}

/// The files on which a side has several pieces of a role, from the right, each from the front.
pub(super) fn tandems(position: &Position, color: Color, role: Role) -> Vec<Vec<Square>> {
    (1..=9).map(|file| column(position, color, role, file)).filter(|squares| squares.len() > 1).collect()
}
