//! What stands before the blocks of a shard: prefix, header, dictionary, directory.

use canju_retro::{Metric, Rules, TableName, UnknownName};

use crate::{MAX_BLOCK_CELLS, ShardSpec};

/// The first bytes of every shard.
pub(crate) const MAGIC: [u8; 8] = *b"CANJUTAB";
/// The version of the bytes that this crate writes and reads.
pub const SHARD_VERSION: u32 = 1;
/// Bytes of the prefix.
pub(crate) const PREFIX: usize = 40;
/// Bytes of a checksum.
pub(crate) const CHECK: usize = 8;
/// Bytes of a directory entry.
const ENTRY: usize = 16;

/// Most bytes of a block beside its cells: three bytes and a palette of 256 codes of at most five bytes.
const BLOCK_HEAD: u32 = 3 + 256 * 5;

pub(crate) type Check = [u8; CHECK];

/// The first 8 bytes of the BLAKE3.
pub(crate) fn check(bytes: &[u8]) -> Check {
    let mut check = [0; CHECK];
    check.copy_from_slice(&blake3::hash(bytes).as_bytes()[..CHECK]);
    check
}

/// One block as the directory has it, and where that puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its first cell in the slice.
    pub(crate) first: u32,
    pub(crate) cells: u32,
    /// Its first byte in the shard.
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) check: Check,
}

/// Lengths of what follows the prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix {
    pub(crate) header: u32,
    pub(crate) dictionary: u32,
    pub(crate) directory: u32,
    pub(crate) shard: u64,
}

/// All that stands before the blocks.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) spec: ShardSpec,
    pub(crate) dictionary: Vec<u8>,
    /// For each slice and side to move, in order, where its blocks begin in `blocks`; one more at the end.
    pub(crate) starts: Vec<u32>,
    pub(crate) blocks: Vec<Entry>,
    /// The length of the whole shard.
    pub(crate) len: u64,
}

/// Bytes before the blocks of a shard of so many slices whose blocks are, beside one a slice and side, so many.
pub(crate) fn usual_head_len(slices: u64, full_blocks: u64) -> u64 {
    const NAMES: u64 = 64;
    let (header, counts) = (NAMES + slices * 4, slices * 8);
    let directory = full_blocks.saturating_add(slices * 2).saturating_mul(ENTRY as u64);
    (PREFIX as u64 + header + counts + 2 * CHECK as u64).saturating_add(directory)
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) offset: u64,
    pub(crate) what: String,
}

fn flaw<T>(offset: u64, what: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw { offset, what: what.into() })
}

impl Prefix {
    /// Bytes before the first block.
    pub(crate) fn head_len(&self) -> u64 {
        PREFIX as u64 + u64::from(self.header) + u64::from(self.dictionary) + u64::from(self.directory)
    }

    /// Reads the prefix of a shard that is `len` bytes long.
    pub(crate) fn read(bytes: &[u8; PREFIX], len: u64) -> Result<Self, Flaw> {
        let mut fields = Fields { bytes: &bytes[..], offset: 0 };
        if fields.array::<8>()? != MAGIC {
            return flaw(0, "it does not begin as a shard does");
        }
        let version = fields.number()?;
        let prefix = Self {
            header: fields.number()?,
            dictionary: fields.number()?,
            directory: fields.number()?,
            shard: u64::from_le_bytes(fields.array()?),
        };
        if check(&bytes[..PREFIX - CHECK]) != fields.array::<CHECK>()? {
            return flaw(0, "the prefix does not match its checksum");
        }
        if version != SHARD_VERSION {
            return flaw(
                8,
                format!("it has version {version}; this software reads version {SHARD_VERSION}: update it"),
            );
        }
        if prefix.shard != len || prefix.head_len() > len {
            return flaw(
                24,
                format!("it should have {} bytes and has {len}: it was cut short or changed", prefix.shard),
            );
        }
        Ok(prefix)
    }
}

impl Head {
    /// The bytes before the blocks. `counts` has the number of blocks of each slice and side in order.
    pub(crate) fn write(spec: &ShardSpec, dictionary: &[u8], counts: &[u32], blocks: &[(u32, u32, Check)]) -> Vec<u8> {
        let mut header = Vec::new();
        for name in [spec.table.as_str(), spec.rules.name(), spec.metric.name()] {
            header.push(name.len() as u8);
            header.extend_from_slice(name.as_bytes());
        }
        for number in [spec.number, spec.row, spec.first_slice, spec.cells.len() as u32].iter().chain(&spec.cells) {
            header.extend_from_slice(&number.to_le_bytes());
        }
        header.extend_from_slice(&check(&header));

        let mut dictionary = dictionary.to_vec();
        if !dictionary.is_empty() {
            dictionary.extend_from_slice(&check(&dictionary));
        }

        let mut directory = Vec::with_capacity(counts.len() * 4 + blocks.len() * ENTRY + CHECK);
        for count in counts {
            directory.extend_from_slice(&count.to_le_bytes());
        }
        for (cells, len, check) in blocks {
            directory.extend_from_slice(&cells.to_le_bytes());
            directory.extend_from_slice(&len.to_le_bytes());
            directory.extend_from_slice(check);
        }
        directory.extend_from_slice(&check(&directory));

        let head_len = PREFIX + header.len() + dictionary.len() + directory.len();
        let len = head_len as u64 + blocks.iter().map(|&(_, len, _)| u64::from(len)).sum::<u64>();
        let mut out = Vec::with_capacity(head_len);
        out.extend_from_slice(&MAGIC);
        for number in [SHARD_VERSION, header.len() as u32, dictionary.len() as u32, directory.len() as u32] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&check(&out));
        out.extend_from_slice(&header);
        out.extend_from_slice(&dictionary);
        out.extend_from_slice(&directory);
        out
    }

    /// Reads what stands before the blocks. `bytes` has all of it, `prefix` is what its first bytes say.
    pub(crate) fn read(bytes: &[u8], prefix: &Prefix) -> Result<Self, Flaw> {
        let mut fields = Fields { bytes, offset: 0 };
        fields.take(PREFIX)?;
        let spec = read_header(fields.checked(prefix.header, "header")?)?;
        let dictionary = match prefix.dictionary {
            0 => &[],
            len => fields.checked(len, "dictionary")?.bytes,
        };
        let directory = fields.checked(prefix.directory, "directory")?;
        let (starts, blocks) = read_directory(directory, &spec, prefix)?;
        Ok(Self { spec, dictionary: dictionary.to_vec(), starts, blocks, len: prefix.shard })
    }
}

fn read_header(mut fields: Fields<'_>) -> Result<ShardSpec, Flaw> {
    let at = fields.offset;
    let unknown = |e: UnknownName| Flaw { offset: at, what: e.to_string() };
    let table = TableName::new(fields.text()?).map_err(|e| Flaw { offset: at, what: e.to_string() })?;
    let rules = fields.text()?.parse::<Rules>().map_err(unknown)?;
    let metric = fields.text()?.parse::<Metric>().map_err(unknown)?;
    let (number, row, first_slice, slices) = (fields.number()?, fields.number()?, fields.number()?, fields.number()?);
    if fields.bytes.len() as u64 != 4 * u64::from(slices) || first_slice.checked_add(slices).is_none() {
        return flaw(at, format!("the header is not that of {slices} slices"));
    }
    let cells = fields.bytes.as_chunks().0.iter().map(|&n| u32::from_le_bytes(n)).collect();
    let (block_cells, level) = (MAX_BLOCK_CELLS, crate::DEFAULT_LEVEL);
    let dictionary = false;
    Ok(ShardSpec { table, rules, metric, number, first_slice, cells, row, block_cells, level, dictionary })
}

fn read_directory(mut fields: Fields<'_>, spec: &ShardSpec, prefix: &Prefix) -> Result<(Vec<u32>, Vec<Entry>), Flaw> {
    let at = fields.offset;
    let parts = spec.cells.len() * 2;
    let counts = fields.take(parts * 4)?.as_chunks().0.iter().map(|&n| u32::from_le_bytes(n));
    let known = fields.bytes.len() / ENTRY;
    let mut starts = vec![0];
    let mut blocks: Vec<Entry> = Vec::with_capacity(known);
    let mut offset = prefix.head_len();
    // Bytes of a cell.
    let most = if spec.metric == Metric::Odds { 3 } else { 1 };
    for (part, count) in counts.enumerate() {
        let mut first = 0u32;
        for _ in 0..count {
            let at = fields.offset;
            let (cells, len, check) = (fields.number()?, fields.number()?, fields.array()?);
            if cells == 0 || cells > MAX_BLOCK_CELLS {
                return flaw(at, format!("a block of {cells} cells"));
            }
            if len > most * cells + BLOCK_HEAD {
                return flaw(at, format!("a block of {cells} cells in {len} bytes"));
            }
            blocks.push(Entry { first, cells, offset, len, check });
            offset += u64::from(len);
            first = first.checked_add(cells).ok_or(Flaw { offset: at, what: "too many cells".to_owned() })?;
        }
        if first != spec.cells[part / 2] {
            return flaw(at, format!("the blocks of slice {} do not cover it", spec.first_slice + part as u32 / 2));
        }
        starts.push(blocks.len() as u32);
    }
    if !fields.bytes.is_empty() || offset != prefix.shard {
        return flaw(at, "the directory does not fit the shard");
    }
    Ok((starts, blocks))
}

/// Takes fields off the front of bytes, and knows where it is.
struct Fields<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Fields<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Flaw> {
        let Some((taken, rest)) = self.bytes.split_at_checked(len) else {
            return flaw(self.offset, "it is cut short");
        };
        self.bytes = rest;
        self.offset += len as u64;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn number(&mut self) -> Result<u32, Flaw> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// A length in one byte, then so many letters.
    fn text(&mut self) -> Result<&'a str, Flaw> {
        let at = self.offset;
        let [len] = self.array()?;
        match std::str::from_utf8(self.take(usize::from(len))?) {
            Ok(text) => Ok(text),
            Err(_) => flaw(at, "a name is no text"),
        }
    }

    /// A part that ends with its checksum, without that.
    fn checked(&mut self, len: u32, name: &str) -> Result<Self, Flaw> {
        let offset = self.offset;
        let part = self.take(len as usize)?;
        match part.split_last_chunk::<CHECK>() {
            Some((bytes, stored)) if check(bytes) == *stored => Ok(Self { bytes, offset }),
            _ => flaw(offset, format!("the {name} does not match its checksum")),
        }
    }
}
