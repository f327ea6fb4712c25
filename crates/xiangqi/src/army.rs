use std::fmt;

use crate::{Color, Role};

/// The place of an army in the name of an endgame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Named first: in a canonical name the stronger, in the material of a position Red.
    First,
    /// Named second.
    Second,
}

impl Side {
    /// Both sides.
    pub const ALL: [Side; 2] = [Side::First, Side::Second];

    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

impl From<Color> for Side {
    /// The material of a position names Red first.
    fn from(color: Color) -> Side {
        match color {
            Color::Red => Side::First,
            Color::Black => Side::Second,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::First => "first",
            Side::Second => "second",
        })
    }
}

/// How many pieces of each role one side has; always exactly one king and never more of a role
/// than the game has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Army {
    counts: [u8; 7],
}

impl Army {
    /// A king alone.
    pub const KING: Army = Army { counts: [1, 0, 0, 0, 0, 0, 0] };

    /// How many pieces of a role there are.
    #[must_use]
    pub const fn count(&self, role: Role) -> u8 {
        self.counts[role.index()]
    }

    /// How many pieces there are, the king included.
    #[must_use]
    pub fn men(&self) -> u32 {
        self.counts.iter().copied().map(u32::from).sum()
    }

    /// The army with one more piece of a role, unless the game has no more of it.
    #[must_use]
    pub fn with(mut self, role: Role) -> Option<Army> {
        if usize::from(self.count(role)) >= role.limit() {
            return None;
        }
        self.counts[role.index()] += 1;
        Some(self)
    }

    /// The army with one piece of a role less, if it has one. A king is never lost.
    #[must_use]
    pub fn without(mut self, role: Role) -> Option<Army> {
        if role == Role::King || self.count(role) == 0 {
            return None;
        }
        self.counts[role.index()] -= 1;
        Some(self)
    }

    /// Chariots count 10, cannons and horses 5, soldiers 2.
    #[must_use]
    pub fn attack_weight(&self) -> u32 {
        let weight = |role, each| each * u32::from(self.count(role));
        weight(Role::Chariot, 10) + weight(Role::Cannon, 5) + weight(Role::Horse, 5) + weight(Role::Soldier, 2)
    }

    /// The order of armies in a canonical name. Armies with equal ranks are equal.
    pub(crate) fn rank(&self) -> [u32; 8] {
        let count = |role| u32::from(self.count(role));
        [
            self.attack_weight(),
            count(Role::Advisor) + count(Role::Elephant),
            count(Role::Chariot),
            count(Role::Cannon),
            count(Role::Horse),
            count(Role::Soldier),
            count(Role::Advisor),
            count(Role::Elephant),
        ]
    }
}

impl fmt::Display for Army {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for role in Role::ALL {
            for _ in 0..self.count(role) {
                write!(f, "{}", role.to_char())?;
            }
        }
        Ok(())
    }
}
