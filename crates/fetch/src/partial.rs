//! A shard on its way: bytes kept aside, and a record of which of them are whole.
//!
//! The record is a text file that only grows. Its first line names the shard by hash and length, each further line a range
//! of bytes that were written before, with their checksum: `<start> <end> <first 16 digits of their BLAKE3>`. After an
//! interruption, of any kind and at any moment, every range that still has its checksum is used again; the rest,
//! a line that was cut short too, is fetched anew.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use canju_store::{create_durably, sync_folder};
use canju_table::{ReadAt, ShardInfo};

use crate::home::hash_file;

const BEGIN: &str = "canju-fetch 1";

/// A shard that is not in place yet.
#[derive(Debug)]
pub(crate) struct Partial {
    bytes: PathBuf,
    record: PathBuf,
    len: u64,
    file: File,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    record: File,
    whole: Vec<Range<u64>>,
}

fn paths(aside: &Path) -> (PathBuf, PathBuf) {
    let with = |extension: &str| {
        let mut name = aside.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    (with(".part"), with(".record"))
}

fn first_line(info: &ShardInfo) -> String {
    format!("{BEGIN} {} {}\n", info.blake3, info.bytes)
}

fn digits(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// The ranges of a shard that an earlier fetch kept aside, ascending and apart. Nothing is written.
pub(crate) fn kept(aside: &Path, info: &ShardInfo) -> Vec<Range<u64>> {
    let (bytes, record) = paths(aside);
    let (Ok(file), Ok(text)) = (File::open(bytes), fs::read_to_string(record)) else { return Vec::new() };
    let Some(lines) = text.strip_prefix(&first_line(info)) else { return Vec::new() };
    joined(lines.lines().filter_map(|line| checked_range(line, &file, info.bytes)).collect())
}

/// The range of a line, if its bytes still have its checksum.
fn checked_range(line: &str, file: &File, len: u64) -> Option<Range<u64>> {
    let mut words = line.split(' ');
    let (start, end) = (words.next()?.parse::<u64>().ok()?, words.next()?.parse::<u64>().ok()?);
    let check = words.next()?;
    if start >= end || end > len || words.next().is_some() {
        return None;
    }
    let mut bytes = vec![0; usize::try_from((end - start).min(file.size().ok()?)).ok()?];
    file.read_at(start, &mut bytes).ok()?;
    (bytes.len() as u64 == end - start && digits(&bytes) == check).then_some(start..end)
}

fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|r| r.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Removes what is kept of a shard, as far as that is possible: it is in nobody's way.
pub(crate) fn forget(aside: &Path) {
    let (bytes, record) = paths(aside);
    let _ = remove(&record);
    let _ = remove(&bytes);
}

/// How many bytes ranges have together.
pub(crate) fn total(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|r| r.end - r.start).sum()
}

impl Partial {
    /// Goes on with what is kept of a shard, or begins anew: what belongs to another content is dropped.
    pub(crate) fn open(aside: &Path, info: &ShardInfo) -> io::Result<Self> {
        let (bytes, record) = paths(aside);
        if let Some(folder) = aside.parent() {
            fs::create_dir_all(folder)?;
        }
        let whole = kept(aside, info);
        let file = File::options().create(true).truncate(whole.is_empty()).read(true).write(true).open(&bytes)?;
        if whole.is_empty() {
            fs::write(&record, first_line(info))?;
        }
        let mut record_file = File::options().append(true).open(&record)?;
        // What follows must not become part of a line that was cut short. It may be lost: its range is fetched again.
        if !whole.is_empty() {
            record_file.write_all(b"\n")?;
        }
        let state = State { record: record_file, whole };
        Ok(Self { bytes, record, len: info.bytes, file, state: Mutex::new(state) })
    }

    /// What is missing, in ranges of at most `piece` bytes that end at its multiples.
    pub(crate) fn missing(&self, piece: u64) -> Vec<Range<u64>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        let mut at = 0;
        for whole in state.whole.iter().cloned().chain(std::iter::once(self.len..self.len)) {
            while at < whole.start {
                let end = (at / piece + 1).saturating_mul(piece).min(whole.start);
                missing.push(at..end);
                at = end;
            }
            at = whole.end;
        }
        missing
    }

    /// Writes bytes, then that they are there.
    pub(crate) fn write(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        write_at(&self.file, start, bytes)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.record.write_all(line(start, bytes).as_bytes())?;
        state.whole.push(start..start + bytes.len() as u64);
        state.whole = joined(std::mem::take(&mut state.whole));
        Ok(())
    }

    /// The BLAKE3 of all bytes, which are then on the disk for good.
    pub(crate) fn hash(&self) -> io::Result<String> {
        // An empty shard has no piece; one that was longer once has too many bytes.
        self.file.set_len(self.len)?;
        self.file.sync_all()?;
        hash_file(&self.bytes, &|_| {})
    }

    /// Moves the bytes into place, and forgets the record.
    pub(crate) fn place(self, target: &Path) -> io::Result<()> {
        let folder = target.parent().unwrap_or(Path::new(""));
        create_durably(folder)?;
        fs::rename(&self.bytes, target)?;
        sync_folder(folder)?;
        remove(&self.record)
    }

    /// Drops everything.
    pub(crate) fn discard(self) -> io::Result<()> {
        remove(&self.record)?;
        remove(&self.bytes)
    }
}

fn line(start: u64, bytes: &[u8]) -> String {
    format!("{start} {} {}\n", start + bytes.len() as u64, digits(bytes))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(content: &[u8]) -> ShardInfo {
        let blake3 = blake3::hash(content).to_hex().to_string();
        ShardInfo { number: 0, first_slice: 0, slices: 1, bytes: content.len() as u64, blake3 }
    }

    #[test]
    fn goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let (aside, target) = (folder.path().join("aside/a"), folder.path().join("in/place/a"));
        let content: Vec<u8> = (0..25u8).collect();
        let info = info(&content);
        let partial = Partial::open(&aside, &info).unwrap();
        assert_eq!(partial.missing(10), [0..10, 10..20, 20..25]);
        partial.write(10, &content[10..20]).unwrap();
        drop(partial);
        assert_eq!(kept(&aside, &info), std::slice::from_ref(&(10..20)));
        let partial = Partial::open(&aside, &info).unwrap();
        assert_eq!(partial.missing(8), [0..8, 8..10, 20..24, 24..25]);
        partial.write(0, &content[..10]).unwrap();
        partial.write(20, &content[20..]).unwrap();
        assert!(partial.missing(8).is_empty());
        assert_eq!(partial.hash().unwrap(), info.blake3);
        partial.place(&target).unwrap();
        assert_eq!(fs::read(&target).unwrap(), content);
        assert_eq!(fs::read_dir(folder.path().join("aside")).unwrap().count(), 0);
    }

    #[test]
    fn only_what_is_proved_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let aside = folder.path().join("a");
        let content = [7u8; 30];
        let info = info(&content);
        let (bytes, record) = paths(&aside);
        let begin = || {
            let partial = Partial::open(&aside, &info).unwrap();
            partial.write(0, &content[..10]).unwrap();
            partial.write(20, &content[20..]).unwrap();
        };
        begin();
        assert_eq!(kept(&aside, &info), [0..10, 20..30]);

        // A line that was cut short, at each of its bytes, and what is appended to it then.
        let text = fs::read_to_string(&record).unwrap();
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        for cut in last..text.len() - 1 {
            fs::write(&record, &text[..cut]).unwrap();
            assert_eq!(kept(&aside, &info), std::slice::from_ref(&(0..10)), "{cut}");
            Partial::open(&aside, &info).unwrap().write(10, &content[10..20]).unwrap();
            assert_eq!(kept(&aside, &info), std::slice::from_ref(&(0..20)), "{cut}");
        }
        // Bytes that never reached the disk, or are others by now.
        fs::write(&record, &text).unwrap();
        let mut other = content.to_vec();
        other[25] = 0;
        fs::write(&bytes, &other).unwrap();
        assert_eq!(kept(&aside, &info), std::slice::from_ref(&(0..10)));
        fs::write(&bytes, &content[..15]).unwrap();
        assert_eq!(kept(&aside, &info), std::slice::from_ref(&(0..10)));
        // A line that lies about its range.
        for lie in ["0 18446744073709551615 0", "5 4 0", "0 31 0", "x", ""] {
            fs::write(&record, format!("{}{lie}\n", first_line(&info))).unwrap();
            assert!(kept(&aside, &info).is_empty(), "{lie}");
        }
        // Another content of the same length.
        fs::write(&record, &text).unwrap();
        let another = super::tests::info(&[8; 30]);
        assert!(kept(&aside, &another).is_empty());
        assert_eq!(total(&Partial::open(&aside, &another).unwrap().missing(7)), 30);
        assert!(kept(&aside, &info).is_empty());
    }
}
