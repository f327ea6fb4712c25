//! Sets as bytes in scratch files.
//!
//! Which words are not empty, and those: twelve bytes for ninety cells. That is two thirds of what the sets are in memory,
//! and costs little more than a copy. zstd makes a seventh of them, at a quarter of a gigabyte a second: less than what a
//! disk writes. Measured for KACPKAABB.

use canju_retro::GameError;

/// Bytes of a word that is not empty.
const WORD: usize = 12;

/// Bytes that so many words have at most: as many as they have in memory.
pub(crate) const fn most_bytes(words: usize) -> u64 {
    words as u64 * 16
}

/// The bytes of a set. Those with a cell beyond the twelve bytes are kept as they are, and are known by their length.
pub(crate) fn pack(words: &[u128]) -> Vec<u8> {
    let full = words.iter().filter(|&&word| word != 0).count();
    if words.iter().any(|word| word >> (8 * WORD) != 0) {
        return words.iter().flat_map(|word| word.to_le_bytes()).collect();
    }
    let mut bytes = Vec::with_capacity(words.len().div_ceil(8) + WORD * full);
    let mask = |words: &[u128]| words.iter().enumerate().fold(0u8, |mask, (i, &word)| mask | u8::from(word != 0) << i);
    bytes.extend(words.chunks(8).map(mask));
    for word in words.iter().filter(|&&word| word != 0) {
        bytes.extend_from_slice(&word.to_le_bytes()[..WORD]);
    }
    bytes
}

/// Fills a set with the words that were packed.
pub(crate) fn unpack(bytes: &[u8], words: &mut [u128]) -> Result<(), GameError> {
    let damaged = || GameError::Frontier("a set in the scratch folder is damaged".into());
    if bytes.len() as u64 == most_bytes(words.len()) {
        words.iter_mut().zip(bytes.as_chunks().0).for_each(|(word, &bytes)| *word = u128::from_le_bytes(bytes));
        return Ok(());
    }
    let (masks, full) = bytes.split_at_checked(words.len().div_ceil(8)).ok_or_else(damaged)?;
    let (full, rest) = full.as_chunks::<WORD>();
    let count: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
    if count != full.len() || !rest.is_empty() {
        return Err(damaged());
    }
    let mut full = full.iter();
    for (words, mask) in words.chunks_mut(8).zip(masks) {
        for (i, word) in words.iter_mut().enumerate() {
            *word = 0;
            if mask >> i & 1 != 0 {
                let mut bytes = [0; 16];
                bytes[..WORD].copy_from_slice(full.next().ok_or_else(damaged)?);
                *word = u128::from_le_bytes(bytes);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_sets_come_back() {
        let noise =
            |i: u128| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).rotate_left(i as u32 % 128);
        let cells = |i: u128| if i.is_multiple_of(3) { 0 } else { noise(i) >> 38 };
        for (words, full) in [
            (vec![], false),
            (vec![0; 501], false),
            ((0..500).collect(), false),
            ((0..77).map(cells).collect(), false),
            ((0..500).map(noise).collect::<Vec<u128>>(), true),
        ] {
            let bytes = pack(&words);
            assert!(bytes.len() as u64 <= most_bytes(words.len()));
            assert_eq!(bytes.len() as u64 == most_bytes(words.len()), full || words.is_empty());
            let mut back = vec![1; words.len()];
            unpack(&bytes, &mut back).unwrap();
            assert_eq!(back, words);
            if !bytes.is_empty() {
                assert!(unpack(&bytes[..bytes.len() - 1], &mut back).is_err());
                assert!(unpack(&[&bytes[..], &[0]].concat(), &mut back).is_err());
            }
        }
    }
}
