//! One step forward from one cell.

use canju_retro::{Cell, Metric, Outcome, Side};
use canju_xiangqi::{Color, Position};

use crate::ProbeError;
use crate::desk::{Desk, Plan};
use crate::numbering::Spot;
use crate::slices::{Packed, unpack};

/// What the successors of a cell come to, in one metric.
#[derive(Clone, Copy)]
struct Tally {
    /// The least distance among successors that the enemy has lost.
    least_lost: Option<u16>,
    /// One more than the greatest distance among successors that the enemy has won.
    loss: u16,
    /// True where a successor is a draw.
    held: bool,
}

impl Tally {
    const NEW: Self = Self { least_lost: None, loss: 0, held: false };

    fn lost(&mut self, plies: u16) {
        self.least_lost = Some(self.least_lost.map_or(plies, |least| least.min(plies)));
    }

    fn quiet(&mut self, after: Outcome) {
        match after {
            Outcome::Draw => self.held = true,
            Outcome::Loss(distance) => self.lost(distance.plies),
            Outcome::Win(distance) => self.loss = self.loss.max(distance.plies + 1),
        }
    }

    /// A capture converts at once for the winner, and delays nothing for the loser.
    fn conversion(&mut self, after: Outcome) {
        match after {
            Outcome::Draw => self.held = true,
            Outcome::Loss(_) => self.lost(0),
            Outcome::Win(_) => {}
        }
    }

    fn outcome(self, metric: Metric) -> Outcome {
        let distance = canju_retro::Distance::plies;
        let outcome = match self.least_lost {
            Some(least) => Outcome::Win(distance(least + 1)),
            None if self.held => Outcome::Draw,
            None => Outcome::Loss(distance(self.loss)),
        };
        if metric == Metric::Wdl { outcome.without_distance() } else { outcome }
    }
}

/// A cell whose value does not follow from its successors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong {
    pub cell: Cell,
    pub metric: Metric,
    pub stored: Outcome,
    pub computed: Outcome,
}

/// What the check of one cell came to.
pub(crate) enum Checked {
    /// It is no legal position.
    Skipped,
    Right,
    Wrong(Wrong),
}

/// Checks cells of one side to move.
pub(crate) struct Checker<'a> {
    plan: &'a Plan,
    desk: Desk<'a>,
    board: Position,
}

impl<'a> Checker<'a> {
    pub fn new(plan: &'a Plan, desk: Desk<'a>) -> Self {
        Self { plan, desk, board: Position::empty(Color::Red) }
    }

    /// Compares a cell in all metrics with what its successors say.
    pub fn check(&mut self, slice: u32, index: u32, side: Side) -> Result<Checked, ProbeError> {
        let cell = Cell { slice, index, side };
        let numbering = &self.plan.numbering;
        if !numbering.index().set_up(cell, &mut self.board) || !self.board.is_legal() {
            return Ok(Checked::Skipped);
        }
        let mut stand = numbering.stand(&self.board);
        let mut tallies = [Tally::NEW; Metric::ALL.len()];
        for &chosen in &self.board.legal_moves() {
            if let Some(captured) = self.board.piece_at(chosen.to) {
                let number = self.plan.child(captured);
                let child = &self.plan.children[number];
                let undo = self.board.make(chosen);
                let spot = child.numbering.locate(&self.board, child.swapped);
                self.board.unmake(chosen, undo);
                let after = unpack(self.desk.captured(number, self.found(spot)?)?);
                for (tally, &metric) in tallies.iter_mut().zip(&self.plan.metrics) {
                    if metric == Metric::Dtc { tally.conversion(after) } else { tally.quiet(after) }
                }
            } else if let Some(piece) = self.board.piece_at(chosen.from) {
                let spot = self.found(numbering.after(&mut stand, &self.board, piece, chosen))?;
                for (metric, tally) in tallies.iter_mut().enumerate().take(self.plan.metrics.len()) {
                    tally.quiet(unpack(self.desk.successor(metric, spot)?));
                }
            }
        }
        for (number, (tally, &metric)) in tallies.iter().zip(&self.plan.metrics).enumerate() {
            let stored: Packed = self.desk.stored(number, Spot { slice, index })?;
            let (stored, computed) = (unpack(stored), tally.outcome(metric));
            if stored != computed {
                return Ok(Checked::Wrong(Wrong { cell, metric, stored, computed }));
            }
        }
        Ok(Checked::Right)
    }

    /// A move from a legal position of the index leads to a position of an index.
    fn found(&self, spot: Option<Spot>) -> Result<Spot, ProbeError> {
        spot.ok_or_else(|| ProbeError::Doubled { fen: self.board.to_fen() })
    }
}
