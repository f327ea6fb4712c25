//! Tables solved and written without a cluster.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use canju_endgame::{INDEX_VERSION, Xiangqi};
use canju_retro::{Game, MemoryTables, Metric, Rules, Statistics, TableName, solve};
use canju_table::{Manifest, MemorySource, MetricEntry, ShardSpec, SmallerTable, TableSet, write_shard};

/// Solves tables with all their smaller ones, and keeps them.
#[derive(Default)]
pub struct Workshop {
    game: Xiangqi,
    rules: Rules,
    solved: BTreeMap<Metric, Arc<MemoryTables>>,
    statistics: HashMap<(TableName, Metric), Statistics>,
}

impl Workshop {
    /// No tables yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No tables yet; they will be solved under these rules of repetition.
    #[must_use]
    pub fn under(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &Xiangqi {
        &self.game
    }

    /// The tables that were solved for a distance.
    pub fn solved(&mut self, metric: Metric) -> Arc<MemoryTables> {
        Arc::clone(self.solved.entry(metric).or_default())
    }

    /// Solves a table, after all smaller ones that are not solved yet, and returns its counts.
    pub fn solve(&mut self, table: &TableName, metric: Metric) -> &Statistics {
        let key = (table.clone(), metric);
        if !self.statistics.contains_key(&key) {
            for smaller in self.game.smaller(table).unwrap() {
                self.solve(&smaller, metric);
            }
            let tables = self.solved(metric);
            let solved = solve(&self.game, table, metric, self.rules, Arc::clone(&tables) as _).unwrap();
            tables.insert(&self.game, table, metric, &solved).unwrap();
            self.statistics.insert(key.clone(), solved.part.statistics().unwrap());
        }
        &self.statistics[&key]
    }

    /// A table and all that its captures lead to, smallest first.
    pub fn closure(&self, table: &TableName) -> Vec<TableName> {
        let mut all = Vec::new();
        for smaller in self.game.smaller(table).unwrap() {
            all.extend(self.closure(&smaller));
        }
        all.push(table.clone());
        let mut seen = Vec::new();
        all.retain(|table| {
            !seen.contains(table) && {
                seen.push(table.clone());
                true
            }
        });
        all
    }

    /// Gives the files of a table and of all smaller ones, with win-draw-loss and these distances, to `put`.
    pub fn write(&mut self, name: &str, distances: &[Metric], put: &mut dyn FnMut(String, Vec<u8>)) {
        let table = self.game.table(name).unwrap();
        let mut written = HashMap::<TableName, Manifest>::new();
        for table in self.closure(&table) {
            let shape = self.game.shape(&table).unwrap();
            let mut manifest = None;
            for metric in [Metric::Wdl].iter().chain(distances) {
                let distance = if *metric == Metric::Wdl { distances[0] } else { *metric };
                let counts = self.solve(&table, distance).clone();
                let cells = self.solved(distance);
                let mut infos = Vec::new();
                for run in 0..shape.runs.len() as u32 {
                    let spec = ShardSpec::of_run(&table, self.rules, *metric, &shape, run).unwrap();
                    let spec = spec.with_row(self.game.index(&table).unwrap().row() as u32);
                    let slice = |side, slice| Ok(cells.slice(&table, *metric, side, slice).unwrap());
                    let (bytes, info) = write_shard(&spec, slice).unwrap();
                    put(spec.key(), bytes);
                    infos.push(info);
                }
                let show = |cell| self.game.show(&table, cell);
                let read = metric.of_smaller(self.rules);
                let smaller = self.game.smaller(&table).unwrap().into_iter().map(|endgame| {
                    let content = written[&endgame].metric_hash(read).unwrap();
                    SmallerTable { endgame, metric: read, content }
                });
                let entry = MetricEntry::new(*metric, &counts, infos, smaller.collect(), show).unwrap();
                let new = || Manifest::new(&table, self.rules, INDEX_VERSION, &shape, &counts);
                manifest = Some(manifest.take().unwrap_or_else(new).with_metric(*metric, entry));
            }
            let manifest = manifest.unwrap();
            put(manifest.key(), manifest.to_json().unwrap().into_bytes());
            written.insert(table, manifest);
        }
    }

    /// Tables and all smaller ones, in memory.
    #[must_use]
    pub fn tables(&mut self, names: &[&str], distances: &[Metric]) -> TableSet {
        let source = MemorySource::new();
        for name in names {
            self.write(name, distances, &mut |key, bytes| source.insert(key, bytes));
        }
        TableSet::open(Arc::new(source), self.rules)
    }

    /// Writes a table and all smaller ones to a folder.
    pub fn write_to(&mut self, folder: &Path, name: &str, distances: &[Metric]) {
        self.write(name, distances, &mut |key, bytes| {
            let path = folder.join(key);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        });
    }
}
