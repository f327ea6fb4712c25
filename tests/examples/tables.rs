//! Solves small endgames without a cluster and writes their tables, for tests, examples and benches:
//!
//!     cargo run --example tables -- FOLDER KRKN,KCKA dtm,dtc
#![allow(clippy::unwrap_used, reason = "what cannot be built ends the program")]

use std::path::Path;

use canju_retro::Metric;
use canju_tests::Workshop;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, names, metrics] = &arguments[..] else {
        eprintln!("error: give a folder, the endgames (KRKN,KCKA) and the distances (dtm,dtc)");
        std::process::exit(2);
    };
    let metrics: Vec<Metric> = metrics.split(',').map(|m| m.parse().unwrap()).collect();
    let mut workshop = Workshop::new();
    for name in names.split(',') {
        workshop.write_to(Path::new(folder), name, &metrics);
    }
}
