//! What the targets share: real tables, and positions with their right values.

use std::sync::{Arc, LazyLock};

use canju_probe::{Prober, Value};
use canju_retro::{Metric, Rules};
use canju_table::{MemorySource, TableSet};
use canju_tests::{Files, Workshop};
use canju_xiangqi::Position;

/// KPKA with all smaller tables.
pub static FILES: LazyLock<Files> = LazyLock::new(|| {
    let mut files = Files::new();
    Workshop::new().write("KPKA", &[Metric::Dtm], &mut |key, bytes| drop(files.insert(key, bytes)));
    files
});

/// Positions of the tables, and what the tables say of them.
pub static RIGHT: LazyLock<Vec<(Position, Value)>> = LazyLock::new(|| {
    let fens = [
        "3k5/9/4P4/9/9/9/9/9/9/4K4 w",
        "3k5/9/4P4/9/9/9/9/9/9/4K4 b",
        "3k1a3/9/9/9/4P4/9/9/9/9/4K4 w",
        "4k4/4a4/9/3P5/9/9/9/9/9/3K5 b",
        "5k3/4a4/3P5/9/9/9/9/9/9/4K4 w",
        "4k4/9/9/9/9/9/9/9/4p4/5K3 w",
        "3k5/4a4/9/9/9/9/9/9/9/4K4 b",
        "3k5/9/9/9/9/9/9/9/9/4K4 w",
    ];
    let prober = prober(&FILES);
    let right = fens.iter().filter_map(|fen| fen.parse().ok()).map(|p: Position| (p, prober.probe(&p).unwrap()));
    right.collect()
});

/// A prober on files in memory, which are looked through anew.
pub fn prober(files: &Files) -> Prober {
    let source = MemorySource::new();
    for (key, bytes) in files {
        source.insert(key, bytes.clone());
    }
    Prober::new(TableSet::with_cache(Arc::new(source), Rules::Plain, 1 << 20))
}

/// Asks all positions: whatever was done to the tables, the answer is an error or the right one.
pub fn ask(files: &Files) {
    let prober = prober(files);
    for (position, right) in &*RIGHT {
        if let Ok(value) = prober.probe(position) {
            // A manifest that has lost a metric has no distance to tell.
            assert_eq!(value.outcome, right.outcome, "{position}");
            assert!(value.dtm.is_none() || value.dtm == right.dtm, "{position}: {value:?}");
        }
        if let Ok(wdl) = prober.wdl(position) {
            assert_eq!(wdl, right.outcome, "{position}");
        }
        let _ = prober.moves(position);
    }
}
