//! The finished cells of a slice, as they travel between solver and table.

use crate::Code;

/// The cells of one slice for one side to move, each an index into a palette of codes.
///
/// Cells that cannot occur hold whatever value makes the bytes compress best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceCodes {
    /// At most 256 codes, one byte a cell.
    Narrow {
        /// What the bytes mean.
        palette: Vec<Code>,
        /// One index into the palette for each cell.
        cells: Vec<u8>,
    },
    /// More than 256 codes.
    Wide {
        /// What the indices mean.
        palette: Vec<Code>,
        /// One index into the palette for each cell.
        cells: Vec<u16>,
    },
}

impl SliceCodes {
    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow { cells, .. } => cells.len(),
            Self::Wide { cells, .. } => cells.len(),
        }
    }

    /// True where there is no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the indices mean.
    #[must_use]
    pub fn palette(&self) -> &[Code] {
        match self {
            Self::Narrow { palette, .. } | Self::Wide { palette, .. } => palette,
        }
    }

    /// The code of a cell, or `None` beyond the end.
    #[must_use]
    pub fn get(&self, cell: usize) -> Option<Code> {
        match self {
            Self::Narrow { palette, cells } => palette.get(usize::from(*cells.get(cell)?)).copied(),
            Self::Wide { palette, cells } => palette.get(usize::from(*cells.get(cell)?)).copied(),
        }
    }
}

/// Neighbouring cells of one slice as a finished table yields them; never more than 256 codes.
///
/// Every index in `cells` is below the length of `palette`, and a block ends with a row of the table's
/// [`Shape`](crate::Shape); whoever makes a block sees to that.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The first cell's number within the slice.
    pub first: u32,
    /// What the bytes mean.
    pub palette: &'a [Code],
    /// One index into the palette for each cell.
    pub cells: &'a [u8],
}
