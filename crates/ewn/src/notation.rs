//! Positions and moves in writing.
//!
//! A position is a list of stones and the side to move, in any order: `R1b1 R4a1 B1b5 r` is Red's 1 on `b1` and 4 on `a1`,
//! Blue's 1 on `b5`, Red to move. With a number after it, `r3`, the side to move has rolled that. A move is the stone, from
//! where, `-` or for a capture `x`, and to where: `4a1-b1`.

use std::fmt;
use std::str::FromStr;

use crate::{Color, Die, Move, Position, PositionError, Square};

/// A text that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {given:?}: {fault}")]
pub struct NotationError {
    given: String,
    fault: NotationFault,
}

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationFault {
    /// A stone of neither side.
    #[error("a stone begins with R or B")]
    Stone,
    /// A side that is none.
    #[error("the side to move is r or b")]
    Side,
    /// A roll that is none.
    #[error("a die shows 1 to 6, as in r3")]
    Die,
    /// Two sides to move.
    #[error("the side to move is there twice")]
    Sides,
    /// A word that means nothing.
    #[error("neither a stone, as in R1b1, nor the side to move, r or b")]
    Word,
    /// No side to move.
    #[error("the side to move, r or b, is missing")]
    NoSide,
    /// A square that is none.
    #[error("not a square: a column a to e, then a row 1 to 5, as in c4")]
    Square,
    /// A roll where none is wanted.
    #[error("a roll is not asked for here: r or b alone")]
    Rolled,
    /// Stones that make no position.
    #[error(transparent)]
    Position(PositionError),
    /// A move that is not allowed.
    #[error("no legal move with a {die}; there are {legal}")]
    Illegal {
        /// The roll.
        die: Die,
        /// Those that are, or that there are none.
        legal: String,
    },
}

impl NotationError {
    pub(crate) fn new(given: &str, fault: NotationFault) -> Self {
        Self { given: given.chars().take(100).collect(), fault }
    }

    /// The words that could not be read.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Why not.
    #[must_use]
    pub const fn fault(&self) -> &NotationFault {
        &self.fault
    }
}

impl NotationFault {
    /// The fault in a word, for programs: `stone`, `side`, `die`, `sides`, `word`, `no_side`, `square`, `rolled`, `illegal`, or
    /// of stones `number`, `twice`, `shared`, `empty` or `both_won`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stone => "stone",
            Self::Side => "side",
            Self::Die => "die",
            Self::Sides => "sides",
            Self::Word => "word",
            Self::NoSide => "no_side",
            Self::Square => "square",
            Self::Rolled => "rolled",
            Self::Position(PositionError::Number(_)) => "number",
            Self::Position(PositionError::Twice(..)) => "twice",
            Self::Position(PositionError::Shared(_)) => "shared",
            Self::Position(PositionError::Empty) => "empty",
            Self::Position(PositionError::BothWon) => "both_won",
            Self::Illegal { .. } => "illegal",
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (color, number, square) in self.all() {
            write!(f, "{}{number}{square} ", color.letter())?;
        }
        write!(f, "{}", self.to_move().letter().to_ascii_lowercase())
    }
}

fn color(letter: u8) -> Option<Color> {
    Color::BOTH.into_iter().find(|c| c.letter() == char::from(letter.to_ascii_uppercase()))
}

/// Reads a position, with the roll where the side to move has one: `r3`.
///
/// # Errors
/// [`NotationError`] with the word that does not fit, or what is missing.
pub fn read_rolled(text: &str) -> Result<(Position, Option<Die>), NotationError> {
    let mut stones = Vec::new();
    let mut side = None;
    for word in text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let wrong = |fault| NotationError::new(word, fault);
        match word.as_bytes() {
            [letter, number @ b'1'..=b'6', square @ ..] if square.len() == 2 => {
                let color = color(*letter).ok_or_else(|| wrong(NotationFault::Stone))?;
                stones.push((color, number - b'0', word[2..].parse::<Square>()?));
            }
            [letter, roll @ ..] if roll.len() <= 1 => {
                let to_move = color(*letter).ok_or_else(|| wrong(NotationFault::Side))?;
                let die = match roll {
                    [] => None,
                    [digit] => {
                        Some(digit.checked_sub(b'0').and_then(Die::new).ok_or_else(|| wrong(NotationFault::Die))?)
                    }
                    _ => return Err(wrong(NotationFault::Die)),
                };
                if side.replace((to_move, die)).is_some() {
                    return Err(wrong(NotationFault::Sides));
                }
            }
            _ => return Err(wrong(NotationFault::Word)),
        }
    }
    let (to_move, die) = side.ok_or_else(|| NotationError::new(text, NotationFault::NoSide))?;
    let position = Position::new(stones, to_move).map_err(|e| NotationError::new(text, NotationFault::Position(e)))?;
    Ok((position, die))
}

impl FromStr for Position {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        match read_rolled(text)? {
            (position, None) => Ok(position),
            (_, Some(_)) => Err(NotationError::new(text, NotationFault::Rolled)),
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.captured.is_some() { 'x' } else { '-' };
        write!(f, "{}{}{how}{}", self.number, self.from, self.to)
    }
}

impl Position {
    /// The move of this text that the roll allows.
    ///
    /// # Errors
    /// [`NotationError`] when the text is no move, or none of this position and roll; it names those there are.
    pub fn read_move(&self, text: &str, die: Die) -> Result<Move, NotationError> {
        let plain = |text: &str| text.trim().replace(['-', 'x', 'X'], "").to_ascii_lowercase();
        let wanted = plain(text);
        self.legal_moves(die).find(|m| plain(&m.to_string()) == wanted).ok_or_else(|| {
            let legal: Vec<_> = self.legal_moves(die).map(|m| m.to_string()).collect();
            let legal = if legal.is_empty() { "none, the game is over".to_owned() } else { legal.join(", ") };
            NotationError::new(text, NotationFault::Illegal { die, legal })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| text.parse::<Position>().unwrap_err().to_string();
        for (text, reason) in [
            ("R1b1 B2c3", "the side to move, r or b, is missing"),
            ("R7b1 r", "neither a stone"),
            ("R1b6 r", "not a square"),
            ("G1b1 r", "begins with R or B"),
            ("R1b1 R1c1 r", "Red 1 is there twice"),
            ("R1b1 B1b1 r", "two stones are on b1"),
            ("R1b1 r b", "the side to move is there twice"),
            ("R1b1 r7", "a die shows 1 to 6"),
            ("r", "there is no stone"),
            ("R1e1 B1a5 r", "both sides have won"),
            ("R1b1 r2", "a roll is not asked for"),
            ("R1b1 B1bé r", "cannot read"),
            ("", "the side to move"),
        ] {
            assert!(error(text).contains(reason), "{text}: {}", error(text));
        }
    }

    #[test]
    fn moves_are_read_as_they_are_written() {
        let (position, die) = read_rolled("R1b1,R4a1 B1c1 r4").unwrap();
        let die = die.unwrap();
        let moves: Vec<_> = position.legal_moves(die).collect();
        assert_eq!(moves.iter().map(Move::to_string).collect::<Vec<_>>(), ["4a1xb1"]);
        for text in ["4a1xb1", "4a1b1", " 4A1-B1"] {
            assert_eq!(position.read_move(text, die).unwrap(), moves[0]);
        }
        let error = position.read_move("1b1xc1", die).unwrap_err().to_string();
        assert!(error.contains("no legal move with a 4; there are 4a1xb1"), "{error}");
        assert_eq!(position.to_string(), "R1b1 R4a1 B1c1 r");
        assert_eq!(position.after(&moves[0]).to_string(), "R4b1 B1c1 b");
    }
}
