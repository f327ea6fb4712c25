//! Players, from the simplest to one that knows the tables.

mod estimate;
mod greedy;
mod random;
mod situation;
mod surroundings;
mod tables;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use estimate::estimate;
pub use greedy::Greedy;
pub use random::Random;
pub use situation::Situation;
pub use surroundings::Surroundings;
pub use tables::TablePlayer;

use crate::{Book, Color, Dice, Die, Move, Position};

/// Tables that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot look a position up")]
pub struct LookupError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Tables of winning chances, wherever they lie.
pub trait Lookup: Send + Sync {
    /// The chance that the side to move wins before it rolls; `None` where there is no table. Where the game is over it
    /// is 0 or 1.
    ///
    /// # Errors
    /// [`LookupError`] when a table is there but cannot be read.
    fn chance(&self, position: &Position) -> Result<Option<f64>, LookupError>;
}

impl Lookup for Book {
    fn chance(&self, position: &Position) -> Result<Option<f64>, LookupError> {
        Ok(Book::chance(self, position))
    }
}

/// Somebody who plays.
pub trait Player {
    /// The numbers on the squares [`Color::start`], in that order.
    fn start(&mut self, color: Color) -> [u8; 6];

    /// One of the position's legal moves with this roll, or `None` where there is none because the game is over.
    ///
    /// # Errors
    /// [`LookupError`] from the tables that the player looks into.
    fn choose(&mut self, position: &Position, die: Die) -> Result<Option<Move>, LookupError>;
}

/// The players that there are, by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerKind {
    /// Any legal move.
    Random,
    /// Goes to the goal, takes an enemy, or goes far, in this order.
    Greedy,
    /// Weighs the situation without looking ahead, after Zhou and Li (2014).
    Static,
    /// Knows the tables, and looks ahead to them.
    Table,
}

impl PlayerKind {
    /// All of them.
    pub const ALL: [PlayerKind; 4] = [PlayerKind::Random, PlayerKind::Greedy, PlayerKind::Static, PlayerKind::Table];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PlayerKind::Random => "random",
            PlayerKind::Greedy => "greedy",
            PlayerKind::Static => "static",
            PlayerKind::Table => "table",
        }
    }

    /// A player of this kind, who has these numbers to choose by and may look into these tables. `depth` is for who looks
    /// ahead: so many moves.
    #[must_use]
    pub fn player(self, dice: Dice, tables: Arc<dyn Lookup>, depth: u32) -> Box<dyn Player + Send> {
        match self {
            PlayerKind::Random => Box::new(Random::new(dice)),
            PlayerKind::Greedy => Box::new(Greedy::new(dice)),
            PlayerKind::Static => Box::new(Situation::new(dice)),
            PlayerKind::Table => Box::new(TablePlayer::new(dice, tables, depth)),
        }
    }
}

impl fmt::Display for PlayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no player {0:?}: use random, greedy, static or table")]
pub struct UnknownPlayer(String);

impl FromStr for PlayerKind {
    type Err = UnknownPlayer;

    fn from_str(text: &str) -> Result<Self, UnknownPlayer> {
        let known = PlayerKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text));
        known.ok_or_else(|| UnknownPlayer(text.chars().take(64).collect()))
    }
}

/// One of the greatest, chosen by the dice.
fn greatest<K: PartialOrd>(
    dice: &mut Dice,
    moves: impl Iterator<Item = Move>,
    mut key: impl FnMut(&Move) -> K,
) -> Option<Move> {
    let mut best: Vec<(Move, K)> = Vec::new();
    for candidate in moves {
        let key = key(&candidate);
        if best.first().is_none_or(|(_, most)| key > *most) {
            best.clear();
        }
        if best.first().is_none_or(|(_, most)| key >= *most) {
            best.push((candidate, key));
        }
    }
    if best.is_empty() { None } else { Some(best[dice.below(best.len() as u64) as usize].0) }
}
