use canju_retro::Random;

use crate::Die;

/// Dice that fall the same from the same seed, on every machine.
#[derive(Clone, Debug)]
pub struct Dice(Random);

impl Dice {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Dice {
        Dice(Random::new(seed))
    }

    /// Other numbers of the same seed, one row of them for each `row`.
    #[must_use]
    pub fn row(seed: u64, row: u64) -> Dice {
        Dice::new(seed ^ Random::new(row).bits())
    }

    /// A number below `end`, which is not 0, all alike to within 2^-32 for ends below 2^32.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A roll.
    pub fn roll(&mut self) -> Die {
        Die::ALL[self.below(6) as usize]
    }

    /// 1 to 6 in any order.
    pub fn shuffled(&mut self) -> [u8; 6] {
        let mut numbers = [1, 2, 3, 4, 5, 6];
        for i in (1..6).rev() {
            numbers.swap(i, self.below(i as u64 + 1) as usize);
        }
        numbers
    }
}
