//! Cells that look like a table's, and tables made of them.

use std::convert::Infallible;
use std::sync::Arc;

use canju_retro::{
    Block, Cell, Code, Distance, Longest, Metric, Outcome, Rules, Shape, Side, SliceCodes, SliceShape, Statistics,
    TableName,
};
use canju_table::{Manifest, MemorySource, MetricEntry, Shard, ShardInfo, ShardSpec, write_shard};

pub fn name(text: &str) -> TableName {
    TableName::new(text).unwrap()
}

/// Draw, loss in 0, win in 1, loss in 2, and so on.
pub fn code(n: u32) -> Code {
    let distance = Distance { order: (n / 40_000) as u16, plies: (n % 40_000) as u16 };
    match n {
        0 => Code::DRAW,
        _ if n % 2 == 1 => Outcome::Loss(distance).into(),
        _ => Outcome::Win(distance).into(),
    }
}

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(below)) as u32
    }
}

/// So many cells of so many codes, in runs of up to `run` cells.
pub fn cells(seed: u64, len: usize, codes: u32, run: u32) -> Vec<u32> {
    let mut random = Random(seed);
    let mut cells = Vec::with_capacity(len);
    while cells.len() < len {
        let n = random.next(codes);
        let run = 1 + random.next(run) as usize;
        cells.extend(std::iter::repeat_n(n, run.min(len - cells.len())));
    }
    cells
}

/// The cells with a palette of their own, in an order that is not the canonical one.
pub fn slice(cells: &[u32]) -> SliceCodes {
    let mut numbers: Vec<u32> = cells.to_vec();
    numbers.sort_unstable_by_key(|n| n.wrapping_mul(2_654_435_761));
    numbers.dedup();
    let place =
        |n: &u32| numbers.binary_search_by_key(&n.wrapping_mul(2_654_435_761), |m| m.wrapping_mul(2_654_435_761));
    let palette = numbers.iter().map(|&n| code(n)).collect();
    if numbers.len() <= 256 {
        SliceCodes::Narrow { palette, cells: cells.iter().map(|n| place(n).unwrap() as u8).collect() }
    } else {
        SliceCodes::Wide { palette, cells: cells.iter().map(|n| place(n).unwrap() as u16).collect() }
    }
}

pub fn spec(cells: &[u32]) -> ShardSpec {
    ShardSpec {
        table: name("KCPKA"),
        rules: Rules::Plain,
        metric: Metric::Dtm,
        number: 3,
        first_slice: 7,
        cells: cells.to_vec(),
        row: 90,
        block_cells: 1 << 12,
        level: 3,
        dictionary: false,
    }
}

/// Writes the slices, first and second side of each in turn.
pub fn write(spec: &ShardSpec, slices: &[SliceCodes]) -> (Vec<u8>, ShardInfo) {
    write_shard(spec, |side, slice| Ok(slices[(slice - spec.first_slice) as usize * 2 + side.index()].clone())).unwrap()
}

pub fn open(bytes: Vec<u8>, table: &TableName) -> Result<Shard, canju_table::TableError> {
    Shard::open(Arc::new(bytes), table, "the shard")
}

/// All codes of a slice as a reader gets them.
pub fn collect(read: impl FnOnce(&mut dyn FnMut(Block<'_>))) -> Vec<Code> {
    let mut codes = Vec::new();
    read(&mut |block| {
        assert_eq!(block.first as usize, codes.len());
        assert!(!block.cells.is_empty() && block.palette.len() <= 256);
        codes.extend(block.cells.iter().map(|&c| block.palette[usize::from(c)]));
    });
    codes
}

pub fn shape(cells: &[u32], runs: &[u32]) -> Shape {
    let slices = cells.iter().map(|&cells| SliceShape { cells, neighbours: vec![] }).collect();
    let mut next = 0;
    let runs = runs.iter().map(|n| {
        next += n;
        next - n..next
    });
    let positions = 2 * cells.iter().map(|&c| u64::from(c)).sum::<u64>();
    Shape { slices, runs: runs.collect(), row: 1, positions, indexed: positions, set_bytes: 0 }
}

/// A table in memory: its codes by slice and side, and its source.
pub struct Fixture {
    pub table: TableName,
    pub slices: Vec<SliceCodes>,
    pub source: MemorySource,
    pub manifest: Manifest,
}

pub fn statistics(slices: &[SliceCodes]) -> Statistics {
    let mut statistics = Statistics::default();
    for (part, codes) in slices.iter().enumerate() {
        let side = &mut statistics.sides[part % 2];
        side.cells += codes.len() as u64;
        for index in 0..codes.len() {
            let code = codes.get(index).unwrap();
            *side.histogram.entry(code).or_default() += 1;
            let cell = Cell { slice: part as u32 / 2, index: index as u32, side: Side::BOTH[part % 2] };
            let (longest, distance) = match code.outcome() {
                Outcome::Draw => continue,
                Outcome::Win(distance) => (&mut side.longest_win, distance),
                Outcome::Loss(distance) => (&mut side.longest_loss, distance),
            };
            if longest.is_none_or(|l| l.distance < distance) {
                *longest = Some(Longest { distance, cell });
            }
        }
    }
    statistics
}

pub fn show(cell: Cell) -> Result<String, Infallible> {
    Ok(format!("cell {} of slice {}", cell.index, cell.slice))
}

impl Fixture {
    pub fn new(metric: Metric, cells: &[u32], runs: &[u32], slices: Vec<SliceCodes>) -> Self {
        let (table, shape, source) = (name("KCPKA"), shape(cells, runs), MemorySource::new());
        let mut shards = Vec::new();
        for number in 0..runs.len() as u32 {
            let spec = ShardSpec::of_run(&table, Rules::Plain, metric, &shape, number).unwrap();
            let spec = spec.with_row(90).with_block_cells(1 << 12);
            let of = |side: Side, slice: u32| Ok(slices[slice as usize * 2 + side.index()].clone());
            let (bytes, info) = write_shard(&spec, of).unwrap();
            source.insert(spec.key(), bytes);
            shards.push(info);
        }
        let counts = statistics(&slices);
        let entry = MetricEntry::new(metric, &counts, shards, vec![], show).unwrap();
        let manifest = Manifest::new(&table, Rules::Plain, 1, &shape, &counts).with_metric(metric, entry);
        source.insert(manifest.key(), manifest.to_json().unwrap().into_bytes());
        Self { table, slices, source, manifest }
    }
}
