//! Writes what the fuzzers start from: real tables and positions, for each target a folder.
//!
//!     cargo run --example corpus -- tests/fuzz/corpus
#![allow(clippy::unwrap_used, reason = "what cannot be written ends the program")]

use std::fs;
use std::path::Path;

use canju_retro::Metric;
use canju_tests::{Files, Workshop};

const POSITIONS: [&str; 6] = [
    "3k5/9/4P4/9/9/9/9/9/9/4K4 w",
    "3k1a3/9/9/9/4P4/9/9/9/9/4K4 b",
    "4k4/9/9/9/9/9/9/9/9/3K5 w",
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "3k5/9/9/9/9/9/9/9/4r4/5K3 r",
    "9/9/9/9/9/9/9/9/9/9 b",
];

fn main() {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("error: give the folder for the corpus");
        std::process::exit(2);
    };
    let put = |target: &str, name: usize, bytes: &[u8]| {
        let folder = Path::new(&folder).join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("seed-{name:02}")), bytes).unwrap();
    };
    let mut files = Files::new();
    Workshop::new().write("KPKA", &[Metric::Dtm], &mut |key, bytes| drop(files.insert(key, bytes)));
    for (i, (key, bytes)) in files.iter().enumerate() {
        put(if key.ends_with(".json") { "manifest" } else { "shard" }, i, bytes);
    }
    for (i, fen) in POSITIONS.iter().enumerate() {
        put("fen", i, fen.as_bytes());
        put("capi", i, fen.as_bytes());
    }
    // Which positions are asked, then the edits.
    put("tables", 0, &[0; 8]);
    for what in 0..8u8 {
        put("tables", 1 + usize::from(what), &[what, 7, what, what, 40, 0, 3, 11, 0, 9, 1, 77]);
    }
}
