//! Frontiers on their way to another part: the next step, then for each frontier its slice, side and bytes.

use canju_retro::{Frontier, GameError, Side};

use crate::labels::Arrival;
use crate::own::misfit;

pub(crate) struct Writer {
    bytes: Vec<u8>,
}

const HEADER: usize = 2;

impl Writer {
    pub fn new(next: u16) -> Self {
        Self { bytes: next.to_le_bytes().to_vec() }
    }

    pub fn add(&mut self, slice: u32, side: Side, encoded: &[u8]) {
        self.bytes.extend_from_slice(&(slice << 1 | side.index() as u32).to_le_bytes());
        self.bytes.extend_from_slice(encoded);
    }

    /// The message; no bytes at all when nothing was added.
    pub fn finish(self) -> Vec<u8> {
        if self.bytes.len() == HEADER { Vec::new() } else { self.bytes }
    }
}

fn short() -> GameError {
    GameError::Frontier("it ends too early".into())
}

/// The step after the one that a message is of.
pub(crate) fn next(bytes: &[u8]) -> Result<u16, GameError> {
    Ok(u16::from_le_bytes(*bytes.first_chunk().ok_or_else(short)?))
}

/// Takes a message apart. `words` gives the length of a set of a slice that exists; `keep` says whether to keep what is
/// decoded; `wins` whether it is of wins.
pub(crate) fn read(
    bytes: &[u8],
    words: impl Fn(u32) -> Option<u32>,
    keep: bool,
    wins: bool,
) -> Result<Vec<Arrival<'_>>, GameError> {
    let (_, mut rest) = bytes.split_first_chunk::<HEADER>().ok_or_else(short)?;
    let mut arrivals = Vec::new();
    while !rest.is_empty() {
        let (key, tail) = rest.split_first_chunk().ok_or_else(short)?;
        rest = tail;
        let key = u32::from_le_bytes(*key);
        let words = words(key >> 1).ok_or_else(|| GameError::Frontier(format!("there is no slice {}", key >> 1)))?;
        let frontier = Frontier::decode(&mut rest, words).map_err(misfit)?;
        arrivals.push(Arrival {
            slice: key >> 1,
            side: Side::BOTH[(key & 1) as usize],
            frontier: keep.then_some(frontier),
            encoded: &tail[..tail.len() - rest.len()],
            wins,
        });
    }
    Ok(arrivals)
}
