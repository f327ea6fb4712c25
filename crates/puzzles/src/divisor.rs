//! Division by a number that stays the same.

/// A number d by which is divided hundreds of millions of times. A multiplication by 2^64 / d takes the place of the division.
/// That is rounded up, which adds less than 2^-32 to a quotient; the next whole number is at least 1 / d, and so more, away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(crate) number: u32,
    /// 2^64 / number, rounded up; 0 for 1, where it would have 65 bits.
    reciprocal: u64,
}

impl Divisor {
    /// Of a number from 1.
    pub(crate) fn new(number: u32) -> Self {
        Self { number, reciprocal: (u64::MAX / u64::from(number)).wrapping_add(1) }
    }

    /// Quotient and remainder.
    pub(crate) fn divide(self, dividend: u32) -> (u32, u32) {
        let quotient = match self.reciprocal {
            0 => dividend,
            reciprocal => ((u128::from(reciprocal) * u128::from(dividend)) >> 64) as u32,
        };
        (quotient, dividend - quotient * self.number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ends_divide() {
        for number in [1, 2, 3, 7, 1 << 16, (1 << 16) + 1, 1 << 31, u32::MAX - 1, u32::MAX] {
            for dividend in [0, 1, 2, number - 1, number, number.wrapping_add(1), u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(number).divide(dividend), (dividend / number, dividend % number));
            }
        }
    }

    proptest! {
        #[test]
        fn all_divide(number in 1u32.., dividend: u32) {
            prop_assert_eq!(Divisor::new(number).divide(dividend), (dividend / number, dividend % number));
        }
    }
}
