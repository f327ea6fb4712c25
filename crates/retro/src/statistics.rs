//! Counts of a finished table, and how counts of parts add up.

use std::collections::BTreeMap;

use crate::{Cell, Code, Distance, Outcome};

/// The longest of something, with the first cell that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longest {
    /// How long.
    pub distance: Distance,
    /// The first cell of that length.
    pub cell: Cell,
}

impl Longest {
    fn merge(mine: &mut Option<Self>, other: Option<Self>) {
        let Some(other) = other else { return };
        let better = match mine {
            None => true,
            Some(m) => other.distance > m.distance || (other.distance == m.distance && other.cell < m.cell),
        };
        if better {
            *mine = Some(other);
        }
    }
}

/// Counts for one side to move, over the full board: symmetric positions counted apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideStatistics {
    /// All cells, impossible ones too.
    pub cells: u64,
    /// Cells that are no legal position.
    pub illegal: u64,
    /// Legal cells by value. Draws have their own entry.
    pub histogram: BTreeMap<Code, u64>,
    /// The longest win of the side to move.
    pub longest_win: Option<Longest>,
    /// The longest loss of the side to move.
    pub longest_loss: Option<Longest>,
}

impl SideStatistics {
    fn count(&self, wanted: fn(Outcome) -> bool) -> u64 {
        self.histogram.iter().filter(|(code, _)| wanted(code.outcome())).map(|(_, n)| n).sum()
    }

    /// Won cells.
    #[must_use]
    pub fn wins(&self) -> u64 {
        self.count(|o| matches!(o, Outcome::Win(_)))
    }

    /// Lost cells.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.count(|o| matches!(o, Outcome::Loss(_)))
    }

    /// Drawn cells.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.count(|o| o == Outcome::Draw)
    }
}

/// Counts of a table or of a part of it, by side to move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// First and second side to move.
    pub sides: [SideStatistics; 2],
}

impl Statistics {
    /// Adds the counts of another part. The result does not depend on the order of merging.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.sides.iter_mut().zip(&other.sides) {
            mine.cells += theirs.cells;
            mine.illegal += theirs.illegal;
            for (&code, &n) in &theirs.histogram {
                *mine.histogram.entry(code).or_default() += n;
            }
            Longest::merge(&mut mine.longest_win, theirs.longest_win);
            Longest::merge(&mut mine.longest_loss, theirs.longest_loss);
        }
    }
}
