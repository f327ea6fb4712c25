//! Whole endgames on one core: the solver alone, its smaller tables finished in memory.
//!
//! `cargo bench -p canju-endgame` prints items a second: positions of the unmirrored index, both sides to move.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has failed")]

use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_retro::{Game, MemoryTables, Metric, Rules, TableName, solve};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Solves everything below a table.
fn smaller_of(game: &Xiangqi, table: &TableName, metric: Metric) -> Arc<MemoryTables> {
    fn build(game: &Xiangqi, table: &TableName, metric: Metric, done: &mut Vec<TableName>, tables: &Arc<MemoryTables>) {
        for smaller in game.smaller(table).expect("a table of the game") {
            if !done.contains(&smaller) {
                build(game, &smaller, metric, done, tables);
                let solved = solve(game, &smaller, metric, Rules::Plain, tables.clone()).expect("a table that solves");
                tables.insert(game, &smaller, metric, &solved).expect("its cells");
                done.push(smaller);
            }
        }
    }
    let tables = Arc::new(MemoryTables::new());
    build(game, table, metric, &mut Vec::new(), &tables);
    tables
}

fn bench(bencher: Bencher<'_, '_>, name: &str, metric: Metric) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let game = Xiangqi::new();
    let table = game.table(name).expect("a name");
    let tables = smaller_of(&game, &table, metric);
    let positions = game.shape(&table).expect("a shape").positions;
    bencher.counter(ItemsCount::new(positions)).bench_local(|| {
        one.install(|| solve(&game, &table, metric, Rules::Plain, tables.clone()).expect("a table that solves").labels)
    });
}

#[divan::bench(args = ["KNPKP", "KCCKP", "KRKPP"], sample_count = 5, sample_size = 1)]
fn dtc(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, Metric::Dtc);
}

#[divan::bench(args = ["KNPKP", "KCPKAABB"], sample_count = 5, sample_size = 1)]
fn dtm(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, Metric::Dtm);
}
