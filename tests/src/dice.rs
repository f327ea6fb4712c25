//! Tables of EinStein würfelt nicht!, built in memory.

use std::sync::Arc;

use canju_ewn::{Ewn, INDEX_VERSION};
use canju_retro::{Game, MemoryTables, Metric, Rules, solve};
use canju_table::{Manifest, MetricEntry, ShardSpec, write_shard};

/// Solves a table, whose smaller ones `solved` has, and gives its files to `put` under a name.
///
/// # Panics
/// Where a smaller table is missing.
pub fn write_dice(name: &str, under: &str, solved: &Arc<MemoryTables>, put: &mut dyn FnMut(String, Vec<u8>)) {
    let (table, metric, under) = (Ewn.table(name).unwrap(), Metric::Odds, Ewn.table(under).unwrap());
    let done = solve(&Ewn, &table, metric, Rules::Plain, solved.clone()).unwrap();
    solved.insert(&Ewn, &table, metric, &done).unwrap();
    let (shape, counts) = (Ewn.shape(&table).unwrap(), done.part.statistics().unwrap());
    let mut infos = Vec::new();
    for run in 0..shape.runs.len() as u32 {
        let spec = ShardSpec::of_run(&under, Rules::Plain, metric, &shape, run).unwrap();
        let (bytes, info) = write_shard(&spec, |side, slice| done.part.codes(slice, side, metric)).unwrap();
        put(spec.key(), bytes);
        infos.push(info);
    }
    let entry = MetricEntry::new(metric, &counts, infos, vec![], |cell| Ewn.show(&table, cell)).unwrap();
    let manifest = Manifest::new(&under, Rules::Plain, INDEX_VERSION, &shape, &counts).with_metric(metric, entry);
    put(manifest.key(), manifest.to_json().unwrap().into_bytes());
}
