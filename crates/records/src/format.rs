//! Which format a file has, told from its bytes.

use std::fmt;

use crate::builder::many;
use crate::text::Text;
use crate::{Place, Reason, Record, RecordError, dhtml, fen_list, name_list, pgn, text, xqf};

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A FEN on each line, with comments.
    FenList,
    /// `name|FEN side|moves` on each line.
    NameList,
    /// The text of the DhtmlXQ board, also as forums quote it.
    Dhtml,
    /// Portable game notation with xiangqi moves.
    Pgn,
    /// The binary files of XQStudio.
    Xqf,
}

impl Format {
    /// The name in JSON: `fen`, `names`, `dhtmlxq`, `pgn`, `xqf`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Format::FenList => "fen",
            Format::NameList => "names",
            Format::Dhtml => "dhtmlxq",
            Format::Pgn => "pgn",
            Format::Xqf => "xqf",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is read at most. The memory taken is a few bytes for each byte of the file, and a few hundred for each game and each
/// move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: usize,
    /// Games or positions in it.
    pub games: usize,
    /// Moves in all of them, variations included.
    pub moves: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 << 20, games: 100_000, moves: 1_000_000 }
    }
}

/// What is left of the limits while a file is read.
pub(crate) struct Allowance {
    limits: Limits,
    games: usize,
    moves: usize,
}

impl Allowance {
    pub fn take_game(&mut self, place: Place) -> Result<(), RecordError> {
        self.games = self.games.checked_sub(1).ok_or_else(|| many(place, self.limits.games, "games"))?;
        Ok(())
    }

    pub fn take_move(&mut self, place: Place) -> Result<(), RecordError> {
        self.moves = self.moves.checked_sub(1).ok_or_else(|| many(place, self.limits.moves, "moves"))?;
        Ok(())
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its format.
    pub format: Format,
    /// Its positions or games in order, at least one.
    pub records: Vec<Record>,
}

/// Reads a file of any format within the usual [`Limits`].
///
/// # Errors
///
/// [`RecordError`]: no format fits, a position cannot be read, or the file is too large.
pub fn read(bytes: &[u8]) -> Result<File, RecordError> {
    read_within(bytes, &Limits::default())
}

/// Reads a file of any format.
///
/// # Errors
///
/// As [`read`].
pub fn read_within(bytes: &[u8], limits: &Limits) -> Result<File, RecordError> {
    if bytes.len() > limits.bytes {
        let reason = Reason::Large { bytes: bytes.len(), limit: limits.bytes };
        return Err(RecordError::new(Place::Byte(limits.bytes), reason));
    }
    let mut allowance = Allowance { limits: *limits, games: limits.games, moves: limits.moves };
    if xqf::is_one(bytes) {
        let record = xqf::read(bytes, &mut allowance)?;
        return Ok(File { format: Format::Xqf, records: vec![record] });
    }
    let text = text::decode(bytes);
    let format = detect(&text)?;
    let records = match format {
        Format::Dhtml => dhtml::read(&text, &mut allowance),
        Format::Pgn => pgn::read(&text, &mut allowance),
        Format::NameList => name_list::read(&text, &mut allowance),
        Format::FenList | Format::Xqf => fen_list::read(&text, &mut allowance),
    }?;
    if records.is_empty() {
        return Err(RecordError::new(Place::Line(1), Reason::Empty));
    }
    Ok(File { format, records })
}

/// The format of a text, by its first line that tells.
fn detect(text: &Text) -> Result<Format, RecordError> {
    // A PGN may speak of the other's tags, in a comment.
    let begins = text.lines().map(|(_, line)| line).find(|line| !line.is_empty());
    if begins.is_some_and(|line| pgn::is_tag(line) && !dhtml::is_one(line)) {
        return Ok(Format::Pgn);
    }
    if dhtml::is_one(text.as_str()) {
        return Ok(Format::Dhtml);
    }
    let mut first = None;
    for (number, line) in text.lines() {
        let place = Place::Line(number);
        if line.contains('\0') {
            let start: String = line.chars().take(20).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
            return Err(RecordError::new(place, Reason::Unrecognised(start)));
        }
        if pgn::is_tag(line) {
            return Ok(Format::Pgn);
        }
        if line.is_empty() || fen_list::is_comment(line) {
            continue;
        }
        if name_list::is_one(line) {
            return Ok(Format::NameList);
        }
        if fen_list::is_one(line) {
            return Ok(Format::FenList);
        }
        if pgn::is_moves(line) {
            return Ok(Format::Pgn);
        }
        // A title may stand before the tags of a PGN, but not before a list.
        first = first.or(Some((place, line)));
    }
    Err(match first {
        None => RecordError::new(Place::Line(1), Reason::Empty),
        Some((place, line)) => {
            let start: String = line.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
            RecordError::new(place, Reason::Unrecognised(start))
        }
    })
}
