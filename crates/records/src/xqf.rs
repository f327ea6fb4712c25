//! The files of XQStudio, XQF 1.0 (version 10) to 1.8 (version 18).
//!
//! A head of 1,024 bytes has the pieces' places and texts, each with its length before it. Then come the
//! moves as records, first one for the start: from, to, flags and a byte of no meaning, and the length of a
//! comment with the comment. A record is followed by what comes after its move, and that by its
//! variations. From version 11 on places, moves and the records' bytes are shifted by keys in the head.

mod keys;
mod moves;

use canju_xiangqi::{Color, Piece, Position, Square};

use crate::dhtml::ORDER;
use crate::format::Allowance;
use crate::text::decode_chinese;
use crate::{Fault, GameResult, Place, Reason, Record, RecordError};
use keys::Keys;

/// The bytes before the moves.
pub(crate) const HEAD: usize = 1024;

/// Where the head has what.
mod at {
    pub const VERSION: usize = 2;
    pub const PIECES: usize = 16;
    pub const TURN: usize = 50;
    pub const RESULT: usize = 51;
    pub const TITLE: usize = 80;
    pub const EVENT: usize = 208;
    pub const DATE: usize = 272;
    pub const SITE: usize = 288;
    pub const RED: usize = 304;
    pub const BLACK: usize = 320;
    pub const ANNOTATOR: usize = 464;
}

/// Whether a file begins as an XQF and cannot be a text that does.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    head.starts_with(b"XQ") && head[2..].iter().any(|&b| b < b'\t')
}

/// The record of a file.
pub(crate) fn read(bytes: &[u8], allowance: &mut Allowance) -> Result<Record, RecordError> {
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
        return Err(RecordError::new(Place::Byte(bytes.len()), Reason::Cut));
    };
    let version = head[at::VERSION];
    if !(10..=18).contains(&version) {
        return Err(RecordError::new(Place::Byte(at::VERSION), Reason::Version(version)));
    }
    let keys = Keys::of(head, version);
    let start = position(head, version, &keys)?;
    let mut builder = moves::read(rest, start, version, &keys, allowance)?;
    if !keys.agree {
        builder.warn(Place::Byte(12), Fault::Keys);
    }
    let record = &mut builder.record;
    record.title = text(head, at::TITLE, 63);
    record.event = text(head, at::EVENT, 63);
    record.date = text(head, at::DATE, 15);
    record.site = text(head, at::SITE, 15);
    record.red = text(head, at::RED, 15);
    record.black = text(head, at::BLACK, 15);
    record.annotator = text(head, at::ANNOTATOR, 15);
    record.result = match head[at::RESULT] {
        1 => GameResult::RedWins,
        2 => GameResult::BlackWins,
        3 => GameResult::Draw,
        _ => GameResult::Unknown,
    };
    Ok(builder.finish())
}

/// A text with its length before it.
fn text(head: &[u8], at: usize, most: usize) -> String {
    let length = usize::from(head[at]).min(most);
    decode_chinese(&head[at + 1..][..length])
}

fn position(head: &[u8], version: u8, keys: &Keys) -> Result<Position, RecordError> {
    let stored = &head[at::PIECES..at::PIECES + 32];
    let mut places = [0; 32];
    for (i, &byte) in stored.iter().enumerate() {
        // Later versions turn the list too.
        let i = if version >= 12 { (i + usize::from(keys.pieces) + 1) % 32 } else { i };
        places[i] = byte.wrapping_sub(keys.pieces);
    }
    let turn = if head[at::TURN] == 1 { Color::Black } else { Color::Red };
    let kinds = Color::ALL.into_iter().flat_map(|color| ORDER.map(|role| Piece::new(color, role)));
    let pieces: Vec<(Piece, Square)> =
        kinds.zip(places).filter_map(|(piece, place)| Some((piece, square(place)?))).collect();
    Position::from_pieces(&pieces, turn)
        .map_err(|error| RecordError::new(Place::Byte(at::PIECES), Reason::Pieces(error)))
}

/// The square of a place: ten times the file, and the rank. Whatever is off the board is absent.
fn square(place: u8) -> Option<Square> {
    (place < 90).then(|| Square::at(place / 10, place % 10))
}
