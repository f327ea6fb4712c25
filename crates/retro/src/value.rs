//! What a label says: who wins, and how far away that is.

use std::fmt;

use crate::Odds;

/// How far a decided position is from its end: first by order, then by plies.
///
/// The order counts the rule violations (perpetual checks or chases) that the loser can still
/// choose to commit; under the `plain` rules it is always 0. Plies restart at a violation, as
/// they do at a capture for the distance to conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance {
    /// Nested rule violations still open to the loser.
    pub order: u16,
    /// Plies within that order.
    pub plies: u16,
}

impl Distance {
    /// A distance of order 0.
    #[must_use]
    pub const fn plies(plies: u16) -> Self {
        Self { order: 0, plies }
    }

    /// A way of so many steps where nothing can be violated, as in puzzles: plies that run over are counted by the order, so that the
    /// lesser distance is still the shorter way. A [`Code`] holds fewer than 2^30 steps.
    #[must_use]
    pub const fn of_steps(steps: u32) -> Self {
        Self { order: (steps >> 16) as u16, plies: steps as u16 }
    }

    /// The steps of [`of_steps`](Self::of_steps).
    #[must_use]
    pub const fn steps(self) -> u32 {
        (self.order as u32) << 16 | self.plies as u32
    }
}

/// The value of a legal position for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Neither side can force a win.
    Draw,
    /// The side to move wins.
    Win(Distance),
    /// The side to move loses.
    Loss(Distance),
}

impl Outcome {
    /// The same without its distance, as a table of wins, draws and losses holds it.
    #[must_use]
    pub fn without_distance(self) -> Self {
        match self {
            Self::Draw => Self::Draw,
            Self::Win(_) => Self::Win(Distance::default()),
            Self::Loss(_) => Self::Loss(Distance::default()),
        }
    }
}

/// An [`Outcome`] or [`Odds`] in 32 bits, as palettes of tables hold it: the two highest bits are 0 draw,
/// 1 win, 2 loss, 3 a chance that is neither 0 nor 1. Below them are 14 bits of order and 16 of plies; of a chance its
/// numerator over 2^24.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u32);

impl Code {
    /// The draw.
    pub const DRAW: Self = Self(0);
    /// A win without distance.
    pub const WIN: Self = Self(1 << 30);
    /// A loss without distance.
    pub const LOSS: Self = Self(2 << 30);
    const CHANCE: u32 = 3 << 30;

    /// The code of these bits, or `None` where they mean nothing.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits >> 30 {
            0 if bits != 0 => None,
            3 => match Odds::from_numerator(bits & !Self::CHANCE) {
                Some(odds) if odds.numerator() % Odds::WON.numerator() != 0 => Some(Self(bits)),
                _ => None,
            },
            _ => Some(Self(bits)),
        }
    }

    /// The 32 bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The code of odds: certainty is a win or a loss without distance.
    pub(crate) const fn of_odds(odds: Odds) -> Self {
        match odds {
            Odds::LOST => Self::LOSS,
            Odds::WON => Self::WIN,
            _ => Self(Self::CHANCE | odds.numerator()),
        }
    }

    /// The odds that the code says, or `None` for a draw, of which there is none where dice decide.
    #[must_use]
    pub const fn odds(self) -> Option<Odds> {
        match self.0 >> 30 {
            0 => None,
            1 => Some(Odds::WON),
            2 => Some(Odds::LOST),
            _ => Odds::from_numerator(self.0 & !Self::CHANCE),
        }
    }

    /// What the code says. A chance is [`Outcome::Draw`]: neither side can force a win.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        let distance = Distance { order: ((self.0 >> 16) & 0x3fff) as u16, plies: self.0 as u16 };
        match self.0 >> 30 {
            1 => Outcome::Win(distance),
            2 => Outcome::Loss(distance),
            _ => Outcome::Draw,
        }
    }
}

impl From<Outcome> for Code {
    fn from(outcome: Outcome) -> Self {
        let pack = |d: Distance| u32::from(d.order & 0x3fff) << 16 | u32::from(d.plies);
        match outcome {
            Outcome::Draw => Self::DRAW,
            Outcome::Win(d) => Self(Self::WIN.0 | pack(d)),
            Outcome::Loss(d) => Self(Self::LOSS.0 | pack(d)),
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 >> 30 {
            3 => self.odds().fmt(f),
            _ => self.outcome().fmt(f),
        }
    }
}
