//! Whether a whole table follows from the rules.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use canju_endgame::material_of;
use canju_retro::{GameError, Metric, Outcome, Rules, TableName};
use canju_xiangqi::{Color, Position};
use rayon::prelude::*;

use crate::check::{Checked, Checker, Wrong};
use crate::chunks::{Wanted, chunks};
use crate::desk::{Desk, Plan};
use crate::slices::Slices;
use crate::{ProbeError, Prober};

/// How a table is verified.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many cells to draw at random, the same in every run; `None` for all.
    pub sample: Option<u64>,
    /// Threads to work with; 0 for one on each processor.
    pub threads: usize,
    /// Bytes that decoded slices may take, unless those that the threads work on need more: a slice, its
    /// neighbours, and what their captures lead to. Threads work side by side and share them.
    pub memory: u64,
}

impl Default for Options {
    /// All cells, all processors, 1 GiB.
    fn default() -> Self {
        Self { sample: None, threads: 0, memory: 1 << 30 }
    }
}

/// How far a verification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cells that are done, impossible ones too.
    pub done: u64,
    /// Cells in all.
    pub total: u64,
}

/// A cell whose value does not follow from its successors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCell {
    /// The position.
    pub fen: String,
    /// The metric in which it is wrong.
    pub metric: Metric,
    /// What the table holds, for the side to move.
    pub stored: Outcome,
    /// What follows from the successors.
    pub computed: Outcome,
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which table.
    pub table: TableName,
    /// The metrics that were compared.
    pub metrics: Vec<Metric>,
    /// Legal positions that were compared.
    pub checked: u64,
    /// Cells that are no legal position.
    pub skipped: u64,
    /// Cells that are wrong in any metric.
    pub wrong: u64,
    /// The first of them in the order of cells.
    pub first: Option<WrongCell>,
    /// False where the rules of repetition decide: from single steps then follows neither that a cell is no more than drawn,
    /// nor that an order is the least.
    pub proves_all: bool,
}

#[derive(Default)]
struct Found {
    checked: u64,
    skipped: u64,
    wrong: u64,
    first: Option<Wrong>,
}

impl Found {
    fn add(&mut self, checked: Checked) {
        match checked {
            Checked::Skipped => self.skipped += 1,
            Checked::Right => self.checked += 1,
            Checked::Wrong(wrong) => {
                self.checked += 1;
                self.wrong += 1;
                self.keep(wrong);
            }
        }
    }

    fn keep(&mut self, wrong: Wrong) {
        let place = |w: &Wrong| (w.cell.slice, w.cell.side, w.cell.index);
        if self.first.is_none_or(|first| place(&wrong) < place(&first)) {
            self.first = Some(wrong);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.checked += other.checked;
        self.skipped += other.skipped;
        self.wrong += other.wrong;
        if let Some(wrong) = other.first {
            self.keep(wrong);
        }
    }
}

impl Prober {
    /// Takes one step forward from every cell of a table, or from a sample, and compares its value in every
    /// metric of the table with what the successors say.
    ///
    /// A position is won in one ply more than the least distance of a lost successor; lost, when every successor is
    /// won for the enemy, in one more than the greatest of them, or in 0 without a legal move; else drawn. For the
    /// distance to conversion a winning capture counts one ply and a losing one delays nothing. Where the rules of repetition
    /// decide, a lost cell may instead be one in which the side violates for ever or breaks that off; that no drawn cell is
    /// such a one, and no order less, is not proved. The checksums
    /// of the shards are those of [`canju_table::TableSet::verify_shards`].
    ///
    /// # Errors
    /// [`ProbeError`]: the table or a smaller one is missing or damaged. A wrong cell is no error.
    pub fn verify(
        &self,
        table: &TableName,
        options: &Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ProbeError> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
        let threads = threads.map_err(|_| ProbeError::Threads(options.threads))?;
        threads.install(|| self.verify_here(table, options, progress))
    }

    fn verify_here(
        &self,
        table: &TableName,
        options: &Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ProbeError> {
        let material = material_of(table).ok_or_else(|| {
            let reason = "it is not the name of a table, which has the stronger side first".to_owned();
            ProbeError::Endgame(GameError::Name { given: table.to_string(), reason })
        })?;
        let plan = Plan::new(self, table, material)?;
        let chunks = chunks(&plan.numbering.index().shape(), options.sample);
        let total = chunks.iter().map(|chunk| chunk.len()).sum();
        let threads = rayon::current_num_threads();
        let slices = Slices::new(self.tables(), options.memory);
        let next = AtomicUsize::new(0);
        let sum = Mutex::new((Found::default(), 0));

        // Threads take the chunks in order, so that they work side by side and share what is decoded.
        (0..threads).into_par_iter().try_for_each(|_| -> Result<(), ProbeError> {
            let mut at = None;
            let mut checker: Option<Checker<'_>> = None;
            while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (slice, side) = (chunk.slice, chunk.side);
                if at != Some((slice, side)) {
                    checker = None;
                    at = Some((slice, side));
                }
                let new = || Checker::new(&plan, Desk::new(&plan, &slices, side, chunk.whole));
                let checker = checker.get_or_insert_with(new);
                let mut found = Found::default();
                match &chunk.wanted {
                    Wanted::Range(range) => {
                        range.clone().try_for_each(|i| checker.check(slice, i, side).map(|c| found.add(c)))?;
                    }
                    Wanted::Sample(cells) => {
                        cells.iter().try_for_each(|&i| checker.check(slice, i, side).map(|c| found.add(c)))?;
                    }
                }
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                sum.0.merge(&found);
                sum.1 += chunk.len();
                progress(Progress { done: sum.1, total });
            }
            Ok(())
        })?;

        let (found, _) = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        let first = found.first.map(|wrong| {
            let mut board = Position::empty(Color::Red);
            plan.numbering.index().set_up(wrong.cell, &mut board);
            WrongCell { fen: board.to_fen(), metric: wrong.metric, stored: wrong.stored, computed: wrong.computed }
        });
        let Found { checked, skipped, wrong, .. } = found;
        let armed = Color::ALL.iter().all(|&color| material.army(color).attack_weight() > 0);
        let proves_all = plan.rules == Rules::Plain || !armed;
        Ok(Report { table: table.clone(), metrics: plan.metrics, checked, skipped, wrong, first, proves_all })
    }
}
