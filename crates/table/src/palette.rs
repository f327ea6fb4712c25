//! Which codes occur in a stretch of cells, in canonical order, and their bytes.
//!
//! The order is by distance first and by kind (draw, win, loss) within it, so that neighbouring
//! blocks, whose longest distances differ, still give the same byte to the same code.

use canju_retro::Code;

/// The bits of a code turned so that their order is the canonical one: order, plies, kind.
fn key(code: Code) -> u32 {
    code.bits().rotate_left(2)
}

/// Distinct codes in canonical order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Palette(Vec<Code>);

/// For every index of a caller's palette the place of its code among the distinct ones, so
/// that a palette that repeats a code is as good as one that does not.
pub(crate) struct Distinct {
    pub(crate) codes: Palette,
    pub(crate) places: Vec<u16>,
}

impl Palette {
    pub(crate) fn of(mut codes: Vec<Code>) -> Self {
        codes.sort_unstable_by_key(|&c| key(c));
        codes.dedup();
        Self(codes)
    }

    pub(crate) fn codes(&self) -> &[Code] {
        &self.0
    }

    pub(crate) fn place(&self, code: Code) -> Option<usize> {
        self.0.binary_search_by_key(&key(code), |&c| key(c)).ok()
    }

    /// Appends the codes: for each the difference of its key to the one before, 7 bits a byte, lowest first.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut before = 0;
        for &code in &self.0 {
            let mut step = key(code) - before;
            before = key(code);
            while step >= 0x80 {
                out.push(step as u8 | 0x80);
                step >>= 7;
            }
            out.push(step as u8);
        }
    }

    /// Takes a palette of `len` codes off the front of `bytes`, or tells what is wrong with it.
    pub(crate) fn read(bytes: &mut &[u8], len: usize) -> Result<Self, &'static str> {
        let mut codes = Vec::with_capacity(len);
        let mut before = 0u32;
        for i in 0..len {
            let step = take_varint(bytes).ok_or("the palette is cut short or has too long a number")?;
            if step == 0 && i > 0 {
                return Err("the palette repeats a code");
            }
            before = before.checked_add(step).ok_or("the palette leaves the range of codes")?;
            codes.push(Code::from_bits(before.rotate_right(2)).ok_or("the palette has a code without meaning")?);
        }
        Ok(Self(codes))
    }
}

impl Distinct {
    pub(crate) fn of(palette: &[Code]) -> Self {
        // No index reaches further.
        let palette = &palette[..palette.len().min(1 << 16)];
        let codes = Palette::of(palette.to_vec());
        let places = palette.iter().map(|&code| codes.place(code).unwrap_or_default() as u16).collect();
        Self { codes, places }
    }
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u64;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use canju_retro::{Distance, Outcome};
    use proptest::prelude::*;

    #[test]
    fn short_distances_come_first() {
        let win = |n| Code::from(Outcome::Win(Distance::plies(n)));
        let loss = |n| Code::from(Outcome::Loss(Distance::plies(n)));
        let palette = Palette::of(vec![loss(2), win(3), Code::DRAW, win(1), loss(0), win(3)]);
        assert_eq!(palette.codes(), [Code::DRAW, loss(0), win(1), loss(2), win(3)]);
        let mut bytes = Vec::new();
        palette.write(&mut bytes);
        assert_eq!(bytes, [0, 2, 3, 5, 3]);
    }

    proptest! {
        #[test]
        fn bytes_and_back(bits in proptest::collection::vec(any::<u32>(), 1..300)) {
            let palette = Palette::of(bits.into_iter().filter_map(Code::from_bits).collect());
            let mut bytes = Vec::new();
            palette.write(&mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(Palette::read(&mut rest, palette.codes().len()), Ok(palette));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..40), len in 1usize..20) {
            if let Ok(palette) = Palette::read(&mut &bytes[..], len) {
                prop_assert_eq!(Palette::of(palette.codes().to_vec()), palette);
            }
        }
    }
}
