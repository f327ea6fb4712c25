//! Why a position or a table could not be answered for.

use canju_retro::{GameError, Metric, Rules, TableName};
use canju_table::{TableError, rules_given, shell_word};
use canju_xiangqi::{Color, Illegality};

/// Why there is no answer. It is never a draw in disguise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// No game leads to the position.
    #[error("{fen} is no legal position: {reason}; correct the board or the side to move")]
    Illegal {
        /// The position.
        fen: String,
        /// Why not.
        reason: Illegality,
    },
    /// The board is not finished: a king is missing.
    #[error("{color} has no king on the board: put both kings on it")]
    NoKing {
        /// Whose king.
        color: Color,
    },
    /// No game leads to the position, and so the tables leave it out.
    #[error(
        "{fen} is unknown to the tables: two soldiers of one side cannot share a file before the river; correct the board"
    )]
    Doubled {
        /// The position.
        fen: String,
    },
    /// No table can hold the position's endgame: too many men, or no endgame at all.
    #[error("the position's value is unknown: no table can hold so many pieces; take some off the board")]
    Endgame(#[source] GameError),
    /// The table is missing or damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table numbers its positions in another way.
    #[error(
        "the table {table} has index version {found}, this software {known}: build the table again or update the software"
    )]
    IndexVersion {
        /// Which table.
        table: TableName,
        /// The manifest's version.
        found: u32,
        /// This software's.
        known: u32,
    },
    /// Two metrics of one table give different results, or a metric has another result than can be.
    #[error("the table {table} contradicts itself about {fen}: check it with `canju verify {table}{}`", rules_given(*.rules))]
    Contradiction {
        /// Which table.
        table: TableName,
        /// Under which rules.
        rules: Rules,
        /// The position.
        fen: String,
    },
    /// A line was asked for where none is forced.
    #[error("{fen} is a draw: there is no line to mate")]
    Draw {
        /// The position.
        fen: String,
    },
    /// A line was asked for by a metric that has no distances.
    #[error("{0} tables hold no distances: ask for a line by dtm or dtc")]
    NoDistances(Metric),
    /// There is no such folder.
    #[error(
        "there is no folder {path}: name the folder with the tables, fetch some with `fetch get NAME --from SOURCE --to {0}`, or build them with `coordinator start --build NAME --store {0}`",
        shell_word(.path)
    )]
    NoFolder {
        /// The path that was given.
        path: String,
    },
    /// The tables are behind a network, and this program was built without.
    #[error(
        "{place} is behind a network, which this program cannot reach: build it with canju-probe's feature `network`, or give a folder"
    )]
    NoNetwork {
        /// The place that was given.
        place: String,
    },
    /// The tables behind a network cannot be reached, or their place is none.
    #[error(transparent)]
    Open(Box<dyn std::error::Error + Send + Sync>),
    /// The system refused the threads.
    #[error("{0} threads could not be started: ask for fewer")]
    Threads(usize),
}
