//! How far a fetch is, for whoever shows it.

use std::path::Path;

use canju_retro::TableName;

/// What has just happened. Bytes are those of shards.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Another fetch works in the folder; this one waits for its end.
    Waiting {
        /// The folder.
        folder: &'a Path,
    },
    /// So many bytes that are there already are going to be compared with their checksums.
    Checking(u64),
    /// So many of them were compared.
    Checked(u64),
    /// What the folder has cannot be used and will be replaced.
    Replaced {
        /// The file's key.
        key: &'a str,
        /// What is wrong with it.
        what: &'a str,
    },
    /// Fetching begins.
    Begin {
        /// Tables that are not whole yet.
        tables: usize,
        /// Bytes that are missing.
        bytes: u64,
        /// Bytes of unfinished shards that an earlier fetch kept aside.
        kept: u64,
    },
    /// So many bytes came.
    Got(u64),
    /// So many bytes came in vain.
    Lost(u64),
    /// A shard came with wrong bytes and is fetched once more.
    Again {
        /// The shard's key.
        key: &'a str,
    },
    /// A table is whole, and its manifest in place.
    Finished {
        /// Which table.
        table: &'a TableName,
        /// How many tables were finished by this fetch so far.
        done: usize,
        /// How many there are to finish.
        of: usize,
    },
}

/// Sees what happens. It is called from many threads and must not block.
pub trait Watch: Send + Sync {
    /// Something has happened.
    fn see(&self, event: Event<'_>);
}

/// Looks away.
impl Watch for () {
    fn see(&self, _: Event<'_>) {}
}
