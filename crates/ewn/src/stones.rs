use std::fmt;

/// The number that was rolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Die(u8);

impl Die {
    /// 1 to 6.
    pub const ALL: [Die; 6] = [Die(1), Die(2), Die(3), Die(4), Die(5), Die(6)];

    /// The roll of this number, if there is one.
    #[must_use]
    pub const fn new(number: u8) -> Option<Die> {
        if matches!(number, 1..=6) { Some(Die(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Die {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of stones of one side, by their numbers 1 to 6.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Stones(u8);

impl Stones {
    /// No stone.
    pub const NONE: Stones = Stones(0);
    /// All six.
    pub const ALL: Stones = Stones(0b11_1111);

    /// All sets with at least one stone.
    pub fn sets() -> impl Iterator<Item = Stones> {
        (1..64).map(Stones)
    }

    /// The same and the stone with this number, which is 1 to 6.
    #[must_use]
    pub const fn with(self, number: u8) -> Stones {
        debug_assert!(matches!(number, 1..=6));
        Stones(self.0 | 1 << (number - 1))
    }

    /// The same without a stone.
    #[must_use]
    pub const fn without(self, number: u8) -> Stones {
        Stones(self.0 & !(1 << (number - 1)))
    }

    /// True where the stone with this number, 1 to 6, is in the set.
    #[must_use]
    pub const fn contains(self, number: u8) -> bool {
        self.0 >> (number - 1) & 1 != 0
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// True for the set without a stone.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The numbers, ascending.
    pub fn numbers(self) -> impl Iterator<Item = u8> + Clone {
        (1..=6).filter(move |&number| self.contains(number))
    }

    /// Each number i made 7 - i, which changes no winning chance.
    #[must_use]
    pub const fn renumbered(self) -> Stones {
        Stones(self.0.reverse_bits() >> 2)
    }

    /// The stones among which the player chooses: the one that was rolled, or if it is gone the next lower and the next
    /// higher one that are left.
    pub fn chosen(self, die: Die) -> impl Iterator<Item = u8> + Clone {
        let die = die.number();
        let choice = if self.contains(die) {
            [Some(die), None]
        } else {
            [(1..die).rev().find(|&n| self.contains(n)), (die + 1..=6).find(|&n| self.contains(n))]
        };
        choice.into_iter().flatten()
    }
}

impl fmt::Display for Stones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.numbers().try_for_each(|number| write!(f, "{number}"))
    }
}

impl fmt::Debug for Stones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u8]) -> Stones {
        numbers.iter().fold(Stones::NONE, |set, &n| set.with(n))
    }

    #[test]
    fn a_stone_that_is_gone_gives_way_to_both_sides() {
        let chosen = |numbers: &[u8], die: u8| set(numbers).chosen(Die(die)).collect::<Vec<_>>();
        assert_eq!(chosen(&[1, 2, 3, 4, 5, 6], 4), [4]);
        assert_eq!(chosen(&[1, 6], 2), [1, 6]); // nearer or not
        assert_eq!(chosen(&[2, 3, 5], 4), [3, 5]);
        assert_eq!(chosen(&[2, 3, 5], 1), [2]);
        assert_eq!(chosen(&[2, 3, 5], 6), [5]);
    }

    #[test]
    fn renumbering_turns_choices_round() {
        for stones in Stones::sets() {
            assert_eq!(stones.renumbered().renumbered(), stones);
            for die in Die::ALL {
                let mut other: Vec<_> = stones.renumbered().chosen(Die(7 - die.number())).map(|n| 7 - n).collect();
                other.reverse();
                assert_eq!(stones.chosen(die).collect::<Vec<_>>(), other);
            }
        }
    }
}
