//! Computes all tables of up to so many stones in memory, and tells what that takes: `build 4`.
//!
//! The tables of the last number of stones are counted and dropped.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use canju_ewn::{Book, Chances, Signature};
use canju_retro::{Cell, Side};

fn main() -> ExitCode {
    let Some(stones) = std::env::args().nth(1).and_then(|word| word.parse().ok()).filter(|n| (2..=6).contains(n))
    else {
        eprintln!("error: give the most stones, 2 to 6");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    let mut book = Book::up_to(stones - 1);
    let (mut cells, mut moves, mut sums) = (0u64, book.moves(), [0u64; 3]);
    for signature in Signature::with_count(stones) {
        signature.smaller().into_iter().for_each(|smaller| book.add(smaller));
        let smaller = signature.smaller().iter().filter_map(|s| book.table(*s)).cloned().collect::<Vec<Arc<Chances>>>();
        let (chances, looked) = Chances::solve(signature, smaller);
        moves += looked;
        let index = chances.index();
        cells += 2 * u64::from(index.slices()) * u64::from(index.cells());
        for (slice, side) in (0..index.slices()).flat_map(|s| Side::BOTH.map(|side| (s, side))) {
            for chance in (0..index.cells()).filter_map(|cell| chances.get(Cell { slice, index: cell, side })) {
                sums[if chance == 1.0 {
                    0
                } else if chance == 0.0 {
                    1
                } else {
                    2
                }] += 1;
            }
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let [wins, losses, open] = sums;
    println!(
        "{stones} stones: {cells} cells, {} positions kept: {wins} won, {losses} lost, {open} open",
        wins + losses + open
    );
    println!(
        "up to {stones} stones: {moves} moves looked at, {seconds:.1} s, {:.1} million a second",
        moves as f64 / seconds / 1e6
    );
    ExitCode::SUCCESS
}
