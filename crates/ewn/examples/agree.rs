//! Checks what another program says of the game, a line each: moves, ends and chances, as `tests/openspiel` prints them. Fails
//! for fewer than 1000 chances, or as many as are given: `agree 10`.
//!
//!     M R1d1 R4a1 B1b5 r4;R1d1 R4b1 B1b5 b;R1d1 R4a2 B1b5 b
//!     T R1e1 B1b5 b;r
//!     V R1d1 R4a1 B1b5 r;0.5

use std::collections::BTreeSet;
use std::io::{BufRead, stdin};
use std::process::ExitCode;

use canju_ewn::{Book, Color, Position, error_bound, read_rolled};

fn main() -> ExitCode {
    let book = Book::up_to(4);
    let least: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1000);
    let mut counts = [0u64; 3];
    let mut wrong = 0;
    for line in stdin().lock().lines() {
        let checked = line
            .map_err(|error| error.to_string())
            .and_then(|line| check(&line, &book).map_err(|error| format!("{line}: {error}")));
        match checked {
            Ok(kind) => counts[kind] += 1,
            Err(error) => {
                eprintln!("{error}");
                wrong += 1;
            }
        }
    }
    let [moves, ends, chances] = counts;
    println!("agreed: moves of {moves} rolls, {ends} ends, {chances} chances; wrong: {wrong}");
    if chances < least {
        eprintln!("{chances} chances are too few: {least} at least are wanted");
    }
    if wrong == 0 && moves > 0 && ends > 0 && chances >= least { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// 0, 1 or 2 for moves, ends and chances that agree.
fn check(line: &str, book: &Book) -> Result<usize, String> {
    let (kind, rest) = line.split_once(' ').ok_or("not a line of these")?;
    let mut fields = rest.split(';');
    let (position, die) = read_rolled(fields.next().unwrap_or_default()).map_err(|e| e.to_string())?;
    match (kind, die) {
        ("M", Some(die)) => {
            let said: BTreeSet<String> = fields.map(written).collect::<Result<_, _>>()?;
            let found: BTreeSet<String> = position.legal_moves(die).map(|m| position.after(&m).to_string()).collect();
            if said == found { Ok(0) } else { Err(format!("moves to {found:?}")) }
        }
        ("T", None) => {
            let winner = if fields.next() == Some("r") { Color::Red } else { Color::Blue };
            if position.winner() == Some(winner) { Ok(1) } else { Err(format!("winner {:?}", position.winner())) }
        }
        ("V", None) => {
            let said: f64 = fields.next().and_then(|f| f.parse().ok()).ok_or("no chance")?;
            let chance = book.chance(&position).ok_or("beyond the tables")?;
            let distances = position.all().map(|(color, _, square)| u32::from(square.distance(color))).sum();
            // The other program rounds as well.
            if (chance - said).abs() <= 2.0 * error_bound(distances) { Ok(2) } else { Err(format!("chance {chance}")) }
        }
        _ => Err("not a line of these".to_owned()),
    }
}

/// The position as it is written here.
fn written(text: &str) -> Result<String, String> {
    text.parse::<Position>().map(|position| position.to_string()).map_err(|error| error.to_string())
}
