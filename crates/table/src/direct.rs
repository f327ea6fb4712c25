//! Cells that are odds, each with its own bits: for blocks of more than 256 values.
//!
//! Zero is a loss and all ones a win, whatever happens; between them stand the highest bits of the numerator over
//! 2^24. The highest bytes of all cells come first: only these are alike from cell to cell.

use canju_retro::{Code, Odds};

/// Bits of a numerator.
const BITS: u8 = 24;
/// Bits of coarse odds.
const COARSE: u8 = 16;

/// True for the bits of a cell that such a block has.
pub(crate) const fn is_direct(bits: u8) -> bool {
    matches!(bits, COARSE | BITS)
}

/// The fewest bits that tell all of these codes, or `None` where one is no odds.
pub(crate) fn bits_for(codes: &[Code]) -> Option<u8> {
    let mut bits = COARSE;
    for code in codes {
        let odds = code.odds().filter(|&odds| code.bits() == Code::from(odds).bits())?;
        if cell(odds, COARSE).and_then(|c| odds_of(c, COARSE)) != Some(odds) {
            bits = BITS;
        }
    }
    Some(bits)
}

/// Appends the cells. `bits` are those of [`bits_for`].
pub(crate) fn pack(codes: &[Code], bits: u8, out: &mut Vec<u8>) {
    let cells: Vec<u32> = codes.iter().map(|c| c.odds().and_then(|o| cell(o, bits)).unwrap_or_default()).collect();
    for shift in (0..bits).step_by(8).rev() {
        out.extend(cells.iter().map(|c| (c >> shift) as u8));
    }
}

/// The code of a cell, or `None` beyond the end or where the bits mean nothing.
pub(crate) fn get(packed: &[u8], bits: u8, cell: usize) -> Option<Code> {
    let planes = usize::from(bits / 8);
    let cells = packed.len() / planes;
    if cell >= cells {
        return None;
    }
    let value = (0..planes).fold(0, |value, plane| value << 8 | u32::from(packed[plane * cells + cell]));
    odds_of(value, bits).map(Code::from)
}

/// The codes of all cells.
pub(crate) fn unpack(packed: &[u8], bits: u8) -> Option<Vec<Code>> {
    (0..packed.len() / usize::from(bits / 8)).map(|cell| get(packed, bits, cell)).collect()
}

/// The largest cell of so many bits.
const fn ones(bits: u8) -> u32 {
    (1 << bits) - 1
}

fn cell(odds: Odds, bits: u8) -> Option<u32> {
    let numerator = odds.numerator() >> (BITS - bits);
    match odds {
        Odds::WON => Some(ones(bits)),
        _ => Some(numerator).filter(|&n| n < ones(bits)),
    }
}

fn odds_of(cell: u32, bits: u8) -> Option<Odds> {
    if cell == ones(bits) { Some(Odds::WON) } else { Odds::from_numerator(cell << (BITS - bits)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use canju_retro::{Distance, Outcome};
    use proptest::prelude::*;

    fn fine() -> impl Strategy<Value = Odds> {
        (0u32..=1 << 24).prop_filter_map("no odds", Odds::from_numerator)
    }

    proptest! {
        #[test]
        fn there_and_back(odds in proptest::collection::vec(fine(), 1..80), coarse in any::<bool>()) {
            let codes: Vec<Code> =
                odds.iter().map(|&o| if coarse { Odds::coarse(o.chance()) } else { o }.into()).collect();
            let bits = bits_for(&codes).unwrap();
            prop_assert!(!coarse || bits == COARSE);
            let mut packed = Vec::new();
            pack(&codes, bits, &mut packed);
            prop_assert_eq!(packed.len(), codes.len() * usize::from(bits / 8));
            prop_assert_eq!(unpack(&packed, bits), Some(codes.clone()));
            prop_assert_eq!(get(&packed, bits, codes.len()), None);
        }

        #[test]
        fn any_bytes(packed in proptest::collection::vec(any::<u8>(), 0..60)) {
            for bits in [COARSE, BITS] {
                if let Some(codes) = unpack(&packed, bits) {
                    prop_assert_eq!(codes.len(), packed.len() / usize::from(bits / 8));
                    prop_assert!(codes.iter().all(|c| c.odds().is_some()));
                }
            }
        }
    }

    #[test]
    fn distances_are_no_odds() {
        assert_eq!(bits_for(&[Code::WIN, Code::DRAW]), None);
        assert_eq!(bits_for(&[Code::from(Outcome::Win(Distance::plies(3)))]), None);
        assert_eq!(bits_for(&[Code::WIN, Code::LOSS, Odds::coarse(0.3).into()]), Some(COARSE));
        assert_eq!(bits_for(&[Odds::of(0.3).into()]), Some(BITS));
    }
}
