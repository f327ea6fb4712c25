//! What can go wrong with a fetch, by what the user can do about it.

use std::io;
use std::path::{Path, PathBuf};

use canju_retro::{Metric, Rules, TableName};
use canju_store::StoreError;
use canju_table::{ManifestError, MergeConflict, rules_given, shell_word};

/// Why tables could not be fetched or checked. What was fetched so far is kept in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The source has no such table.
    #[error(
        "there is no table {table} in {place}: see what there is with `fetch list --from {from}{given}`, or build it with `coordinator start --build {table}{given} --store FOLDER`",
        from = as_given(.place),
        given = rules_given(*.rules)
    )]
    NoTable {
        /// Which table.
        table: TableName,
        /// Under which rules.
        rules: Rules,
        /// Where it was looked for.
        place: String,
    },
    /// There is no table at all; the text tells where some are.
    #[error("{0}")]
    NoTables(String),
    /// The source has the table, but not the metric.
    #[error("the table {table} in {place} has no {metric}: it has {has}; ask for one of these with --metric")]
    NoMetric {
        /// Which table.
        table: TableName,
        /// Which metric.
        metric: Metric,
        /// The source.
        place: String,
        /// The metrics that it has.
        has: String,
    },
    /// The source lacks a smaller table, or the metric of it.
    #[error(
        "{place} is not complete: {table} was built from {smaller} ({metric}), which is not there; take another source with --from, or fetch {table} alone with --no-smaller"
    )]
    NoSmaller {
        /// The table that was built from it.
        table: TableName,
        /// The smaller table.
        smaller: TableName,
        /// Which metric of it.
        metric: Metric,
        /// The source.
        place: String,
    },
    /// The source's tables do not go together.
    #[error(
        "{place} contradicts itself: {table} was built from another {smaller} ({metric}) than the one that is there; take another source with --from, or fetch {table} alone with --no-smaller"
    )]
    OtherSmaller {
        /// The table that was built from it.
        table: TableName,
        /// The smaller table.
        smaller: TableName,
        /// Which metric of it.
        metric: Metric,
        /// The source.
        place: String,
    },
    /// Each of some tables says that it was built from the next.
    #[error(
        "{place} contradicts itself: {table} says that it was built from itself, by way of its smaller tables; take another source with --from"
    )]
    Circle {
        /// One of the tables.
        table: TableName,
        /// The source.
        place: String,
    },
    /// The source's manifest is none, or cannot be true.
    #[error(
        "the manifest of {table} in {place} cannot be used: it is damaged, or no manifest at all; take another source with --from"
    )]
    Manifest {
        /// Which table.
        table: TableName,
        /// The source.
        place: String,
        /// Which field, and why.
        #[source]
        error: ManifestError,
    },
    /// A shard of the source is not what its manifest lists.
    #[error("{key} in {place} is damaged there: {what}; tell whoever keeps it, or take another source with --from")]
    DamagedSource {
        /// Which shard.
        key: String,
        /// The source.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The folder has another table of the same name, and it is in order.
    #[error(
        "the folder {} has another {table} than {place}: move {} away, or choose another folder with --to",
        .folder.display(), .folder.join("tables/plain").join(.table.as_str()).display()
    )]
    Other {
        /// Which table.
        table: TableName,
        /// The folder.
        folder: PathBuf,
        /// The source.
        place: String,
        /// Where they disagree.
        #[source]
        conflict: MergeConflict,
    },
    /// The disk has not enough room.
    #[error(
        "{needed} bytes are missing, and the disk of {} has {free} bytes free: free some space or choose another folder with --to",
        .folder.display()
    )]
    Space {
        /// The folder.
        folder: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A file or folder of this machine could not be used.
    #[error("{} cannot be {what}: {}", .path.display(), remedy(.source))]
    Local {
        /// Which file or folder.
        path: PathBuf,
        /// What was to be done with it.
        what: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The folder has tables without a folder `tables` around them.
    #[error("{} holds tables without a folder named `tables` around them: rename it to `tables`, or name another folder", .0.display())]
    Layout(PathBuf),
    /// The source, or the folder as a store, did not do what it was asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FetchError {
    /// For `map_err`: what was to be done with a file.
    pub(crate) fn local(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Local { path, what, source }
    }
}

/// A source as users give it.
fn as_given(place: &str) -> String {
    let given = ["the folder ", "the server "].iter().find_map(|kind| place.strip_prefix(kind));
    match given {
        Some(given) => shell_word(given),
        None if place.contains("://") => shell_word(place),
        None => "SOURCE".to_owned(),
    }
}

/// What a user can do about what the system said.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; free some space, then run the same command again to go on"
        }
        io::ErrorKind::FileTooLarge => {
            "files may not become so large here; raise the limit or choose another folder, then run the same command again"
        }
        io::ErrorKind::PermissionDenied => "permission denied; give this user the right, or choose another folder",
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; mount it for writing, or choose another folder"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
            "a file stands where a folder is needed, or the reverse; move it away, or choose another folder"
        }
        io::ErrorKind::NotFound => "it is not there; check the path",
        _ => "check the disk, then run the same command again",
    }
}
