//! A puzzle, whatever it is about.

use std::path::Path;
use std::sync::Arc;

use canju_retro::{Cell, Explicit, ExplicitTables, GameError, Players, TableName};

use crate::error::Text;
use crate::{Chase, Maze, PuzzleError, Regions, River, drawing, file, picture};

/// Bytes of a position while it is labelled, and while a table is made: measured of crossings, about.
const BYTES: u64 = 20;
const TABLE_BYTES: u64 = 64;

/// A puzzle that was read from a file.
#[derive(Clone)]
pub struct Puzzle {
    title: String,
    definition: String,
    board: Board,
}

/// What a puzzle is about.
#[derive(Clone)]
pub enum Board {
    /// A river crossing.
    River(Arc<River>),
    /// A maze of squares.
    Maze(Arc<Maze>),
    /// A maze of regions.
    Regions(Arc<Regions>),
    /// Cat and mouse.
    Chase(Arc<Chase>),
}

impl Puzzle {
    /// Reads a file: `.toml`, a picture as `.png`, and everything else as the drawing of a maze.
    ///
    /// # Errors
    /// [`PuzzleError`] with the line where there is one.
    pub fn read(path: &Path) -> Result<Self, PuzzleError> {
        let file = path.display().to_string();
        let whole = |reason: String| PuzzleError { file: file.clone(), line: None, reason };
        let bytes = std::fs::read(path).map_err(|e| whole(format!("cannot be read: {e}")))?;
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
            let maze = picture::read(&bytes).map_err(whole)?;
            let title = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok(Self { title, definition: drawing::draw(&maze), board: Board::Maze(Arc::new(maze)) });
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let before = e.as_bytes().iter().take(e.utf8_error().valid_up_to()).filter(|&&b| b == b'\n').count();
            PuzzleError { file: file.clone(), line: Some(before + 1), reason: "is not UTF-8 text".to_owned() }
        })?;
        Self::parse(&file, &text)
    }

    /// Reads the text of a file: TOML where the file's name ends so or the text names a kind of puzzle, else the drawing of a
    /// maze. Line ends may be those of any system.
    ///
    /// # Errors
    /// [`PuzzleError`] with the line where there is one.
    pub fn parse(file: &str, text: &str) -> Result<Self, PuzzleError> {
        // Some editors mark UTF-8 by a first character that is none of the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let source = Text { file, text: &text };
        let path = Path::new(file);
        let is_toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let (title, board) = if is_toml || file::names_a_kind(source) {
            file::parse(source)?
        } else {
            (None, Board::Maze(Arc::new(drawing::parse(source, &drawing::Marks::default())?)))
        };
        let stem = || path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { title: title.unwrap_or_else(stem), definition: text, board })
    }

    /// What people call it.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// A text that [`parse`](Self::parse) makes the same puzzle of; of a picture a drawing.
    #[must_use]
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// What it is about.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The name of its table: the kind, and a hash of the definition, so that different puzzles have different tables.
    ///
    /// # Errors
    /// None that can occur.
    pub fn name(&self) -> Result<TableName, GameError> {
        let kind = match self.board {
            Board::River(_) => "RIVER",
            Board::Maze(_) | Board::Regions(_) => "MAZE",
            Board::Chase(_) => "CHASE",
        };
        // FNV-1a, 64 bits; 40 of them tell the puzzles of a store apart.
        let hash = self
            .definition
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        TableName::new(&format!("{kind}{:010X}", hash >> 24))
    }

    /// Its positions and moves.
    #[must_use]
    pub fn table(&self) -> Arc<dyn Explicit> {
        match &self.board {
            Board::River(river) => Arc::clone(river) as _,
            Board::Maze(maze) => Arc::clone(maze) as _,
            Board::Regions(regions) => Arc::clone(regions) as _,
            Board::Chase(chase) => Arc::clone(chase) as _,
        }
    }

    /// The same, lent.
    pub(crate) fn rules(&self) -> &dyn Explicit {
        match &self.board {
            Board::River(river) => river.as_ref(),
            Board::Maze(maze) => maze.as_ref(),
            Board::Regions(regions) => regions.as_ref(),
            Board::Chase(chase) => chase.as_ref(),
        }
    }

    /// Bytes of memory that it takes to solve it, about; more where a table is made of it.
    #[must_use]
    pub fn memory(&self, table: bool) -> u64 {
        let positions = crate::solution::positions(self.rules());
        positions * if table || self.rules().players() == Players::Two { TABLE_BYTES } else { BYTES }
    }

    /// The position that it begins with.
    #[must_use]
    pub fn start(&self) -> Cell {
        match &self.board {
            Board::River(river) => river.start(),
            Board::Maze(maze) => maze.entrance(),
            Board::Regions(regions) => regions.entrance(),
            Board::Chase(chase) => chase.start(),
        }
    }

    /// The number of a position in the order in which people list them, from 1.
    #[must_use]
    pub fn number(&self, cell: Cell) -> u64 {
        match &self.board {
            Board::River(river) => river.number(cell),
            Board::Maze(maze) => maze.number(cell),
            Board::Regions(regions) => regions.number(cell),
            Board::Chase(chase) => chase.number(cell),
        }
    }

    /// Its table as a game of its own.
    ///
    /// # Errors
    /// As [`Puzzle::name`].
    pub fn game(&self) -> Result<ExplicitTables, GameError> {
        Ok(ExplicitTables::new().with(self.name()?, self.table()))
    }
}
