//! The finished cells of a slice, as they travel between solver and table.

use crate::Code;

/// The cells of one slice for one side to move: most are few codes over and over, and indices into a palette of these.
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
    /// The code of each cell itself: for odds, of which there are nearly as many as cells.
    Plain(Vec<Code>),
}

impl SliceCodes {
    /// The same cells as indices into the palette of their codes; as they are where there are too many codes for that.
    #[must_use]
    pub fn of(codes: &[Code]) -> Self {
        let mut palette: Vec<Code> = codes.to_vec();
        palette.sort_unstable();
        palette.dedup();
        let places = codes.iter().map(|code| palette.binary_search(code).unwrap_or_default());
        if palette.len() <= 1 << 8 {
            Self::Narrow { cells: places.map(|p| p as u8).collect(), palette }
        } else if palette.len() <= 1 << 16 {
            Self::Wide { cells: places.map(|p| p as u16).collect(), palette }
        } else {
            Self::Plain(codes.to_vec())
        }
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow { cells, .. } => cells.len(),
            Self::Wide { cells, .. } => cells.len(),
            Self::Plain(cells) => cells.len(),
        }
    }

    /// True where there is no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the indices mean; nothing where there are none.
    #[must_use]
    pub fn palette(&self) -> &[Code] {
        match self {
            Self::Narrow { palette, .. } | Self::Wide { palette, .. } => palette,
            Self::Plain(_) => &[],
        }
    }

    /// The code of a cell, or `None` beyond the end.
    #[must_use]
    pub fn get(&self, cell: usize) -> Option<Code> {
        match self {
            Self::Narrow { palette, cells } => palette.get(usize::from(*cells.get(cell)?)).copied(),
            Self::Wide { palette, cells } => palette.get(usize::from(*cells.get(cell)?)).copied(),
            Self::Plain(cells) => cells.get(cell).copied(),
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

impl Block<'_> {
    /// Gives cells whose codes are nearly all different to `sink`, as blocks of at most 256 cells which end with a row
    /// of `row` cells where they can. `first` is the number of the first cell.
    pub fn split(first: u32, cells: &[Code], row: u32, sink: &mut dyn FnMut(Block<'_>)) {
        /// Each cell has a code of its own.
        const OWN: [u8; 256] = {
            let mut own = [0; 256];
            let mut i = 0;
            while i < 256 {
                own[i] = i as u8;
                i += 1;
            }
            own
        };
        let most = 256 / (row as usize).max(1) * row as usize;
        let mut at = first;
        for palette in cells.chunks(most.clamp(1, 256)) {
            sink(Block { first: at, palette, cells: &OWN[..palette.len()] });
            at += palette.len() as u32;
        }
    }
}
