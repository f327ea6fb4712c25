//! A record on one line: a position with moves.

use crate::builder::Builder;
use crate::fields::Fields;
use crate::format::Allowance;
use crate::{NodeId, Place, Record, RecordError, tokens};

/// A record of a position and moves in running text.
pub(crate) fn record(
    fields: &Fields<'_>,
    moves: &str,
    place: Place,
    allowance: &mut Allowance,
) -> Result<Record, RecordError> {
    let start = fields.start(tokens::moves(moves).next());
    let mut builder = Builder::new(start, place, allowance)?;
    let mut node = NodeId::START;
    for text in tokens::moves(moves) {
        match builder.play_text(node, text, place)? {
            Some(next) => node = next,
            None => break,
        }
    }
    Ok(builder.finish())
}
