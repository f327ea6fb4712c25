//! Chariots, horses, cannons and soldiers: which one is the bit axis, and the rest as digits.

use canju_xiangqi::{Color, Material, Role, role_mask, role_squares};

use crate::geometry::members;
use crate::word::{OFF_BOARD, crossed, mirror_square};

/// The roles of attackers in the order in which their digits stand.
pub(crate) const ATTACKERS: [Role; 4] = [Role::Chariot, Role::Horse, Role::Cannon, Role::Soldier];
/// The most attackers beside the bit axis.
pub(crate) const MOST_FIXED: usize = 6;
const NO_DIGIT: u8 = u8::MAX;

/// Identical attackers that share one digit: the number of their unordered combination of squares.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub color: Color,
    pub role: Role,
    /// One to three pieces.
    pub count: usize,
    /// How many values the digit has.
    pub size: u32,
    /// What one step of the digit is worth in the configuration's number.
    pub stride: u32,
    /// Where the group's squares stand in a configuration.
    pub start: usize,
    /// The squares of a single piece.
    pub squares: Vec<u8>,
    /// The number of a square among them.
    number: [u8; 90],
    /// The digit by the moved piece's square: a single row for a single piece, for pairs a row for each
    /// square of the other piece, none for three pieces.
    rows: Vec<[u16; 90]>,
}

/// Where one man of a configuration can go: the configuration by his new square.
pub(crate) enum Hop<'a> {
    Row { row: &'a [u16; 90], base: usize, stride: usize },
    Three { attackers: &'a Attackers, config: usize, man: Man },
}

impl Hop<'_> {
    /// The configuration with the man on a square that he may stand on and that is empty.
    #[inline]
    pub fn to(&self, square: u8) -> usize {
        match *self {
            Self::Row { row, base, stride } => base + usize::from(row[usize::from(square)]) * stride,
            Self::Three { attackers, config, man } => {
                let mut moved = attackers.squares[config];
                moved[man.at] = square;
                attackers.find(&moved).map_or(config, |c| c as usize)
            }
        }
    }
}

impl Group {
    fn new(color: Color, role: Role, count: usize, start: usize) -> Self {
        let squares: Vec<u8> = role_squares(color, role).iter().map(|s| s.index() as u8).collect();
        let mut number = [NO_DIGIT; 90];
        for (i, &s) in squares.iter().enumerate() {
            number[usize::from(s)] = i as u8;
        }
        let n = squares.len() as u32;
        let mut rows = vec![[0; 90]; if count == 2 { 90 } else { usize::from(count == 1) }];
        for (i, &s) in squares.iter().enumerate() {
            match count {
                1 => rows[0][usize::from(s)] = i as u16,
                2 => {
                    for (j, &other) in squares.iter().enumerate() {
                        let digit = choose(i.max(j) as u32, 2) + i.min(j) as u32;
                        rows[usize::from(other)][usize::from(s)] = digit as u16;
                    }
                }
                _ => {}
            }
        }
        Self { color, role, count, size: choose(n, count as u32), stride: 0, start, squares, number, rows }
    }

    /// The digit of these squares (as many as the group has, in any order), or `None` where one is
    /// impossible or taken twice.
    #[inline]
    pub fn digit(&self, squares: &[u8]) -> Option<u32> {
        let number = |s: u8| {
            let n = self.number[usize::from(s)];
            (n != NO_DIGIT).then_some(u32::from(n))
        };
        match *squares {
            [a] => number(a),
            [a, b] => {
                let (a, b) = (number(a)?, number(b)?);
                (a != b).then(|| pairs(a.max(b)) + a.min(b))
            }
            [a, b, c] => {
                let mut n = [number(a)?, number(b)?, number(c)?];
                n.sort_unstable();
                (n[0] != n[1] && n[1] != n[2]).then(|| triples(n[2]) + pairs(n[1]) + n[0])
            }
            _ => None,
        }
    }

    fn combinations(&self) -> Vec<[u8; 3]> {
        let mut all = vec![[0; 3]; self.size as usize];
        let n = self.squares.len();
        let mut set = |squares: [u8; 3]| {
            if let Some(digit) = self.digit(&squares[..self.count]) {
                all[digit as usize] = squares;
            }
        };
        for a in 0..n {
            match self.count {
                1 => set([self.squares[a], 0, 0]),
                2 => (0..a).for_each(|b| set([self.squares[b], self.squares[a], 0])),
                _ => (0..a).for_each(|b| (0..b).for_each(|c| set([self.squares[c], self.squares[b], self.squares[a]]))),
            }
        }
        all
    }
}

/// One attacker that is not on the bit axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Man {
    pub color: Color,
    pub role: Role,
    /// Which group it belongs to.
    pub group: usize,
    /// Where its square stands in a configuration.
    pub at: usize,
}

/// The attacker whose square is the bit of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub color: Color,
    pub role: Role,
}

/// All configurations of the attackers beside the bit axis.
#[derive(Clone, Debug)]
pub(crate) struct Attackers {
    pub axis: Option<Axis>,
    /// The possible cells of a word.
    pub cells: u128,
    /// In how many ways the bit axis can be chosen among identical pieces: how often each position occurs.
    pub copies: u64,
    pub groups: Vec<Group>,
    pub men: Vec<Man>,
    /// The men's squares by configuration.
    pub squares: Vec<[u8; MOST_FIXED]>,
    /// The men's squares as a set; `IMPOSSIBLE` where two share a square or two own uncrossed soldiers a file.
    pub occupied: Vec<u128>,
    /// The mirrored configurations.
    pub mirror: Vec<u32>,
    /// Placements of all attackers, identical pieces unordered.
    pub combinations: u64,
}

/// The `occupied` of a configuration that cannot be.
pub(crate) const IMPOSSIBLE: u128 = u128::MAX;

impl Attackers {
    /// The most configurations that an index may have.
    pub const MOST: u64 = 1 << 24;

    /// How many configurations the material would have, or why it cannot be indexed.
    pub fn price(material: &Material) -> Result<u64, String> {
        let (_, groups) = Self::split(material);
        if let Some(group) = groups.iter().find(|g| g.count > 3) {
            return Err(format!(
                "more than three identical {}s on one side beside the bit axis are not indexed",
                group.role.name()
            ));
        }
        let men: usize = groups.iter().map(|g| g.count).sum();
        if men > MOST_FIXED {
            return Err(format!("{} attackers; at most {} are indexed", men + 1, MOST_FIXED + 1));
        }
        let size = groups.iter().map(|g| u64::from(g.size)).product();
        if size > Self::MOST {
            return Err(format!("{size} configurations of attackers; at most {} are indexed", Self::MOST));
        }
        Ok(size)
    }

    fn split(material: &Material) -> (Option<Axis>, Vec<Group>) {
        let all = [Color::Red, Color::Black].into_iter().flat_map(|color| {
            ATTACKERS.into_iter().map(move |role| (Axis { color, role }, material.count(color, role)))
        });
        let all: Vec<_> = all.filter(|&(_, n)| n > 0).collect();
        // A single piece with ninety squares makes full words; a soldier's have 55 cells. Identical pieces come
        // last: one of them on the axis makes each position occur once for each of them.
        let rank = |&&(axis, n): &&(Axis, usize)| {
            let role = match axis.role {
                Role::Cannon => 0,
                Role::Horse => 1,
                Role::Chariot => 2,
                _ => 3,
            };
            (n > 1, role, axis.color.index())
        };
        let axis = all.iter().min_by_key(rank).map(|&(axis, _)| axis);
        let mut groups: Vec<Group> = Vec::new();
        let mut start = 0;
        for (piece, n) in all {
            let n = if Some(piece) == axis { n - 1 } else { n };
            if n > 0 {
                groups.push(Group::new(piece.color, piece.role, n, start));
                start += n;
            }
        }
        let mut stride = 1;
        for group in groups.iter_mut().rev() {
            group.stride = stride;
            stride = stride.saturating_mul(group.size);
        }
        (axis, groups)
    }

    pub fn new(material: &Material) -> Result<Self, String> {
        let len = Self::price(material)? as usize;
        let (axis, groups) = Self::split(material);
        let mut men = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            men.extend((0..group.count).map(|i| Man {
                color: group.color,
                role: group.role,
                group: g,
                at: group.start + i,
            }));
        }
        let combinations: Vec<Vec<[u8; 3]>> = groups.iter().map(Group::combinations).collect();
        let mut squares = vec![[0; MOST_FIXED]; len];
        for (config, squares) in squares.iter_mut().enumerate() {
            for (group, combinations) in groups.iter().zip(&combinations) {
                let digit = config as u32 / group.stride % group.size;
                squares[group.start..group.start + group.count]
                    .copy_from_slice(&combinations[digit as usize][..group.count]);
            }
        }
        let occupied = squares.iter().map(|s| Self::occupied(&men, s)).collect();
        let cells = axis.map_or(OFF_BOARD, |a| role_mask(a.color, a.role));
        let copies = axis.map_or(1, |a| material.count(a.color, a.role) as u64);
        let mut all = 1;
        for color in [Color::Red, Color::Black] {
            for role in ATTACKERS {
                all *= u64::from(choose(role_squares(color, role).len() as u32, material.count(color, role) as u32));
            }
        }
        let mut attackers =
            Self { axis, cells, copies, groups, men, squares, occupied, mirror: Vec::new(), combinations: all };
        attackers.mirror = (0..len)
            .map(|config| {
                let mirrored = attackers.squares[config].map(mirror_square);
                attackers.find(&mirrored).unwrap_or_default()
            })
            .collect();
        Ok(attackers)
    }

    fn occupied(men: &[Man], squares: &[u8; MOST_FIXED]) -> u128 {
        let mut set = 0;
        let mut home: [u128; 2] = [0; 2];
        for man in men {
            let bit = 1u128 << squares[man.at];
            if set & bit != 0 {
                return IMPOSSIBLE;
            }
            set |= bit;
            if man.role == Role::Soldier && crossed(man.color) & bit == 0 {
                let file = file_of(bit);
                if home[man.color.index()] & file != 0 {
                    return IMPOSSIBLE;
                }
                home[man.color.index()] |= file;
            }
        }
        set
    }

    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// The configuration of these squares, in the order of the men.
    pub fn find(&self, squares: &[u8; MOST_FIXED]) -> Option<u32> {
        let mut config = 0;
        for group in &self.groups {
            config += group.digit(&squares[group.start..group.start + group.count])? * group.stride;
        }
        Some(config)
    }

    /// Where a man of a configuration can go.
    #[inline]
    pub fn hop(&self, config: usize, man: Man) -> Hop<'_> {
        let group = &self.groups[man.group];
        let squares = &self.squares[config];
        let row = match group.count {
            1 => &group.rows[0],
            2 => &group.rows[usize::from(squares[2 * group.start + 1 - man.at])],
            _ => return Hop::Three { attackers: self, config, man },
        };
        let stride = group.stride as usize;
        Hop::Row { row, base: config - usize::from(row[usize::from(squares[man.at])]) * stride, stride }
    }

    /// The cells of a word that a soldier on the axis cannot have for its fellows' sake.
    pub fn doubled(&self, config: usize) -> u128 {
        let Some(axis) = self.axis.filter(|a| a.role == Role::Soldier && self.copies > 1) else { return 0 };
        let home = !crossed(axis.color);
        let fellows = self.men.iter().filter(|m| m.color == axis.color && m.role == Role::Soldier);
        fellows
            .map(|m| 1u128 << self.squares[config][m.at])
            .filter(|bit| bit & home != 0)
            .fold(0, |set, bit| set | file_of(bit) & home)
    }
}

fn file_of(bit: u128) -> u128 {
    members(bit).fold(0, |set, s| set | crate::word::file((s % 9) as u32))
}

/// Pairs of so many things, which are few.
const fn pairs(n: u32) -> u32 {
    n * n.saturating_sub(1) / 2
}

/// Triples of so many things, which are few.
const fn triples(n: u32) -> u32 {
    n * n.saturating_sub(1) * n.saturating_sub(2) / 6
}

/// Binomial coefficient for the small numbers of an index.
pub(crate) const fn choose(n: u32, k: u32) -> u32 {
    if n < k {
        return 0;
    }
    let mut value = 1u64;
    let mut i = 0;
    while i < k {
        value = value * (n - i) as u64 / (i as u64 + 1);
        i += 1;
    }
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_found_again() {
        for name in ["KRPPPKC", "KNPKP", "KCCK", "KRRNKC", "KPPPKPP"] {
            let attackers = Attackers::new(&name.parse().unwrap()).unwrap();
            for config in 0..attackers.len() {
                assert_eq!(attackers.find(&attackers.squares[config]), Some(config as u32), "{name}");
                let mirrored = attackers.mirror[config] as usize;
                assert_eq!(attackers.mirror[mirrored] as usize, config);
            }
        }
    }

    #[test]
    fn four_digit_soldiers_are_refused_with_a_reason() {
        assert!(Attackers::price(&"KCPPPPK".parse().unwrap()).unwrap_err().contains("three identical soldiers"));
    }
}
