//! The records of moves, one after another.

use canju_xiangqi::{Move, Position};

use super::keys::Keys;
use super::{HEAD, square};
use crate::builder::{Builder, turn_to};
use crate::format::Allowance;
use crate::text::decode_chinese;
use crate::{Fault, NodeId, Place, RecordError};

/// A record as the file has it.
struct Entry {
    place: Place,
    chosen: Option<Move>,
    comment: String,
    /// Whether a record of the next move follows, and after that one of a move instead of this.
    goes_on: bool,
    has_variation: bool,
}

struct Entries<'a> {
    bytes: &'a [u8],
    keys: &'a Keys,
    /// Whether flags and lengths are as in version 10.
    plain: bool,
    at: usize,
}

impl Entries<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..)?.first_chunk::<N>()?;
        let at = self.at;
        self.at += N;
        let mut clear = *taken;
        for (i, byte) in clear.iter_mut().enumerate() {
            *byte = self.keys.clear(*byte, at + i);
        }
        Some(clear)
    }

    /// The next record, or where the file ends too soon.
    fn next(&mut self) -> Result<Entry, Place> {
        let place = Place::Byte(HEAD + self.at);
        let [from, to, flags, _] = self.take().ok_or(place)?;
        let (goes_on, has_variation, has_comment) = if self.plain {
            (flags & 0xf0 != 0, flags & 0x0f != 0, true)
        } else {
            (flags & 0x80 != 0, flags & 0x40 != 0, flags & 0x20 != 0)
        };
        let from = square(from.wrapping_sub(24).wrapping_sub(self.keys.from));
        let to = square(to.wrapping_sub(32).wrapping_sub(self.keys.to));
        let chosen = from.zip(to).map(|(from, to)| Move::new(from, to));
        let mut comment = String::new();
        if has_comment {
            let length = u32::from_le_bytes(self.take().ok_or(place)?).wrapping_sub(self.keys.length);
            let there = self.bytes.get(self.at..).unwrap_or_default();
            let bytes = usize::try_from(length).ok().and_then(|length| there.get(..length)).ok_or(place)?;
            let clear: Vec<u8> = (self.at..).zip(bytes).map(|(at, &byte)| self.keys.clear(byte, at)).collect();
            comment = decode_chinese(&clear);
            self.at += bytes.len();
        }
        Ok(Entry { place, chosen, comment, goes_on, has_variation })
    }
}

/// Reads the moves after the head.
pub(super) fn read<'a>(
    bytes: &[u8],
    start: Position,
    version: u8,
    keys: &Keys,
    allowance: &'a mut Allowance,
) -> Result<Builder<'a>, RecordError> {
    let mut entries = Entries { bytes, keys, plain: version == 10, at: 0 };
    let first = entries.next();
    let behind = entries.at;
    let mut start = start;
    // Whatever the head says.
    if let (Ok(Entry { goes_on: true, .. }), Ok(Entry { chosen: Some(chosen), .. })) = (&first, entries.next()) {
        turn_to(&mut start, chosen);
    }
    let mut builder = Builder::new(start, Place::Byte(0), allowance)?;
    let first = match first {
        Ok(first) => first,
        // A position without a record of its start is a position all the same.
        Err(_) if bytes.is_empty() => return Ok(builder),
        Err(place) => {
            builder.warn(place, Fault::Cut);
            return Ok(builder);
        }
    };
    builder.record.tree.add_comment(NodeId::START, &first.comment);
    entries.at = behind;
    // After which nodes records are still to come, the next one last; `None` where a line has ended.
    let mut awaited: Vec<Option<NodeId>> = Vec::new();
    if first.goes_on {
        awaited.push(Some(NodeId::START));
    }
    while let Some(after) = awaited.pop() {
        let entry = match entries.next() {
            Ok(entry) => entry,
            Err(place) => {
                builder.warn(place, Fault::Cut);
                break;
            }
        };
        let node = match (after, entry.chosen) {
            (Some(after), Some(chosen)) => builder.play(after, chosen, entry.place)?,
            (Some(after), None) => {
                let fen = builder.position(after).to_fen();
                builder.warn(entry.place, Fault::OffBoard { fen });
                None
            }
            (None, _) => None,
        };
        if let Some(node) = node {
            builder.record.tree.add_comment(node, &entry.comment);
        }
        if entry.has_variation {
            awaited.push(after);
        }
        if entry.goes_on {
            awaited.push(node);
        }
    }
    Ok(builder)
}
