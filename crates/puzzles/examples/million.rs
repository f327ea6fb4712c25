//! What puzzles of a million positions cost: `cargo run --release -p canju-puzzles --example million`.
#![allow(clippy::unwrap_used, reason = "an example that cannot be set up has failed")]

use std::fmt::Write;
use std::fs;
use std::time::Instant;

use canju_puzzles::{Puzzle, Solution};

fn main() {
    for (name, text) in [
        ("maze", maze()),
        ("winding maze", winding()),
        ("river, boat for two", river(2)),
        ("river, boat for four", river(4)),
    ] {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let puzzle = Puzzle::parse(name, &text).unwrap();
        let solution = Solution::of(&puzzle).unwrap();
        let solved = cpu_seconds() - cpu;
        let (line, longest, shortest) = (solution.line(puzzle.start()), solution.longest(), solution.shortest());
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let counts = solution.counts();
        println!(
            "{name}: {} positions, {} legal, {} decided, {} steps, {} at most, {} ways: {seconds:.2} s, {cpu:.2} CPU s, of which {solved:.2} for the labels; {} MiB at most",
            counts.positions,
            counts.legal,
            counts.decided,
            line.len() - 1,
            longest.map_or(0, |(_, most)| most),
            shortest.map_or("more than 2^128".to_owned(), |n| n.to_string()),
            peak_mib()
        );
    }
}

/// Three people take 17 things across; some things must not be left with each other. With a boat for four a position has 170
/// moves or so.
fn river(seats: u32) -> String {
    let mut text =
        "puzzle = \"river\"\n[[passenger]]\nname = \"man\"\nmany = \"men\"\ncount = 3\nrows = true\n".to_owned();
    for thing in 1..18 {
        writeln!(text, "[[passenger]]\nname = \"thing{thing}\"").unwrap();
    }
    writeln!(text, "[boat]\nseats = {seats}").unwrap();
    for thing in (1..17).step_by(3) {
        writeln!(text, "[[forbidden]]\nall = [\"thing{thing}\", \"thing{}\"]\nnone = [\"man\"]", thing + 1).unwrap();
    }
    text
}

/// A thousand rows, of which every second one has but one opening, at either end in turn.
fn winding() -> String {
    let row = |n: usize| match n % 4 {
        1 => format!("{}.", "#".repeat(1000)),
        3 => format!(".{}", "#".repeat(1000)),
        _ => ".".repeat(1001),
    };
    let rows: Vec<String> = (0..1001).map(row).collect();
    let text = rows.join("\n");
    format!("S{}E", &text[1..text.len() - 1])
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
