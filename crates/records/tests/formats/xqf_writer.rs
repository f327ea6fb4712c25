//! Writes XQF of each version, for the tests: what the reader takes away is added here.

use canju_records::{NodeId, Record};
use canju_xiangqi::{Color, Role};

const ORDER: &[u8; 16] = b"RNBAKABNRCCPPPPP";

/// The bytes of the head from 3 on that hide things.
pub struct Hidden {
    pub mask: u8,
    pub set: [u8; 4],
    /// The first is chosen so that all add up to 0.
    pub keys: [u8; 3],
}

pub const HIDDEN: Hidden = Hidden { mask: 0x5a, set: [0x81, 0x42, 0x24, 0x18], keys: [0x73, 0xc5, 0x2f] };

pub fn write(record: &Record, version: u8, hidden: &Hidden) -> Vec<u8> {
    let hides = version > 10;
    let mut head = vec![0; 1024];
    head[..3].copy_from_slice(&[b'X', b'Q', version]);
    let [xy, from, to] = hidden.keys;
    let sum = 0_u8.wrapping_sub(xy).wrapping_sub(from).wrapping_sub(to);
    let keys = [sum, xy, from, to];
    if hides {
        head[3] = hidden.mask;
        head[8..12].copy_from_slice(&hidden.set);
        head[12..16].copy_from_slice(&keys);
    }
    // The long way round, as the format's author has it.
    let spread = |key: u8| {
        let key = u64::from(key);
        ((((key * key) * 3 + 9) * 3 + 8) * 2 + 1) * 3 + 8
    };
    let piece_key = if hides { (spread(xy) * u64::from(xy)) as u8 } else { 0 };
    let from_key = if hides { (spread(from) * u64::from(piece_key)) as u8 } else { 0 };
    let to_key = if hides { (spread(to) * u64::from(from_key)) as u8 } else { 0 };
    let length_key = if hides { (u32::from(sum) * 256 + u32::from(xy)) % 32_000 + 767 } else { 0 };

    let mut places = [0xff_u8; 32];
    for color in Color::ALL {
        for role in Role::ALL {
            let slots = (0..16).filter(|&i| ORDER[i] == role.to_char() as u8).map(|i| i + 16 * color.index());
            for (slot, square) in slots.zip(record.start.squares_of(color, role)) {
                places[slot] = 10 * square.file() + square.rank();
            }
        }
    }
    for (i, place) in places.iter().enumerate() {
        let stored = if version >= 12 { (i + 64 - usize::from(piece_key % 32) - 1) % 32 } else { i };
        head[16 + stored] = place.wrapping_add(piece_key);
    }
    head[50] = record.start.turn().index() as u8;
    head[51] = 1;
    for (at, text) in [(80, &record.title), (208, &record.event), (304, &record.red), (320, &record.black)] {
        let bytes = encoding_rs::GBK.encode(text).0;
        head[at] = bytes.len() as u8;
        head[at + 1..][..bytes.len()].copy_from_slice(&bytes);
    }

    let mut moves = Vec::new();
    let mut waiting = vec![(NodeId::START, false)];
    while let Some((node, has_variation)) = waiting.pop() {
        let tree = &record.tree;
        let comment = encoding_rs::GBK.encode(tree.comment(node)).0.into_owned();
        let goes_on = tree.main(node).is_some();
        let (from, to) =
            tree.chosen(node).map_or((0, 0), |m| (10 * m.from.file() + m.from.rank(), 10 * m.to.file() + m.to.rank()));
        let flags = if hides {
            u8::from(goes_on) << 7 | u8::from(has_variation) << 6 | u8::from(!comment.is_empty()) << 5 | 0x0b
        } else {
            (u8::from(goes_on) * 0xf0) | (u8::from(has_variation) * 0x0f)
        };
        let from = from.wrapping_add(24).wrapping_add(from_key);
        let to = to.wrapping_add(32).wrapping_add(to_key);
        moves.extend([from, to, flags, 0]);
        if !hides || !comment.is_empty() {
            moves.extend((comment.len() as u32).wrapping_add(length_key).to_le_bytes());
        }
        moves.extend(comment);
        // Behind a node come its moves, then its siblings: those wait below.
        let children: Vec<NodeId> = tree.children(node).collect();
        for (i, &child) in children.iter().enumerate().rev() {
            waiting.push((child, i + 1 < children.len()));
        }
    }
    if hides {
        let stream = b"[(C) Copyright Mr. Dong Shiwei.]";
        for (i, byte) in moves.iter_mut().enumerate() {
            let key = (keys[i % 4] & hidden.mask) | hidden.set[i % 4];
            *byte = byte.wrapping_add(stream[i % 32] & key);
        }
    }
    head.extend(moves);
    head
}
