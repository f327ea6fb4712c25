//! From cells to the bytes of a shard.

use std::io;

use canju_retro::{GameError, Side, SliceCodes};
use rayon::prelude::*;

use crate::block::{BlockCompressor, Cutter};
use crate::head::{Check, Head, check};
use crate::{Dictionary, MAX_BLOCK_CELLS, ShardInfo, ShardSpec};

/// Why a shard could not be written. All but [`Game`](EncodeError::Game) and [`Zstd`](EncodeError::Zstd) are mistakes of the caller.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The spec asks for what shards cannot hold.
    #[error("shard {number} of {table} cannot be written: {reason}")]
    Spec {
        /// Which table.
        table: String,
        /// Which shard.
        number: u32,
        /// What is asked for.
        reason: String,
    },
    /// Not the slice that the spec announces at this place, or not as many cells.
    #[error("a shard was given another slice than its spec announces: {0}")]
    Slice(String),
    /// A cell's index is beyond the palette that came with it.
    #[error("a cell's index is beyond the palette that came with it")]
    Palette,
    /// A block has more than 256 values of which one is no odds: such cells must come with a palette.
    #[error("a block has more than 256 values, and one of them is no odds")]
    Odds,
    /// The cells could not be had.
    #[error("the cells of a shard could not be had")]
    Game(#[from] GameError),
    /// The compressor failed, as it does when memory is short.
    #[error("the compressor failed; is there memory left?")]
    Zstd(#[source] io::Error),
}

/// The blocks of one slice for one side to move, ready for a shard.
#[derive(Clone, Debug)]
pub struct EncodedSlice {
    side: Side,
    slice: u32,
    /// Cells, length and checksum of each block.
    blocks: Vec<(u32, u32, Check)>,
    bytes: Vec<u8>,
}

impl EncodedSlice {
    /// Bytes that its blocks take.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True where there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Encodes one slice for one side to move, on the calling thread's rayon pool. May be called from many threads.
///
/// # Errors
/// [`EncodeError::Slice`] when the slice is not in the run or has another number of cells,
/// [`EncodeError::Palette`], [`EncodeError::Spec`], [`EncodeError::Zstd`].
pub fn encode_slice(
    spec: &ShardSpec,
    side: Side,
    slice: u32,
    codes: &SliceCodes,
    dictionary: &Dictionary,
) -> Result<EncodedSlice, EncodeError> {
    check_spec(spec)?;
    if spec.slice_cells(slice) != u32::try_from(codes.len()).ok() {
        let run = spec.slices();
        return Err(EncodeError::Slice(format!(
            "{} cells for slice {slice}; the shard holds slices {} to {} with {:?} cells there",
            codes.len(),
            run.start,
            run.end,
            spec.slice_cells(slice),
        )));
    }
    let cutter = Cutter::new(codes);
    let cut = cutter.cut(spec.row as usize, spec.block_cells as usize)?;
    let encoded: Vec<(u32, Vec<u8>)> = cut
        .into_par_iter()
        .map_init(
            || BlockCompressor::new(dictionary),
            |compressor, block| {
                let compressor = match compressor {
                    Ok(compressor) => compressor,
                    Err(_) => return Err(EncodeError::Zstd(io::ErrorKind::OutOfMemory.into())),
                };
                Ok((block.len() as u32, cutter.encode(block, compressor)?))
            },
        )
        .collect::<Result<_, _>>()?;
    let blocks = encoded.iter().map(|(cells, bytes)| (*cells, bytes.len() as u32, check(bytes))).collect();
    let bytes = encoded.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>().concat();
    Ok(EncodedSlice { side, slice, blocks, bytes })
}

fn check_spec(spec: &ShardSpec) -> Result<(), EncodeError> {
    let reason = if spec.row == 0 {
        "rows of no cells".to_owned()
    } else if !(1..=MAX_BLOCK_CELLS).contains(&spec.block_cells) {
        format!("blocks of {} cells; 1 to {MAX_BLOCK_CELLS} are possible", spec.block_cells)
    } else {
        return Ok(());
    };
    Err(EncodeError::Spec { table: spec.table.to_string(), number: spec.number, reason })
}

/// Puts the slices of a shard together in order: slice by slice, the first side before the second.
pub struct ShardWriter {
    spec: ShardSpec,
    dictionary: Vec<u8>,
    slices: Vec<EncodedSlice>,
}

impl ShardWriter {
    /// A shard without slices yet, with the dictionary that its slices are encoded with.
    ///
    /// # Errors
    /// [`EncodeError::Spec`].
    pub fn new(spec: ShardSpec, dictionary: &Dictionary) -> Result<Self, EncodeError> {
        check_spec(&spec)?;
        Ok(Self { spec, dictionary: dictionary.bytes().to_vec(), slices: Vec::new() })
    }

    /// Adds the next slice.
    ///
    /// # Errors
    /// [`EncodeError::Slice`] when it is not the next one.
    pub fn push(&mut self, slice: EncodedSlice) -> Result<(), EncodeError> {
        let pushed = self.slices.len();
        let (next, side) = (self.spec.first_slice + pushed as u32 / 2, Side::BOTH[pushed % 2]);
        if pushed == 2 * self.spec.cells.len() || (slice.slice, slice.side) != (next, side) {
            return Err(EncodeError::Slice(format!(
                "slice {} {:?} came where slice {next} {side:?} was due",
                slice.slice, slice.side
            )));
        }
        self.slices.push(slice);
        Ok(())
    }

    /// The finished shard and its line in the manifest.
    ///
    /// # Errors
    /// [`EncodeError::Slice`] when slices are missing.
    pub fn finish(self) -> Result<(Vec<u8>, ShardInfo), EncodeError> {
        let expected = 2 * self.spec.cells.len();
        if self.slices.len() != expected {
            return Err(EncodeError::Slice(format!("{} slices and sides of {expected}", self.slices.len())));
        }
        let counts: Vec<u32> = self.slices.iter().map(|s| s.blocks.len() as u32).collect();
        let blocks: Vec<_> = self.slices.iter().flat_map(|s| &s.blocks).copied().collect();
        let mut bytes = Head::write(&self.spec, &self.dictionary, &counts, &blocks);
        bytes.reserve_exact(self.slices.iter().map(EncodedSlice::len).sum());
        for slice in self.slices {
            bytes.extend_from_slice(&slice.bytes);
        }
        let info = ShardInfo {
            number: self.spec.number,
            first_slice: self.spec.first_slice,
            slices: self.spec.cells.len() as u32,
            bytes: bytes.len() as u64,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
        };
        Ok((bytes, info))
    }
}

/// Writes a whole shard on the calling thread's rayon pool. `codes` yields the cells of a slice for one
/// side to move; it is called from several threads, for each slice and side once, and for the first
/// slice perhaps twice. At most one raw slice a thread is held at any time.
///
/// # Errors
/// What `codes` says, and as [`encode_slice`].
pub fn write_shard(
    spec: &ShardSpec,
    codes: impl Fn(Side, u32) -> Result<SliceCodes, GameError> + Sync,
) -> Result<(Vec<u8>, ShardInfo), EncodeError> {
    check_spec(spec)?;
    let parts: Vec<(u32, Side)> = spec.slices().flat_map(|slice| Side::BOTH.map(|side| (slice, side))).collect();
    let dictionary = if Dictionary::wanted(spec) {
        let first = Side::BOTH.map(|side| codes(side, spec.first_slice));
        let [a, b] = first;
        Dictionary::train(spec, &[&a?, &b?])?
    } else {
        Dictionary::none(spec.level)
    };
    let mut writer = ShardWriter::new(spec.clone(), &dictionary)?;
    for some in parts.chunks(rayon::current_num_threads().max(1)) {
        let encoded: Vec<_> = some
            .par_iter()
            .map(|&(slice, side)| encode_slice(spec, side, slice, &codes(side, slice)?, &dictionary))
            .collect::<Result<_, EncodeError>>()?;
        for slice in encoded {
            writer.push(slice)?;
        }
    }
    writer.finish()
}
