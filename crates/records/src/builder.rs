//! A record while it is read: its moves are checked against the position that each node has.

use canju_xiangqi::notation::read_move;
use canju_xiangqi::{Move, Position};

use crate::format::Allowance;
use crate::{Fault, NodeId, Place, Reason, Record, RecordError, Warning};

/// More warnings than this of one game help nobody.
pub(crate) const WARNINGS: usize = 100;

pub(crate) struct Builder<'a> {
    pub record: Record,
    /// By node.
    positions: Vec<Position>,
    allowance: &'a mut Allowance,
}

impl<'a> Builder<'a> {
    /// A record from its first position on.
    ///
    /// # Errors
    ///
    /// If the file holds too many games.
    pub fn new(start: Position, place: Place, allowance: &'a mut Allowance) -> Result<Self, RecordError> {
        allowance.take_game(place)?;
        let mut builder = Self { record: Record::new(start, place), positions: vec![start], allowance };
        if let Some(reason) = start.illegality() {
            builder.warn(place, Fault::Start(reason));
        }
        Ok(builder)
    }

    pub fn warn(&mut self, place: Place, fault: Fault) {
        if self.record.warnings.len() < WARNINGS {
            self.record.warnings.push(Warning { place, fault });
        }
    }

    pub fn position(&self, node: NodeId) -> &Position {
        &self.positions[node.index()]
    }

    /// Adds a move, or a warning and nothing if it is not legal.
    ///
    /// # Errors
    ///
    /// If the file holds too many moves.
    pub fn play(&mut self, after: NodeId, chosen: Move, place: Place) -> Result<Option<NodeId>, RecordError> {
        if !self.position(after).is_legal_move(chosen) {
            let fen = self.position(after).to_fen();
            self.warn(place, Fault::Illegal { chosen, fen });
            return Ok(None);
        }
        let node = self.record.tree.add(after, chosen);
        if node.index() == self.positions.len() {
            self.allowance.take_move(place)?;
            self.positions.push(self.position(after).play(chosen));
        }
        Ok(Some(node))
    }

    /// Adds a move in any notation, or a warning and nothing if it is none here.
    ///
    /// # Errors
    ///
    /// If the file holds too many moves.
    pub fn play_text(&mut self, after: NodeId, text: &str, place: Place) -> Result<Option<NodeId>, RecordError> {
        match read_move(self.position(after), text) {
            Ok(chosen) => self.play(after, chosen, place),
            Err(error) => {
                let fen = self.position(after).to_fen();
                self.warn(place, Fault::Unread { error, fen });
                Ok(None)
            }
        }
    }

    /// The record, read.
    pub fn finish(self) -> Record {
        self.record
    }
}

/// Gives the side to move to whose piece makes the first move.
pub(crate) fn turn_to(start: &mut Position, first: Move) {
    if let Some(piece) = start.piece_at(first.from) {
        start.set_turn(piece.color);
    }
}

/// The same pieces with the other side to move, if the file does not say who is and only this makes sense: the
/// first move can only be the other side's, or without a move the waiting side stands in check.
pub(crate) fn infer_turn(start: &mut Position, first: Option<&str>) {
    if let Some(first) = first.and_then(|first| first.parse().ok()) {
        return turn_to(start, first);
    }
    let mut other = *start;
    other.set_turn(!start.turn());
    let better = match first {
        Some(first) => read_move(start, first).is_err() && read_move(&other, first).is_ok(),
        None => !start.is_legal() && other.is_legal(),
    };
    if better {
        *start = other;
    }
}

/// What is wrong with a file that has more than is read.
pub(crate) fn many(place: Place, limit: usize, what: &'static str) -> RecordError {
    RecordError::new(place, Reason::Many { limit, what })
}
