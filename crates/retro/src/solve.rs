//! The loop over plies for a table that one part holds whole.

use std::sync::Arc;

use crate::{After, Game, GameError, Metric, Part, PartSpec, Rules, TableName, Tables, next_ply};

/// A table that was solved in one piece.
pub struct Solved {
    /// The part that holds all slices.
    pub part: Box<dyn Part>,
    /// Plies that were run.
    pub plies: u16,
    /// Labelled cells, not weighted by symmetry.
    pub labels: u64,
}

/// Solves a whole table on the calling thread's rayon pool. The smaller tables must be in `tables`.
///
/// # Errors
/// As [`Game::part`] and [`Part::prepare`].
pub fn solve(
    game: &dyn Game,
    table: &TableName,
    metric: Metric,
    rules: Rules,
    tables: Arc<dyn Tables>,
) -> Result<Solved, GameError> {
    let slices = (0..game.shape(table)?.slices.len() as u32).collect();
    let mut part = game.part(&PartSpec { table: table.clone(), metric, rules, slices, room: None }, tables)?;
    part.prepare()?;
    let mut labels = 0;
    let mut idle = 0;
    let mut ply = 0;
    // Wins stand at odd plies and losses at even ones: two idle plies running are needed to know the end.
    while idle < 2 {
        let counts = part.step(ply)?;
        labels += counts.total();
        idle = if counts.is_idle() { idle + 1 } else { 0 };
        if idle == 2 && counts.after != After::End {
            part.turn(counts.after)?;
            idle = 0;
        }
        ply = next_ply(ply)?;
    }
    Ok(Solved { part, plies: ply, labels })
}
