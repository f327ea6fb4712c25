//! The frontiers of one slice in the order in which they were found.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{Code, Frontier, GameError, ScratchFile, Side};

/// One frontier in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Who is to move in its cells.
    pub side: Side,
    /// What they were labelled.
    pub code: Code,
    start: usize,
    end: usize,
}

/// The frontiers that a slice labelled, compressed, in order: the source of its table, and what
/// another worker replays to take the slice over.
#[derive(Clone, Debug, Default)]
pub struct FrontierLog {
    entries: Vec<LogEntry>,
    /// The bytes of the last entries.
    bytes: Vec<u8>,
    /// Where the others are.
    spill: Option<Spill>,
}

/// The part of a log that is in a file.
#[derive(Clone, Debug)]
struct Spill {
    file: Arc<ScratchFile>,
    /// Bytes that may stay in memory.
    keep: usize,
    /// Runs of bytes by their place in the log and in the file, in order; they have no gap.
    runs: Vec<(usize, u64)>,
    /// The place in the log from which on its bytes are in memory.
    end: usize,
}

impl FrontierLog {
    /// An empty log that moves what it has to a file when it holds more than `keep` bytes.
    #[must_use]
    pub fn in_scratch(file: Arc<ScratchFile>, keep: usize) -> Self {
        Self { spill: Some(Spill { file, keep, runs: Vec::new(), end: 0 }), ..Self::default() }
    }

    /// Appends a frontier, unless it is empty.
    ///
    /// # Errors
    /// [`GameError::Scratch`].
    pub fn append(&mut self, side: Side, code: Code, frontier: &Frontier) -> Result<(), GameError> {
        if frontier.is_empty() {
            return Ok(());
        }
        let held = self.bytes.len();
        frontier.encode(&mut self.bytes);
        self.enter(side, code, self.bytes.len() - held)
    }

    /// Appends a frontier by its bytes, as [`Frontier::encode`] made them. The caller has checked them by
    /// [`Frontier::decode`].
    ///
    /// # Errors
    /// [`GameError::Scratch`].
    pub fn append_encoded(&mut self, side: Side, code: Code, encoded: &[u8]) -> Result<(), GameError> {
        self.bytes.extend_from_slice(encoded);
        self.enter(side, code, encoded.len())
    }

    fn enter(&mut self, side: Side, code: Code, len: usize) -> Result<(), GameError> {
        let start = self.entries.last().map_or(0, |e| e.end);
        self.entries.push(LogEntry { side, code, start, end: start + len });
        if let Some(spill) = &mut self.spill
            && self.bytes.len() > spill.keep
        {
            spill.runs.push((spill.end, spill.file.append(&self.bytes)?));
            spill.end += self.bytes.len();
            self.bytes = Vec::new();
        }
        Ok(())
    }

    /// The entries in order.
    #[must_use]
    pub fn entries(&self) -> &[LogEntry] {
        &self.entries
    }

    /// The frontier of an entry. `words` is the slice's number of words.
    ///
    /// # Errors
    /// [`GameError::Frontier`] when the bytes are damaged, [`GameError::Scratch`] when they cannot be read.
    pub fn frontier(&self, entry: &LogEntry, words: u32) -> Result<Frontier, GameError> {
        let bytes = self.read(entry)?;
        Frontier::decode(&mut &*bytes, words).map_err(|e| GameError::Frontier(e.to_string()))
    }

    /// The bytes of an entry's frontier, by the entry's number; empty where there is none.
    ///
    /// # Errors
    /// [`GameError::Scratch`] when they are in a file and cannot be read.
    pub fn encoded(&self, entry: usize) -> Result<Cow<'_, [u8]>, GameError> {
        self.entries.get(entry).map_or(Ok(Cow::Borrowed(&[])), |entry| self.read(entry))
    }

    /// The same where they are in memory.
    #[must_use]
    pub fn held(&self, entry: usize) -> Option<&[u8]> {
        let entry = self.entries.get(entry)?;
        let first = self.spill.as_ref().map_or(0, |s| s.end);
        self.bytes.get(entry.start.checked_sub(first)?..entry.end.checked_sub(first)?)
    }

    fn read(&self, entry: &LogEntry) -> Result<Cow<'_, [u8]>, GameError> {
        let first = self.spill.as_ref().map_or(0, |s| s.end);
        match &self.spill {
            Some(spill) if entry.start < first => {
                let run = spill.runs.partition_point(|&(start, _)| start <= entry.start).saturating_sub(1);
                let (start, offset) = spill.runs[run];
                let mut bytes = vec![0; entry.end - entry.start];
                spill.file.read_at(&mut bytes, offset + (entry.start - start) as u64)?;
                Ok(Cow::Owned(bytes))
            }
            _ => Ok(Cow::Borrowed(self.bytes.get(entry.start - first..entry.end - first).unwrap_or_default())),
        }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        let runs = self.spill.as_ref().map_or(0, |s| s.runs.capacity() * size_of::<(usize, u64)>());
        self.bytes.capacity() + self.entries.capacity() * size_of::<LogEntry>() + runs
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.entries.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn a_log_in_scratch_reads_like_one_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(ScratchFile::new(folder.path()).unwrap());
        for keep in [0, 50, 1000, 1 << 20] {
            let mut logs = [FrontierLog::default(), FrontierLog::in_scratch(Arc::clone(&file), keep)];
            for i in 0u32..40 {
                let mut frontier = Frontier::new();
                (0..i * 7).for_each(|w| frontier.push(w * 3, u128::from(i * w + 1) << (w % 90)));
                for log in &mut logs {
                    log.append(Side::BOTH[i as usize % 2], Code::from(Outcome::Draw), &frontier).unwrap();
                }
            }
            assert_eq!(logs[0].entries(), logs[1].entries());
            for (number, entry) in logs[0].entries().iter().enumerate() {
                assert_eq!(logs[0].frontier(entry, 1000).unwrap(), logs[1].frontier(entry, 1000).unwrap());
                assert_eq!(logs[0].encoded(number).unwrap(), logs[1].encoded(number).unwrap());
                assert!(logs[1].held(number).is_none_or(|held| held == &*logs[0].encoded(number).unwrap()));
            }
            assert!(logs[1].bytes.len() <= keep);
            assert!(logs[1].encoded(logs[1].entries().len()).unwrap().is_empty());
        }
        assert!(file.written() > 1000);
    }
}
