//! Whether a finished table follows from the rules, one step forward from every cell.

use canju_retro::{Cell, GameError, Odds, Side, TableName, Tables};
use rayon::prelude::*;

use crate::game::index;
use crate::{Chances, Dice, Die, Index, Position, Signature};

/// How far what follows from stored chances may be from a stored one. Each is rounded by 2^-25, near 0 and 1 by 2^-23;
/// and moves that stay in the table were not rounded when it was computed.
pub const TOLERANCE: f64 = 1.0 / (1 << 22) as f64;

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// Positions that were compared.
    pub checked: u64,
    /// Those of them that are wrong.
    pub wrong: u64,
    /// The first of these, with what the table holds and what follows.
    pub first: Option<(Cell, Position, f64, f64)>,
}

impl Verified {
    fn and(mut self, other: Verified) -> Verified {
        self.checked += other.checked;
        self.wrong += other.wrong;
        let place = |found: &(Cell, Position, f64, f64)| (found.0.slice, found.0.side, found.0.index);
        self.first = match (self.first, other.first) {
            (Some(a), Some(b)) => Some(if place(&a) <= place(&b) { a } else { b }),
            (a, b) => a.or(b),
        };
        self
    }
}

/// Compares every position of a table, or so many drawn at random, with those that its moves lead to, by the ordinary moves.
/// `done` is told how many slices are done of how many, for each side. Works on the calling thread's pool.
///
/// # Errors
/// As [`canju_retro::Game::shape`], and [`GameError::Tables`] when the table or a smaller one cannot be read.
pub fn verify(
    table: &TableName,
    tables: &dyn Tables,
    sample: Option<u64>,
    done: &(dyn Fn() + Sync),
) -> Result<Verified, GameError> {
    let index = index(table)?;
    let mut names = index.signature().smaller();
    names.push(index.signature());
    let read = |signature: Signature| Ok((signature, Chances::read(Index::new(signature), tables)?));
    let known: Vec<(Signature, Chances)> = names.into_iter().map(read).collect::<Result<_, GameError>>()?;
    let cells = u64::from(index.cells());
    let slices: Vec<(u32, Side)> = (0..index.slices()).flat_map(|s| Side::BOTH.map(|side| (s, side))).collect();
    let check = |(slice, side): (u32, Side)| {
        let mut found = Verified::default();
        let mut check = |number: u64| {
            let cell = Cell { slice, index: number as u32, side };
            let Some(position) = index.position(cell) else { return };
            found.checked += 1;
            let stored = chance(&known, &position).unwrap_or(f64::NAN);
            let computed = follows(&known, &position).unwrap_or(f64::NAN);
            let certain = [stored, computed].map(|c| (c == 0.0, c == 1.0));
            if (stored - computed).abs() <= TOLERANCE && certain[0] == certain[1] {
                return;
            }
            found.wrong += 1;
            found.first.get_or_insert((cell, position, stored, computed));
        };
        match sample {
            None => (0..cells).for_each(&mut check),
            Some(all) => {
                let share = all.div_ceil(slices.len() as u64);
                let mut dice = Dice::row(1, u64::from(slice) * 2 + side.index() as u64);
                (0..share).for_each(|_| check(dice.below(cells)));
            }
        }
        done();
        found
    };
    Ok(slices.par_iter().map(|&at| check(at)).reduce(Verified::default, Verified::and))
}

fn chance(known: &[(Signature, Chances)], position: &Position) -> Option<f64> {
    if let Some(winner) = position.winner() {
        return Some(if winner == position.to_move() { 1.0 } else { 0.0 });
    }
    let (index, cell) = Index::find(position)?;
    known.iter().find(|(signature, _)| *signature == index.signature())?.1.get(cell)
}

/// The chance that follows from those after each move, as tables hold it.
fn follows(known: &[(Signature, Chances)], position: &Position) -> Option<f64> {
    let stones = position.stones(position.to_move());
    // What the enemy is left by the best move of each stone: most rolls choose the same stones.
    let mut left = [f64::INFINITY; 6];
    for number in stones.numbers() {
        for m in position.moves_of(number) {
            let least = &mut left[usize::from(number) - 1];
            *least = least.min(chance(known, &position.after(&m))?);
        }
    }
    let mut sum = 0.0;
    let mut certain = [true; 2];
    for die in Die::ALL {
        let least = stones.chosen(die).map(|number| left[usize::from(number) - 1]).fold(f64::INFINITY, f64::min);
        certain = [certain[0] && least == 1.0, certain[1] && least == 0.0];
        sum += 1.0 - least;
    }
    Some(match certain {
        [true, _] => 0.0,
        [_, true] => 1.0,
        // What is merely likely is never certain.
        _ => (sum / 6.0).clamp(Odds::of(f64::MIN_POSITIVE).chance(), Odds::of(1.0 - f64::EPSILON).chance()),
    })
}
