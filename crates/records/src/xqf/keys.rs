//! What hides places, moves and comments in the later versions.

/// The text that the bytes of the moves are hidden by.
const MASK: &[u8; 32] = b"[(C) Copyright Mr. Dong Shiwei.]";

/// The keys of a file; all zero in version 10, which hides nothing.
pub(super) struct Keys {
    /// Added to each place of a piece.
    pub pieces: u8,
    /// Added to the square that a move leaves.
    pub from: u8,
    /// Added to the square that it goes to.
    pub to: u8,
    /// Added to the length of a comment.
    pub length: u32,
    /// Added to the bytes of the moves, over and over.
    stream: [u8; 32],
    /// Whether the keys have the sum that they must have.
    pub agree: bool,
}

impl Keys {
    pub fn of(head: &[u8], version: u8) -> Self {
        if version == 10 {
            return Self { pieces: 0, from: 0, to: 0, length: 0, stream: [0; 32], agree: true };
        }
        let mask = head[3];
        let set = &head[8..12];
        let keys = &head[12..16];
        let pieces = spread(keys[1]).wrapping_mul(keys[1]);
        let from = spread(keys[2]).wrapping_mul(pieces);
        let to = spread(keys[3]).wrapping_mul(from);
        let length = (u32::from(keys[0]) * 256 + u32::from(keys[1])) % 32_000 + 767;
        let mut stream = *MASK;
        for (i, byte) in stream.iter_mut().enumerate() {
            *byte &= (keys[i % 4] & mask) | set[i % 4];
        }
        let agree = keys.iter().fold(0_u8, |sum, &key| sum.wrapping_add(key)) == 0;
        Self { pieces, from, to, length, stream, agree }
    }

    /// What was hidden in a byte of the moves, by its distance from the first.
    pub fn clear(&self, byte: u8, at: usize) -> u8 {
        byte.wrapping_sub(self.stream[at % 32])
    }
}

/// 54 n² + 221, in a byte.
fn spread(key: u8) -> u8 {
    key.wrapping_mul(key).wrapping_mul(54).wrapping_add(221)
}
