//! The bytes of messages between parts: frontiers on their way, and logs that others take over.
//!
//! A frontier stands behind its slice, and its *tag*: 0 to 3 for side and kind. An export is the next ply and such
//! frontiers. A saved log is a mark, the plies (first, and one beyond the last), and of each slice its number, the length
//! of the rest, and the ply, tag and bytes of each frontier. Numbers are little-endian.

use std::ops::Range;

use crate::{Code, Frontier, GameError, LogEntry, Outcome, Side};

/// The mark of a saved log, and its version.
const MARK: [u8; 4] = *b"CJX\x01";

/// Side and kind of an entry of a log.
pub(crate) fn tag(entry: &LogEntry) -> u8 {
    entry.side.index() as u8 | u8::from(matches!(entry.code.outcome(), Outcome::Loss(_))) << 1
}

/// The ply of an entry of a log.
pub(crate) fn ply(code: Code) -> u16 {
    match code.outcome() {
        Outcome::Win(distance) | Outcome::Loss(distance) => distance.plies,
        Outcome::Draw => 0,
    }
}

/// Side, and whether the cells are won.
fn untag(tag: u8) -> Result<(Side, bool), GameError> {
    if tag > 3 {
        return Err(misfit("there is no such side or kind"));
    }
    Ok((Side::BOTH[usize::from(tag & 1)], tag & 2 == 0))
}

pub(crate) fn misfit(text: &str) -> GameError {
    GameError::Frontier(text.to_owned())
}

pub(crate) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], GameError> {
    let (head, tail) = bytes.split_first_chunk().ok_or_else(|| misfit("it ends too early"))?;
    *bytes = tail;
    Ok(head)
}

/// One frontier of a message.
pub(crate) struct Arrival<'a> {
    pub(crate) side: Side,
    pub(crate) won: bool,
    pub(crate) frontier: Frontier,
    pub(crate) encoded: &'a [u8],
}

/// Takes a tag and a frontier off the front.
pub(crate) fn arrival<'a>(bytes: &mut &'a [u8], words: u32) -> Result<Arrival<'a>, GameError> {
    let [byte] = *take(bytes)?;
    let (side, won) = untag(byte)?;
    let before = *bytes;
    let frontier = Frontier::decode(bytes, words).map_err(|e| GameError::Frontier(e.to_string()))?;
    Ok(Arrival { side, won, frontier, encoded: &before[..before.len() - bytes.len()] })
}

/// The bytes of a saved log, without its slices.
pub(crate) fn begin(plies: &Range<u16>) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend_from_slice(&plies.start.to_le_bytes());
    bytes.extend_from_slice(&plies.end.to_le_bytes());
    bytes
}

/// Adds the labels of a slice.
pub(crate) fn add(bytes: &mut Vec<u8>, slice: u32, labels: &[u8]) {
    bytes.extend_from_slice(&slice.to_le_bytes());
    bytes.extend_from_slice(&(labels.len() as u64).to_le_bytes());
    bytes.extend_from_slice(labels);
}

/// Slices, and the labels of each, unread.
type Slices<'a> = Vec<(u32, &'a [u8])>;

/// Takes a saved log apart: its plies and its slices.
pub(crate) fn read(mut bytes: &[u8]) -> Result<(Range<u16>, Slices<'_>), GameError> {
    let rest = &mut bytes;
    if *take(rest)? != MARK {
        return Err(misfit("it is no log, or one of another version"));
    }
    let plies = u16::from_le_bytes(*take(rest)?)..u16::from_le_bytes(*take(rest)?);
    let mut slices: Slices = Vec::new();
    while !rest.is_empty() {
        let slice = u32::from_le_bytes(*take(rest)?);
        if slices.last().is_some_and(|&(last, _)| last >= slice) {
            return Err(misfit("its slices are out of order"));
        }
        let length = usize::try_from(u64::from_le_bytes(*take(rest)?)).map_err(|_| misfit("it ends too early"))?;
        let (labels, tail) = rest.split_at_checked(length).ok_or_else(|| misfit("it ends too early"))?;
        *rest = tail;
        slices.push((slice, labels));
    }
    Ok((plies, slices))
}
