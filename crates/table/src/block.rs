//! The bytes of one block, from cells and back.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use canju_retro::{Block, Code, SliceCodes};
use zstd::bulk::Compressor;
use zstd::zstd_safe::{DCtx, DDict};

use crate::direct::{self, is_direct};
use crate::packing::{bits_for, get, largest, pack, packed_len, unpack};
use crate::palette::{Distinct, Palette};
use crate::{Dictionary, EncodeError};

/// Cell bytes as they are.
const PLAIN: u8 = 0;
/// Cell bytes as one zstd frame.
const ZSTD: u8 = 1;
/// Fewer cell bytes than this are not worth a try.
const COMPRESS_FROM: usize = 24;

/// A slice that is being cut and encoded.
pub(crate) struct Cutter<'a> {
    codes: &'a SliceCodes,
    distinct: Distinct,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(codes: &'a SliceCodes) -> Self {
        Self { codes, distinct: Distinct::of(codes.palette()) }
    }

    /// Cuts the slice into blocks of at most `most` cells, and of 256 codes unless they are odds, that end at multiples of `row` where they can.
    pub(crate) fn cut(&self, row: usize, most: usize) -> Result<Vec<Range<usize>>, EncodeError> {
        let len = self.codes.len();
        let mut blocks = Vec::new();
        let mut seen = Seen::new(self.distinct.codes.codes().len());
        let mut start = 0;
        while start < len {
            let mut end = len.min(start + most);
            if let SliceCodes::Wide { cells, .. } = self.codes {
                end = start + self.fitting(&cells[start..end], &mut seen)?;
            }
            let whole_rows = end / row * row;
            if end < len && whole_rows > start {
                end = whole_rows;
            }
            blocks.push(start..end);
            start = end;
        }
        Ok(blocks)
    }

    /// How many of the cells, from the first on, have at most 256 codes together.
    fn fitting(&self, cells: &[u16], seen: &mut Seen) -> Result<usize, EncodeError> {
        seen.clear();
        for (i, &cell) in cells.iter().enumerate() {
            let place = *self.distinct.places.get(usize::from(cell)).ok_or(EncodeError::Palette)?;
            seen.add(usize::from(place));
            if seen.count > 256 {
                return Ok(i);
            }
        }
        Ok(cells.len())
    }

    /// The bytes of a block that [`cut`](Self::cut) made.
    pub(crate) fn encode(&self, block: Range<usize>, compressor: &mut BlockCompressor) -> Result<Vec<u8>, EncodeError> {
        match self.codes {
            SliceCodes::Plain(cells) => Self::encode_plain(&cells[block], compressor),
            SliceCodes::Narrow { cells, .. } => self.encode_indices(&cells[block], &self.distinct.places, compressor),
            SliceCodes::Wide { cells, .. } => {
                // The block has at most 256 codes: its cells become bytes by a palette of its own.
                let mut place_of = vec![None; self.distinct.codes.codes().len()];
                let mut places: Vec<u16> = Vec::new();
                let mut narrow = Vec::with_capacity(block.len());
                for &cell in &cells[block] {
                    let place = *self.distinct.places.get(usize::from(cell)).ok_or(EncodeError::Palette)?;
                    let index = *place_of[usize::from(place)].get_or_insert_with(|| {
                        places.push(place);
                        (places.len() - 1) as u8
                    });
                    narrow.push(index);
                }
                self.encode_indices(&narrow, &places, compressor)
            }
        }
    }

    /// Encodes cells that are codes: by a palette where they are few, else each by its own bits.
    fn encode_plain(cells: &[Code], compressor: &mut BlockCompressor) -> Result<Vec<u8>, EncodeError> {
        let mut index_of = HashMap::new();
        let mut palette = Vec::new();
        let mut indices = Vec::with_capacity(cells.len());
        for &code in cells {
            let index = *index_of.entry(code).or_insert_with(|| {
                palette.push(code);
                palette.len() - 1
            });
            if index > 255 {
                let bits = direct::bits_for(cells).ok_or(EncodeError::Odds)?;
                compressor.packed.clear();
                direct::pack(cells, bits, &mut compressor.packed);
                return compressor.finish(vec![bits, PLAIN, 0]);
            }
            indices.push(index as u8);
        }
        let few = SliceCodes::Narrow { palette, cells: indices };
        Cutter::new(&few).encode(0..cells.len(), compressor)
    }

    /// Encodes cells whose bytes are indices into `places`, which are indices into the distinct codes.
    fn encode_indices(
        &self,
        cells: &[u8],
        places: &[u16],
        compressor: &mut BlockCompressor,
    ) -> Result<Vec<u8>, EncodeError> {
        let occurs = occurring(cells);
        let mut used = Vec::new();
        for index in (0..256).filter(|&i| occurs[i]) {
            let place = *places.get(index).ok_or(EncodeError::Palette)?;
            used.push((index, self.distinct.codes.codes()[usize::from(place)]));
        }
        let palette = Palette::of(used.iter().map(|&(_, code)| code).collect());
        let mut map = [0; 256];
        for (index, code) in used {
            map[index] = palette.place(code).unwrap_or_default() as u8;
        }
        let bits = bits_for(palette.codes().len());
        let packed = &mut compressor.packed;
        packed.clear();
        pack(cells, &map, bits, packed);
        let mut out = vec![bits, PLAIN, (palette.codes().len() - 1) as u8];
        palette.write(&mut out);
        compressor.finish(out)
    }

    /// The packed cells of a block without its palette, as the dictionary is trained on.
    pub(crate) fn packed(&self, block: Range<usize>, compressor: &mut BlockCompressor) -> Result<Vec<u8>, EncodeError> {
        self.encode(block, compressor)?;
        Ok(compressor.packed.clone())
    }
}

/// Which bytes occur. Skips words that are the same as the one before, as most of a table's are.
fn occurring(cells: &[u8]) -> [bool; 256] {
    let mut occurs = [false; 256];
    let (words, rest) = cells.as_chunks::<8>();
    let mut before = None;
    for word in words {
        let seen = u64::from_le_bytes(*word);
        if before != Some(seen) {
            before = Some(seen);
            for &cell in word {
                occurs[usize::from(cell)] = true;
            }
        }
    }
    for &cell in rest {
        occurs[usize::from(cell)] = true;
    }
    occurs
}

/// A set of small numbers that is cleared at the cost of what is in it.
struct Seen {
    stamp: u32,
    stamps: Vec<u32>,
    count: usize,
}

impl Seen {
    fn new(numbers: usize) -> Self {
        Self { stamp: 0, stamps: vec![0; numbers], count: 0 }
    }

    fn clear(&mut self) {
        self.stamp += 1;
        self.count = 0;
    }

    fn add(&mut self, number: usize) {
        let stamp = &mut self.stamps[number];
        if *stamp != self.stamp {
            *stamp = self.stamp;
            self.count += 1;
        }
    }
}

/// What one thread needs to compress blocks.
pub(crate) struct BlockCompressor<'a> {
    dictionary: &'a Dictionary,
    zstd: Compressor<'a>,
    packed: Vec<u8>,
}

impl<'a> BlockCompressor<'a> {
    pub(crate) fn new(dictionary: &'a Dictionary) -> Result<Self, EncodeError> {
        let zstd = dictionary.compressor().map_err(EncodeError::Zstd)?;
        Ok(Self { dictionary, zstd, packed: Vec::new() })
    }

    /// Appends the packed cells to a block's head and palette, as a frame where that is shorter.
    fn finish(&mut self, mut out: Vec<u8>) -> Result<Vec<u8>, EncodeError> {
        if self.packed.len() >= COMPRESS_FROM {
            let frame = self.compress().map_err(EncodeError::Zstd)?;
            if frame.len() < self.packed.len() {
                out[1] = ZSTD;
                out.extend_from_slice(&frame);
                return Ok(out);
            }
        }
        out.extend_from_slice(&self.packed);
        Ok(out)
    }

    /// The packed cells as a frame, which depends on nothing that was compressed before.
    fn compress(&mut self) -> io::Result<Vec<u8>> {
        // From level 5 on zstd salts its hashes by what the context has done: there each block gets a fresh one.
        if self.dictionary.level() > 4 {
            self.zstd = self.dictionary.compressor()?;
        }
        self.zstd.compress(&self.packed)
    }
}

/// A block out of its bytes: its palette and its cells, still packed.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub(crate) palette: Palette,
    pub(crate) bits: u8,
    pub(crate) packed: Vec<u8>,
}

impl Decoded {
    /// Decodes a block of `cells` cells into the buffer of an older one. Tells what is wrong where it cannot.
    pub(crate) fn decode(
        mut stored: &[u8],
        cells: usize,
        dictionary: Option<&DDict<'static>>,
        zstd: &mut DCtx<'static>,
        mut buffer: Vec<u8>,
    ) -> Result<Self, String> {
        let (&[bits, form, codes], rest) = stored.split_first_chunk().ok_or("the block has no head")?;
        stored = rest;
        let codes = usize::from(codes) + 1;
        let by_palette = matches!(bits, 0 | 2 | 4 | 8) && codes <= 1 << bits;
        if !(by_palette || is_direct(bits) && codes == 1) {
            return Err(format!("{bits} bits a cell do not go with {codes} codes"));
        }
        let palette = if is_direct(bits) { Palette::of(Vec::new()) } else { Palette::read(&mut stored, codes)? };
        let len = packed_len(cells, bits);
        buffer.clear();
        match form {
            PLAIN => buffer.extend_from_slice(stored),
            ZSTD => {
                // The room is what the cells take: a frame that claims more fails, it is not given more.
                buffer.resize(len, 0);
                let done = match dictionary {
                    Some(dictionary) => zstd.decompress_using_ddict(&mut buffer[..], stored, dictionary),
                    None => zstd.decompress(&mut buffer[..], stored),
                };
                let done = done.map_err(|code| format!("zstd: {}", zstd::zstd_safe::get_error_name(code)))?;
                buffer.truncate(done);
            }
            _ => return Err(format!("unknown form {form}")),
        }
        if buffer.len() != len {
            return Err(format!("{} bytes of cells, {len} expected", buffer.len()));
        }
        if is_direct(bits) {
            direct::unpack(&buffer, bits).ok_or("a cell has odds without meaning")?;
        } else if codes < 1 << bits && usize::from(largest(&buffer, bits)) >= codes {
            return Err("a cell is beyond the palette".to_owned());
        }
        Ok(Self { palette, bits, packed: buffer })
    }

    /// The code of a cell, counted from the block's first.
    pub(crate) fn code(&self, cell: usize) -> Option<Code> {
        if is_direct(self.bits) {
            return direct::get(&self.packed, self.bits, cell);
        }
        let index = get(&self.packed, self.bits, cell)?;
        self.palette.codes().get(usize::from(index)).copied()
    }

    /// Gives all cells to `sink`, the first of which has this number; several blocks where they have no palette.
    pub(crate) fn give(&self, first: u32, cells: &mut [u8], row: u32, sink: &mut dyn FnMut(Block<'_>)) {
        if is_direct(self.bits) {
            let codes = direct::unpack(&self.packed, self.bits).unwrap_or_default();
            Block::split(first, &codes, row, sink);
        } else {
            unpack(&self.packed, self.bits, cells);
            sink(Block { first, palette: self.palette.codes(), cells });
        }
    }

    /// Bytes of memory that the block takes.
    pub(crate) fn memory(&self) -> usize {
        self.packed.capacity() + size_of_val(self.palette.codes()) + size_of::<Self>()
    }
}
