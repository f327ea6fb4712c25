//! What can go wrong with a store, by what the caller must do about it.

use std::io;

use crate::Key;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such object: make it first, or ask for another.
    #[error("there is no object {key} in {place}")]
    NotFound {
        /// What was asked for.
        key: Key,
        /// Which store.
        place: String,
    },
    /// Somebody was first: read what is there.
    #[error("the object {key} exists already in {place}")]
    AlreadyExists {
        /// What was to be made.
        key: Key,
        /// Which store.
        place: String,
    },
    /// Somebody has changed the object since it was read: read it again and decide anew.
    #[error("the object {key} in {place} has been changed by somebody else: read it again")]
    Changed {
        /// What was to be replaced.
        key: Key,
        /// Which store.
        place: String,
    },
    /// The caller asked for bytes that the object does not have.
    #[error(
        "the object {key} in {place} has {len} bytes; bytes {start} to {end} were asked for: it was cut short, or is another one than expected"
    )]
    OutOfRange {
        /// Which object.
        key: Key,
        /// Which store.
        place: String,
        /// How long it is.
        len: u64,
        /// The first byte asked for.
        start: u64,
        /// Behind the last byte asked for.
        end: u64,
    },
    /// No room: nothing was changed. A user must make room.
    #[error(
        "no room left in {place} {what}: free some space or choose another folder, then start again; nothing is half written"
    )]
    Full {
        /// What was to be written.
        what: String,
        /// Which store.
        place: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The store refuses, and will go on refusing until a user changes something.
    #[error("{place} refuses {what}: {remedy}")]
    Denied {
        /// What was to be done.
        what: String,
        /// Which store.
        place: String,
        /// What to do about it.
        remedy: &'static str,
        /// What the system said, if it was the system.
        #[source]
        source: Option<io::Error>,
    },
    /// The store did not answer as it should; trying again later may help.
    #[error("{place} failed {what}: try again later; if it goes on, check the disk or the network behind it")]
    Unavailable {
        /// What was to be done.
        what: String,
        /// Which store.
        place: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The store cannot be reached; it may be later, or a user must change something on the way.
    #[error("{place} cannot be reached {what}: {remedy}")]
    Unreachable {
        /// What was to be done.
        what: String,
        /// Which store.
        place: String,
        /// What to do about it if it stays so.
        remedy: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// True where the same call may succeed later without anybody's doing.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Unreachable { .. })
    }

    /// Sorts what the operating system said of `what` in `place`.
    pub(crate) fn from_io(source: io::Error, what: String, place: String) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                return Self::Full { what, place, source };
            }
            io::ErrorKind::PermissionDenied => {
                "permission denied; give this user the right to use the folder, or choose another"
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                "the file system is read-only; mount it for writing, or choose another folder"
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
                "a file stands where a folder is needed, or the reverse; move it away, or choose another folder"
            }
            io::ErrorKind::NotFound => "the folder is not there; check the path, or create it",
            _ => return Self::Unavailable { what, place, source },
        };
        Self::Denied { what, place, remedy, source: Some(source) }
    }
}
