//! Tables for tests, solved once, and positions of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use canju_endgame::Xiangqi;
use canju_retro::{Cell, Game, Metric, Side};
use canju_tests::Workshop;
use canju_xiangqi::{Color, Position};

/// Files by key.
pub type Files = BTreeMap<String, Vec<u8>>;

/// KRKN and KPKA with all smaller ones, each with all metrics.
pub static FILES: LazyLock<Files> = LazyLock::new(|| {
    let mut files = Files::new();
    let mut workshop = Workshop::new();
    for name in ["KRKN", "KPKA"] {
        workshop.write(name, &[Metric::Dtm, Metric::Dtc], &mut |key, bytes| drop(files.insert(key, bytes)));
    }
    files
});

/// Every so manieth legal position of an endgame, seen from either side in turn.
pub fn positions(name: &str, step: usize) -> Vec<Position> {
    let game = Xiangqi::new();
    let index = game.index(&game.table(name).unwrap()).unwrap();
    let shape = index.shape();
    let mut found = Vec::new();
    let mut board = Position::empty(Color::Red);
    for (slice, cells) in (0..).zip(shape.slices.iter().map(|s| s.cells)) {
        for index_in in (0..cells).step_by(step) {
            let side = Side::BOTH[found.len() % 2];
            if index.set_up(Cell { slice, index: index_in, side }, &mut board) && board.is_legal() {
                found.push(if found.len() % 3 == 0 { board.flip() } else { board });
            }
        }
    }
    assert!(found.len() > 5, "{name}: {}", found.len());
    found
}
