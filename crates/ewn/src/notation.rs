//! Positions and moves in writing.
//!
//! A position is a list of stones and the side to move, in any order: `R1b1 R4a1 B1b5 r` is Red's 1 on `b1` and 4 on `a1`,
//! Blue's 1 on `b5`, Red to move. With a number after it, `r3`, the side to move has rolled that. A move is the stone, from
//! where, `-` or for a capture `x`, and to where: `4a1-b1`.

use std::fmt;
use std::str::FromStr;

use crate::{Color, Die, Move, Position, Square};

/// A text that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {given:?}: {reason}")]
pub struct NotationError {
    given: String,
    reason: String,
}

impl NotationError {
    pub(crate) fn new(given: &str, reason: impl Into<String>) -> Self {
        Self { given: given.chars().take(100).collect(), reason: reason.into() }
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
        let wrong = |reason: &str| NotationError::new(word, reason);
        match word.as_bytes() {
            [letter, number @ b'1'..=b'6', square @ ..] if square.len() == 2 => {
                let color = color(*letter).ok_or_else(|| wrong("a stone begins with R or B"))?;
                stones.push((color, number - b'0', word[2..].parse::<Square>()?));
            }
            [letter, roll @ ..] if roll.len() <= 1 => {
                let to_move = color(*letter).ok_or_else(|| wrong("the side to move is r or b"))?;
                let die = match roll {
                    [] => None,
                    [digit] => Some(
                        digit
                            .checked_sub(b'0')
                            .and_then(Die::new)
                            .ok_or_else(|| wrong("a die shows 1 to 6, as in r3"))?,
                    ),
                    _ => return Err(wrong("a die shows 1 to 6, as in r3")),
                };
                if side.replace((to_move, die)).is_some() {
                    return Err(wrong("the side to move is there twice"));
                }
            }
            _ => return Err(wrong("neither a stone, as in R1b1, nor the side to move, r or b")),
        }
    }
    let (to_move, die) = side.ok_or_else(|| NotationError::new(text, "the side to move, r or b, is missing"))?;
    let position = Position::new(stones, to_move).map_err(|e| NotationError::new(text, e.to_string()))?;
    Ok((position, die))
}

impl FromStr for Position {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        match read_rolled(text)? {
            (position, None) => Ok(position),
            (_, Some(_)) => Err(NotationError::new(text, "a roll is not asked for here: r or b alone")),
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
            NotationError::new(text, format!("no legal move with a {die}; there are {legal}"))
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
