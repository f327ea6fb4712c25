//! The bytes of a checkpoint: some plies of a part's log, and what they are of.
//!
//! An object is a head (magic, version of the format, length, and the stamp), the length of the log's bytes, these bytes as
//! the part saved them, and the BLAKE3 of all before. Numbers are little-endian.

use std::ops::Range;

use bytes::Bytes;
use canju_retro::TableName;
use canju_store::Key;

use crate::bucket::key;
use crate::sabotage::{Safeguard, is_gone};
use crate::{ClusterError, JobId, Task, VERSION};

const MAGIC: [u8; 8] = *b"canju-ck";
const FORMAT: u16 = 1;
const HASH: usize = 32;

/// The prefix of all checkpoints.
pub(crate) const FOLDER: &str = "work/";

/// Bytes from which the stamp of nearly every checkpoint can be read.
pub(crate) const HEAD: u64 = 16 << 10;

/// What a checkpoint is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The version of the software that wrote it; the index and the part's bytes follow from it.
    pub(crate) software: String,
    pub(crate) table: String,
    pub(crate) metric: String,
    pub(crate) rules: String,
    pub(crate) plies: Range<u16>,
    /// Numbers of the table's runs whose slices are in it, ascending.
    pub(crate) runs: Vec<u32>,
}

/// Why bytes are no checkpoint that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Flaw {
    #[error("it is too short")]
    Short,
    #[error("it is no checkpoint of this version of the format")]
    Format,
    #[error("its checksum is wrong")]
    Checksum,
    #[error("it is of another table, metric, rules, plies or software")]
    Foreign,
}

/// The folder of all checkpoints of a table that is built for a job.
pub(crate) fn folder_of(job: JobId, table: &TableName) -> String {
    format!("{FOLDER}{job}/{table}/")
}

/// The folder of all checkpoints of a task, whichever attempt wrote them.
pub(crate) fn folder(task: &Task) -> String {
    format!("{}{}/", folder_of(task.job, &task.table), task.metric)
}

/// The name of a checkpoint.
pub(crate) fn name(task: &Task, share: u32, plies: &Range<u16>) -> Result<Key, ClusterError> {
    key(&format!("{}{}-{share}-{}-{}", folder(task), task.epoch, plies.start, plies.end))
}

/// The plies that a checkpoint's name tells, if it is one's name.
pub(crate) fn plies_of(name: &Key) -> Option<Range<u16>> {
    let (_, last) = name.as_str().rsplit_once('/')?;
    let mut fields = last.split('-');
    let _: u64 = fields.next()?.parse().ok()?;
    let _: u32 = fields.next()?.parse().ok()?;
    let plies: Range<u16> = fields.next()?.parse().ok()?..fields.next()?.parse().ok()?;
    (fields.next().is_none() && !plies.is_empty()).then_some(plies)
}

/// A whole checkpoint.
pub(crate) fn seal(stamp: &Stamp, saved: &[u8]) -> Bytes {
    let mut head = Vec::new();
    for text in [&stamp.software, &stamp.table, &stamp.metric, &stamp.rules] {
        head.extend_from_slice(&(text.len() as u16).to_le_bytes());
        head.extend_from_slice(text.as_bytes());
    }
    head.extend_from_slice(&stamp.plies.start.to_le_bytes());
    head.extend_from_slice(&stamp.plies.end.to_le_bytes());
    head.extend_from_slice(&(stamp.runs.len() as u32).to_le_bytes());
    for run in &stamp.runs {
        head.extend_from_slice(&run.to_le_bytes());
    }
    let mut bytes = Vec::with_capacity(MAGIC.len() + 14 + head.len() + saved.len() + HASH);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(&(saved.len() as u64).to_le_bytes());
    bytes.extend_from_slice(saved);
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    bytes.into()
}

/// The stamp at the front of a checkpoint, unchecked, and what follows it. [`Flaw::Short`] when `bytes` end within it.
pub(crate) fn stamp(bytes: &[u8]) -> Result<(Stamp, &[u8]), Flaw> {
    let mut rest = bytes;
    if take::<8>(&mut rest)? != MAGIC || u16::from_le_bytes(take(&mut rest)?) != FORMAT {
        return Err(Flaw::Format);
    }
    let length = u32::from_le_bytes(take(&mut rest)?) as usize;
    let (mut head, body) = rest.split_at_checked(length).ok_or(Flaw::Short)?;
    let [software, table, metric, rules] = [text(&mut head)?, text(&mut head)?, text(&mut head)?, text(&mut head)?];
    let plies = u16::from_le_bytes(take(&mut head)?)..u16::from_le_bytes(take(&mut head)?);
    let count = u32::from_le_bytes(take(&mut head)?) as usize;
    if head.len() != count.saturating_mul(4) {
        return Err(Flaw::Format);
    }
    let (runs, _) = head.as_chunks::<4>();
    let runs = runs.iter().map(|run| u32::from_le_bytes(*run)).collect();
    Ok((Stamp { software, table, metric, rules, plies, runs }, body))
}

/// The stamp of a whole checkpoint and the bytes that its part saved, checked.
pub(crate) fn open(bytes: &[u8]) -> Result<(Stamp, &[u8]), Flaw> {
    let (front, hash) = bytes.split_at_checked(bytes.len().saturating_sub(HASH)).ok_or(Flaw::Short)?;
    if blake3::hash(front).as_bytes() != hash && !is_gone(Safeguard::Checksums) {
        return Err(Flaw::Checksum);
    }
    let (stamp, mut body) = stamp(front)?;
    let length = u64::from_le_bytes(take(&mut body)?);
    if body.len() as u64 == length { Ok((stamp, body)) } else { Err(Flaw::Format) }
}

impl Stamp {
    /// The stamp of a checkpoint that this software writes.
    pub(crate) fn new(task: &Task, rules: canju_retro::Rules, runs: &[u32], plies: Range<u16>) -> Self {
        Self {
            software: VERSION.to_owned(),
            table: task.table.to_string(),
            metric: task.metric.to_string(),
            rules: rules.to_string(),
            plies,
            runs: runs.to_vec(),
        }
    }

    /// Refuses a checkpoint that differs from `wanted` in anything but the runs.
    pub(crate) fn check(&self, wanted: &Self) -> Result<(), Flaw> {
        let same = Self { runs: self.runs.clone(), ..wanted.clone() } == *self;
        if same { Ok(()) } else { Err(Flaw::Foreign) }
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Flaw> {
    let (head, tail) = bytes.split_first_chunk().ok_or(Flaw::Short)?;
    *bytes = tail;
    Ok(*head)
}

fn text(bytes: &mut &[u8]) -> Result<String, Flaw> {
    let length = u16::from_le_bytes(take(bytes)?);
    let (text, rest) = bytes.split_at_checked(usize::from(length)).ok_or(Flaw::Short)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).map_err(|_| Flaw::Format)
}

#[cfg(test)]
mod tests {
    use canju_retro::{Metric, Rules};

    use super::*;

    fn task() -> Task {
        Task { job: JobId(3), table: TableName::new("T4").unwrap(), metric: Metric::Dtm, epoch: 77 }
    }

    fn sample() -> Stamp {
        Stamp::new(&task(), Rules::default(), &[0, 2, 5], 4..9)
    }

    #[test]
    fn there_and_back() {
        for saved in [&b""[..], b"what a part has saved"] {
            let sealed = seal(&sample(), saved);
            assert_eq!(open(&sealed), Ok((sample(), saved)));
            assert_eq!(stamp(&sealed).unwrap().0, sample());
        }
    }

    #[test]
    fn damage_is_seen_wherever_it_is() {
        let sealed = seal(&sample(), b"saved").to_vec();
        for place in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[place] ^= 1;
            assert_eq!(open(&damaged), Err(Flaw::Checksum));
            assert!(open(&sealed[..place]).is_err());
            // Nothing is believed before the checksum, but nothing must break either.
            let _ = stamp(&damaged);
            let _ = stamp(&sealed[..place]);
        }
        assert_eq!(stamp(&sealed[..20]), Err(Flaw::Short));
    }

    #[test]
    fn others_are_told_apart() {
        let wanted = sample();
        assert_eq!(Stamp { runs: vec![1], ..sample() }.check(&wanted), Ok(()));
        let others = [
            Stamp { software: "0.0.0".into(), ..sample() },
            Stamp { table: "T5".into(), ..sample() },
            Stamp { metric: "dtc".into(), ..sample() },
            Stamp { rules: "other".into(), ..sample() },
            Stamp { plies: 4..8, ..sample() },
        ];
        for other in others {
            assert_eq!(other.check(&wanted), Err(Flaw::Foreign));
        }
    }

    #[test]
    fn names_tell_the_plies() {
        let name = name(&task(), 2, &(4..9)).unwrap();
        assert_eq!(name.as_str(), "work/j3/T4/dtm/77-2-4-9");
        assert_eq!(plies_of(&name), Some(4..9));
        for other in ["work/j3/T4/dtm/77-2-9-4", "work/j3/T4/dtm/77-2-4", "work/j3/T4/dtm/notes", "x"] {
            assert_eq!(plies_of(&Key::new(other).unwrap()), None);
        }
    }
}
