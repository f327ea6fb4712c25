//! What one ply labelled in one slice: a sparse set of cells, and its bytes.
//!
//! The bytes are at once message, checkpoint and log entry. They are three streams, so that like
//! stands beside like: the gaps between the words, which bytes of each word are not zero, and
//! those bytes. What is longer than a few words is compressed with zstd.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

/// Bytes from which compression is tried.
const COMPRESS_FROM: usize = 96;
const LEVEL: i32 = 1;
thread_local! {
    /// Making a context costs more than compressing a small frontier with it.
    static ZSTD_CONTEXTS: RefCell<Option<(Compressor<'static>, Decompressor<'static>)>> = const { RefCell::new(None) };
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

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// A set of cells of one slice as words of up to 128 cells: ascending word numbers, each with its bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    /// Word numbers within the slice, strictly ascending.
    words: Vec<u32>,
    /// The cells of each word; never zero.
    bits: Vec<u128>,
}

/// Bytes that are no frontier of the slice they were given for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged frontier: {0}")]
pub struct FrontierError(&'static str);

impl Frontier {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new(), bits: Vec::new() }
    }

    /// The empty set, with room for so many words.
    #[must_use]
    pub fn with_capacity(words: usize) -> Self {
        Self { words: Vec::with_capacity(words), bits: Vec::with_capacity(words) }
    }

    /// Gives back memory where more than half of it is unused.
    pub fn trim(&mut self) {
        if self.words.len() < self.words.capacity() / 2 {
            self.words.shrink_to_fit();
            self.bits.shrink_to_fit();
        }
    }

    /// Adds a word beyond all others. Empty words are left out.
    pub fn push(&mut self, word: u32, bits: u128) {
        debug_assert!(self.words.last().is_none_or(|&last| last < word));
        if bits != 0 {
            self.words.push(word);
            self.bits.push(bits);
        }
    }

    /// Takes out the cells of another set.
    pub fn remove(&mut self, other: &Self) {
        let (mut at, mut emptied) = (0, false);
        for (word, bits) in other.iter() {
            at += self.words[at..].partition_point(|&w| w < word);
            if self.words.get(at) == Some(&word) {
                self.bits[at] &= !bits;
                emptied |= self.bits[at] == 0;
            }
        }
        if emptied {
            let mut bits = self.bits.iter();
            self.words.retain(|_| bits.next() != Some(&0));
            self.bits.retain(|&bits| bits != 0);
        }
    }

    /// How many words are not empty.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True for the empty set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many cells are in the set.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.bits.iter().map(|b| u64::from(b.count_ones())).sum()
    }

    /// The words in ascending order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u128)> + '_ {
        self.words.iter().copied().zip(self.bits.iter().copied())
    }

    /// The numbers of the words that are not empty, ascending.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The cells of the words that are not empty, in their order.
    #[must_use]
    pub fn bits(&self) -> &[u128] {
        &self.bits
    }

    /// The cells of a word.
    #[must_use]
    pub fn get(&self, word: u32) -> u128 {
        self.words.binary_search(&word).map_or(0, |at| self.bits[at])
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.words.capacity() * 4 + self.bits.capacity() * 16
    }

    /// Appends the set's bytes, with their length in front, so that several can follow each other.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut plain = Vec::with_capacity(8 + self.len() * 10);
        put_varint(&mut plain, self.len() as u64);
        let mut next = 0;
        for &word in &self.words {
            put_varint(&mut plain, u64::from(word - next));
            next = word + 1;
        }
        for &bits in &self.bits {
            plain.extend_from_slice(&nonzero_bytes(bits).to_le_bytes());
        }
        for &bits in &self.bits {
            let bytes = bits.to_le_bytes();
            let mut mask = nonzero_bytes(bits);
            while mask != 0 {
                plain.push(bytes[mask.trailing_zeros() as usize]);
                mask &= mask - 1;
            }
        }
        if plain.len() >= COMPRESS_FROM
            && let Some(packed) = with_contexts(|compressor, _| compressor.compress(&plain).ok())
            && packed.len() < plain.len()
        {
            out.push(ZSTD);
            put_varint(out, plain.len() as u64);
            put_varint(out, packed.len() as u64);
            out.extend_from_slice(&packed);
            return;
        }
        out.push(PLAIN);
        put_varint(out, plain.len() as u64);
        out.extend_from_slice(&plain);
    }

    /// Takes one encoded set off the front of `bytes`. `words` is the slice's number of words.
    ///
    /// # Errors
    /// When the bytes are not a set of that slice; `bytes` is then left somewhere within it.
    pub fn decode(bytes: &mut &[u8], words: u32) -> Result<Self, FrontierError> {
        let kind = take(bytes, 1)?[0];
        let plain_len = usize::try_from(take_varint(bytes)?).map_err(|_| FrontierError("length"))?;
        // A word takes at most 5 + 2 + 16 bytes: a longer claim is false, and is not allocated.
        if plain_len > 16 + words as usize * 23 {
            return Err(FrontierError("longer than the slice"));
        }
        let unpacked;
        let mut plain: &[u8] = match kind {
            PLAIN => take(bytes, plain_len)?,
            ZSTD => {
                let packed_len = usize::try_from(take_varint(bytes)?).map_err(|_| FrontierError("length"))?;
                let packed = take(bytes, packed_len)?;
                unpacked = with_contexts(|_, decompressor| decompressor.decompress(packed, plain_len).ok())
                    .ok_or(FrontierError("compressed bytes"))?;
                if unpacked.len() != plain_len {
                    return Err(FrontierError("unpacked length"));
                }
                &unpacked
            }
            _ => return Err(FrontierError("kind")),
        };
        let set = Self::decode_plain(&mut plain, words)?;
        if plain.is_empty() { Ok(set) } else { Err(FrontierError("bytes left over")) }
    }

    fn decode_plain(plain: &mut &[u8], words: u32) -> Result<Self, FrontierError> {
        let n = usize::try_from(take_varint(plain)?).map_err(|_| FrontierError("count"))?;
        if n > words as usize || n > plain.len() {
            return Err(FrontierError("count"));
        }
        let mut set = Self { words: Vec::with_capacity(n), bits: Vec::with_capacity(n) };
        let mut next = 0u64;
        for _ in 0..n {
            let word = next + take_varint(plain)?;
            if word >= u64::from(words) {
                return Err(FrontierError("word number"));
            }
            set.words.push(word as u32);
            next = word + 1;
        }
        let masks = take(plain, 2 * n)?;
        for mask in masks.chunks_exact(2) {
            let mut mask = u16::from_le_bytes([mask[0], mask[1]]);
            let stored = take(plain, mask.count_ones() as usize)?;
            let mut bytes = [0u8; 16];
            for &byte in stored {
                bytes[mask.trailing_zeros() as usize] = byte;
                mask &= mask - 1;
            }
            let bits = u128::from_le_bytes(bytes);
            if bits == 0 || nonzero_bytes(bits).count_ones() as usize != stored.len() {
                return Err(FrontierError("empty word or byte"));
            }
            set.bits.push(bits);
        }
        Ok(set)
    }
}

/// Bit i is set where byte i of the word is not zero.
fn nonzero_bytes(bits: u128) -> u16 {
    let half = |x: u64| {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let tops = (((x & LOW) + LOW) | x) & !LOW;
        ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16
    };
    half(bits as u64) | half((bits >> 64) as u64) << 8
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Result<u64, FrontierError> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(FrontierError("number too long"))
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Result<&'a [u8], FrontierError> {
    let (head, tail) = bytes.split_at_checked(n).ok_or(FrontierError("too short"))?;
    *bytes = tail;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frontier() -> impl Strategy<Value = Frontier> {
        proptest::collection::btree_map(0u32..5000, any::<u128>(), 0..300).prop_map(|words| {
            let mut set = Frontier::new();
            for (word, bits) in words {
                set.push(word, bits & bits.rotate_left(13));
            }
            set
        })
    }

    proptest! {
        #[test]
        fn cells_leave(mut a in frontier(), b in frontier()) {
            let gone = |word| b.get(word);
            let left: Vec<_> = a.iter().map(|(word, bits)| (word, bits & !gone(word))).filter(|(_, bits)| *bits != 0).collect();
            a.remove(&b);
            prop_assert_eq!(a.iter().collect::<Vec<_>>(), left);
            prop_assert_eq!(a.words.len(), a.bits.len());
        }

        #[test]
        fn several_follow_each_other(a in frontier(), b in frontier()) {
            let mut bytes = Vec::new();
            a.encode(&mut bytes);
            b.encode(&mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(Frontier::decode(&mut rest, 5000).unwrap(), a);
            prop_assert_eq!(Frontier::decode(&mut rest, 5000).unwrap(), b);
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_refused_or_a_set(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(set) = Frontier::decode(&mut &bytes[..], 64) {
                prop_assert!(set.iter().all(|(word, bits)| word < 64 && bits != 0));
            }
        }

        #[test]
        fn nonzero_bytes_by_hand(bits in any::<u128>(), keep in any::<u16>()) {
            let mut bytes = bits.to_le_bytes();
            for (i, byte) in bytes.iter_mut().enumerate() {
                if keep >> i & 1 == 0 { *byte = 0; }
            }
            let by_hand = (0..16).filter(|&i| bytes[i] != 0).fold(0u16, |m, i| m | 1 << i);
            prop_assert_eq!(nonzero_bytes(u128::from_le_bytes(bytes)), by_hand);
        }
    }

    #[test]
    fn a_word_beyond_the_slice_is_refused() {
        let mut set = Frontier::new();
        set.push(7, 1);
        let mut bytes = Vec::new();
        set.encode(&mut bytes);
        assert!(Frontier::decode(&mut &bytes[..], 8).is_ok());
        assert!(Frontier::decode(&mut &bytes[..], 7).is_err());
    }
}
