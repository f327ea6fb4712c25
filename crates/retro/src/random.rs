/// Random numbers from a seed: the same ones in every run and on every machine, so that what was drawn can be drawn again.
/// The generator is SplitMix64 (Steele, Lea and Flood 2014).
///
/// ```
/// use canju_retro::Random;
///
/// let mut random = Random::new(7);
/// assert!((0..100).all(|_| random.below(6) < 6));
/// assert_eq!(Random::new(7).bits(), Random::new(7).bits());
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0. The bias is below one in 2^64 / `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' own program prints for the seed 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix() {
        let mut random = Random::new(1_234_567);
        let wanted = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| random.bits()), wanted);
    }
}
