//! What a maze of a million squares costs: `cargo run --release -p canju-puzzles --example million`.
#![allow(clippy::unwrap_used, reason = "an example that cannot be set up has failed")]

use std::fs;
use std::time::Instant;

use canju_puzzles::{Puzzle, Solution};

fn main() {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let puzzle = Puzzle::parse("million", &maze()).unwrap();
    let solution = Solution::of(&puzzle).unwrap();
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let counts = solution.counts();
    println!(
        "{} positions, {} legal, {} decided, {:?} steps: {seconds:.2} s, {cpu:.2} CPU s, {} MiB at most",
        counts.positions,
        counts.legal,
        counts.decided,
        solution.steps(),
        peak_mib()
    );
}

/// A thousand times a thousand squares, a third of them walls.
fn maze() -> String {
    let mut random = 1u64;
    let mut text = String::new();
    for row in 0..1000 {
        for column in 0..1000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push(match (row, column) {
                (0, 0) => 'S',
                (999, 999) => 'E',
                _ if (random >> 33).is_multiple_of(3) => '#',
                _ => '.',
            });
        }
        text.push('\n');
    }
    text
}

/// What Linux says that the process has computed; 0 elsewhere.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// The largest resident size that Linux has seen; 0 elsewhere.
fn peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
