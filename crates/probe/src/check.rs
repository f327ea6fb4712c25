//! One step forward from one cell.

use canju_retro::{Cell, Distance, Metric, Outcome, Rules, Side};
use canju_xiangqi::{Color, Position};

use crate::ProbeError;
use crate::desk::{Desk, Plan};
use crate::numbering::{Spot, Stand};
use crate::slices::{Packed, unpack};

/// What the successors of a cell come to, in one metric.
#[derive(Clone, Copy)]
struct Tally {
    /// The least distance among successors that the enemy has lost.
    least_lost: Option<Distance>,
    /// One ply more than the greatest distance among successors that the enemy has won.
    loss: Distance,
    /// True where a successor is a draw.
    held: bool,
}

fn further(distance: Distance) -> Distance {
    Distance { plies: distance.plies.saturating_add(1), ..distance }
}

impl Tally {
    const NEW: Self = Self { least_lost: None, loss: Distance::plies(0), held: false };

    fn lost(&mut self, distance: Distance) {
        self.least_lost = Some(self.least_lost.map_or(distance, |least| least.min(distance)));
    }

    fn quiet(&mut self, after: Outcome) {
        match after {
            Outcome::Draw => self.held = true,
            Outcome::Loss(distance) => self.lost(distance),
            Outcome::Win(distance) => self.loss = self.loss.max(further(distance)),
        }
    }

    /// A capture converts at once for the winner, and delays nothing for the loser; its order goes on.
    fn conversion(&mut self, after: Outcome) {
        match after {
            Outcome::Draw => self.held = true,
            Outcome::Loss(distance) => self.lost(Distance { plies: 0, ..distance }),
            Outcome::Win(distance) => self.loss = self.loss.max(Distance { plies: 0, ..distance }),
        }
    }

    fn outcome(self, metric: Metric) -> Outcome {
        let outcome = match self.least_lost {
            Some(least) => Outcome::Win(further(least)),
            None if self.held => Outcome::Draw,
            None => Outcome::Loss(self.loss),
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
            if stored != computed && !self.violates(number, &mut stand, stored, computed)? {
                return Ok(Checked::Wrong(Wrong { cell, metric, stored, computed }));
            }
        }
        Ok(Checked::Right)
    }

    /// Whether a lost cell is one in which the side violates the rules of repetition for ever, or breaks that off: every
    /// move that leads further from the end, which is to where it came from, checks, or all of them chase one piece. It is
    /// lost in 0 plies by checks, and by chases in two for the first piece that may be chased, four for the second, and so on.
    fn violates(
        &mut self,
        metric: usize,
        stand: &mut Stand,
        stored: Outcome,
        computed: Outcome,
    ) -> Result<bool, ProbeError> {
        let (Outcome::Loss(stored), Outcome::Loss(computed)) = (stored, computed) else { return Ok(false) };
        if stored.order == 0 || computed.order != stored.order || computed < stored || self.board.in_check() {
            return Ok(false);
        }
        let (by_checks, plane) = (stored.plies == 0, stored.plies / 2);
        let pieces = self.board.side(self.board.turn().opposite()).count_ones() - 1;
        if stored.plies % 2 == 1 || u32::from(plane) > pieces || (self.plan.rules != Rules::Axf && !by_checks) {
            return Ok(false);
        }
        let (mut checks, mut chased) = (true, u128::MAX);
        for &chosen in &self.board.legal_moves() {
            let (Some(piece), None) = (self.board.piece_at(chosen.from), self.board.piece_at(chosen.to)) else {
                continue;
            };
            let spot = self.found(self.plan.numbering.after(stand, &self.board, piece, chosen))?;
            if matches!(unpack(self.desk.successor(metric, spot)?), Outcome::Win(d) if d > stored) {
                checks &= self.board.gives_check(chosen);
                chased &= self.board.chases(chosen);
            }
        }
        Ok(if by_checks { checks } else { chased != 0 })
    }

    /// A move from a legal position of the index leads to a position of an index.
    fn found(&self, spot: Option<Spot>) -> Result<Spot, ProbeError> {
        spot.ok_or_else(|| ProbeError::Doubled { fen: self.board.to_fen() })
    }
}
