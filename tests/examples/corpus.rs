//! Writes what the fuzzers start from: real tables and positions, for each target a folder.
//!
//!     cargo run --example corpus -- tests/fuzz/corpus
#![allow(clippy::unwrap_used, reason = "what cannot be written ends the program")]

use std::fs;
use std::path::Path;

use canju_records::read;
use canju_retro::Metric;
use canju_tests::{Files, Workshop};
use encoding_rs::{GB18030, UTF_8};

#[path = "../../crates/records/tests/formats/xqf_writer.rs"]
mod xqf_writer;

const POSITIONS: [&str; 6] = [
    "3k5/9/4P4/9/9/9/9/9/9/4K4 w",
    "3k1a3/9/9/9/4P4/9/9/9/9/4K4 b",
    "4k4/9/9/9/9/9/9/9/9/3K5 w",
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "3k5/9/9/9/9/9/9/9/4r4/5K3 r",
    "9/9/9/9/9/9/9/9/9/9 b",
];

/// A file of each format that is a text.
const RECORDS: [&str; 5] = [
    "[Event \"马\"]\n[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 w\"]\n\n{前} 1. a6b8 {好} (1. a6c7 $2 e8f7) e8f7 2. 马八进六 1-0\n\n\
     [Red \"x\"]\n\n1. C2.5 H8+7 2. h0g2 *\n",
    "[DhtmlXQ]\n[DhtmlXQ_title]马[/DhtmlXQ_title]\n[DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist]\n\
     [DhtmlXQ_move_0_2_1]10227967[/DhtmlXQ_move_0_2_1]\n[DhtmlXQ_comment1_2]变[/DhtmlXQ_comment1_2]\n[/DhtmlXQ]",
    "[DhtmlXQ_binit]9903999959999999999999999999999999999932424199999999999999999999[/DhtmlXQ_binit]\n\
     [DhtmlXQ_movelist][0_1_0]03114150[/0_1_0][0_2_1]5142[/0_2_1][/DhtmlXQ_movelist]\n",
    "# x\n马|9/4a4/3ak4/N8/9/9/9/9/9/5K3 w|马九进八 士5进6|x\n",
    "# 马\n9/4a4/3ak4/N8/9/9/9/9/9/5K3 w - - 0 1 moves a6b8 e8f7 # x\n\n4k4/4a4/4P4/9/9/9/9/9/9/5K3 b ; draw\n",
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
    let encoded = RECORDS.iter().flat_map(|text| [UTF_8, GB18030].map(|encoding| encoding.encode(text).0));
    for (i, bytes) in encoded.enumerate() {
        put("records", i, &bytes);
    }
    let study = &read(RECORDS[0].as_bytes()).unwrap().records[0];
    for version in 10..=18u8 {
        put("records", usize::from(version) + 10, &xqf_writer::write(study, version, &xqf_writer::HIDDEN));
    }
    // Which positions are asked, then the edits.
    put("tables", 0, &[0; 8]);
    for what in 0..8u8 {
        put("tables", 1 + usize::from(what), &[what, 7, what, what, 40, 0, 3, 11, 0, 9, 1, 77]);
    }
}
