//! Lists of FENs: one on a line, with comments.

use canju_xiangqi::Position;

use crate::fields::Fields;
use crate::format::Allowance;
use crate::text::Text;
use crate::{NodeId, Place, Record, RecordError, fields, lines};

/// Whether a line says something of the positions around it.
pub(crate) fn is_comment(line: &str) -> bool {
    line.starts_with(['#', ';', '%']) || line.starts_with("//")
}

/// Whether a line begins with a position.
pub(crate) fn is_one(line: &str) -> bool {
    startpos(board(line)).is_some() || fields::is_board(board(line))
}

/// The line without the words that engines speak before a FEN.
fn board(line: &str) -> &str {
    let line = line.trim_start_matches('"');
    let line = line.strip_prefix("position").map_or(line, str::trim_start);
    line.strip_prefix("fen").map_or(line, str::trim_start)
}

/// What follows the word by which engines are told the start of all games.
fn startpos(line: &str) -> Option<&str> {
    let (word, rest) = fields::word(line);
    (word.trim_end_matches('"') == "startpos").then_some(rest)
}

/// A record for each line. A comment above a position is its title; one after it its comment.
pub(crate) fn read(text: &Text<'_>, allowance: &mut Allowance) -> Result<Vec<Record>, RecordError> {
    let mut records = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    for (number, line) in text.lines() {
        let place = Place::Line(number);
        if line.is_empty() {
            above.clear();
        } else if is_comment(line) {
            above.push(bare(line));
        } else {
            let board = board(line);
            let fields = match startpos(board) {
                Some(rest) => Fields { start: Position::initial(), has_side: true, rest },
                None => fields::split(board, place)?,
            };
            let rest = fields.rest.trim_matches('"').trim();
            let (moves, said) = match rest.strip_prefix("moves") {
                Some(rest) => rest.split_at(rest.find(['#', ';']).unwrap_or(rest.len())),
                None => ("", rest),
            };
            let mut record = lines::record(&fields, moves, place, allowance)?;
            record.title = above.join("\n");
            record.tree.add_comment(NodeId::START, bare(said));
            records.push(record);
            above.clear();
        }
    }
    Ok(records)
}

/// A comment without its mark.
fn bare(comment: &str) -> &str {
    comment.trim_start_matches(['#', ';', '%', '/']).trim()
}
