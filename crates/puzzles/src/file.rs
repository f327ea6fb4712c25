//! TOML files: which kind of puzzle, and what all kinds have.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use toml::Spanned;

use crate::error::Text;
use crate::{Board, Maze, PuzzleError, chase_file, drawing, regions_file, river_file};

/// What every file says, and what tells the two kinds of mazes apart. The rest is left to its kind.
#[derive(Deserialize)]
#[serde(expecting = "a table")]
struct Head {
    puzzle: Option<Spanned<String>>,
    drawing: Option<IgnoredAny>,
}

/// A maze that is drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Drawn {
    #[serde(rename = "puzzle")]
    _puzzle: String,
    title: Option<String>,
    drawing: Spanned<String>,
    entrance: Option<Spanned<String>>,
    exit: Option<Spanned<String>>,
}

/// True for a text that is meant to be TOML: it says what puzzle it is, even if something else is wrong with it.
pub(crate) fn names_a_kind(source: Text) -> bool {
    let says =
        |line: &str| line.trim_start().strip_prefix("puzzle").is_some_and(|rest| rest.trim_start().starts_with('='));
    source.text.lines().any(says) || read::<Head>(source).is_ok_and(|head| head.puzzle.is_some())
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
        "maze" if head.drawing.is_some() => {
            let (title, maze) = drawn(source)?;
            Ok((title, Board::Maze(Arc::new(maze))))
        }
        "maze" => {
            let (title, regions) = regions_file::parse(source)?;
            Ok((title, Board::Regions(Arc::new(regions))))
        }
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

fn drawn(source: Text) -> Result<(Option<String>, Maze), PuzzleError> {
    let file: Drawn = read(source)?;
    let mark = |given: Option<Spanned<String>>| -> Result<Option<char>, PuzzleError> {
        let Some(given) = given else { return Ok(None) };
        let mut letters = given.get_ref().chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Ok(Some(letter)),
            _ => Err(source.at(given.span(), "a mark of a drawing is one character")),
        }
    };
    let marks = drawing::Marks { entrance: mark(file.entrance)?, exit: mark(file.exit)? };
    let within = Text { file: source.file, text: file.drawing.get_ref() };
    let maze = drawing::parse(within, &marks).map_err(|error| {
        let line = line_within(source.text, &file.drawing, error.line.unwrap_or(1));
        PuzzleError { line: Some(line), ..error }
    })?;
    Ok((file.title, maze))
}

/// The line of the file that a line of a string is on; the one on which the string begins where its lines are written as `\n`.
fn line_within(text: &str, string: &Spanned<String>, line: usize) -> usize {
    let before = text.get(..string.span().start).unwrap_or_default().matches('\n').count();
    let quoted = text.get(string.span()).unwrap_or_default();
    // A string of several lines begins behind its first one.
    let opening = usize::from(["\"\"\"\n", "'''\n"].iter().any(|open| quoted.starts_with(open)));
    let lines = quoted.matches('\n').count();
    let as_written = lines == opening + string.get_ref().matches('\n').count();
    1 + before + if as_written { opening + line - 1 } else { 0 }
}
