//! The chance of winning, where dice decide.

use crate::Code;

/// The chance that the side to move wins, in steps of 2^-24. Certainty is kept apart: nothing that is merely likely
/// rounds to 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Odds(u32);

/// The numerator of certainty.
const ONE: u32 = 1 << 24;
/// The largest numerator below it: the one between has the bits that tables write for certainty.
const MOST: u32 = ONE - 2;
/// Numerators of coarse odds are multiples of this, from 1 to 65534 times.
const COARSE: u32 = 1 << 8;

impl Odds {
    /// The side to move has lost, whatever happens.
    pub const LOST: Self = Self(0);
    /// The side to move has won, whatever happens.
    pub const WON: Self = Self(ONE);

    /// The nearest odds. The error is at most 2^-25; at most 2^-23 for a chance that is within that of 0 or 1.
    /// A chance that is no number counts as 0.
    #[must_use]
    pub fn of(chance: f64) -> Self {
        Self::round(chance, 1)
    }

    /// The nearest odds of 16 bits: they take two bytes in a table, not three. The error is at most 2^-17; at most
    /// 2^-15 for a chance that is within that of 0 or 1.
    #[must_use]
    pub fn coarse(chance: f64) -> Self {
        Self::round(chance, COARSE)
    }

    fn round(chance: f64, step: u32) -> Self {
        if chance.is_nan() || chance <= 0.0 {
            Self::LOST
        } else if chance >= 1.0 {
            Self::WON
        } else {
            let steps = (chance * f64::from(ONE / step)).round() as u32;
            Self(steps.clamp(1, MOST / step - u32::from(step > 1)) * step)
        }
    }

    /// The chance as a number from 0 to 1, exactly.
    #[must_use]
    pub fn chance(self) -> f64 {
        f64::from(self.0) / f64::from(ONE)
    }

    /// The numerator over 2^24.
    #[must_use]
    pub const fn numerator(self) -> u32 {
        self.0
    }

    /// The odds of a numerator over 2^24, or `None` where there are no such odds: above 2^24, and 2^24 - 1.
    #[must_use]
    pub const fn from_numerator(numerator: u32) -> Option<Self> {
        if numerator <= MOST || numerator == ONE { Some(Self(numerator)) } else { None }
    }
}

impl From<Odds> for Code {
    fn from(odds: Odds) -> Self {
        Self::of_odds(odds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn certainty_is_kept_apart() {
        for of in [Odds::of, Odds::coarse] {
            assert_eq!([0.0, 1.0, -1.0, 2.0, f64::NAN].map(of), [0, ONE, 0, ONE, 0].map(Odds));
            for unsure in [1e-300, 1e-9, 0.5, 1.0 - 1e-9, 1.0 - f64::EPSILON] {
                assert!((Odds(1)..=Odds(MOST)).contains(&of(unsure)), "{unsure}");
            }
        }
        assert_eq!(Odds::of(0.5).chance(), 0.5);
        assert_eq!(Odds::coarse(1.0 - 1e-9).numerator(), 0xfffe00);
        assert_eq!(Odds::from_numerator(ONE - 1), None);
    }

    proptest! {
        #[test]
        fn rounding_errs_as_little_as_it_says(chance in 0.0f64..1.0) {
            for (of, bits) in [(Odds::of as fn(f64) -> Odds, 24), (Odds::coarse, 16)] {
                let ends = 0.5f64.powi(bits - 1);
                let bound = if chance < ends || chance > 1.0 - ends { ends } else { 0.5f64.powi(bits + 1) };
                prop_assert!((of(chance).chance() - chance).abs() <= bound);
            }
        }

        #[test]
        fn codes_and_back(numerator in 0u32..=ONE) {
            let Some(odds) = Odds::from_numerator(numerator) else { return Ok(()) };
            let code = Code::from(odds);
            prop_assert_eq!(code.odds(), Some(odds));
            prop_assert_eq!(Code::from_bits(code.bits()), Some(code));
        }
    }
}
