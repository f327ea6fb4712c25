//! The worked example of the format's page is what this crate writes and reads.

use std::sync::Arc;

use canju_retro::{Cell, Code, Distance, Longest, Metric, Outcome, Rules, Side, SliceCodes, Statistics};
use canju_table::{Manifest, MemorySource, MetricEntry, ShardSpec, TableSet, Verification, write_shard};

use crate::fixtures::{name, shape};

const PAGE: &str = include_str!("../../../../docs/format.md");

/// What stands between the fence of this language and the next one.
fn fenced(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).expect("the page has the example");
    rest.split_once("```").expect("the example ends").0
}

fn example() -> (ShardSpec, Vec<u8>, Manifest) {
    let win = |plies| Code::from(Outcome::Win(Distance::plies(plies)));
    let first = SliceCodes::Narrow { palette: vec![Code::DRAW, win(1), win(3)], cells: vec![0, 1, 1, 2, 0, 2] };
    let second = SliceCodes::Narrow { palette: vec![Code::DRAW], cells: vec![0; 6] };
    let shape = shape(&[6], &[1]);
    let spec = ShardSpec::of_run(&name("KPK"), Rules::Plain, Metric::Dtm, &shape, 0).unwrap();
    let spec = spec.with_row(2).with_block_cells(4);
    let cells = |side: Side, _| Ok([first.clone(), second.clone()][side.index()].clone());
    let (bytes, info) = write_shard(&spec, cells).unwrap();
    let mut statistics = Statistics::default();
    for (side, counts) in statistics.sides.iter_mut().zip([[2, 2, 2], [6, 0, 0]]) {
        side.cells = 6;
        side.histogram = [Code::DRAW, win(1), win(3)].into_iter().zip(counts).filter(|&(_, n)| n > 0).collect();
    }
    let cell = Cell { slice: 0, index: 3, side: Side::First };
    statistics.sides[0].longest_win = Some(Longest { distance: Distance::plies(3), cell });
    let fen = |_| Ok::<_, ()>("3k5/9/9/9/9/9/9/9/3P5/4K4 w".to_owned());
    let mut entry = MetricEntry::new(Metric::Dtm, &statistics, vec![info], vec![], fen).unwrap();
    entry.software = "canju 0.1.0".to_owned();
    entry.verification = Some(Verification { by: vec!["worker-2".to_owned()], cells: 12, wrong: 0 });
    (spec, bytes, Manifest::new(&name("KPK"), Rules::Plain, 1, &shape, &statistics).with_metric(Metric::Dtm, entry))
}

#[test]
fn the_shard_of_the_page() {
    let (spec, bytes, _) = example();
    let mut page = Vec::new();
    for line in fenced("hex").lines() {
        let hex = line.split('#').next().unwrap();
        page.extend(hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    let mut lines = String::new();
    for line in bytes.chunks(16) {
        lines += &(line.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ") + "\n");
    }
    assert!(page == bytes, "the page has another shard than {}:\n{lines}", spec.key());
}

#[test]
fn the_manifest_of_the_page() {
    let (spec, bytes, manifest) = example();
    let json = manifest.to_json().unwrap();
    let hash = manifest.metric_hash(Metric::Dtm).unwrap();
    let content = manifest.content_hash();
    assert!(fenced("json") == json, "the page has another manifest:\n{json}");
    assert!(PAGE.contains(&hash), "metric hash {hash}");
    assert!(PAGE.contains(&content), "content hash {content}");
    // What the page shows is a table.
    let source = MemorySource::new();
    source.insert(spec.key(), bytes);
    source.insert(manifest.key(), fenced("json").as_bytes().to_vec());
    let set = TableSet::open(Arc::new(source), Rules::Plain);
    assert_eq!(set.verify_shards(&spec.table).unwrap().cells, 12);
}
