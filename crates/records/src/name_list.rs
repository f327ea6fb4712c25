//! Lists of `name|FEN side|moves`.

use crate::fen_list::is_comment;
use crate::format::Allowance;
use crate::text::Text;
use crate::{NodeId, Place, Reason, Record, RecordError, fields, lines};

/// Whether a line has a position in its second part.
pub(crate) fn is_one(line: &str) -> bool {
    line.split('|').nth(1).is_some_and(fields::is_board)
}

/// A record for each line. What stands after a third bar is a comment.
pub(crate) fn read(text: &Text<'_>, allowance: &mut Allowance) -> Result<Vec<Record>, RecordError> {
    let mut records = Vec::new();
    for (number, line) in text.lines() {
        let place = Place::Line(number);
        if line.is_empty() || is_comment(line) {
            continue;
        }
        let mut parts = line.splitn(4, '|').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let fen = parts.next().ok_or_else(|| RecordError::new(place, Reason::NoFen))?;
        let fields = fields::split(fen, place)?;
        let mut record = lines::record(&fields, parts.next().unwrap_or_default(), place, allowance)?;
        record.title = name.to_owned();
        record.tree.add_comment(NodeId::START, parts.next().unwrap_or_default());
        records.push(record);
    }
    Ok(records)
}
