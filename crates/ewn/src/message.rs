//! The bytes of slices on their way to other parts, and into checkpoints.
//!
//! A mark, the plies (first, and one beyond the last), and of each slice its number, a byte, and where that is 1 the
//! chances of the first side's cells, then of the second's. All numbers are little-endian; where there is no position is
//! the same not-a-number everywhere.

use std::ops::Range;

use canju_retro::GameError;

use crate::Index;
use crate::part::Values;

/// The mark, and its version.
const MARK: [u8; 4] = *b"CJE\x01";

pub(crate) fn misfit(text: &str) -> GameError {
    GameError::Frontier(text.to_owned())
}

/// A message that is written.
pub(crate) struct Message {
    bytes: Vec<u8>,
    slices: u32,
}

impl Message {
    pub(crate) fn begin(plies: Range<u16>) -> Message {
        let mut bytes = MARK.to_vec();
        bytes.extend_from_slice(&plies.start.to_le_bytes());
        bytes.extend_from_slice(&plies.end.to_le_bytes());
        Message { bytes, slices: 0 }
    }

    /// Adds a slice; without cells for one that has nothing in these plies.
    pub(crate) fn add(&mut self, slice: u32, values: &Values) {
        self.slices += 1;
        self.bytes.extend_from_slice(&slice.to_le_bytes());
        self.bytes.push(u8::from(!values[0].is_empty()));
        for chance in values.iter().flatten() {
            let chance = if chance.is_nan() { f64::NAN } else { *chance };
            self.bytes.extend_from_slice(&chance.to_le_bytes());
        }
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Nothing at all where there is no slice.
    pub(crate) fn unless_empty(self) -> Vec<u8> {
        if self.slices == 0 { Vec::new() } else { self.bytes }
    }
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], GameError> {
    let (head, tail) = bytes.split_first_chunk().ok_or_else(|| misfit("it ends too early"))?;
    *bytes = tail;
    Ok(head)
}

/// Slices, and what a message holds of each.
type Slices = Vec<(u32, Values)>;

/// Takes a message apart: its plies and its slices, ascending.
pub(crate) fn read(mut bytes: &[u8], index: Index) -> Result<(Range<u16>, Slices), GameError> {
    let rest = &mut bytes;
    if *take(rest)? != MARK {
        return Err(misfit("it is no message of this game, or of another version"));
    }
    let plies = u16::from_le_bytes(*take(rest)?)..u16::from_le_bytes(*take(rest)?);
    let mut slices = Slices::new();
    while !rest.is_empty() {
        let slice = u32::from_le_bytes(*take(rest)?);
        if slice >= index.slices() || slices.last().is_some_and(|&(last, _)| last >= slice) {
            return Err(misfit("its slices are out of order, or there is no such slice"));
        }
        let cells = match take(rest)? {
            [0] => 0,
            [1] => index.cells() as usize,
            _ => return Err(misfit("a slice is neither there nor not")),
        };
        let mut side = || -> Result<Vec<f64>, GameError> {
            let (head, tail) = rest.split_at_checked(8 * cells).ok_or_else(|| misfit("it ends too early"))?;
            *rest = tail;
            let chances = head.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
            let chances: Vec<f64> = chances.collect();
            if chances.iter().any(|chance| !chance.is_nan() && !(0.0..=1.0).contains(chance)) {
                return Err(misfit("a number is no chance"));
            }
            Ok(chances)
        };
        slices.push((slice, [side()?, side()?]));
    }
    Ok((plies, slices))
}
