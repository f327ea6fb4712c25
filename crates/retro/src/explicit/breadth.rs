//! The labels of a whole game of one player at once, breadth first from its ends.
//!
//! A table's plies are numbers of 16 bits, as its files and all messages about it have them. Here ways may be as long as there
//! are cells, and a ply costs no more than the cells that it reaches.

use super::graph::survey;
use super::ground::Ground;
use super::{Explicit, Players, Values};
use crate::{Code, Distance, GameError, Metric, Outcome, PartSpec, Rules, TableName};

/// Most cells: a way through all of them is still told.
const MOST_CELLS: usize = 1 << 30;

/// Labels all cells; a label is told by [`Distance::steps`].
///
/// # Errors
/// [`GameError::Flawed`] as when a part is prepared; [`GameError::OutOfTurn`] for a game of two players;
/// [`GameError::TooLarge`] for more than 2^30 cells.
pub fn by_breadth(table: &dyn Explicit, name: &TableName) -> Result<Values, GameError> {
    if table.players() != Players::One {
        return Err(GameError::OutOfTurn(format!("{name} is no game of one player")));
    }
    let slices = (0..table.slices().len() as u32).collect();
    let spec = PartSpec { table: name.clone(), metric: Metric::Dtm, rules: Rules::Plain, slices, room: None };
    let ground = Ground::new(table, &spec)?;
    if ground.cells() > MOST_CELLS {
        let reason = format!("{} cells, where {MOST_CELLS} are the most", ground.cells());
        return Err(GameError::TooLarge { table: name.clone(), reason });
    }
    let (start, back) = survey(table, &ground)?;
    // A draw is what no end is reached from, as far as is known.
    let mut codes = vec![Code::DRAW; ground.cells()];
    for &id in start.illegal.iter().chain(&start.drawn) {
        codes[id as usize] = Code::LOSS;
    }
    let mut front = Vec::new();
    for (id, won) in start.ends {
        codes[id as usize] = if won { Code::WIN } else { Code::LOSS };
        front.extend(won.then_some(id));
    }
    let (mut next, mut found) = (Vec::new(), Vec::new());
    let mut steps = 0;
    while !front.is_empty() {
        steps += 1;
        let code = Code::from(Outcome::Win(Distance::of_steps(steps)));
        for &id in &front {
            back.each(table, &ground, id, &mut found, |from| {
                let known = &mut codes[from as usize];
                if *known == Code::DRAW {
                    *known = code;
                    next.push(from);
                }
            });
        }
        front.clear();
        std::mem::swap(&mut front, &mut next);
    }
    for id in start.drawn {
        codes[id as usize] = Code::DRAW;
    }
    // All slices are own ones, so the numbers are those of the places.
    Ok(Values::alone(table, codes))
}
