//! What the tables say of a position.

use std::cmp::Reverse;

use canju_retro::{Metric, Outcome};

/// Win, draw or loss for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wdl {
    /// The side to move wins.
    Win,
    /// Neither side can force a win.
    Draw,
    /// The side to move loses.
    Loss,
}

impl Wdl {
    /// The same for the other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Win => Self::Loss,
            Self::Draw => Self::Draw,
            Self::Loss => Self::Win,
        }
    }

    /// `win`, `draw` or `loss`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Draw => "draw",
            Self::Loss => "loss",
        }
    }
}

impl From<Outcome> for Wdl {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Win(_) => Self::Win,
            Outcome::Draw => Self::Draw,
            Outcome::Loss(_) => Self::Loss,
        }
    }
}

/// Which distances a prober answers with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Distances {
    /// Win, draw or loss alone.
    None,
    /// To mate.
    Dtm,
    /// To conversion.
    Dtc,
    /// All that a table has.
    #[default]
    All,
}

impl Distances {
    /// True where the plies of this metric are wanted.
    #[must_use]
    pub const fn want(self, metric: Metric) -> bool {
        match metric {
            Metric::Wdl | Metric::Odds => false,
            Metric::Dtm => matches!(self, Self::Dtm | Self::All),
            Metric::Dtc => matches!(self, Self::Dtc | Self::All),
        }
    }

    /// These and those of a metric.
    pub(crate) const fn and(self, metric: Metric) -> Self {
        match (self, metric) {
            (Self::None | Self::Dtm, Metric::Dtm) => Self::Dtm,
            (Self::None | Self::Dtc, Metric::Dtc) => Self::Dtc,
            (_, Metric::Wdl | Metric::Odds) => self,
            _ => Self::All,
        }
    }
}

/// The value of a position for the side to move. A draw has no distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// Who wins.
    pub outcome: Wdl,
    /// Violations of the rules of repetition that the loser can still choose to commit, each of which he must break off in
    /// the end; 0 where the table holds no distance.
    pub order: u16,
    /// Plies to mate, where the table holds them.
    pub dtm: Option<u16>,
    /// Plies to the winner's first capture or to mate, where the table holds them.
    pub dtc: Option<u16>,
}

impl Value {
    /// The value of who cannot move.
    pub const LOST: Self = Self { outcome: Wdl::Loss, order: 0, dtm: Some(0), dtc: Some(0) };

    /// The plies that a metric counts.
    #[must_use]
    pub const fn distance(&self, metric: Metric) -> Option<u16> {
        match metric {
            Metric::Wdl | Metric::Odds => None,
            Metric::Dtm => self.dtm,
            Metric::Dtc => self.dtc,
        }
    }

    /// The value of the move that led here, for who made it.
    ///
    /// A capture converts at once: won, it counts one ply to the conversion; lost, it does not delay the loss.
    #[must_use]
    pub fn of_move(self, capture: bool) -> Self {
        let outcome = self.outcome.opposite();
        let one_more = |plies: Option<u16>| plies.map(|p| p.saturating_add(1));
        let dtc = match (capture, outcome) {
            (_, Wdl::Draw) => None,
            (true, Wdl::Win) => Some(1),
            (true, Wdl::Loss) => Some(0),
            (false, _) => one_more(self.dtc),
        };
        Self { outcome, order: self.order, dtm: one_more(self.dtm), dtc }
    }

    /// A key by which better values are less: fast wins, slow wins, draws, slow losses, fast losses; by order, then
    /// by the distance of `first`, then by the other.
    #[must_use]
    pub fn rank(&self, first: Metric) -> (u8, [u16; 3], Reverse<[u16; 3]>) {
        let second = if first == Metric::Dtm { Metric::Dtc } else { Metric::Dtm };
        // A win in nobody knows how many plies is not the fastest.
        let unknown = if self.outcome == Wdl::Win { u16::MAX } else { 0 };
        let [first, second] = [first, second].map(|m| self.distance(m).unwrap_or(unknown));
        let far = [self.order, first, second];
        match self.outcome {
            Wdl::Win => (0, far, Reverse([0; 3])),
            Wdl::Draw => (1, [0; 3], Reverse([0; 3])),
            Wdl::Loss => (2, [0; 3], Reverse(far)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_wins_come_first_and_slow_losses_before_fast_ones() {
        let value = |outcome, order, dtm| Value { outcome, order, dtm, dtc: None };
        let best_first = [
            value(Wdl::Win, 0, Some(3)),
            value(Wdl::Win, 0, Some(9)),
            value(Wdl::Win, 0, None),
            value(Wdl::Win, 1, Some(1)),
            value(Wdl::Draw, 0, None),
            value(Wdl::Loss, 1, Some(0)),
            value(Wdl::Loss, 0, Some(8)),
            value(Wdl::Loss, 0, Some(2)),
            value(Wdl::Loss, 0, None),
        ];
        assert!(best_first.is_sorted_by_key(|v| v.rank(Metric::Dtm)));
    }

    #[test]
    fn a_capture_converts_at_once() {
        let after = Value { outcome: Wdl::Loss, order: 0, dtm: Some(6), dtc: Some(4) };
        assert_eq!(after.of_move(true), Value { outcome: Wdl::Win, order: 0, dtm: Some(7), dtc: Some(1) });
        assert_eq!(after.of_move(false), Value { outcome: Wdl::Win, order: 0, dtm: Some(7), dtc: Some(5) });
        let after = Value { outcome: Wdl::Win, order: 0, dtm: Some(5), dtc: Some(5) };
        assert_eq!(after.of_move(true), Value { outcome: Wdl::Loss, order: 0, dtm: Some(6), dtc: Some(0) });
    }
}
