use std::fmt;
use std::str::FromStr;

use crate::{Army, Color, Position, Role, Side};

/// The pieces of an endgame, without their squares: what its name says.
///
/// The name has one side after the other, each in the order K A B R N C P, such as `KABCPKAABB`.
///
/// ```
/// use canju_xiangqi::Material;
///
/// let material: Material = "kbapc-kbbaa".parse()?;
/// assert_eq!(material.to_string(), "KABCPKAABB");
/// assert!(material.is_canonical());
/// # Ok::<(), canju_xiangqi::MaterialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Material {
    /// The side named first.
    pub first: Army,
    /// The side named second.
    pub second: Army,
}

impl Material {
    /// The material of two armies.
    #[must_use]
    pub const fn new(first: Army, second: Army) -> Material {
        Material { first, second }
    }

    /// The material of a position, Red first.
    #[must_use]
    pub fn of(position: &Position) -> Material {
        let army = |color| {
            (Role::ALL.into_iter().skip(1)).fold(Army::KING, |army, role| {
                // A position holds no more pieces of a role than an army.
                (0..position.count(color, role)).fold(army, |army, _| army.with(role).unwrap_or(army))
            })
        };
        Material::new(army(Color::Red), army(Color::Black))
    }

    /// The army of a side; Red counts as the first.
    #[must_use]
    pub fn army(&self, side: impl Into<Side>) -> &Army {
        match side.into() {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }

    /// How many pieces of a role a side has; Red counts as the first.
    #[must_use]
    pub fn count(&self, side: impl Into<Side>, role: Role) -> usize {
        usize::from(self.army(side).count(role))
    }

    /// How many pieces there are on both sides, kings included.
    #[must_use]
    pub fn men(&self) -> usize {
        (self.first.men() + self.second.men()) as usize
    }

    /// The same endgame named from the other side.
    #[must_use]
    pub const fn swap(&self) -> Material {
        Material { first: self.second, second: self.first }
    }

    /// The name with the stronger side first, and whether the sides had to be exchanged for it.
    ///
    /// The stronger side has more attack (chariot 10, cannon and horse 5, soldier 2), then more
    /// advisors and elephants together, then more chariots, cannons, horses, soldiers, advisors,
    /// elephants.
    #[must_use]
    pub fn canonical(&self) -> (Material, bool) {
        if self.is_canonical() { (*self, false) } else { (self.swap(), true) }
    }

    /// Whether the stronger side, or either of two equal ones, is named first.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.first.rank() >= self.second.rank()
    }

    /// Whether both sides have the same pieces.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.first == self.second
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.first, self.second))
    }
}

/// Why a text is not the name of an endgame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// There is no letter.
    #[error("the name of the endgame is empty: give the pieces of both sides, such as KRKAABB")]
    Empty,
    /// A letter that stands for no piece.
    #[error("unknown letter `{letter}` at place {at}: pieces are K A B R N C P")]
    Letter {
        /// The letter.
        letter: char,
        /// Its place in the text, from 1.
        at: usize,
    },
    /// A side without its king.
    #[error("the {0} side has no king: each side's pieces begin with K, as in KRKAABB")]
    NoKing(Side),
    /// A side with two kings, where a separator tells the sides apart.
    #[error("the {0} side has two kings")]
    TwoKings(Side),
    /// A third king or a third group of pieces begins here.
    #[error("a third side begins at place {at}: an endgame has two")]
    ThirdSide {
        /// The place in the text, from 1.
        at: usize,
    },
    /// More pieces of a role than a side has.
    #[error("too many {role}s on the {side} side: the game has {limit}", limit = .role.limit())]
    TooMany {
        /// The side.
        side: Side,
        /// The role.
        role: Role,
    },
}

impl FromStr for Material {
    type Err = MaterialError;

    /// Reads a name in either case, with E for B and H for N accepted, the pieces of a side in any
    /// order. The second king begins the second side unless a `v`, `-`, `_` or space parts the
    /// two, in which case the king may come anywhere among its pieces.
    fn from_str(text: &str) -> Result<Material, MaterialError> {
        let letters = || (1..).zip(text.chars());
        let is_gap = |letter: char| matches!(letter, 'v' | 'V' | '-' | '_') || letter.is_whitespace();
        let pieces = letters().filter(|&(_, letter)| !is_gap(letter));
        let (Some((start, _)), Some((end, _))) = (pieces.clone().next(), pieces.last()) else {
            return Err(MaterialError::Empty);
        };
        let parted = letters().any(|(at, letter)| is_gap(letter) && at > start && at < end);

        let mut sides: Vec<Vec<Role>> = vec![Vec::new()];
        let mut after_gap = false;
        for (at, letter) in letters().filter(|&(at, _)| (start..=end).contains(&at)) {
            if is_gap(letter) {
                after_gap = true;
                continue;
            }
            let role = Role::from_char(letter).ok_or(MaterialError::Letter { letter, at })?;
            let named = sides.last().is_some_and(|side| !side.is_empty());
            let begins = if parted { after_gap } else { role == Role::King && named };
            if begins {
                if sides.len() == 2 {
                    return Err(MaterialError::ThirdSide { at });
                }
                if !parted && sides[0][0] != Role::King {
                    return Err(MaterialError::NoKing(Side::First));
                }
                sides.push(Vec::new());
            }
            after_gap = false;
            if let Some(side) = sides.last_mut() {
                side.push(role);
            }
        }
        let army = |side, at: usize| read_army(side, sides.get(at).map_or(&[], Vec::as_slice));
        Ok(Material::new(army(Side::First, 0)?, army(Side::Second, 1)?))
    }
}

fn read_army(side: Side, roles: &[Role]) -> Result<Army, MaterialError> {
    match roles.iter().filter(|&&role| role == Role::King).count() {
        0 => return Err(MaterialError::NoKing(side)),
        1 => {}
        _ => return Err(MaterialError::TwoKings(side)),
    }
    (roles.iter().filter(|&&role| role != Role::King))
        .try_fold(Army::KING, |army, &role| army.with(role).ok_or(MaterialError::TooMany { side, role }))
}
