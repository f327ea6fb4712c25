//! `canju grade`: what players lose by their moves, against exact tables.

use std::io::Write;

use canju_ewn::{Dice, Signature, grade};
use serde::Serialize;

use super::{GradeArguments, lookup};
use crate::words::grouped;

#[derive(Serialize)]
struct Graded {
    player: &'static str,
    stones: u8,
    moves: u64,
    worse: u64,
    mean_loss: f64,
    interval: Option<f64>,
}

pub(crate) fn run(arguments: &GradeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let tables = lookup::open(&arguments.known)?;
    let stones = arguments.known.stones;
    let signatures = Signature::with_count(stones.into());
    let mut graded = Vec::new();
    for kind in &arguments.players {
        let mut player = kind.player(Dice::row(arguments.seed, 1), tables.clone(), arguments.known.depth);
        let dice = Dice::row(arguments.seed, 0);
        let losses = grade(player.as_mut(), &signatures, &tables, arguments.moves, dice)?;
        let Some(mean_loss) = losses.mean().filter(|_| losses.moves == arguments.moves) else {
            anyhow::bail!("not all tables of up to {stones} stones are there: leave --tables out to compute them");
        };
        let (moves, worse, interval) = (losses.moves, losses.worse, losses.interval());
        graded.push(Graded { player: kind.name(), stones, moves, worse, mean_loss, interval });
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&graded)?)?;
        return Ok(());
    }
    writeln!(out, "{} moves each in positions of {stones} stones, seed {}", grouped(arguments.moves), arguments.seed)?;
    writeln!(out, "{:8}{:>20}{:>16}", "player", "loss a move", "not the best")?;
    for g in &graded {
        let loss = super::lost(g.mean_loss, g.interval);
        writeln!(out, "{:8}{loss:>20}{:>15.1}%", g.player, 100.0 * g.worse as f64 / g.moves as f64)?;
    }
    Ok(())
}
