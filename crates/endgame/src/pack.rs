//! Sets as bytes in scratch files.

use std::cell::RefCell;

use canju_retro::GameError;
use zstd::bulk::{Compressor, Decompressor};

/// The fastest that still takes out the empty words.
const LEVEL: i32 = 1;

thread_local! {
    static ZSTD_CONTEXTS: RefCell<Option<(Compressor<'static>, Decompressor<'static>)>> = const { RefCell::new(None) };
}

/// The bytes of a set, never more than it has in memory: compressed, or as they are where that is no shorter.
pub(crate) fn pack(words: &[u128]) -> Vec<u8> {
    let plain: &[u8] = bytemuck::cast_slice(words);
    let packed = with_contexts(|compressor, _| compressor.compress(plain).ok());
    packed.filter(|packed| packed.len() < plain.len()).unwrap_or_else(|| plain.to_vec())
}

/// Fills a set with the words that were packed.
pub(crate) fn unpack(bytes: &[u8], words: &mut [u128]) -> Result<(), GameError> {
    let plain: &mut [u8] = bytemuck::cast_slice_mut(words);
    if bytes.len() == plain.len() {
        plain.copy_from_slice(bytes);
        return Ok(());
    }
    match with_contexts(|_, decompressor| decompressor.decompress_to_buffer(bytes, plain).ok()) {
        Some(n) if n == plain.len() => Ok(()),
        _ => Err(GameError::Frontier("a set in the scratch folder is damaged".into())),
    }
}

/// Runs `work` with this thread's contexts; `None` where they cannot be made.
fn with_contexts<R>(work: impl FnOnce(&mut Compressor<'static>, &mut Decompressor<'static>) -> Option<R>) -> Option<R> {
    ZSTD_CONTEXTS.with_borrow_mut(|contexts| {
        if contexts.is_none() {
            *contexts = Some((Compressor::new(LEVEL).ok()?, Decompressor::new().ok()?));
        }
        let (compressor, decompressor) = contexts.as_mut()?;
        work(compressor, decompressor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_sets_come_back() {
        let noise =
            |i: u128| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).rotate_left(i as u32 % 128);
        for words in [vec![], vec![0; 500], (0..500).collect(), (0..500).map(noise).collect::<Vec<u128>>()] {
            let bytes = pack(&words);
            assert!(bytes.len() <= words.len() * 16);
            let mut back = vec![1; words.len()];
            unpack(&bytes, &mut back).unwrap();
            assert_eq!(back, words);
            if bytes.len() > 20 && bytes.len() < words.len() * 16 {
                assert!(unpack(&bytes[..bytes.len() / 2], &mut back).is_err());
            }
        }
    }
}
