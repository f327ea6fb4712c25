//! A part's log as a message: for a part that takes slices over.
//!
//! The mark, the plies (first, and one beyond the last), and how many slices follow in ascending order. Of each: its
//! number, the length of the rest, and by step and side what was labelled: step, side, code, the frontier's bytes. Numbers
//! are little-endian.

use std::ops::Range;

use canju_retro::{Code, Frontier, GameError, Side};

use crate::own::{Own, misfit};

/// The mark of such a message, and its version.
const MARK: [u8; 4] = *b"CJL\x02";

pub(crate) struct Writer {
    bytes: Vec<u8>,
    plies: Range<u16>,
}

impl Writer {
    pub fn new(plies: Range<u16>, slices: usize) -> Self {
        let mut bytes = MARK.to_vec();
        bytes.extend_from_slice(&plies.start.to_le_bytes());
        bytes.extend_from_slice(&plies.end.to_le_bytes());
        bytes.extend_from_slice(&(slices as u32).to_le_bytes());
        Self { bytes, plies }
    }

    /// Adds a slice: those must come in ascending order, as many as were announced.
    pub fn add(&mut self, slice: u32, own: &Own) -> Result<(), GameError> {
        self.bytes.extend_from_slice(&slice.to_le_bytes());
        let length = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 8]);
        let start = self.bytes.len();
        let entries = own.log.entries();
        let first = own.steps.partition_point(|&step| step < self.plies.start);
        for (number, entry) in entries.iter().enumerate().skip(first) {
            let step = own.steps[number];
            if step >= self.plies.end {
                break;
            }
            self.bytes.extend_from_slice(&step.to_le_bytes());
            self.bytes.push(entry.side.index() as u8);
            self.bytes.extend_from_slice(&entry.code.bits().to_le_bytes());
            self.bytes.extend_from_slice(&own.log.encoded(number)?);
        }
        let written = (self.bytes.len() - start) as u64;
        self.bytes[length..start].copy_from_slice(&written.to_le_bytes());
        Ok(())
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// What a message holds.
pub(crate) struct Saved<'a> {
    pub plies: Range<u16>,
    /// Slices, ascending, and the labels of each, unread.
    pub slices: Vec<(u32, &'a [u8])>,
}

fn short() -> GameError {
    GameError::Frontier("it ends too early".into())
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], GameError> {
    let (head, tail) = bytes.split_first_chunk().ok_or_else(short)?;
    *bytes = tail;
    Ok(head)
}

/// Takes a message of a table with so many slices apart.
pub(crate) fn read(mut bytes: &[u8], slices: usize) -> Result<Saved<'_>, GameError> {
    let refuse = |text: &str| Err(GameError::Frontier(text.into()));
    let rest = &mut bytes;
    if *take(rest)? != MARK {
        return refuse("it is no log, or one of another version");
    }
    let plies = u16::from_le_bytes(*take(rest)?)..u16::from_le_bytes(*take(rest)?);
    let count = u32::from_le_bytes(*take(rest)?) as usize;
    if plies.start > plies.end || count > slices {
        return refuse("its plies or slices are none");
    }
    let mut found: Vec<(u32, &[u8])> = Vec::new();
    for _ in 0..count {
        let slice = u32::from_le_bytes(*take(rest)?);
        if slice as usize >= slices || found.last().is_some_and(|&(last, _)| last >= slice) {
            return Err(GameError::Frontier(format!("slice {slice} does not exist, or is out of order")));
        }
        let length = usize::try_from(u64::from_le_bytes(*take(rest)?)).map_err(|_| short())?;
        let (labels, tail) = rest.split_at_checked(length).ok_or_else(short)?;
        *rest = tail;
        found.push((slice, labels));
    }
    if rest.is_empty() { Ok(Saved { plies, slices: found }) } else { refuse("bytes are left over") }
}

impl Own {
    /// Takes the labels of some plies into the log, as far as they go on where it ends.
    ///
    /// `planes` are the sets of a slice that a step of the rules of repetition may name, one behind the other.
    pub fn load(
        &mut self,
        range: &Range<u16>,
        mut labels: &[u8],
        words: usize,
        planes: [usize; 2],
    ) -> Result<(), GameError> {
        let follows = range.start <= self.plies;
        let mut last = None;
        while !labels.is_empty() {
            let ply = u16::from_le_bytes(*take(&mut labels)?);
            let [side] = *take(&mut labels)?;
            let Some(&side) = Side::BOTH.get(usize::from(side)) else {
                return Err(GameError::Frontier("there is no such side".into()));
            };
            if !range.contains(&ply) || last.is_some_and(|last| last >= (ply, side)) {
                return Err(GameError::Frontier(format!("ply {ply} is out of order")));
            }
            last = Some((ply, side));
            let code = Code::from_bits(u32::from_le_bytes(*take(&mut labels)?))
                .ok_or_else(|| GameError::Frontier("there is no such label".into()))?;
            let planes = if code == Code::DRAW { planes[0].max(planes[1]) } else { 1 };
            let before = labels;
            let frontier = Frontier::decode(&mut labels, (words * planes) as u32).map_err(misfit)?;
            if frontier.is_empty() {
                return Err(GameError::Frontier(format!("it labels nothing at ply {ply}")));
            }
            if follows && ply >= self.plies {
                self.record_encoded(ply, code, side, frontier.cells(), &before[..before.len() - labels.len()])?;
            }
        }
        if follows {
            self.plies = self.plies.max(range.end);
        }
        Ok(())
    }
}
