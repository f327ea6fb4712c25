//! TOML files: which kind of puzzle, and what all kinds have.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::error::Text;
use crate::{Board, PuzzleError, chase_file, drawing, regions_file, river_file};

/// What every file says. The rest is left to its kind.
#[derive(Deserialize)]
struct Head {
    puzzle: Option<Spanned<String>>,
}

/// A maze: a drawing, or regions.
#[derive(Deserialize)]
struct MazeHead {
    title: Option<String>,
    drawing: Option<Spanned<String>>,
    entrance: Option<Spanned<String>>,
    exit: Option<Spanned<String>>,
}

/// True for a text that is meant to be TOML.
pub(crate) fn names_a_kind(text: &str) -> bool {
    text.lines()
        .any(|line| line.trim_start().strip_prefix("puzzle").is_some_and(|rest| rest.trim_start().starts_with('=')))
}

/// The title and the puzzle of a TOML file.
pub(crate) fn parse(source: Text) -> Result<(Option<String>, Board), PuzzleError> {
    let head: Head = read(source)?;
    let kinds = "\"river\", \"maze\" or \"chase\"";
    let Some(kind) = head.puzzle else {
        return Err(source.on(1, format!("it does not say what it is: add puzzle = {kinds}")));
    };
    match kind.get_ref().as_str() {
        "river" => {
            let (title, river) = river_file::parse(source)?;
            Ok((title, Board::River(Arc::new(river))))
        }
        "chase" => {
            let (title, chase) = chase_file::parse(source)?;
            Ok((title, Board::Chase(Arc::new(chase))))
        }
        "maze" => maze(source),
        other => Err(source.at(kind.span(), format!("there is no kind of puzzle {other:?}: use {kinds}"))),
    }
}

/// A file as its kind has it.
pub(crate) fn read<T: DeserializeOwned>(source: Text) -> Result<T, PuzzleError> {
    toml::from_str(source.text).map_err(|error| {
        let reason = error.message().trim_end().replace('\n', ", ");
        match error.span() {
            Some(span) => source.at(span, reason),
            None => source.whole(reason),
        }
    })
}

fn maze(source: Text) -> Result<(Option<String>, Board), PuzzleError> {
    let head: MazeHead = read(source)?;
    let Some(drawn) = head.drawing else {
        let (title, regions) = regions_file::parse(source)?;
        return Ok((title, Board::Regions(Arc::new(regions))));
    };
    let mark = |given: Option<Spanned<String>>| -> Result<Option<char>, PuzzleError> {
        let Some(given) = given else { return Ok(None) };
        let mut letters = given.get_ref().chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Ok(Some(letter)),
            _ => Err(source.at(given.span(), "a mark of a drawing is one character")),
        }
    };
    let marks = drawing::Marks { entrance: mark(head.entrance)?, exit: mark(head.exit)? };
    // Lines of the drawing are counted within the file: a string of several lines begins behind its first one.
    let first = first_line(source.text, drawn.span());
    let within = Text { file: source.file, text: drawn.get_ref() };
    let maze = drawing::parse(within, &marks)
        .map_err(|error| PuzzleError { line: error.line.map(|line| line + first - 1).or(Some(first)), ..error })?;
    Ok((head.title, Board::Maze(Arc::new(maze))))
}

/// The line of the first character of a string's value.
fn first_line(text: &str, span: Range<usize>) -> usize {
    let before = text.get(..span.start).unwrap_or_default().matches('\n').count();
    let quoted = text.get(span).unwrap_or_default();
    let opens_on_next = ["\"\"\"\n", "'''\n"].iter().any(|open| quoted.starts_with(open));
    1 + before + usize::from(opens_on_next)
}
