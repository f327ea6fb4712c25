//! A finished table follows from the rules, and a wrong one is found out.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::sync::{Arc, Mutex};

use canju_probe::{Options, ProbeError, Prober, Progress};
use canju_retro::{Cell, Code, Distance, Game, Metric, Outcome, Rules, Side, SliceCodes};
use canju_table::{Manifest, MemorySource, ShardSpec, TableError, TableSet, write_shard};
use canju_tests::Workshop;
use canju_xiangqi::{Color, Position};

const BOTH: [Metric; 2] = [Metric::Dtm, Metric::Dtc];
const ALL: [Metric; 3] = [Metric::Wdl, Metric::Dtm, Metric::Dtc];

#[test]
fn every_cell_follows_from_its_successors() {
    let names = ["KRKN", "KCKC", "KPPK", "KAANK", "KCPKA", "KNKAB", "KPKP", "KCCK"];
    let mut workshop = Workshop::new();
    let prober = Prober::new(workshop.tables(&names, &BOTH));
    for name in names {
        let table = workshop.game().table(name).unwrap();
        let last = Mutex::new(Progress { done: 0, total: 0 });
        let report = prober.verify(&table, &Options::default(), &|p| *last.lock().unwrap() = p).unwrap();
        assert_eq!((report.wrong, &report.first), (0, &None), "{name}");
        assert_eq!(report.metrics, ALL, "{name}");
        let manifest = prober.tables().manifest(&table).unwrap();
        assert_eq!(report.checked + report.skipped, manifest.cells, "{name}");
        assert!(report.checked * 3 > manifest.cells, "{name}: {}", report.checked);
        assert_eq!(*last.lock().unwrap(), Progress { done: manifest.cells, total: manifest.cells });
        let sample = Options { sample: Some(2000), threads: 2, memory: 0 };
        let report = prober.verify(&table, &sample, &|_| {}).unwrap();
        assert_eq!(report.wrong, 0, "{name}");
        assert!((1900..=2000).contains(&(report.checked + report.skipped)), "{name}");
    }
}

/// KCPKA and smaller tables, and the position of the one cell that is changed in one metric.
fn changed(metric: Metric) -> (Prober, String) {
    let mut workshop = Workshop::new();
    let source = MemorySource::new();
    let table = workshop.game().table("KCPKA").unwrap();
    let mut manifest = None;
    workshop.write("KCPKA", &BOTH, &mut |key, bytes| {
        if key == canju_table::manifest_key(Rules::Plain, &table) {
            manifest = Some(Manifest::parse(&key, &bytes).unwrap());
        }
        source.insert(key, bytes);
    });
    let mut manifest = manifest.unwrap();
    let (shape, index) = (workshop.game().shape(&table).unwrap(), workshop.game().index(&table).unwrap());
    let mates = workshop.solved(Metric::Dtm).slice(&table, Metric::Dtm, Side::First, 1).unwrap();
    let mut board = Position::empty(Color::Red);
    let cell = |index| Cell { slice: 1, index, side: Side::First };
    let target = (10_000..shape.slices[1].cells)
        .find(|&i| {
            let far = matches!(mates.get(i as usize).unwrap().outcome(), Outcome::Win(d) if d.plies > 5);
            far && index.set_up(cell(i), &mut board) && board.is_legal()
        })
        .unwrap();
    let spec = ShardSpec::of_run(&table, Rules::Plain, metric, &shape, 0).unwrap();
    let cells = workshop.solved(if metric == Metric::Wdl { Metric::Dtm } else { metric });
    let (bytes, info) = write_shard(&spec, |side, slice| {
        let codes = cells.slice(&table, metric, side, slice).unwrap();
        let mut outcomes: Vec<Outcome> = (0..codes.len()).map(|i| codes.get(i).unwrap().outcome()).collect();
        if (slice, side) == (1, Side::First) {
            outcomes[target as usize] = match outcomes[target as usize] {
                Outcome::Win(d) if metric != Metric::Wdl => Outcome::Win(Distance::plies(d.plies + 2)),
                _ => Outcome::Draw,
            };
        }
        let mut palette: Vec<Code> = outcomes.iter().map(|&o| Code::from(o)).collect();
        palette.sort_unstable();
        palette.dedup();
        let index = |o: &Outcome| palette.binary_search(&Code::from(*o)).unwrap() as u16;
        let cells = outcomes.iter().map(index).collect();
        Ok(SliceCodes::Wide { palette, cells })
    })
    .unwrap();
    manifest.metrics.get_mut(&metric).unwrap().shards[0] = info;
    source.insert(spec.key(), bytes);
    source.insert(manifest.key(), manifest.to_json().unwrap().into_bytes());
    (Prober::new(TableSet::open(Arc::new(source), Rules::Plain)), board.to_fen())
}

#[test]
fn one_wrong_cell_is_found() {
    for metric in ALL {
        let (prober, fen) = changed(metric);
        let table = Workshop::new().game().table("KCPKA").unwrap();
        prober.tables().verify_shards(&table).unwrap();
        let report = prober.verify(&table, &Options::default(), &|_| {}).unwrap();
        // Positions from which it can be reached may be wrong as well, and may come first.
        assert!(report.wrong >= 1, "{metric}");
        let first = report.first.unwrap();
        assert_eq!(first.metric, metric);
        assert_ne!(first.stored, first.computed);
        assert!(report.wrong > 1 || first.fen == fen, "{metric} {} {fen}", first.fen);
    }
}

#[test]
fn a_missing_smaller_table_is_named() {
    let mut workshop = Workshop::new();
    let source = MemorySource::new();
    workshop.write("KRKN", &[Metric::Dtm], &mut |key, bytes| {
        if !key.contains("/KRK/") {
            source.insert(key, bytes);
        }
    });
    let prober = Prober::new(TableSet::open(Arc::new(source), Rules::Plain));
    let table = workshop.game().table("KRKN").unwrap();
    let error = prober.verify(&table, &Options::default(), &|_| {}).unwrap_err();
    let ProbeError::Table(TableError::Missing { table, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(table.as_str(), "KRK");
    assert!(error.to_string().contains("coordinator start --build KRK"), "{error}");
}
