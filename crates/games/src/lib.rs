//! The games that there are, as one: the beginning of a table's name tells its game.
//!
//! | name | game | crate |
//! |---|---|---|
//! | `RIVER`, `MAZE` or `CHASE` and ten hexadecimal digits | a puzzle from a file | `canju-puzzles` |
//! | `EWN` and the stones | EinStein würfelt nicht! | `canju-ewn` |
//! | every other one | an endgame of xiangqi | `canju-endgame` |
//!
//! Tables of these are known by their names. A puzzle is what its file says: who works on it must be given the file, and
//! the digits in its name, which are a hash of the file, see to it that all are given the same.
//!
//! ```
//! use canju_games::Games;
//! use canju_retro::Game;
//!
//! let games = Games::new();
//! assert_eq!(games.table("krkn")?.as_str(), "KRKN");
//! assert_eq!(games.table("ewn12b1")?.as_str(), "EWN12B1");
//! assert!(games.table("RIVER0123456789").is_err(), "its file was not given");
//! # Ok::<(), canju_retro::GameError>(())
//! ```

use std::path::Path;
use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_ewn::Ewn;
use canju_puzzles::{Puzzle, PuzzleError};
use canju_retro::{Cell, ExplicitTables, Game, GameError, Metric, Part, PartSpec, Rules, Shape, TableName, Tables};

pub use canju_endgame::INDEX_VERSION;

/// How the names of puzzles begin.
const PUZZLES: [&str; 3] = ["RIVER", "MAZE", "CHASE"];
/// How the names of tables of EinStein würfelt nicht! begin.
const EWN: &str = "EWN";
/// Behind the name of a puzzle's kind stand so many digits.
const DIGITS: usize = 10;

/// All games, with the puzzles that were given.
#[derive(Clone, Default)]
pub struct Games {
    xiangqi: Xiangqi,
    ewn: Ewn,
    puzzles: ExplicitTables,
    definitions: Vec<(TableName, String)>,
}

impl Games {
    /// Without puzzles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more puzzle.
    ///
    /// # Errors
    /// As [`Puzzle::check_table`].
    pub fn with(mut self, puzzle: &Puzzle) -> Result<Self, GameError> {
        puzzle.check_table()?;
        let name = puzzle.name()?;
        self.puzzles = self.puzzles.with(name.clone(), puzzle.table());
        self.definitions.push((name, puzzle.definition().to_owned()));
        Ok(self)
    }

    /// The same with the puzzles of some files.
    ///
    /// # Errors
    /// The first file that is no puzzle.
    pub fn with_files<P: AsRef<Path>>(self, files: &[P]) -> Result<Self, PuzzleError> {
        files.iter().try_fold(self, |games, file| {
            let file = file.as_ref();
            games.with(&Puzzle::read(file)?).map_err(|error| PuzzleError {
                file: file.display().to_string(),
                line: None,
                reason: error.to_string(),
            })
        })
    }

    /// The same with the puzzles of those words that are files; and the words, with a file's table in place of the file.
    ///
    /// # Errors
    /// The first file that is no puzzle.
    pub fn with_words(mut self, words: &[String]) -> Result<(Self, Vec<String>), PuzzleError> {
        let mut names = Vec::new();
        for word in words {
            if is_file(word) {
                self = self.with_files(&[word])?;
                names.extend(self.definitions.last().map(|(name, _)| name.to_string()));
            } else {
                names.push(word.clone());
            }
        }
        Ok((self, names))
    }

    fn of(&self, table: &TableName) -> &dyn Game {
        match table.as_str() {
            name if is_puzzle(name) => &self.puzzles,
            name if is_ewn(name) => &self.ewn,
            _ => &self.xiangqi,
        }
    }
}

/// True for a word that is meant to be a file and not a table: it has a slash, a backslash or a point.
#[must_use]
pub fn is_file(word: &str) -> bool {
    word.contains(['/', '\\', '.'])
}

/// True for the name of a puzzle's table.
#[must_use]
pub fn is_puzzle(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    PUZZLES.iter().any(|kind| {
        let digits = name.strip_prefix(kind);
        digits.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

/// The canonical name of a table of any game, also of a puzzle whose file is not at hand.
///
/// # Errors
/// As [`Game::table`].
pub fn name(text: &str) -> Result<TableName, GameError> {
    if is_puzzle(text) { TableName::new(&text.to_ascii_uppercase()) } else { Games::new().table(text) }
}

/// True for a name that is meant to be a table of EinStein würfelt nicht!: no endgame of xiangqi begins so.
#[must_use]
pub fn is_ewn(name: &str) -> bool {
    name.get(..EWN.len()).is_some_and(|start| start.eq_ignore_ascii_case(EWN))
}

impl Game for Games {
    fn table(&self, name: &str) -> Result<TableName, GameError> {
        match name {
            _ if is_puzzle(name) => self.puzzles.table(name),
            _ if is_ewn(name) => self.ewn.table(name),
            _ => self.xiangqi.table(name),
        }
    }

    fn smaller(&self, table: &TableName) -> Result<Vec<TableName>, GameError> {
        self.of(table).smaller(table)
    }

    fn shape(&self, table: &TableName) -> Result<Shape, GameError> {
        self.of(table).shape(table)
    }

    fn part(&self, spec: &PartSpec, tables: Arc<dyn Tables>) -> Result<Box<dyn Part>, GameError> {
        self.of(&spec.table).part(spec, tables)
    }

    fn show(&self, table: &TableName, cell: Cell) -> Result<String, GameError> {
        self.of(table).show(table, cell)
    }

    fn metrics(&self, table: &TableName) -> &'static [Metric] {
        self.of(table).metrics(table)
    }

    fn keeps_to_room(&self, table: &TableName) -> bool {
        self.of(table).keeps_to_room(table)
    }

    fn repetition_bytes(&self, table: &TableName, rules: Rules) -> Result<u64, GameError> {
        self.of(table).repetition_bytes(table, rules)
    }

    fn definition(&self, table: &TableName) -> Option<String> {
        self.definitions.iter().find(|(name, _)| name == table).map(|(_, definition)| definition.clone())
    }
}
