//! What a player loses by its moves, against exact tables.

use std::sync::Arc;

use canju_retro::{Cell, Side};

use crate::{Dice, Die, Index, Lookup, LookupError, Move, Player, Position, Signature};

/// How much a move lowers the chance of winning below that of the best move; `None` where a table is missing.
///
/// # Errors
/// [`LookupError`] from the tables.
pub fn loss(position: &Position, die: Die, chosen: &Move, tables: &dyn Lookup) -> Result<Option<f64>, LookupError> {
    let mut best = 0.0f64;
    for m in position.legal_moves(die) {
        let Some(enemy) = tables.chance(&position.after(&m))? else { return Ok(None) };
        best = best.max(1.0 - enemy);
    }
    Ok(tables.chance(&position.after(chosen))?.map(|enemy| best - (1.0 - enemy)))
}

/// Losses of many moves. Those of one match hang together: what counts for how sure the mean is are matches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// How many moves.
    pub moves: u64,
    /// How many were not the best.
    pub worse: u64,
    sum: f64,
    /// What is independent of each other: matches, or moves in positions that were drawn.
    groups: u64,
    /// Over groups the sums of the squares of losses, of losses times moves, and of the squares of moves.
    squares: [f64; 3],
}

impl Losses {
    /// Counts the moves of one match, or one alone.
    pub fn add(&mut self, losses: &[f64]) {
        if losses.is_empty() {
            return;
        }
        let (moves, sum) = (losses.len() as u64, losses.iter().sum::<f64>());
        let n = moves as f64;
        *self = self.and(&Losses {
            moves,
            worse: losses.iter().filter(|&&loss| loss > 1e-9).count() as u64,
            sum,
            groups: 1,
            squares: [sum * sum, sum * n, n * n],
        });
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: &Losses) -> Losses {
        Losses {
            moves: self.moves + other.moves,
            worse: self.worse + other.worse,
            sum: self.sum + other.sum,
            groups: self.groups + other.groups,
            squares: std::array::from_fn(|at| self.squares[at] + other.squares[at]),
        }
    }

    /// The mean loss of a move; `None` without moves.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.moves > 0).then(|| self.sum / self.moves as f64)
    }

    /// Half of the interval around the mean that holds the true one in 95 of 100 cases, by how matches differ from each
    /// other; `None` for fewer than two of them.
    #[must_use]
    pub fn interval(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.groups > 1)?;
        let [losses, both, moves] = self.squares;
        let apart = (losses - 2.0 * mean * both + mean * mean * moves).max(0.0);
        let groups = self.groups as f64;
        Some(1.96 * (apart * groups / (groups - 1.0)).sqrt() / self.moves as f64)
    }
}

/// Lets a player move in so many positions drawn from all of these signatures, each cell as likely as any other, with
/// any roll. Rolls that leave no choice count as well.
///
/// # Errors
/// [`LookupError`] from the tables or the player.
pub fn grade(
    player: &mut dyn Player,
    signatures: &[Signature],
    tables: &Arc<dyn Lookup>,
    moves: u64,
    mut dice: Dice,
) -> Result<Losses, LookupError> {
    let indexes: Vec<Index> = signatures.iter().map(|&signature| Index::new(signature)).collect();
    let cells = |index: &Index| u64::from(index.slices()) * u64::from(index.cells());
    let all: u64 = indexes.iter().map(cells).sum();
    let mut losses = Losses::default();
    while all > 0 && losses.moves < moves {
        let mut number = dice.below(all);
        let side = Side::BOTH[dice.below(2) as usize];
        let Some(index) = indexes.iter().find(|index| {
            let here = number < cells(index);
            number -= if here { 0 } else { cells(index) };
            here
        }) else {
            continue;
        };
        let per_slice = u64::from(index.cells());
        let cell = Cell { slice: (number / per_slice) as u32, index: (number % per_slice) as u32, side };
        let Some(position) = index.position(cell) else { continue };
        let die = dice.roll();
        if let Some(chosen) = player.choose(&position, die)? {
            match loss(&position, die, &chosen, tables.as_ref())? {
                Some(loss) => losses.add(&[loss]),
                // Without its tables a position tells nothing, nor do others like it.
                None => return Ok(losses),
            }
        }
    }
    Ok(losses)
}
