//! How fast tables answer: draws positions of all endgames of a folder at random, asks them all once to fill the
//! cache, then asks them again and again, on one thread and on several.
//!
//!     cargo run --release -p canju-probe --example speed -- ./tables [POSITIONS] [ROUNDS] [THREADS]
#![allow(clippy::unwrap_used, reason = "what cannot be measured ends the program")]

use std::time::Instant;

use canju_endgame::Xiangqi;
use canju_probe::{Distances, OpenOptions, Prober};
use canju_retro::{Cell, Game, Random, Side};
use canju_xiangqi::{Color, Position};

/// So many legal positions of all endgames of the tables, seen from either side.
fn positions(prober: &Prober, number: usize) -> Vec<Position> {
    let mut random = Random::new(1);
    let game = Xiangqi::new();
    let indices: Vec<_> = prober.tables().endgames().unwrap().iter().map(|t| game.index(t).unwrap()).collect();
    let shapes: Vec<_> = indices.iter().map(|i| game.shape(i.name()).unwrap()).collect();
    let mut found = Vec::new();
    let mut board = Position::empty(Color::Red);
    while found.len() < number {
        let at = random.below(indices.len() as u64) as usize;
        let slice = random.below(shapes[at].slices.len() as u64) as u32;
        let index = random.below(u64::from(shapes[at].slices[slice as usize].cells)) as u32;
        let side = Side::BOTH[random.below(2) as usize];
        if indices[at].set_up(Cell { slice, index, side }, &mut board) && board.is_legal() {
            let seen = if random.below(2) == 0 { board } else { board.flip() };
            found.push(if random.below(2) == 0 { seen } else { seen.mirror() });
        }
    }
    found
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "./tables".to_owned());
    let mut number = |usual| arguments.next().map_or(usual, |n| n.parse().unwrap());
    let (count, rounds, threads) = (number(100_000), number(20), number(1));
    let prober = Prober::open(&folder, &OpenOptions { distances: Distances::Dtm, ..OpenOptions::default() }).unwrap();
    let positions = positions(&prober, count);
    let same = positions.iter().filter(|p| prober.probe(p).unwrap().outcome == prober.wdl(p).unwrap()).count();
    assert_eq!(same, count, "two metrics disagree");
    println!("{} endgames, {count} positions", prober.tables().endgames().unwrap().len());
    let tell = |what: &str, ask: &(dyn Fn(&Position) -> u64 + Sync)| {
        let start = Instant::now();
        let sum: u64 = std::thread::scope(|scope| {
            let each = (0..threads).map(|t| {
                let (some, rest) = positions.split_at(t * positions.len() / threads);
                scope.spawn(move || (0..rounds).map(|_| rest.iter().chain(some).map(ask).sum::<u64>()).sum::<u64>())
            });
            each.collect::<Vec<_>>().into_iter().map(|t| t.join().unwrap()).sum()
        });
        let seconds = start.elapsed().as_secs_f64();
        let asked = (count * rounds * threads) as f64;
        println!(
            "{what}: {:.0} ns each on a thread, {:.2} million a second on {threads} (sum {sum})",
            seconds * 1e9 / asked * threads as f64,
            asked / seconds / 1e6
        );
    };
    tell("wdl", &|p| prober.wdl(p).unwrap() as u64);
    tell("distance to mate", &|p| u64::from(prober.probe(p).unwrap().dtm.unwrap_or_default()));
}
