//! What can go wrong with a table: what the user asked for, around what the file did.

use std::io;

use canju_retro::{Cell, GameError, Metric, Rules, TableName};

use crate::remedy::{bring, replace};

/// Why a table could not be asked, by what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The table, or the metric of it, is not there.
    #[error(
        "there is no table {table}{} in {place}: {}",
        which(*.metric, *.rules),
        bring(.table, *.metric, *.rules, .place)
    )]
    Missing {
        /// Which table.
        table: TableName,
        /// Which of its metrics, where the table itself may be there.
        metric: Option<Metric>,
        /// Under which rules.
        rules: Rules,
        /// Where it was looked for.
        place: String,
    },
    /// A file of the table is not what was written.
    #[error("the table {table} is damaged; {}", replace(.table, &.damage.key, .place))]
    Damaged {
        /// Which table.
        table: TableName,
        /// Where it is.
        place: String,
        /// Which file, and where in it.
        #[source]
        damage: Damage,
    },
    /// The table's manifest cannot be used.
    #[error("the table {table} has no usable manifest; {}", replace(.table, &.error.file, .place))]
    Manifest {
        /// Which table.
        table: TableName,
        /// Where it is.
        place: String,
        /// Which field, and why.
        #[source]
        error: ManifestError,
    },
    /// A file could not be read, for reasons that lie in the disk or the network.
    #[error(
        "{key} in {place} could not be read: check the disk or the network behind it, and that this user may read it"
    )]
    Io {
        /// Which file.
        key: String,
        /// Where it is.
        place: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The table has no such cell: it was asked about a cell of another table.
    #[error("the table {table} has no cell {} of slice {}: the index and the table do not go together", .cell.index, .cell.slice)]
    NoSuchCell {
        /// Which table.
        table: TableName,
        /// Which cell.
        cell: Cell,
    },
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}{}, byte {offset}: {what}", .block.map(|b| format!(", block {b}")).unwrap_or_default())]
pub struct Damage {
    /// Which file.
    pub key: String,
    /// The number of the block, where it is within one.
    pub block: Option<u32>,
    /// The byte of the file where the damaged part begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// A manifest that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}{reason}", if .field.is_empty() { String::new() } else { format!("field {}: ", .field) })]
pub struct ManifestError {
    /// Which file.
    pub file: String,
    /// Which field, as a path into the JSON; empty where it is none at all.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What of a table is meant, where it is not all of it under the usual rules.
fn which(metric: Option<Metric>, rules: Rules) -> String {
    let metric = metric.map(|m| format!(" ({m})")).unwrap_or_default();
    if rules == Rules::default() { metric } else { format!("{metric} for the rules {rules}") }
}

impl TableError {
    /// The same as the seam to the games has it.
    #[must_use]
    pub fn into_game_error(self, table: &TableName, metric: Metric) -> GameError {
        GameError::Tables { table: table.clone(), metric, source: Box::new(self) }
    }
}
