//! A shard that is open for reading.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use canju_retro::{Block, Code, Side, TableName};
use zstd::zstd_safe::{DCtx, DDict};

use crate::block::Decoded;
use crate::head::{Entry, Flaw, Head, PREFIX, Prefix, check};
use crate::{Damage, ReadAt, ShardInfo, ShardSpec, TableError};

/// What one read fetches at least at first: mostly all that stands before the blocks.
const FIRST_READ: u64 = 64 << 10;
/// What one read fetches at most at first, whatever the manifest tells of the shard.
const MOST_FIRST_READ: u64 = 1 << 20;
/// Bytes that one read fetches when many blocks are wanted.
const BATCH: u64 = 1 << 20;

/// A shard that is open for reading: its head is in memory, its blocks are read when they are asked for.
pub struct Shard {
    place: String,
    table: TableName,
    key: String,
    source: Arc<dyn ReadAt>,
    head: Head,
    head_len: u64,
    dictionary: Option<DDict<'static>>,
}

/// What a check of shards went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Shards.
    pub shards: u64,
    /// Blocks, each decoded.
    pub blocks: u64,
    /// Cells, both sides to move together.
    pub cells: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl Verified {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            shards: self.shards + other.shards,
            blocks: self.blocks + other.blocks,
            cells: self.cells + other.cells,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Shard {
    /// Opens a shard of `table`. `key` is what errors call it.
    ///
    /// # Errors
    /// [`TableError::Damaged`], [`TableError::Io`].
    pub fn open(source: Arc<dyn ReadAt>, table: &TableName, key: &str) -> Result<Self, TableError> {
        Self::open_in("the source that was given", source, table, key, 0)
    }

    /// The same with the words for where the shard is, and the bytes that its head should take.
    pub(crate) fn open_in(
        place: &str,
        source: Arc<dyn ReadAt>,
        table: &TableName,
        key: &str,
        head: u64,
    ) -> Result<Self, TableError> {
        let io = |e| read_error(place, table, key, e, 0, None);
        let damaged = |flaw: Flaw| damaged(place, table, key, flaw.offset, None, flaw.what);
        let len = source.size().map_err(io)?;
        let mut bytes = vec![0; len.min(head.clamp(FIRST_READ, MOST_FIRST_READ)) as usize];
        source.read_at(0, &mut bytes).map_err(io)?;
        let Some(prefix) = bytes.first_chunk::<PREFIX>() else {
            return Err(damaged(Flaw { offset: 0, what: format!("{len} bytes are no shard") }));
        };
        let prefix = Prefix::read(prefix, len).map_err(damaged)?;
        let (got, head_len) = (bytes.len(), prefix.head_len());
        bytes.resize(head_len as usize, 0);
        if got < bytes.len() {
            source.read_at(got as u64, &mut bytes[got..]).map_err(io)?;
        }
        let head = Head::read(&bytes, &prefix).map_err(damaged)?;
        if head.spec.table != *table {
            return Err(damaged(Flaw { offset: 0, what: format!("it is a shard of {}", head.spec.table) }));
        }
        let dictionary = match &head.dictionary[..] {
            [] => None,
            bytes => match DDict::try_create(bytes) {
                Some(dictionary) => Some(dictionary),
                None => {
                    let offset = u64::from(prefix.header) + PREFIX as u64;
                    return Err(damaged(Flaw { offset, what: "zstd refuses the dictionary".to_owned() }));
                }
            },
        };
        Ok(Self {
            place: place.to_owned(),
            table: table.clone(),
            key: key.to_owned(),
            source,
            head,
            head_len,
            dictionary,
        })
    }

    /// What the shard says that it holds. How it was written (`block_cells`, `level`,
    /// `dictionary`) is not in the shard and has no meaning here.
    #[must_use]
    pub fn spec(&self) -> &ShardSpec {
        &self.head.spec
    }

    /// Gives all cells of a slice for one side to move to `sink`, block by block in ascending order.
    ///
    /// # Errors
    /// [`TableError::Damaged`], [`TableError::Io`], [`TableError::NoSuchCell`]; what was given before is then void.
    pub fn read(&self, side: Side, slice: u32, sink: &mut dyn FnMut(Block<'_>)) -> Result<(), TableError> {
        let blocks = self.part(side, slice).ok_or_else(|| self.no_cell(side, slice, 0))?;
        let mut cells = Vec::new();
        self.each(blocks, &mut |_| {}, &mut |entry, decoded| {
            cells.resize(entry.cells as usize, 0);
            decoded.give(entry.first, &mut cells, self.head.spec.row, sink);
        })
    }

    /// The code of one cell. Reads and decodes a whole block for it.
    ///
    /// # Errors
    /// As [`Shard::read`].
    pub fn code(&self, side: Side, slice: u32, cell: u32) -> Result<Code, TableError> {
        let (block, within) = self.find(side, slice, cell)?;
        self.cell(&self.block(block)?, block, within)
    }

    /// Reads the whole shard once: its BLAKE3 against the manifest's, every checksum, and every cell.
    ///
    /// # Errors
    /// [`TableError::Damaged`], [`TableError::Io`].
    pub fn verify(&self, info: &ShardInfo) -> Result<Verified, TableError> {
        let mut hasher = blake3::Hasher::new();
        let mut head = vec![0; self.head_len as usize];
        self.source.read_at(0, &mut head).map_err(|e| self.read_error(e, 0, None))?;
        hasher.update(&head);
        let mut verified = Verified { shards: 1, bytes: self.head.len, ..Verified::default() };
        self.each(0..self.head.blocks.len(), &mut |bytes| _ = hasher.update(bytes), &mut |entry, _| {
            verified.blocks += 1;
            verified.cells += u64::from(entry.cells);
        })?;
        if hasher.finalize().to_hex().as_str() != info.blake3 {
            let what = "its BLAKE3 is not that of the manifest".to_owned();
            return Err(damaged(&self.place, &self.table, &self.key, 0, None, what));
        }
        Ok(verified)
    }

    /// The block that holds a cell, and the cell's place in it.
    pub(crate) fn find(&self, side: Side, slice: u32, cell: u32) -> Result<(u32, usize), TableError> {
        let part = self.part(side, slice).ok_or_else(|| self.no_cell(side, slice, cell))?;
        let entries = &self.head.blocks[part.clone()];
        let at = entries.partition_point(|e| e.first <= cell);
        let within = at.checked_sub(1).map(|at| cell - entries[at].first).filter(|&w| w < entries[at - 1].cells);
        match within {
            Some(within) => Ok(((part.start + at - 1) as u32, within as usize)),
            None => Err(self.no_cell(side, slice, cell)),
        }
    }

    /// Reads and decodes a block by its number, which [`find`](Self::find) gave.
    pub(crate) fn block(&self, number: u32) -> Result<Decoded, TableError> {
        let number = number as usize;
        let mut found = None;
        self.each(number..number + 1, &mut |_| {}, &mut |_, decoded| found = Some(decoded.clone()))?;
        let offset = self.head.blocks.get(number).map_or(0, |e| e.offset);
        found.ok_or_else(|| damaged(&self.place, &self.table, &self.key, offset, None, "no such block".to_owned()))
    }

    /// A cell of a block.
    pub(crate) fn cell(&self, decoded: &Decoded, number: u32, within: usize) -> Result<Code, TableError> {
        decoded.code(within).ok_or_else(|| {
            let offset = self.head.blocks.get(number as usize).map_or(0, |e| e.offset);
            damaged(
                &self.place,
                &self.table,
                &self.key,
                offset,
                Some(number),
                "a cell is beyond the palette".to_owned(),
            )
        })
    }

    /// The numbers of the blocks of a slice for one side to move.
    fn part(&self, side: Side, slice: u32) -> Option<Range<usize>> {
        let part = slice.checked_sub(self.head.spec.first_slice)? as usize * 2 + side.index();
        Some(*self.head.starts.get(part)? as usize..*self.head.starts.get(part + 1)? as usize)
    }

    /// Reads, checks and decodes blocks in order, many with one read. `raw` sees all bytes as they are read.
    fn each(
        &self,
        blocks: Range<usize>,
        raw: &mut dyn FnMut(&[u8]),
        decoded: &mut dyn FnMut(&Entry, &Decoded),
    ) -> Result<(), TableError> {
        let mut zstd = DCtx::create();
        let (mut bytes, mut buffer) = (Vec::new(), Vec::new());
        let mut next = blocks.start;
        let entries = &self.head.blocks[..blocks.end.min(self.head.blocks.len())];
        while next < entries.len() {
            let start = entries[next].offset;
            let end = next + entries[next..].partition_point(|e| e.offset + u64::from(e.len) - start <= BATCH).max(1);
            let len: u64 = entries[next..end].iter().map(|e| u64::from(e.len)).sum();
            bytes.resize(len as usize, 0);
            let read = self.source.read_at(start, &mut bytes);
            read.map_err(|e| self.read_error(e, start, Some(next as u32)))?;
            raw(&bytes);
            let mut rest = &bytes[..];
            for (number, entry) in entries.iter().enumerate().take(end).skip(next) {
                let (stored, after) = rest.split_at(entry.len as usize);
                rest = after;
                let block = self.decode(entry, stored, &mut zstd, buffer);
                let block = block.map_err(|what| {
                    damaged(&self.place, &self.table, &self.key, entry.offset, Some(number as u32), what)
                })?;
                decoded(entry, &block);
                buffer = block.packed;
            }
            next = end;
        }
        Ok(())
    }

    fn decode(&self, entry: &Entry, stored: &[u8], zstd: &mut DCtx<'static>, old: Vec<u8>) -> Result<Decoded, String> {
        if check(stored) != entry.check {
            return Err("the block does not match its checksum".to_owned());
        }
        Decoded::decode(stored, entry.cells as usize, self.dictionary.as_ref(), zstd, old)
    }

    fn read_error(&self, source: io::Error, offset: u64, block: Option<u32>) -> TableError {
        read_error(&self.place, &self.table, &self.key, source, offset, block)
    }

    fn no_cell(&self, side: Side, slice: u32, index: u32) -> TableError {
        TableError::NoSuchCell { table: self.table.clone(), cell: canju_retro::Cell { slice, index, side } }
    }
}

fn damaged(place: &str, table: &TableName, key: &str, offset: u64, block: Option<u32>, what: String) -> TableError {
    let (table, place) = (table.clone(), place.to_owned());
    TableError::Damaged { table, place, damage: Damage { key: key.to_owned(), block, offset, what } }
}

/// A file that ends early has been cut short; everything else lies in the device.
fn read_error(
    place: &str,
    table: &TableName,
    key: &str,
    source: io::Error,
    offset: u64,
    block: Option<u32>,
) -> TableError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => damaged(place, table, key, offset, block, "the file ends here".to_owned()),
        _ => TableError::Io { key: key.to_owned(), place: place.to_owned(), source },
    }
}
