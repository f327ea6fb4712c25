use std::fmt;

/// What a piece is, whichever side it belongs to.
///
/// The order is that of the letters in the name of an endgame, K A B R N C P.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// K: one step along a line, inside the palace.
    King,
    /// A: one step along a diagonal, inside the palace.
    Advisor,
    /// B: two steps along a diagonal, never across the river, blocked by a piece between.
    Elephant,
    /// R: any distance along a line.
    Chariot,
    /// N: one step along a line and one diagonally outward, blocked by a piece on the first step.
    Horse,
    /// C: moves as the chariot and captures over exactly one piece.
    Cannon,
    /// P: one step forward, and sideways too once across the river.
    Soldier,
}

impl Role {
    /// All roles, in the order K A B R N C P.
    pub const ALL: [Role; 7] =
        [Role::King, Role::Advisor, Role::Elephant, Role::Chariot, Role::Horse, Role::Cannon, Role::Soldier];

    /// The position of the role in [`Role::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// How many of them a side has at the start of a game, and so at most.
    #[must_use]
    pub const fn limit(self) -> usize {
        match self {
            Role::King => 1,
            Role::Soldier => 5,
            _ => 2,
        }
    }

    /// The FEN letter in upper case.
    #[must_use]
    pub const fn to_char(self) -> char {
        match self {
            Role::King => 'K',
            Role::Advisor => 'A',
            Role::Elephant => 'B',
            Role::Chariot => 'R',
            Role::Horse => 'N',
            Role::Cannon => 'C',
            Role::Soldier => 'P',
        }
    }

    /// Reads a letter of either case. E is read as the elephant and H as the horse too.
    #[must_use]
    pub const fn from_char(letter: char) -> Option<Role> {
        Some(match letter.to_ascii_uppercase() {
            'K' => Role::King,
            'A' => Role::Advisor,
            'B' | 'E' => Role::Elephant,
            'R' => Role::Chariot,
            'N' | 'H' => Role::Horse,
            'C' => Role::Cannon,
            'P' => Role::Soldier,
            _ => return None,
        })
    }

    /// The name in lower case, for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Role::King => "king",
            Role::Advisor => "advisor",
            Role::Elephant => "elephant",
            Role::Chariot => "chariot",
            Role::Horse => "horse",
            Role::Cannon => "cannon",
            Role::Soldier => "soldier",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
