//! What has to be built, in which order, and what it costs.

use std::collections::{BTreeMap, BTreeSet};

use canju_retro::{Game, Metric, Rules, TableName};
use canju_table::manifest_key;

use crate::assign::share_out;
use crate::commit::Present;
use crate::{ClusterError, bytes_in_words};

/// Bytes a position that is in memory beside the sets, in 1/1000: logs, captures, frontiers and shards in the making.
/// Measured: 0.22 for KABCPKAABB.
const BESIDE_SETS_PER_MILLE: u64 = 220;

/// One table of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePlan {
    /// Which table.
    pub table: TableName,
    /// Where one capture leads.
    pub smaller: Vec<TableName>,
    /// Positions, symmetric ones counted apart, both sides to move.
    pub positions: u64,
    /// The same with each counted as often as the index has it.
    pub indexed: u64,
    /// How many slices it has.
    pub slices: u32,
    /// Stored cells of each run, for one side to move.
    pub run_cells: Vec<u64>,
    /// Bytes of all its sets while it is solved.
    pub set_bytes: u64,
    /// Bytes of memory that the rules of repetition take beside that, about.
    pub repetition_bytes: u64,
    /// Bytes of memory below which a scratch folder does not help, without what the rules of repetition take.
    pub least_bytes: u64,
    /// True where a scratch folder helps at all.
    pub keeps_to_room: bool,
    /// Metrics that the store holds.
    pub present: BTreeSet<Metric>,
    /// Distances to count, in the order in which they are counted. Empty when nothing is missing.
    pub build: Vec<Metric>,
}

impl TablePlan {
    /// Plans one table of which the store holds `present`.
    ///
    /// # Errors
    /// As [`Game::shape`]; [`ClusterError::Refused`] where something would be built for a table with another count of
    /// positions, which its manifest would not take.
    pub fn new(
        game: &dyn Game,
        table: TableName,
        metrics: &[Metric],
        rules: Rules,
        Present { metrics: present, positions }: Present,
    ) -> Result<Self, ClusterError> {
        let repetition_bytes = game.repetition_bytes(&table, rules)?;
        let shape = game.shape(&table)?;
        let cells_of = |run: &std::ops::Range<u32>| {
            let slices = shape.slices.get(run.start as usize..run.end as usize).unwrap_or_default();
            slices.iter().map(|s| u64::from(s.cells)).sum()
        };
        let known = game.metrics(&table);
        if let Some(metric) = metrics.iter().find(|m| !known.contains(m)) {
            let known: Vec<&str> = known.iter().map(|m| m.name()).collect();
            let reason =
                format!("{table} cannot be solved for {metric}: give --metric {}", known.join(" or --metric "));
            return Err(ClusterError::Refused(reason));
        }
        let mut build: Vec<Metric> = metrics.iter().copied().filter(|m| !present.contains(m)).collect();
        // Win, draw and loss comes with a distance: where it alone is gone, one is counted once more.
        if build.is_empty() && !present.contains(&Metric::Wdl) {
            build.extend(metrics.iter().find(|m| m.is_distance()));
        }
        if let Some(told) = positions.filter(|&told| told != shape.positions && !build.is_empty()) {
            return Err(ClusterError::Refused(format!(
                "{table} has {} positions and its manifest in the store tells {told}, as older versions counted: delete the \
                 folder {} there, and those of the tables that were built from it, which `fetch verify` names then, and ask again",
                shape.positions,
                manifest_key(rules, &table).trim_end_matches("/manifest.json"),
            )));
        }
        Ok(Self {
            smaller: game.smaller(&table)?,
            positions: shape.positions,
            indexed: shape.indexed,
            slices: shape.slices.len() as u32,
            run_cells: shape.runs.iter().map(cells_of).collect(),
            set_bytes: shape.set_bytes,
            repetition_bytes,
            least_bytes: shape.price(&(0..shape.slices.len() as u32).collect::<Vec<_>>(), 1).least,
            keeps_to_room: game.keeps_to_room(&table),
            build,
            present,
            table,
        })
    }

    /// Cells of all runs, for one side to move.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.run_cells.iter().sum()
    }

    /// Cells of some runs, for one side to move; runs that there are not have none.
    #[must_use]
    pub fn cells_of(&self, runs: &std::ops::Range<usize>) -> u64 {
        self.run_cells.get(runs.clone()).unwrap_or_default().iter().sum()
    }

    /// Bytes of memory that a part of so many cells is expected to take.
    #[must_use]
    pub fn memory(&self, cells: u64) -> u64 {
        let beside = u128::from(self.indexed) * u128::from(BESIDE_SETS_PER_MILLE) / 1000;
        let all = u128::from(self.set_bytes) + beside + u128::from(self.repetition_bytes);
        (all * u128::from(cells) / u128::from(self.cells().max(1))) as u64
    }

    /// Bytes of memory that a part takes at least, with the rest in scratch files, when `memory` is what it is expected to
    /// take. What the rules of repetition take stays in memory.
    #[must_use]
    pub fn least(&self, memory: u64) -> u64 {
        let repetition = u128::from(self.repetition_bytes) * u128::from(memory);
        self.least_bytes + (repetition / u128::from(self.memory(self.cells()).max(1))) as u64
    }

    /// Bytes of memory that the largest part takes when the table is cut over so many workers.
    #[must_use]
    pub fn memory_a_worker(&self, workers: usize) -> u64 {
        let shares = share_out(&self.run_cells, workers);
        shares.into_iter().map(|s| self.memory(self.cells_of(&s))).max().unwrap_or(0)
    }

    /// Bytes that the shards to build are expected to take.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        // Bytes a position, in 1/1000, as measured for KABCPKAABB and what it leads to.
        let mut per_mille = 0;
        for metric in &self.build {
            per_mille += match metric {
                Metric::Wdl => 0,
                Metric::Dtm => 95,
                Metric::Dtc => 70,
                // Three bytes, which do not compress.
                Metric::Odds => 3000,
            };
        }
        if self.build.iter().any(|m| m.is_distance()) && !self.present.contains(&Metric::Wdl) {
            per_mille += 12;
        }
        (u128::from(self.indexed) * per_mille / 1000) as u64
    }
}

/// The closure of some tables, in an order in which each comes after all it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What was asked, canonical.
    pub asked: Vec<TableName>,
    /// The distances that were asked, in the order in which they are counted.
    pub metrics: Vec<Metric>,
    /// The rule of repetition.
    pub rules: Rules,
    /// All tables of the closure.
    pub tables: Vec<TablePlan>,
}

impl Plan {
    /// Plans the closure of `asked`. `present` tells what the store holds of a table.
    ///
    /// # Errors
    /// As [`Game::table`] and [`TablePlan::new`].
    pub fn new(
        game: &dyn Game,
        asked: Vec<TableName>,
        metrics: &[Metric],
        rules: Rules,
        present: &BTreeMap<TableName, Present>,
    ) -> Result<Self, ClusterError> {
        let mut tables = Vec::new();
        for table in closure(game, &asked)? {
            let present = present.get(&table).cloned().unwrap_or_default();
            tables.push(TablePlan::new(game, table, metrics, rules, present)?);
        }
        Ok(Self { asked, metrics: metrics.to_vec(), rules, tables })
    }

    /// The tables of which something is missing.
    pub fn missing(&self) -> impl Iterator<Item = &TablePlan> {
        self.tables.iter().filter(|t| !t.build.is_empty())
    }

    /// The largest memory that one worker needs for one table, with so many workers.
    #[must_use]
    pub fn memory_a_worker(&self, workers: usize) -> u64 {
        self.missing().map(|t| t.memory_a_worker(workers)).max().unwrap_or(0)
    }

    /// Checks that each table fits into the memory of so many workers.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] with the numbers of the largest table, if it does not.
    pub fn check_memory(&self, workers: usize, memory: u64) -> Result<(), ClusterError> {
        // The largest one speaks for all.
        if let Some(table) = self.missing().max_by_key(|t| t.memory_a_worker(workers)) {
            let need = table.memory_a_worker(workers);
            if need > memory {
                return Err(ClusterError::Refused(format!(
                    "{} does not fit: it takes {} on each of {workers} worker{}, and each has {}; {}",
                    table.table,
                    bytes_in_words(need),
                    if workers == 1 { "" } else { "s" },
                    bytes_in_words(memory),
                    table.remedy(memory),
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl TablePlan {
    /// A table of which nothing is there, for tests: two positions for each stored cell, each run a slice.
    pub(crate) fn sample(name: &str, run_cells: Vec<u64>, set_bytes: u64) -> Self {
        Self {
            table: TableName::new(name).unwrap(),
            smaller: Vec::new(),
            positions: 2 * run_cells.iter().sum::<u64>(),
            indexed: 2 * run_cells.iter().sum::<u64>(),
            slices: run_cells.len() as u32,
            run_cells,
            set_bytes,
            repetition_bytes: 0,
            least_bytes: 100,
            keeps_to_room: true,
            present: BTreeSet::new(),
            build: Vec::new(),
        }
    }
}

#[cfg(test)]
impl Plan {
    /// Asks for the distance to mate of the last one of some tables, for tests.
    pub(crate) fn sample(tables: Vec<TablePlan>) -> Self {
        let asked = tables.last().map(|table| table.table.clone()).into_iter().collect();
        Self { asked, metrics: vec![Metric::Dtm], rules: Rules::Plain, tables }
    }
}

impl TablePlan {
    /// What would make the table fit.
    pub(crate) fn remedy(&self, memory: u64) -> String {
        let enough = (1..=self.run_cells.len()).find(|&n| self.memory_a_worker(n) <= memory);
        let one = bytes_in_words(self.memory_a_worker(1));
        let least = self.least(self.memory_a_worker(1));
        let scratch = match self.keeps_to_room {
            true => format!(", or give workers --scratch and at least {} of memory", bytes_in_words(least)),
            false => "; --scratch does not help, this game keeps its parts in memory".to_owned(),
        };
        match enough {
            Some(n) => format!("take {n} workers of this size, or one of {one}{scratch}"),
            None => format!(
                "its largest run alone takes {}: take workers with more memory{scratch}",
                bytes_in_words(self.memory_a_worker(self.run_cells.len()))
            ),
        }
    }
}

/// The distances to count, without repeats, in the order in which they are counted: DTM, then DTC. Win,
/// draw and loss comes with either, so that alone it is counted by DTM.
///
/// # Errors
/// [`ClusterError::Name`] for a word that is no metric, [`ClusterError::Refused`] for none.
pub fn parse_metrics<S: AsRef<str>>(words: &[S]) -> Result<Vec<Metric>, ClusterError> {
    let mut asked = BTreeSet::new();
    for word in words {
        let word = word.as_ref().trim();
        let unknown = |_| {
            let known = "use dtm, dtc, or both as dtm,dtc; odds for games of dice";
            ClusterError::Refused(format!("unknown metric {word:?}: {known}"))
        };
        asked.insert(word.parse::<Metric>().map_err(unknown)?);
    }
    if asked.remove(&Metric::Wdl) && asked.is_empty() {
        asked.insert(Metric::Dtm);
    }
    if asked.is_empty() {
        return Err(ClusterError::Refused("no metric is given: use dtm, dtc, or both as dtm,dtc".into()));
    }
    Ok(asked.into_iter().collect())
}

/// The canonical tables of names as users write them, without repeats, in the order given.
///
/// # Errors
/// As [`Game::table`]; [`ClusterError::Refused`] for no name at all.
pub fn parse_tables<S: AsRef<str>>(game: &dyn Game, names: &[S]) -> Result<Vec<TableName>, ClusterError> {
    let mut tables = Vec::new();
    for name in names {
        let table = game.table(name.as_ref().trim())?;
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    if tables.is_empty() {
        return Err(ClusterError::Refused("no endgame is given: name one or more, with commas between them".into()));
    }
    Ok(tables)
}

/// Everything that the tables lead to and they themselves, each after all it leads to.
///
/// # Errors
/// As [`Game::smaller`].
pub fn closure(game: &dyn Game, asked: &[TableName]) -> Result<Vec<TableName>, ClusterError> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // A table is opened when first met, and closed behind everything that it leads to.
    let mut stack: Vec<(TableName, bool)> = asked.iter().rev().map(|t| (t.clone(), false)).collect();
    while let Some((table, open)) = stack.pop() {
        if open {
            order.push(table);
        } else if seen.insert(table.clone()) {
            let smaller = game.smaller(&table)?;
            stack.push((table, true));
            stack.extend(smaller.into_iter().rev().map(|t| (t, false)));
        }
    }
    Ok(order)
}
