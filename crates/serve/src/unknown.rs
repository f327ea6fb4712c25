//! What the tables do not tell, and what would make them.

use axum::http::StatusCode;
use canju_probe::ProbeError;
use canju_retro::{GameError, Metric, TableName};
use canju_table::TableError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::failure::Failure;

/// Why the outcome of a legal position is unknown. It is never a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Unknown {
    pub reason: Reason,
    /// The same in words.
    pub message: String,
    /// The table that it is about.
    pub endgame: Option<String>,
    /// Commands that bring the table.
    pub commands: Vec<String>,
}

/// Why, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    /// The table is not there.
    Missing,
    /// The table is there without the distance that was asked for.
    Metric,
    /// No table can hold it.
    TooLarge,
    /// The table is not what was written.
    Damaged,
    /// Two soldiers of one side share a file before the river: no game leads there.
    Doubled,
    /// The table numbers its positions in another way than this software.
    Version,
}

impl Unknown {
    fn of(reason: Reason, error: &ProbeError, table: Option<(&TableName, Option<Metric>)>) -> Self {
        let mut message = error.to_string();
        if let (Reason::TooLarge, Some(cause)) = (reason, std::error::Error::source(error)) {
            message = format!("{message} ({cause})");
        }
        let endgame = table.map(|(table, _)| table.to_string());
        let commands = table.map(|(table, metric)| commands(table, metric)).unwrap_or_default();
        Self { reason, message, endgame, commands }
    }

    /// What an error says about a position, or the failure that it is.
    pub fn judge(error: &ProbeError) -> Result<Self, Failure> {
        let unknown = |reason, table: &TableName| Ok(Self::of(reason, error, Some((table, None))));
        match error {
            ProbeError::Illegal { .. } | ProbeError::NoKing { .. } => {
                Err(Failure::request("illegal", error.to_string()))
            }
            ProbeError::Doubled { .. } => Ok(Self::of(Reason::Doubled, error, None)),
            ProbeError::Endgame(GameError::TooLarge { .. } | GameError::Name { .. }) => {
                Ok(Self::of(Reason::TooLarge, error, None))
            }
            ProbeError::Table(TableError::Missing { table, metric, .. }) => {
                let reason = if metric.is_some() { Reason::Metric } else { Reason::Missing };
                Ok(Self::of(reason, error, Some((table, *metric))))
            }
            ProbeError::Table(TableError::Damaged { table, .. } | TableError::Manifest { table, .. }) => {
                unknown(Reason::Damaged, table)
            }
            ProbeError::Table(TableError::NoSuchCell { table, .. }) => unknown(Reason::Damaged, table),
            ProbeError::Contradiction { table, .. } => unknown(Reason::Damaged, table),
            ProbeError::IndexVersion { table, .. } => unknown(Reason::Version, table),
            ProbeError::Table(error @ TableError::Io { .. }) => Err(store(error)),
            other => {
                tracing::error!(error = %other, "an unforeseen error of the tables");
                Err(Failure::internal())
            }
        }
    }
}

impl Unknown {
    /// True where every position of the same material is unknown for the same reason.
    pub fn is_of_the_table(&self) -> bool {
        matches!(self.reason, Reason::Missing | Reason::TooLarge | Reason::Version)
    }
}

/// The store could not be read: that says nothing about the position.
pub(crate) fn store(error: &TableError) -> Failure {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::warn!(error = %error, cause, "the store could not be read");
    away()
}

/// What is told when the store cannot be reached. Where it is, and why, is told to its keeper only.
pub(crate) fn away() -> Failure {
    let text = "the tables cannot be read at the moment: ask again later; the server's log tells more";
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "store", text)
}

/// What brings a table.
pub(crate) fn commands(table: &TableName, metric: Option<Metric>) -> Vec<String> {
    let counted = metric.filter(|&m| m != Metric::Wdl).map(|m| format!(" --metric {m}")).unwrap_or_default();
    vec![format!("fetch get {table} --from PLACE"), format!("coordinator start --build {table}{counted}")]
}
