//! What the tables do not tell, and what would make them.

use canju_retro::{GameError, Metric, TableName};
use canju_table::{TableError, TableSet, commands};

use crate::ProbeError;

/// Why the value of a position is not known. It is never a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Why, for programs.
    pub reason: Reason,
    /// The same in words.
    pub message: String,
    /// The table that it is about.
    pub endgame: Option<TableName>,
    /// Commands that bring the table.
    pub commands: Vec<String>,
}

/// Why a value is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
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
    /// The position is not legal: no game leads there.
    Illegal,
}

impl Reason {
    /// Why an error leaves a position's value unknown; `None` where it says nothing of it, as a store that cannot be reached.
    #[must_use]
    pub fn of(error: &ProbeError) -> Option<Self> {
        about(error).map(|(reason, ..)| reason)
    }

    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Missing, Self::Metric, Self::TooLarge, Self::Damaged, Self::Doubled, Self::Version, Self::Illegal];

    /// The reason in a word: `missing`, `metric`, `too_large`, `damaged`, `doubled`, `version` or `illegal`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Metric => "metric",
            Self::TooLarge => "too_large",
            Self::Damaged => "damaged",
            Self::Doubled => "doubled",
            Self::Version => "version",
            Self::Illegal => "illegal",
        }
    }
}

impl Unknown {
    /// What an error of these tables says about a position; `None` where it says nothing, as a store that cannot be
    /// reached.
    #[must_use]
    pub fn of(error: &ProbeError, tables: &TableSet) -> Option<Self> {
        let (reason, table, metric) = about(error)?;
        let cause = std::error::Error::source(error).filter(|_| reason == Reason::TooLarge);
        let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
        let bring = |table| commands(table, metric, tables.rules(), &tables.place());
        Some(Self {
            reason,
            message: format!("{error}{cause}"),
            endgame: table.cloned(),
            commands: table.map(bring).unwrap_or_default(),
        })
    }

    /// True where every other position of the same material that is legal, can move and has no doubled soldiers is unknown
    /// for the same reason.
    #[must_use]
    pub const fn is_of_the_table(&self) -> bool {
        matches!(self.reason, Reason::Missing | Reason::TooLarge | Reason::Version)
    }
}

/// Why, the table that it is about, and the metric that this lacks.
fn about(error: &ProbeError) -> Option<(Reason, Option<&TableName>, Option<Metric>)> {
    Some(match error {
        ProbeError::Illegal { .. } | ProbeError::NoKing { .. } => (Reason::Illegal, None, None),
        ProbeError::Doubled { .. } => (Reason::Doubled, None, None),
        ProbeError::Endgame(GameError::TooLarge { .. } | GameError::Name { .. }) => (Reason::TooLarge, None, None),
        ProbeError::Table(TableError::Missing { table, metric, .. }) => {
            let reason = if metric.is_some() { Reason::Metric } else { Reason::Missing };
            (reason, Some(table), *metric)
        }
        ProbeError::Table(
            TableError::Damaged { table, .. }
            | TableError::Manifest { table, .. }
            | TableError::NoSuchCell { table, .. },
        )
        | ProbeError::Contradiction { table, .. } => (Reason::Damaged, Some(table), None),
        ProbeError::IndexVersion { table, .. } => (Reason::Version, Some(table), None),
        _ => return None,
    })
}
