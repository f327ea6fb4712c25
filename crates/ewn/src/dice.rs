use crate::Die;

/// Random numbers from a seed: the same ones on every machine. The generator is SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Other numbers of the same seed, one row of them for each `row`.
    #[must_use]
    pub fn row(seed: u64, row: u64) -> Dice {
        let mut rows = Dice(row);
        Dice(seed ^ rows.bits())
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0, all alike to within 2^-32 for ends below 2^32.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
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
