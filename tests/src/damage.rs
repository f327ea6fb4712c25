//! Tables that are damaged on purpose.

use std::collections::BTreeMap;

/// Files of tables by key.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Bytes of one edit: which file, what is done, where (two bytes), with what.
const EDIT: usize = 5;

/// Changes files as bytes say that a fuzzer or a test has drawn: flips bits, cuts, adds, moves and removes.
pub fn damage(files: &mut Files, edits: &[u8]) {
    let keys: Vec<String> = files.keys().cloned().collect();
    for &[file, what, low, high, with] in edits.as_chunks::<EDIT>().0 {
        let key = &keys[usize::from(file) % keys.len()];
        let other = files.get(&keys[usize::from(with) % keys.len()]).cloned();
        let Some(bytes) = files.get_mut(key) else { continue };
        let at = usize::from(u16::from_le_bytes([low, high])) % (bytes.len() + 1);
        match what % 8 {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= with.max(1);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    // In a manifest, mostly a digit or a letter for another.
                    *byte = b'0' + with % 75;
                }
            }
            3 => bytes.truncate(at),
            4 => bytes.extend(std::iter::repeat_n(with, at % 100)),
            5 => {
                let end = (at + usize::from(with)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                if let Some(other) = other {
                    *bytes = other;
                }
            }
            _ => drop(files.remove(key)),
        }
    }
}

/// Gives the parts of a shard the checksums that belong to them, as far as its lengths lead anywhere: so that what
/// stands behind the checksums gets to see damage too. What comes out may be any table at all.
pub fn forge(shard: &mut [u8]) {
    let number = |bytes: &[u8], at: usize| {
        let field = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
        field.map_or(0, |b| u32::from_le_bytes(b) as usize)
    };
    if shard.len() < 40 {
        return;
    }
    let whole = shard.len() as u64;
    shard[24..32].copy_from_slice(&whole.to_le_bytes());
    seal(shard, 0, 40);
    let mut at = 40;
    let lengths = [number(shard, 12), number(shard, 16), number(shard, 20)];
    let blocks = at + lengths.iter().sum::<usize>();
    // The entries of the directory, from its end back: each has its block's checksum.
    let mut entry = blocks.saturating_sub(8 + 16);
    let mut block = shard.len();
    while entry >= 40 && block > blocks && entry + 16 <= shard.len() {
        let len = number(shard, entry + 4);
        let Some(start) = block.checked_sub(len).filter(|&start| start >= blocks) else { break };
        let check: [u8; 32] = blake3::hash(&shard[start..block]).into();
        shard[entry + 8..entry + 16].copy_from_slice(&check[..8]);
        (block, entry) = (start, entry - 16);
    }
    for len in lengths {
        seal(shard, at, len);
        at = at.saturating_add(len);
    }
}

/// Writes the checksum of a part to its last eight bytes.
fn seal(bytes: &mut [u8], at: usize, len: usize) {
    let end = at.saturating_add(len);
    if len < 8 || end > bytes.len() {
        return;
    }
    let check: [u8; 32] = blake3::hash(&bytes[at..end - 8]).into();
    bytes[end - 8..end].copy_from_slice(&check[..8]);
}
