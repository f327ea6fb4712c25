//! Counts legal move sequences: `perft [FEN] [DEPTH]`, by default the start of a game to depth 5.

use std::process::ExitCode;
use std::time::Instant;

use canju_xiangqi::{Position, perft};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (position, depth) = match read(&arguments) {
        Ok(read) => read,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    println!("{position}");
    for depth in 1..=depth {
        let started = Instant::now();
        let nodes = perft(&mut position.clone(), depth);
        let seconds = started.elapsed().as_secs_f64();
        let speed = nodes as f64 / seconds.max(1e-9) / 1e6;
        println!("depth {depth}  nodes {nodes:>14}  {seconds:>9.3} s  {speed:>7.1} M nodes/s");
    }
    ExitCode::SUCCESS
}

/// A FEN may come quoted or as separate words; a last word that is a number is the depth.
fn read(arguments: &[String]) -> Result<(Position, u32), String> {
    let (fen, depth) = match arguments.split_last() {
        Some((last, rest)) => match last.parse() {
            Ok(depth) => (rest.join(" "), depth),
            Err(_) => (arguments.join(" "), 5),
        },
        None => (String::new(), 5),
    };
    let position = if fen.is_empty() {
        Position::initial()
    } else {
        Position::from_fen(&fen).map_err(|error| format!("cannot read `{fen}`: {error}"))?
    };
    Ok((position, depth))
}
