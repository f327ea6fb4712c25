//! Many threads on one prober.

use std::sync::Arc;

use canju_probe::{Prober, Value};
use canju_retro::Rules;
use canju_table::{MemorySource, TableSet};
use canju_xiangqi::Position;

use crate::wells::{FILES, positions};

#[test]
fn threads_agree_while_blocks_come_and_go() {
    let source = MemorySource::new();
    for (key, bytes) in &*FILES {
        source.insert(key, bytes.clone());
    }
    let source = Arc::new(source);
    let asked = [("KRKN", 9973), ("KPKA", 997), ("KRK", 97), ("KPK", 97), ("KNK", 97)];
    let asked: Vec<Position> = asked.iter().flat_map(|&(name, step)| positions(name, step)).collect();
    let open = |cache| Prober::new(TableSet::with_cache(Arc::clone(&source) as _, Rules::Plain, cache));
    let roomy = open(64 << 20);
    let values: Vec<Value> = asked.iter().map(|p| roomy.probe(p).unwrap()).collect();
    // A cache that holds few of the blocks: they are given up and read again all the time.
    for cache in [0, 300_000] {
        let (prober, asked, values) = (&open(cache), &asked, &values);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    for i in 0..200 {
                        let at = (i * 31 + thread * 57) % asked.len();
                        assert_eq!(prober.probe(&asked[at]).unwrap(), values[at], "{}", asked[at]);
                        let name = prober.tables().endgames().unwrap()[i % 3].clone();
                        if i % 50 == 0 {
                            prober.tables().forget(&name);
                        }
                    }
                });
            }
        });
    }
}
