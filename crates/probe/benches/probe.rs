//! Questions to tables in the cache: random positions of several endgames, each asked after the other.
//!
//!     cargo bench -p canju-probe
//!
//! `examples/speed.rs` does the same with the tables of a folder.
#![allow(clippy::unwrap_used, reason = "what cannot be measured ends the program")]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use canju_endgame::Xiangqi;
use canju_probe::{Distances, Prober};
use canju_retro::{Cell, Metric, Side};
use canju_tests::Workshop;
use canju_xiangqi::{Color, Position};

static ASKED: LazyLock<(Prober, Vec<Position>)> = LazyLock::new(|| {
    let tables = Workshop::new().tables(&["KRKN", "KNKP", "KCKA", "KPPK"], &[Metric::Dtm]);
    let prober = Prober::new(tables).with_distances(Distances::Dtm);
    let game = Xiangqi::new();
    let mut positions = Vec::new();
    for table in prober.tables().endgames().unwrap() {
        let index = game.index(&table).unwrap();
        let mut board = Position::empty(Color::Red);
        for (slice, cells) in (0..).zip(index.shape().slices.iter().map(|s| s.cells)) {
            for number in (0..cells).step_by(cells as usize / 500 + 1) {
                let side = Side::BOTH[positions.len() % 2];
                if index.set_up(Cell { slice, index: number, side }, &mut board) && board.is_legal() {
                    positions.push(if positions.len() % 3 == 0 { board.flip() } else { board });
                }
            }
        }
    }
    // In no order that a processor could foresee.
    let mut seed = 1u64;
    for i in (1..positions.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        positions.swap(i, (seed >> 33) as usize % (i + 1));
    }
    for position in &positions {
        prober.probe(position).unwrap();
        prober.wdl(position).unwrap();
    }
    (prober, positions)
});

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The next thousand positions.
fn some() -> &'static [Position] {
    let positions = &ASKED.1;
    let start = NEXT.fetch_add(1000, Ordering::Relaxed) % (positions.len() - 1000);
    &positions[start..start + 1000]
}

/// A thousand questions who wins.
#[divan::bench(threads = [1, 2])]
fn wdl(bencher: divan::Bencher<'_, '_>) {
    let prober = &ASKED.0;
    bencher.counter(1000usize).with_inputs(some).bench_values(|p| p.iter().filter(|p| prober.wdl(p).is_ok()).count());
}

/// A thousand distances to mate.
#[divan::bench(threads = [1, 2])]
fn distance(bencher: divan::Bencher<'_, '_>) {
    let prober = &ASKED.0;
    bencher.counter(1000usize).with_inputs(some).bench_values(|p| p.iter().filter(|p| prober.probe(p).is_ok()).count());
}

/// All moves of ten positions.
#[divan::bench]
fn moves(bencher: divan::Bencher<'_, '_>) {
    let prober = &ASKED.0;
    let ask = |p: &[Position]| p.iter().take(10).map(|p| prober.moves(p).map_or(0, |m| m.len())).sum::<usize>();
    bencher.counter(10usize).with_inputs(some).bench_values(ask);
}

fn main() {
    divan::main();
}
