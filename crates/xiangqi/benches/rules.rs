//! How fast the rules are: `cargo bench -p canju-xiangqi`.

use canju_xiangqi::{Color, Piece, Position, Square, perft};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

/// Pieces of an endgame of ten men.
const ENDGAME: &str = "3ak4/4a4/4b4/9/2b6/2P6/9/4B4/4A2C1/4K4 w";

fn main() {
    divan::main();
}

fn endgame() -> Position {
    // An unreadable constant would show as the speed of the start of a game.
    Position::from_fen(ENDGAME).unwrap_or_else(|_| Position::initial())
}

#[divan::bench(args = [3, 4])]
fn perft_initial(bencher: Bencher, depth: u32) {
    let nodes = perft(&mut Position::initial(), depth);
    bencher.counter(ItemsCount::new(nodes)).bench(|| perft(&mut black_box(Position::initial()), depth));
}

#[divan::bench]
fn legal_moves_initial(bencher: Bencher) {
    let position = Position::initial();
    bencher.bench(|| black_box(&position).legal_moves());
}

#[divan::bench]
fn count_legal_moves_endgame(bencher: Bencher) {
    let position = endgame();
    bencher.bench(|| black_box(&position).count_legal_moves());
}

#[divan::bench]
fn from_pieces_endgame(bencher: Bencher) {
    let pieces: Vec<(Piece, Square)> = endgame().pieces().collect();
    bencher.bench(|| Position::from_pieces(black_box(&pieces), Color::Red));
}

#[divan::bench]
fn place_and_count_endgame(bencher: Bencher) {
    let pieces: Vec<(Piece, Square)> = endgame().pieces().collect();
    let mut position = Position::empty(Color::Red);
    bencher.bench_local(|| {
        position.clear();
        for &(piece, square) in black_box(&pieces) {
            let placed = position.place(piece, square);
            debug_assert!(placed.is_ok());
        }
        position.count_legal_moves()
    });
}
