//! What encoding, decoding and probing cost, on cells that repeat themselves as a table's do.
//!
//! Run with `cargo bench -p canju-table`.

use std::sync::Arc;

use canju_retro::{Cell, Code, Distance, Metric, Outcome, Rules, Shape, Side, SliceCodes, Statistics, TableName};
use canju_table::{
    BLOCK_CELLS, DEFAULT_LEVEL, Dictionary, Manifest, MemorySource, MetricEntry, Shard, ShardSpec, TableSet,
    encode_slice, write_shard,
};
use divan::Bencher;
use divan::counter::BytesCount;

const CELLS: u32 = 9 * 90 * 90 * 90;

fn main() {
    divan::main();
}

/// Four digits of 90, 90, 90 and 9; the value follows the distances between them, with some noise.
fn cells(cell: u32) -> u8 {
    let (d, c, b, a) = (cell % 90, cell / 90 % 90, cell / 8100 % 90, cell / 729_000);
    let apart = |x: u32, y: u32| (x % 9).abs_diff(y % 9) + (x / 9).abs_diff(y / 9);
    let noise = (cell / 3).wrapping_mul(2_654_435_761) >> 27;
    let far = apart(d, a * 9) + apart(b, a * 9) / 2;
    match noise {
        0 => (far + 1) as u8,
        _ if far > 14 || c % 9 > 6 => 0,
        _ => far as u8,
    }
}

fn slice(metric: Metric) -> SliceCodes {
    let cells = (0..CELLS).map(cells);
    if metric == Metric::Wdl {
        let palette = vec![Code::DRAW, Code::WIN];
        return SliceCodes::Narrow { palette, cells: cells.map(|c| u8::from(c > 0)).collect() };
    }
    let win = |n| Code::from(Outcome::Win(Distance::plies(n)));
    let palette = (0..64).map(|n| if n == 0 { Code::DRAW } else { win(2 * n - 1) }).collect();
    SliceCodes::Narrow { palette, cells: cells.collect() }
}

fn table() -> TableName {
    #[expect(clippy::unwrap_used, reason = "a name that is right")]
    TableName::new("KCPKA").unwrap()
}

fn spec(metric: Metric) -> ShardSpec {
    ShardSpec {
        table: table(),
        rules: Rules::Plain,
        metric,
        number: 0,
        first_slice: 0,
        cells: vec![CELLS],
        row: 90,
        block_cells: BLOCK_CELLS,
        level: DEFAULT_LEVEL,
        dictionary: false,
    }
}

#[divan::bench(args = [(Metric::Dtm, 1), (Metric::Dtm, 3), (Metric::Dtm, 6), (Metric::Wdl, 1), (Metric::Wdl, 3), (Metric::Wdl, 6)], sample_count = 5)]
fn encode(bencher: Bencher<'_, '_>, (metric, level): (Metric, i32)) {
    let (slice, spec, dictionary) = (slice(metric), spec(metric).with_level(level), Dictionary::none(level));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    bencher.counter(BytesCount::new(CELLS)).bench(|| {
        let encode = || encode_slice(&spec, Side::First, 0, &slice, &dictionary).map(|e| e.len());
        one.as_ref().map(|pool| pool.install(encode))
    });
}

#[divan::bench(args = [Metric::Dtm, Metric::Wdl], sample_count = 10)]
#[expect(clippy::unwrap_used, reason = "a bench may stop")]
fn read(bencher: Bencher<'_, '_>, metric: Metric) {
    let bytes = write_shard(&spec(metric), |_, _| Ok(slice(metric))).unwrap().0;
    let shard = Shard::open(Arc::new(bytes), &table(), "shard").unwrap();
    bencher.counter(BytesCount::new(CELLS)).bench(|| {
        let mut sum = 0;
        shard.read(Side::First, 0, &mut |block| sum += block.cells.len()).map(|()| sum)
    });
}

/// One cell of a block that is in the cache, and one of a block that must be decoded.
#[divan::bench(args = [true, false])]
#[expect(clippy::unwrap_used, reason = "a bench may stop")]
fn probe(bencher: Bencher<'_, '_>, warm: bool) {
    let (bytes, info) = write_shard(&spec(Metric::Dtm), |_, _| Ok(slice(Metric::Dtm))).unwrap();
    let shape = Shape { slices: vec![], runs: vec![], row: 1, positions: 0, indexed: 0, set_bytes: 0 };
    let counts = Statistics::default();
    let entry = MetricEntry::new(Metric::Dtm, &counts, vec![info], vec![], |_| Ok::<_, ()>(String::new())).unwrap();
    let manifest = Manifest::new(&table(), Rules::Plain, 1, &shape, &counts).with_metric(Metric::Dtm, entry);
    let source = MemorySource::new();
    source.insert(spec(Metric::Dtm).key(), bytes);
    source.insert(manifest.key(), manifest.to_json().unwrap().into_bytes());
    let set = TableSet::with_cache(Arc::new(source), Rules::Plain, if warm { 1 << 30 } else { 0 });
    let mut cell = 0u32;
    bencher.bench_local(|| {
        cell = cell.wrapping_mul(2_654_435_761).wrapping_add(12_345);
        set.code(&table(), Metric::Dtm, Cell { slice: 0, index: cell % CELLS, side: Side::First })
    });
}
