use std::fmt;
use std::str::FromStr;

use canju_retro::{GameError, Side, TableName};

use crate::Stones;

/// What the names of all tables begin with.
const PREFIX: &str = "EWN";
/// Stands between the stones of the two sides.
const BETWEEN: char = 'B';

/// The stones left of each side, as the tables know them: `EWN123B14`.
///
/// Turning the board makes any side the first one, numbers i may be made 7 - i on either side, and a lone
/// stone's number does not matter. So a signature is the least of all that are the same: the first side has more stones,
/// or as many and not the later ones; each side's numbers are not later than renumbered, compared as ascending
/// lists; a lone stone is a 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature([Stones; 2]);

/// How stones become a signature's.
pub(crate) struct Canonical {
    pub(crate) signature: Signature,
    /// True where the given second side is the signature's first.
    pub(crate) swapped: bool,
    /// For each place of the signature, the given side (0 or 1) and number that stands there.
    pub(crate) order: Vec<(usize, u8)>,
}

/// One side's stones made least, and the given numbers in the order of the places.
fn least(stones: Stones) -> (Stones, Vec<u8>) {
    let numbers: Vec<u8> = stones.numbers().collect();
    if numbers.len() == 1 {
        return (Stones::NONE.with(1), numbers);
    }
    let renumbered: Vec<u8> = stones.renumbered().numbers().collect();
    if renumbered < numbers { (stones.renumbered(), numbers.into_iter().rev().collect()) } else { (stones, numbers) }
}

/// What comes first in tables is what compares less.
fn rank(stones: Stones) -> (std::cmp::Reverse<usize>, Vec<u8>) {
    (std::cmp::Reverse(stones.len()), stones.numbers().collect())
}

/// Neither set may be empty: the game is over then.
pub(crate) fn canonical(given: [Stones; 2]) -> Canonical {
    let [(a, in_a), (b, in_b)] = given.map(least);
    let order = |first: usize, numbers: [Vec<u8>; 2]| {
        let sides = [first, 1 - first];
        sides.into_iter().zip(numbers).flat_map(|(side, numbers)| numbers.into_iter().map(move |n| (side, n))).collect()
    };
    if rank(b) < rank(a) {
        Canonical { signature: Signature([b, a]), swapped: true, order: order(1, [in_b, in_a]) }
    } else {
        Canonical { signature: Signature([a, b]), swapped: false, order: order(0, [in_a, in_b]) }
    }
}

impl Signature {
    /// The signature of these stones, or `None` where a side has none: the game is over.
    #[must_use]
    pub fn of(first: Stones, second: Stones) -> Option<Signature> {
        (!first.is_empty() && !second.is_empty()).then(|| canonical([first, second]).signature)
    }

    /// All signatures of so many stones in all, in the order of their names' stones.
    #[must_use]
    pub fn with_count(count: usize) -> Vec<Signature> {
        let mut all: Vec<_> = Stones::sets()
            .flat_map(|first| Stones::sets().map(move |second| (first, second)))
            .filter(|(first, second)| first.len() + second.len() == count)
            .map(|(first, second)| canonical([first, second]).signature)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The stones of a side.
    #[must_use]
    pub fn stones(self, side: Side) -> Stones {
        self.0[side.index()]
    }

    /// Stones of both sides together.
    #[must_use]
    pub fn count(self) -> usize {
        self.0[0].len() + self.0[1].len()
    }

    /// True where both sides have the same stones: each position stands in the table twice, once with either side to move.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        self.0[0] == self.0[1]
    }

    /// The signatures that one capture leads to, sorted, without repeats. What ends the game leads to none.
    #[must_use]
    pub fn smaller(self) -> Vec<Signature> {
        let mut all: Vec<_> = Side::BOTH
            .into_iter()
            .flat_map(|side| self.stones(side).numbers().map(move |number| (side.index(), number)))
            .filter_map(|(side, number)| {
                let mut left = self.0;
                left[side] = left[side].without(number);
                Signature::of(left[0], left[1])
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The name of the table.
    ///
    /// # Errors
    /// None in fact: a signature's name always has the form of one.
    pub fn name(self) -> Result<TableName, GameError> {
        TableName::new(&self.to_string())
    }
}

impl PartialOrd for Signature {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Fewer stones first, so that what is smaller comes before; then by the sides.
impl Ord for Signature {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |s: &Signature| (s.count(), rank(s.0[0]), rank(s.0[1]));
        key(self).cmp(&key(other))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{PREFIX}{}{BETWEEN}{}", self.0[0], self.0[1]))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Signature {
    type Err = GameError;

    /// Any numbers and either order are understood: `ewn46b3` is `EWN13B1`.
    fn from_str(text: &str) -> Result<Self, GameError> {
        let wrong = |reason: &str| GameError::Name { given: text.chars().take(64).collect(), reason: reason.into() };
        let form = "a table of EinStein würfelt nicht! is named by the stones of both sides, as in EWN12B3";
        let name = text.trim().to_ascii_uppercase();
        let sides = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once(BETWEEN)).ok_or_else(|| wrong(form))?;
        let side = |numbers: &str| {
            let mut stones = Stones::NONE;
            for digit in numbers.bytes() {
                if !matches!(digit, b'1'..=b'6') {
                    return Err(wrong(form));
                }
                if stones.contains(digit - b'0') {
                    return Err(wrong("a stone is there twice"));
                }
                stones = stones.with(digit - b'0');
            }
            Ok(stones)
        };
        Signature::of(side(sides.0)?, side(sides.1)?).ok_or_else(|| wrong("a side without stones has lost"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical() {
        for (given, name) in [
            ("ewn46b3", "EWN13B1"),
            ("EWN12B3", "EWN12B1"),
            ("EWN3B12", "EWN12B1"),
            ("EWN56B56", "EWN12B12"),
            ("EWN25B13", "EWN13B25"),
            ("EWN654321B654321", "EWN123456B123456"),
        ] {
            assert_eq!(given.parse::<Signature>().unwrap().to_string(), name);
            assert_eq!(name.parse::<Signature>().unwrap().to_string(), name);
        }
        for wrong in ["", "EWN", "EWN12", "EWNB1", "EWN11B2", "EWN7B1", "KPK", "EWN1B2B3"] {
            assert!(wrong.parse::<Signature>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn how_many_there_are() {
        let counts: Vec<_> = (2..=12).map(|n| Signature::with_count(n).len()).collect();
        assert_eq!(counts[..5], [1, 9, 55, 99, 139]);
        // Of sets of 1 to 6 stones 1, 9, 10, 9, 3 and 1 are least: 33 in all, and unordered pairs of them.
        assert_eq!(counts.iter().sum::<usize>(), 33 * 34 / 2);
    }

    #[test]
    fn captures_lead_down() {
        let smaller = |name: &str| {
            let signature: Signature = name.parse().unwrap();
            signature.smaller().iter().map(Signature::to_string).collect::<Vec<_>>()
        };
        assert!(smaller("EWN1B1").is_empty());
        assert_eq!(smaller("EWN16B1"), ["EWN1B1"]);
        assert_eq!(smaller("EWN123B14"), ["EWN123B1", "EWN12B14", "EWN13B14", "EWN14B23"]);
    }
}
