//! The seam between the engine and a game.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use crate::{Block, Metric, Room, Rules, SliceCodes, Statistics};

/// The side to move: the first-named one of the table (Red in xiangqi), or the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The side that the table names first.
    First,
    /// The other.
    Second,
}

impl Side {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// 0 or 1.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The enemy.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// The canonical name of a table: 2 to 32 capital letters or digits, safe in paths and keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName(Arc<str>);

impl TableName {
    /// The name, if it has the form of one. Only [`Game::table`] tells whether there is such a table.
    ///
    /// # Errors
    /// [`GameError::Name`] when the text is not 2 to 32 capital letters or digits.
    pub fn new(name: &str) -> Result<Self, GameError> {
        let fits = (2..=32).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        if fits {
            Ok(Self(name.into()))
        } else {
            Err(GameError::Name {
                given: name.chars().take(64).collect(),
                reason: "not 2 to 32 capital letters or digits".into(),
            })
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The slice that holds it.
    pub slice: u32,
    /// Its number within the slice.
    pub index: u32,
    /// Who is to move.
    pub side: Side,
}

/// What a slice is to the rest of its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceShape {
    /// Cells for each side to move.
    pub cells: u32,
    /// The slices whose frontiers this one reads, ascending, itself left out. Symmetric: who reads is read.
    pub neighbours: Vec<u32>,
}

/// How a table is cut, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The slices, by number.
    pub slices: Vec<SliceShape>,
    /// Runs of neighbouring slices that together cover all, in order. A run becomes one shard of
    /// each metric and is assigned as a whole; it depends on nothing but the table.
    pub runs: Vec<Range<u32>>,
    /// Cells that belong together: a slice is a whole number of rows, and blocks of a finished table end with one.
    pub row: u32,
    /// Positions of the full board, symmetric ones counted apart, both sides to move together.
    pub positions: u64,
    /// The same with each counted as often as the index has it: what solving takes goes by that.
    pub indexed: u64,
    /// Bytes that the sets of all slices take while the table is solved.
    pub set_bytes: u64,
}

/// What to solve of a table.
#[derive(Clone, Debug)]
pub struct PartSpec {
    /// Which table.
    pub table: TableName,
    /// The distance that is counted: [`Metric::Dtm`] or [`Metric::Dtc`].
    pub metric: Metric,
    /// The rule of repetition.
    pub rules: Rules,
    /// The slices to own, ascending.
    pub slices: Vec<u32>,
    /// How much memory to take; `None` for as much as is needed.
    pub room: Option<Room>,
}

/// Reads finished smaller tables.
pub trait Tables: Send + Sync {
    /// Gives all cells of a slice for one side to move to `sink`, block by block in ascending order.
    ///
    /// # Errors
    /// [`GameError::Tables`] when a table is missing or damaged; what was given before is then void.
    fn read(
        &self,
        table: &TableName,
        metric: Metric,
        side: Side,
        slice: u32,
        sink: &mut dyn FnMut(Block<'_>),
    ) -> Result<(), GameError>;
}

/// Why something could not be named, planned or solved.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// A text that names no table.
    #[error("{given:?} names no endgame: {reason}")]
    Name {
        /// What was given.
        given: String,
        /// Why it does not fit.
        reason: String,
    },
    /// A table that the index cannot hold.
    #[error("{table} is too large for the index: {reason}")]
    TooLarge {
        /// Which table.
        table: TableName,
        /// What is exceeded, with numbers.
        reason: String,
    },
    /// A table of a game in which nothing is repeated, under rules of repetition.
    #[error("{table} is of a game without rules of repetition: give the rules plain, not {rules}")]
    Rules {
        /// Which table.
        table: TableName,
        /// The rules that were asked for.
        rules: Rules,
    },
    /// A smaller table that could not be read.
    #[error("cannot read the smaller table {table} ({metric})")]
    Tables {
        /// Which table.
        table: TableName,
        /// Which of its metrics.
        metric: Metric,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A frontier or log that does not fit the part it was given to.
    #[error("a frontier does not fit: {0}")]
    Frontier(String),
    /// A scratch file that could not be made, written or read.
    #[error("cannot use the scratch folder {}: free space there, give another folder, or allow more memory", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// A game whose rules do not go together; it names what does not.
    #[error("the game contradicts itself: {0}")]
    Flawed(String),
    /// Play that takes longer than a table can tell.
    #[error("play takes longer than a table can tell: {0}")]
    TooLong(String),
    /// A request that the caller must not make; it names the broken condition.
    #[error("the solver was asked for something out of turn: {0}")]
    OutOfTurn(String),
}

/// What one ply labelled in a part, by side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Newly labelled cells of the part's own slices (not weighted by symmetry), by side to move.
    pub labels: [u64; 2],
    /// True while captures into smaller tables are still to take effect at a later ply, or the step did something that
    /// is no label.
    pub pending: bool,
    /// What follows when two steps running are idle.
    pub after: After,
}

/// What follows when two steps running have labelled nothing in any part and none is pending: the greatest of
/// what the parts say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum After {
    /// Nothing: the table is solved.
    #[default]
    End,
    /// The next phase.
    Next,
    /// The phase before once more.
    Again,
}

impl After {
    /// The value of a number, as messages hold it.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::End),
            1 => Some(Self::Next),
            2 => Some(Self::Again),
            _ => None,
        }
    }

    /// The number in messages.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

impl StepCounts {
    /// Both sides together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.labels[0] + self.labels[1]
    }

    /// True where nothing was labelled and nothing is pending.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.total() == 0 && !self.pending
    }
}

/// The ply after one.
///
/// # Errors
/// [`GameError::TooLong`] after the last that can be numbered.
pub fn next_ply(ply: u16) -> Result<u16, GameError> {
    ply.checked_add(1).ok_or_else(|| GameError::TooLong(format!("more than {MOST_PLIES} plies")))
}

/// The longest way that a table tells: plies are numbers of 16 bits, and two more must be idle before the end is known.
pub const MOST_PLIES: u16 = u16::MAX - 3;

/// A family of tables: names, shapes, and the solver of a part.
pub trait Game: Send + Sync {
    /// The canonical table of a name as users write it.
    ///
    /// # Errors
    /// [`GameError::Name`] with what is wrong and where.
    fn table(&self, name: &str) -> Result<TableName, GameError>;

    /// The tables into which one capture leads, canonical, ascending, without repeats.
    ///
    /// # Errors
    /// [`GameError::Name`] when the table is not one of this game.
    fn smaller(&self, table: &TableName) -> Result<Vec<TableName>, GameError>;

    /// How the table is cut.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] or [`GameError::Name`].
    fn shape(&self, table: &TableName) -> Result<Shape, GameError>;

    /// A solver for some of the table's slices. Cheap; [`Part::prepare`] does the first work.
    ///
    /// # Errors
    /// As [`Game::shape`]; [`GameError::OutOfTurn`] for a slice that does not exist or a metric without distance.
    fn part(&self, spec: &PartSpec, tables: Arc<dyn Tables>) -> Result<Box<dyn Part>, GameError>;

    /// A cell as users write positions (a FEN for xiangqi).
    ///
    /// # Errors
    /// [`GameError::Name`] when the table or the cell does not exist.
    fn show(&self, table: &TableName, cell: Cell) -> Result<String, GameError>;

    /// What a table can be solved for.
    fn metrics(&self, _table: &TableName) -> &'static [Metric] {
        &[Metric::Dtm, Metric::Dtc]
    }

    /// True where parts of a table keep to [`PartSpec::room`]: what does not fit into memory lives in a scratch folder.
    fn keeps_to_room(&self, _table: &TableName) -> bool {
        false
    }

    /// Bytes of memory that the rules of repetition take for a whole table beside what [`Shape::price`] tells, with a scratch
    /// folder as well: an estimate by the most that was measured, as it depends on how much is undecided.
    ///
    /// # Errors
    /// As [`shape`](Game::shape); [`GameError::Rules`] where the game has no such rules.
    fn repetition_bytes(&self, _table: &TableName, _rules: Rules) -> Result<u64, GameError> {
        Ok(0)
    }

    /// The text that a table's rules come from, where its name alone does not tell them: it is kept in the manifest.
    fn definition(&self, _table: &TableName) -> Option<String> {
        None
    }
}

/// The slices of one table that one worker holds, and their labels so far.
///
/// The order of calls: [`prepare`](Part::prepare) once; then for ply 0, 1, 2, ... first
/// [`step`](Part::step), then [`export`](Part::export) for every other part and
/// [`import`](Part::import) of what they exported in the same ply; when all parts together have labelled nothing
/// for two plies running and none is [`pending`](StepCounts::pending), either more is to come
/// ([`after`](StepCounts::after)), and all parts [`turn`](Part::turn) before the next ply, or the table is solved and
/// [`codes`](Part::codes) and [`statistics`](Part::statistics) yield it. All methods work on the calling
/// thread's rayon pool and block; never call them on an async thread.
///
/// A part can take over from a lost one. Between `prepare` and ply 0, [`load`](Part::load) gives it the lost one's log;
/// the others [`rewind`](Part::rewind), and all begin again at ply 0. A step of a ply that the log has
/// labels nothing anew: it takes the labels from there, so that all come to the same ply as they would have
/// without the loss.
pub trait Part: Send + Sync {
    /// The legality of all cells and the captures into smaller tables.
    ///
    /// # Errors
    /// [`GameError::Tables`].
    fn prepare(&mut self) -> Result<(), GameError>;

    /// Labels the cells of distance `ply`, or takes their labels from the log where it has them.
    ///
    /// # Errors
    /// [`GameError::OutOfTurn`] when `ply` is not the next one; [`GameError::Frontier`] when the log is damaged.
    fn step(&mut self, ply: u16) -> Result<StepCounts, GameError>;

    /// Begins the next phase, before its first step: `after` is the greatest that any part said at the last one.
    ///
    /// # Errors
    /// [`GameError::OutOfTurn`] where nothing follows.
    fn turn(&mut self, after: After) -> Result<(), GameError> {
        Err(GameError::OutOfTurn(format!("{after:?}, though nothing follows")))
    }

    /// What the last step labelled in own slices that are neighbours of any of `readers` (ascending),
    /// as one message; empty when there is nothing.
    fn export(&self, readers: &[u32]) -> Vec<u8>;

    /// Takes another part's export of the last step. Taking it twice changes nothing, nor does taking
    /// one of a ply that was followed by another step before the part was rewound.
    ///
    /// # Errors
    /// [`GameError::Frontier`] when the bytes are not such a message, or of another ply.
    fn import(&mut self, message: &[u8]) -> Result<(), GameError>;

    /// Begins again at ply 0, with all labels kept: the next step is that of ply 0.
    ///
    /// # Errors
    /// [`GameError::OutOfTurn`] before [`prepare`](Part::prepare).
    fn rewind(&mut self) -> Result<(), GameError>;

    /// Plies in the log: a step of these computes nothing.
    fn known(&self) -> u16;

    /// What the steps of some plies labelled in all own slices, for [`load`](Part::load): one message, also where there
    /// is nothing in it. Plies beyond [`known`](Part::known) are left out.
    ///
    /// # Errors
    /// [`GameError::Frontier`] when the log is damaged.
    fn save(&self, plies: Range<u16>) -> Result<Vec<u8>, GameError>;

    /// Takes the labels of own slices from a message that [`save`](Part::save) made, of this or of other parts of the
    /// same table; those of slices that others own are left out. Messages must come in the order of their
    /// plies for each slice. The part then knows as many plies as all its slices have without a gap.
    ///
    /// # Errors
    /// [`GameError::OutOfTurn`] unless between `prepare` and the first step; [`GameError::Frontier`] for bytes that are no
    /// such message, after which the part must not be used.
    fn load(&mut self, saved: &[u8]) -> Result<(), GameError>;

    /// The finished cells of an owned slice: the part's own metric, or [`Metric::Wdl`].
    ///
    /// # Errors
    /// [`GameError::OutOfTurn`] when the slice is not owned or the metric is not held.
    fn codes(&self, slice: u32, side: Side, metric: Metric) -> Result<SliceCodes, GameError>;

    /// Counts over the own slices, symmetric positions counted apart.
    ///
    /// # Errors
    /// [`GameError::Frontier`] when the part's own log is damaged.
    fn statistics(&self) -> Result<Statistics, GameError>;

    /// Bytes of memory that the part holds now, sets, logs and frontiers together.
    fn memory(&self) -> u64;
}
