//! Puzzles from files that people write: river crossings, mazes, and cat and mouse.
//!
//! A [`Puzzle`] is read from TOML, a drawing or a picture, and is then a table like any other: the solver of `canju-retro`
//! labels it, a cluster builds it, the table format stores it. [`Solution`] asks the labels for what people want to know.
//! This crate knows no other part of the project than `canju-retro`; `docs/puzzles.md` describes the files.
//!
//! ```
//! use canju_puzzles::{Puzzle, Solution};
//!
//! let maze = Puzzle::parse("maze.txt", "#####\n#S  #\n### #\n#E  #\n#####\n")?;
//! let solution = Solution::of(&maze)?;
//! assert_eq!(solution.steps(), Some(6));
//! assert_eq!(solution.shortest(), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chase;
mod chase_file;
mod divisor;
mod drawing;
mod error;
mod file;
mod loads;
mod margin;
mod maze;
mod page;
mod picture;
mod puzzle;
mod regions;
mod regions_file;
mod river;
mod river_file;
mod scenes;
mod solution;
mod svg;
mod words;

pub use chase::{Chase, Sanctuary};
pub use error::PuzzleError;
pub use maze::Maze;
pub use page::TooManySteps;
pub use puzzle::{Board, Puzzle};
pub use regions::Regions;
pub use river::{Passenger, River};
pub use solution::{Counts, Solution};

/// Cells of a slice of a table with so many cells, about: small tables are cut, too, and a slice fits a processor's cache.
pub(crate) fn puzzle_slice(cells: u32) -> u32 {
    (cells / 8).clamp(1, 1 << 16)
}
