//! The winning chances of a slice from those of smaller slices and tables, in one pass.
//!
//! Every move lowers the distances of all stones in all, so there are no loops: cells in ascending order need only what
//! was computed before. Slices of one [`layer`](Index::layer) need nothing of each other.
//!
//! Errors: see [`error_bound`].

use std::sync::Arc;

use canju_retro::Side;

use crate::index::{DIGITS, anchor, transposed};
use crate::signature::canonical;
use crate::square::steps;
use crate::{Chances, Color, Index, Signature, Square, Stones};

/// Half of the distance from 1 to the next number of 64 bits: what one rounding adds at most to a number up to 1.
const UNIT: f64 = f64::EPSILON / 2.0;
/// The largest number of 64 bits below 1.
const BELOW_ONE: f64 = 1.0 - UNIT;
/// No stone.
const EMPTY: u8 = u8::MAX;
/// Most stones that there are.
const MOST: usize = 12;

/// How far a computed chance may be from the true one, where the stones' distances to their goals are so many in all.
///
/// A chance is a sixth of at most six products, each of a count of dice and of one less another chance. One less is
/// one rounding, a product another, the sums are five, the sixth is one: eight roundings of at most 2^-53 each, and what
/// they add to each other is far below a ninth. Maxima and means of chances that err by e err by e at most. A move lowers the
/// distances by one at least. 0 and 1 are exact: a chance is computed to be 0 or 1 if and only if it is.
#[must_use]
pub fn error_bound(distances: u32) -> f64 {
    9.0 * UNIT * f64::from(distances)
}

/// How many dice choose a stone alone, and how many choose between it and the next one.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    alone: [f64; 6],
    between: [f64; 6],
}

impl Weights {
    fn of(stones: Stones) -> Self {
        let numbers: Vec<u8> = stones.numbers().collect();
        let mut weights = Self::default();
        for (i, &number) in numbers.iter().enumerate() {
            let lower = if i == 0 { number } else { 1 };
            let higher = if i + 1 == numbers.len() { 7 - number } else { 1 };
            // The stone's own number counts once.
            weights.alone[i] = f64::from(lower + higher - 1);
            if let Some(next) = numbers.get(i + 1) {
                weights.between[i] = f64::from(next - number - 1);
            }
        }
        weights
    }

    /// The chance from those of moving each stone.
    #[inline]
    fn chance(&self, moved: &[f64]) -> f64 {
        let mut sum = self.alone[0] * moved[0];
        let mut least = moved[0];
        for i in 1..moved.len() {
            sum += self.alone[i] * moved[i];
            sum += self.between[i - 1] * moved[i].max(moved[i - 1]);
            least = least.min(moved[i]);
        }
        // Each stone is chosen by a die of its own: all must win for certainty, whatever rounding says.
        (sum / 6.0).min(if least < 1.0 { BELOW_ONE } else { 1.0 })
    }
}

/// The mover's chance where the enemy's is this: certain only where that is 0.
#[inline]
fn less(enemy: f64) -> f64 {
    (1.0 - enemy).min(if enemy > 0.0 { BELOW_ONE } else { 1.0 })
}

/// Where a capture leads.
struct Capture {
    /// The number of the smaller table in the list, and the side to move there.
    table: usize,
    side: usize,
    /// The stone at each place of the smaller table.
    order: Vec<u8>,
}

/// A slice that quiet moves of a leading stone lead to.
#[derive(Clone, Copy)]
struct Near<'a> {
    values: &'a [Vec<f64>; 2],
    turned: bool,
}

/// What all slices of a table need to be computed.
pub struct Sweep {
    index: Index,
    /// Stones of the first side.
    first: usize,
    weights: [Weights; 2],
    smaller: Vec<Arc<Chances>>,
    /// By the stone that moves and the one that is captured; `None` where that wins.
    captures: Vec<Vec<Option<Capture>>>,
    /// What a step adds to the number of a cell; 0 for leading stones.
    strides: [u32; MOST],
}

impl Sweep {
    /// The sweep of a signature. `smaller` are the tables of [`Signature::smaller`], in that order.
    ///
    /// # Panics
    /// Where they are not.
    #[must_use]
    pub fn new(signature: Signature, smaller: Vec<Arc<Chances>>) -> Sweep {
        let names: Vec<_> = smaller.iter().map(|table| table.index().signature()).collect();
        assert_eq!(names, signature.smaller(), "the smaller tables of {signature}");
        let index = Index::new(signature);
        let sets = Side::BOTH.map(|side| signature.stones(side));
        let first = sets[0].len();
        let stones: Vec<(usize, u8)> = (0..2).flat_map(|side| sets[side].numbers().map(move |n| (side, n))).collect();
        let capture = |mover: usize, taken: usize| {
            let mut left = sets;
            left[stones[taken].0] = left[stones[taken].0].without(stones[taken].1);
            if left.iter().any(|side| side.is_empty()) {
                return None;
            }
            let found = canonical(left);
            let table = names.iter().position(|&name| name == found.signature)?;
            let to_move = 1 - stones[mover].0;
            let order = found.order.iter().filter_map(|at| stones.iter().position(|stone| stone == at));
            Some(Capture { table, side: to_move ^ usize::from(found.swapped), order: order.map(|s| s as u8).collect() })
        };
        let count = stones.len();
        let mut strides = [0; MOST];
        for (inner, stone) in (index.leads()..count).rev().enumerate() {
            strides[stone] = DIGITS.pow(inner as u32);
        }
        let captures = (0..count).map(|mover| (0..count).map(|taken| capture(mover, taken)).collect()).collect();
        Sweep { index, first, weights: sets.map(Weights::of), smaller, captures, strides }
    }

    /// The cells that are computed.
    #[must_use]
    pub fn index(&self) -> Index {
        self.index
    }

    /// Bytes that the smaller tables take.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.smaller.iter().map(|table| 8 * 2 * table.side(0).len() as u64).sum()
    }

    /// The chances of a slice by side to move, `NAN` for cells that are no position. `earlier` gives the slices of
    /// [`Index::leads_to`], computed before. Returned with them is the number of moves that were looked at.
    pub fn slice<'a>(&self, slice: u32, earlier: impl Fn(u32) -> &'a [Vec<f64>; 2]) -> ([Vec<f64>; 2], u64) {
        let leading = self.index.leading(slice);
        let none = vec![f64::NAN; self.index.cells() as usize];
        let mut walk = Walk {
            sweep: self,
            board: [EMPTY; Square::COUNT],
            ahead: [0; MOST],
            near: [[None; 7]; MOST],
            values: [none.clone(), none],
            moves: 0,
        };
        for (stone, &ahead) in leading.iter().enumerate() {
            let square = self.square(stone, ahead);
            if walk.board[square] != EMPTY {
                return (walk.values, 0);
            }
            walk.board[square] = stone as u8;
            walk.ahead[stone] = ahead;
        }
        for (stone, &ahead) in leading.iter().enumerate() {
            for &step in steps(ahead) {
                // A capture leads elsewhere, and so does arriving.
                if step != ahead && walk.board[self.square(stone, ahead - step)] == EMPTY {
                    let mut moved = leading.clone();
                    moved[stone] -= step;
                    let (to, turned) = self.index.slice(&moved);
                    walk.near[stone][usize::from(step)] = Some(Near { values: earlier(to), turned });
                }
            }
        }
        walk.place(self.index.leads(), 0);
        (walk.values, walk.moves)
    }

    /// The number of a stone's square.
    #[inline]
    fn square(&self, stone: usize, ahead: u8) -> usize {
        usize::from(if stone < self.first { 24 - ahead } else { ahead })
    }
}

impl Index {
    /// The slices, ascending, that quiet moves lead to from a slice, itself left out.
    #[must_use]
    pub fn leads_to(&self, slice: u32) -> Vec<u32> {
        let leading = self.leading(slice);
        let first = self.signature().stones(Side::First).len();
        let square =
            |stone: usize, ahead: u8| Square::from_ahead(ahead, if stone < first { Color::Red } else { Color::Blue });
        let mut all = Vec::new();
        for (stone, &ahead) in leading.iter().enumerate() {
            for &step in steps(ahead) {
                let mut moved = leading.clone();
                moved[stone] -= step;
                let to = square(stone, moved[stone]);
                let free = (0..leading.len()).all(|other| other == stone || square(other, leading[other]) != to);
                if step != ahead && free {
                    all.push(self.slice(&moved).0);
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The pass over one slice.
struct Walk<'a> {
    sweep: &'a Sweep,
    /// The stone on each square.
    board: [u8; Square::COUNT],
    /// How far each stone is from its goal, as [`Square::ahead`].
    ahead: [u8; MOST],
    /// By leading stone and step.
    near: [[Option<Near<'a>>; 7]; MOST],
    values: [Vec<f64>; 2],
    moves: u64,
}

impl Walk<'_> {
    /// Places this stone and all after it on all free squares. `cell` is the number that the ones before make.
    fn place(&mut self, stone: usize, cell: u32) {
        let last = stone + 1 == self.sweep.index.signature().count();
        for digit in 0..DIGITS {
            let ahead = digit as u8 + 1;
            let square = self.sweep.square(stone, ahead);
            if self.board[square] != EMPTY {
                continue;
            }
            self.board[square] = stone as u8;
            self.ahead[stone] = ahead;
            let cell = cell * DIGITS + digit;
            if last {
                self.cell(cell)
            } else {
                self.place(stone + 1, cell)
            }
            self.board[square] = EMPTY;
        }
    }

    fn cell(&mut self, cell: u32) {
        let (first, count) = (self.sweep.first, self.sweep.captures.len());
        for (side, stones) in [(0, 0..first), (1, first..count)] {
            let mut moved = [0.0; 6];
            let own = stones.len();
            for (stone, moved) in stones.zip(&mut moved) {
                *moved = self.moved(stone, cell, 1 - side);
            }
            self.values[side][cell as usize] = self.sweep.weights[side].chance(&moved[..own]);
        }
    }

    /// The best chance of the stone's side when it moves the stone.
    #[inline]
    fn moved(&mut self, stone: usize, cell: u32, enemy: usize) -> f64 {
        let ahead = self.ahead[stone];
        let mut least = 1.0f64;
        for &step in steps(ahead) {
            self.moves += 1;
            if step == ahead {
                return 1.0;
            }
            let to = ahead - step;
            let on = self.board[self.sweep.square(stone, to)];
            let left = if on != EMPTY {
                match &self.sweep.captures[stone][usize::from(on)] {
                    None => return 1.0,
                    Some(capture) => self.captured(capture, stone, to),
                }
            } else if let Some(near) = self.near[stone][usize::from(step)] {
                let cell = if near.turned { self.turned() } else { cell };
                near.values[enemy][cell as usize]
            } else {
                self.values[enemy][(cell - u32::from(step) * self.sweep.strides[stone]) as usize]
            };
            least = least.min(left);
        }
        less(least)
    }

    /// The cell of the stones that do not lead, transposed.
    fn turned(&self) -> u32 {
        let (leads, count) = (self.sweep.index.leads(), self.sweep.captures.len());
        self.ahead[leads..count].iter().fold(0, |cell, &ahead| cell * DIGITS + u32::from(transposed(ahead)) - 1)
    }

    /// The enemy's chance after a capture by a stone that then is so far from its goal.
    #[inline]
    fn captured(&self, capture: &Capture, stone: usize, to: u8) -> f64 {
        let ahead = |s: u8| if usize::from(s) == stone { to } else { self.ahead[usize::from(s)] };
        let (first, rest) = (ahead(capture.order[0]), &capture.order[1..]);
        let number = match anchor(first) {
            Some(digit) => {
                rest.iter().fold(usize::from(digit), |n, &s| n * DIGITS as usize + usize::from(ahead(s)) - 1)
            }
            None => {
                let digit = anchor(transposed(first)).unwrap_or(0);
                rest.iter()
                    .fold(usize::from(digit), |n, &s| n * DIGITS as usize + usize::from(transposed(ahead(s))) - 1)
            }
        };
        self.sweep.smaller[capture.table].side(capture.side)[number]
    }
}
