//! The frontiers of one slice in the order in which they were found.

use crate::{Code, Frontier, FrontierError, Side};

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
    bytes: Vec<u8>,
}

impl FrontierLog {
    /// Appends a frontier, unless it is empty.
    pub fn append(&mut self, side: Side, code: Code, frontier: &Frontier) {
        if frontier.is_empty() {
            return;
        }
        let start = self.bytes.len();
        frontier.encode(&mut self.bytes);
        self.entries.push(LogEntry { side, code, start, end: self.bytes.len() });
    }

    /// Appends a frontier by its bytes, as [`Frontier::encode`] made them. The caller has checked them by
    /// [`Frontier::decode`].
    pub fn append_encoded(&mut self, side: Side, code: Code, encoded: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(encoded);
        self.entries.push(LogEntry { side, code, start, end: self.bytes.len() });
    }

    /// The entries in order.
    #[must_use]
    pub fn entries(&self) -> &[LogEntry] {
        &self.entries
    }

    /// The frontier of an entry. `words` is the slice's number of words.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn frontier(&self, entry: &LogEntry, words: u32) -> Result<Frontier, FrontierError> {
        let mut bytes = self.bytes.get(entry.start..entry.end).unwrap_or_default();
        Frontier::decode(&mut bytes, words)
    }

    /// The bytes of an entry's frontier, by the entry's number; empty where there is none.
    #[must_use]
    pub fn encoded(&self, entry: usize) -> &[u8] {
        self.entries.get(entry).and_then(|e| self.bytes.get(e.start..e.end)).unwrap_or_default()
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<LogEntry>()
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.entries.shrink_to_fit();
    }
}
