use std::collections::HashMap;
use std::sync::Arc;

use canju_retro::{Cell, GameError, Metric, Side, Tables};
use rayon::prelude::*;

use crate::sweep::Sweep;
use crate::{Index, Position, Signature};

/// A table whose cell is no chance.
#[derive(Debug, thiserror::Error)]
#[error("slice {slice} of it has a value that is no chance of winning, or too few cells")]
struct NoOdds {
    slice: u32,
}

/// The chance of every cell of a table that the side to move wins, before it rolls.
#[derive(Debug)]
pub struct Chances {
    index: Index,
    /// By side to move, slice after slice; `NAN` where there is no position.
    sides: [Vec<f64>; 2],
}

impl Chances {
    /// Reads a finished table. What is no position has any chance.
    ///
    /// # Errors
    /// [`GameError::Tables`] when it is missing or damaged, or holds something else.
    pub fn read(index: Index, tables: &dyn Tables) -> Result<Chances, GameError> {
        let table = index.signature().name()?;
        let none = vec![f64::NAN; index.slices() as usize * index.cells() as usize];
        let mut chances = Chances { index, sides: [none.clone(), none] };
        for side in Side::BOTH {
            for slice in 0..index.slices() {
                let cells = chances.slice_mut(side.index(), slice);
                let (mut filled, mut sound) = (0, true);
                tables.read(&table, Metric::Odds, side, slice, &mut |block| {
                    for &cell in block.cells {
                        let odds = block.palette.get(usize::from(cell)).and_then(|code| code.odds());
                        match (cells.get_mut(filled), odds) {
                            (Some(chance), Some(odds)) => *chance = odds.chance(),
                            _ => sound = false,
                        }
                        filled += 1;
                    }
                })?;
                if !sound || filled != cells.len() {
                    let source = Box::new(NoOdds { slice });
                    return Err(GameError::Tables { table, metric: Metric::Odds, source });
                }
            }
        }
        Ok(chances)
    }

    /// Computes a table from its smaller ones, those of [`Signature::smaller`] in that order, on the calling thread's pool.
    /// Returned with it is the number of moves that were looked at.
    #[must_use]
    pub fn solve(signature: Signature, smaller: Vec<Arc<Chances>>) -> (Chances, u64) {
        let sweep = Sweep::new(signature, smaller);
        let index = sweep.index();
        let mut layers = vec![Vec::new(); index.last_layer() as usize + 1];
        for slice in 0..index.slices() {
            layers[index.layer(slice) as usize].push(slice);
        }
        let nothing = [Vec::new(), Vec::new()];
        let mut slices: Vec<[Vec<f64>; 2]> = vec![nothing; index.slices() as usize];
        let mut moves = 0;
        for layer in layers {
            let solved: Vec<_> =
                layer.par_iter().map(|&slice| sweep.slice(slice, |earlier| &slices[earlier as usize])).collect();
            for (slice, (values, looked)) in layer.into_iter().zip(solved) {
                slices[slice as usize] = values;
                moves += looked;
            }
        }
        let mut chances = Chances { index, sides: [Vec::new(), Vec::new()] };
        for values in slices {
            for (all, slice) in chances.sides.iter_mut().zip(values) {
                all.extend_from_slice(&slice);
            }
        }
        (chances, moves)
    }

    /// Which cells these are.
    #[must_use]
    pub fn index(&self) -> Index {
        self.index
    }

    pub(crate) fn side(&self, side: usize) -> &[f64] {
        &self.sides[side]
    }

    /// The cells of a slice for one side to move, to be filled.
    fn slice_mut(&mut self, side: usize, slice: u32) -> &mut [f64] {
        let cells = self.index.cells() as usize;
        &mut self.sides[side][slice as usize * cells..][..cells]
    }

    /// The chance of a cell; `None` where there is no position.
    #[must_use]
    pub fn get(&self, cell: Cell) -> Option<f64> {
        let number = cell.slice as usize * self.index.cells() as usize + cell.index as usize;
        self.sides[cell.side.index()].get(number).copied().filter(|chance| !chance.is_nan())
    }
}

/// Tables in memory, computed there.
#[derive(Debug, Default)]
pub struct Book {
    tables: HashMap<Signature, Arc<Chances>>,
    moves: u64,
}

impl Book {
    /// No tables.
    #[must_use]
    pub fn new() -> Book {
        Book::default()
    }

    /// All tables of up to so many stones in all.
    #[must_use]
    pub fn up_to(count: usize) -> Book {
        let mut book = Book::new();
        for count in 2..=count {
            let solved: Vec<_> =
                Signature::with_count(count).into_par_iter().map(|s| (s, Chances::solve(s, book.below(s)))).collect();
            for (signature, (chances, moves)) in solved {
                book.tables.insert(signature, Arc::new(chances));
                book.moves += moves;
            }
        }
        book
    }

    /// Bytes of memory that all tables of up to so many stones take.
    #[must_use]
    pub fn memory(count: usize) -> u64 {
        let indexes = (2..=count).flat_map(Signature::with_count).map(Index::new);
        let chances: u64 = indexes.map(|index| 2 * u64::from(index.slices()) * u64::from(index.cells())).sum();
        chances * size_of::<f64>() as u64
    }

    /// Adds a table with all that captures can turn it into.
    pub fn add(&mut self, signature: Signature) {
        if self.tables.contains_key(&signature) {
            return;
        }
        for smaller in signature.smaller() {
            self.add(smaller);
        }
        let (chances, moves) = Chances::solve(signature, self.below(signature));
        self.tables.insert(signature, Arc::new(chances));
        self.moves += moves;
    }

    fn below(&self, signature: Signature) -> Vec<Arc<Chances>> {
        signature.smaller().iter().filter_map(|s| self.tables.get(s).cloned()).collect()
    }

    /// A table, if it is here.
    #[must_use]
    pub fn table(&self, signature: Signature) -> Option<&Arc<Chances>> {
        self.tables.get(&signature)
    }

    /// How many tables there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// True without tables.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Moves that were looked at to compute all tables.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The chance that the side to move wins before it rolls; `None` where the table is not here. Where the game is over
    /// it is 0 or 1.
    #[must_use]
    pub fn chance(&self, position: &Position) -> Option<f64> {
        if let Some(winner) = position.winner() {
            return Some(if winner == position.to_move() { 1.0 } else { 0.0 });
        }
        let (index, cell) = Index::find(position)?;
        self.tables.get(&index.signature())?.get(cell)
    }
}
