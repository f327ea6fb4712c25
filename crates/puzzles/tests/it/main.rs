//! Puzzles: the numbers that are known of them, and what must hold for each.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod chase;
mod errors;
mod laws;
mod mazes;
mod pages;
mod pictures;
mod rivers;

use std::path::{Path, PathBuf};

use canju_puzzles::{Puzzle, Solution};

/// The folder of the examples that users are shown.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples")
}

fn example(name: &str) -> Puzzle {
    Puzzle::read(&examples().join(name)).unwrap()
}

fn solved(name: &str) -> Solution {
    Solution::of(&example(name)).unwrap()
}
