//! How fast tables are computed: `cargo bench -p canju-ewn`. An item is one move that is looked at.

use std::sync::Arc;

use canju_ewn::{Book, Chances, Signature};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// One table on one core, from its smaller ones.
#[divan::bench(args = ["EWN12B12", "EWN123B1", "EWN123B12"])]
fn one_core(bencher: Bencher, name: &str) {
    let Ok(signature) = name.parse::<Signature>() else { return };
    let mut book = Book::new();
    signature.smaller().into_iter().for_each(|s| book.add(s));
    let smaller =
        || -> Vec<Arc<Chances>> { signature.smaller().iter().filter_map(|s| book.table(*s)).cloned().collect() };
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
    let (_, moves) = pool.install(|| Chances::solve(signature, smaller()));
    bencher.counter(ItemsCount::new(moves)).bench_local(|| pool.install(|| Chances::solve(signature, smaller())));
}

/// All 10 tables of up to three stones, on all cores.
#[divan::bench]
fn up_to_three(bencher: Bencher) {
    bencher.counter(ItemsCount::new(Book::up_to(3).moves())).bench_local(|| Book::up_to(3));
}
