//! River crossings.
//!
//! A position is how many of each kind of passengers are where they started, and where the boat is. As a number its most
//! significant digit is the boat (1 at the start), then come the passengers in the order of the file; positions are
//! listed in descending order, so that the first is the one with everybody at the start.

use canju_retro::{Cell, End, Explicit, Players, Side, SliceShape};

use crate::divisor::Divisor;
use crate::loads::Loads;

/// Most positions.
pub(crate) const MOST_POSITIONS: u64 = 1 << 28;
/// Most positions times what is looked at in each: loads and what is forbidden.
pub(crate) const MOST_LOOKS: u64 = 1 << 34;

/// Passengers of one kind, who are not told apart.
#[derive(Clone, Debug)]
pub struct Passenger {
    /// What one of them is called.
    pub name: String,
    /// What several are called.
    pub many: String,
    /// How many there are.
    pub count: u32,
    /// True for those who can row.
    pub rows: bool,
}

/// What a bank must not hold: all conditions together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forbidden {
    /// Of each of these groups somebody is there.
    pub(crate) all: Vec<Vec<usize>>,
    /// Somebody of these is there.
    pub(crate) any: Option<Vec<usize>>,
    /// Nobody of these is there.
    pub(crate) none: Vec<usize>,
    /// There are more of the first than of the second, and some of these.
    pub(crate) more: Option<(Vec<usize>, Vec<usize>)>,
}

impl Forbidden {
    /// True for a bank with so many of each kind.
    pub(crate) fn holds(&self, bank: &[u32]) -> bool {
        let sum = |group: &[usize]| group.iter().map(|&p| bank[p]).sum::<u32>();
        self.all.iter().all(|group| sum(group) > 0)
            && self.any.as_ref().is_none_or(|group| sum(group) > 0)
            && sum(&self.none) == 0
            && self.more.as_ref().is_none_or(|(more, than)| sum(than) > 0 && sum(more) > sum(than))
    }
}

/// A river crossing: everybody and everything is to come across with one boat.
#[derive(Clone, Debug)]
pub struct River {
    passengers: Vec<Passenger>,
    loads: Loads,
    /// What one passenger of each kind counts in the number of a bank.
    weights: Vec<u32>,
    /// Positions with the boat on one side.
    half: u32,
    /// Cells of a slice.
    slice: Divisor,
    /// Everybody across is the goal wherever the boat is.
    anywhere: bool,
    /// By the number of the bank: whether neither bank holds what is forbidden.
    safe: Vec<u64>,
}

impl River {
    /// The positions that there would be.
    pub(crate) fn positions(counts: impl Iterator<Item = u32>) -> u64 {
        counts.fold(2, |product, count| product.saturating_mul(u64::from(count) + 1))
    }

    /// The crossing. The caller has seen to it that the numbers fit.
    pub(crate) fn new(
        passengers: Vec<Passenger>,
        loads: Vec<Vec<u32>>,
        forbidden: &[Forbidden],
        anywhere: bool,
    ) -> Self {
        let kinds = passengers.len();
        let mut weights = vec![1; kinds];
        for kind in (1..kinds).rev() {
            weights[kind - 1] = weights[kind] * (passengers[kind].count + 1);
        }
        let half = weights[0] * (passengers[0].count + 1);
        let most = crate::puzzle_slice(2 * half);
        // A slice has the same first digits; where that would be few numbers, it is a run of more.
        let digits = weights.iter().copied().find(|&weight| weight <= most).unwrap_or(1);
        let slice = if 16 * digits <= most { most } else { digits };
        let loads = Loads::new(loads, &weights);
        let mut river =
            Self { passengers, loads, weights, half, slice: Divisor::new(slice), anywhere, safe: Vec::new() };
        river.safe = river.judge(forbidden);
        river
    }

    /// Which banks are safe, a bit for each, the other bank judged with it.
    fn judge(&self, forbidden: &[Forbidden]) -> Vec<u64> {
        let mut safe = vec![0u64; self.half.div_ceil(64) as usize];
        let mut here: Vec<u32> = vec![0; self.passengers.len()];
        let mut there: Vec<u32> = self.passengers.iter().map(|p| p.count).collect();
        for bank in 0..self.half {
            if !forbidden.iter().any(|f| f.holds(&here) || f.holds(&there)) {
                safe[bank as usize / 64] |= 1 << (bank % 64);
            }
            // The next number.
            for kind in (0..here.len()).rev() {
                if there[kind] > 0 {
                    here[kind] += 1;
                    there[kind] -= 1;
                    break;
                }
                (here[kind], there[kind]) = (0, here[kind]);
            }
        }
        safe
    }

    /// The passengers, in the order of the file.
    #[must_use]
    pub fn passengers(&self) -> &[Passenger] {
        &self.passengers
    }

    /// Everybody and the boat at the start.
    #[must_use]
    pub fn start(&self) -> Cell {
        self.cell(true, self.half - 1)
    }

    pub(crate) fn number(&self, cell: Cell) -> u64 {
        u64::from(cell.slice) * u64::from(self.slice.number) + u64::from(cell.index) + 1
    }

    /// True for a boat at the start; and how many of each kind of passengers are there.
    #[must_use]
    pub fn position(&self, cell: Cell) -> (bool, Vec<u32>) {
        let (boat, bank) = self.bank(cell);
        (boat, self.counts(bank))
    }

    /// Who goes across, or comes back, between two positions; `None` where no single crossing leads there.
    #[must_use]
    pub fn load(&self, from: Cell, to: Cell) -> Option<Vec<u32>> {
        let ((boat, from), (other, to)) = (self.bank(from), self.bank(to));
        let moved = if boat { from.checked_sub(to)? } else { to.checked_sub(from)? };
        let load = self.loads.iter().find(|l| l.weight == moved)?;
        let fits = load.counts.iter().zip(self.at_boat(boat, from)).all(|(taken, there)| *taken <= there);
        (boat != other && fits).then(|| load.counts.clone())
    }

    fn counts(&self, bank: u32) -> Vec<u32> {
        self.weights.iter().zip(&self.passengers).map(|(w, p)| bank / w % (p.count + 1)).collect()
    }

    fn bank(&self, cell: Cell) -> (bool, u32) {
        let value = 2 * self.half - 1 - (cell.slice * self.slice.number + cell.index);
        (value >= self.half, value % self.half)
    }

    fn cell(&self, boat: bool, bank: u32) -> Cell {
        let value = if boat { self.half + bank } else { bank };
        self.at(2 * self.half - 1 - value)
    }

    /// The cell at a place in the list of all.
    fn at(&self, place: u32) -> Cell {
        let (slice, index) = self.slice.divide(place);
        Cell { slice, index, side: Side::First }
    }

    /// How many of each kind are on the boat's bank.
    fn at_boat(&self, boat: bool, bank: u32) -> Vec<u32> {
        let mut there = self.counts(bank);
        if !boat {
            there.iter_mut().zip(&self.passengers).for_each(|(here, p)| *here = p.count - *here);
        }
        there
    }
}

impl Explicit for River {
    fn players(&self) -> Players {
        Players::One
    }

    fn slices(&self) -> Vec<SliceShape> {
        let (all, cells) = (2 * self.half, self.slice.number);
        let of = |slice: u32| {
            let (first, last) = (slice * cells, (slice * cells + cells).min(all) - 1);
            let mut near = vec![false; all.div_ceil(cells) as usize];
            for load in self.loads.iter() {
                // A crossing leads so far on in the list, from its first half into the second.
                let far = self.half + load.weight;
                let on = (first < self.half).then(|| first + far..(last.min(self.half - 1) + far + 1).min(all));
                let back = (last >= far).then(|| first.max(self.half).max(far) - far..last - far + 1);
                for places in [on, back].into_iter().flatten().filter(|places| !places.is_empty()) {
                    near[(places.start / cells) as usize..=((places.end - 1) / cells) as usize].fill(true);
                }
            }
            let neighbours = (0..).zip(&near).filter(|&(_, &near)| near).map(|(slice, _)| slice).collect();
            SliceShape { cells: last + 1 - first, neighbours }
        };
        (0..all.div_ceil(cells)).map(of).collect()
    }

    fn legal(&self, cell: Cell) -> bool {
        let (_, bank) = self.bank(cell);
        self.safe[bank as usize / 64] >> (bank % 64) & 1 == 1
    }

    fn end(&self, cell: Cell) -> Option<End> {
        let (boat, bank) = self.bank(cell);
        (bank == 0 && (self.anywhere || !boat)).then_some(End::Won)
    }

    fn successors(&self, cell: Cell, found: &mut Vec<Cell>) {
        let (boat, bank) = self.bank(cell);
        let there = self.at_boat(boat, bank);
        // The same people with the boat on the other side are half a list away, and who crosses leads further on or back.
        let place = cell.slice * self.slice.number + cell.index;
        if boat {
            let far = place + self.half;
            self.loads.within(&there, |weight| found.push(self.at(far + weight)));
        } else {
            let far = place - self.half;
            self.loads.within(&there, |weight| found.push(self.at(far - weight)));
        }
    }

    /// Who crossed can cross back.
    fn predecessors(&self, cell: Cell, found: &mut Vec<Cell>) -> bool {
        self.successors(cell, found);
        true
    }

    /// The digits in the order of the file, and the boat behind them, as in 331; with points between them where there
    /// are more than nine of a kind.
    fn show(&self, cell: Cell) -> String {
        let (boat, here) = self.position(cell);
        let point = if self.passengers.iter().all(|p| p.count < 10) { "" } else { "." };
        let digits: Vec<String> = here.iter().chain([&u32::from(boat)]).map(ToString::to_string).collect();
        digits.join(point)
    }

    fn parse(&self, text: &str) -> Option<Cell> {
        let numbers: Option<Vec<u32>> = match text.contains('.') {
            true => text.split('.').map(|digits| digits.parse().ok()).collect(),
            false => text.chars().map(|digit| digit.to_digit(10)).collect(),
        };
        let numbers = numbers?;
        let (&boat, here) = numbers.split_last()?;
        let fits = here.len() == self.passengers.len() && boat < 2;
        if !fits || here.iter().zip(&self.passengers).any(|(h, p)| *h > p.count) {
            return None;
        }
        Some(self.cell(boat == 1, here.iter().zip(&self.weights).map(|(h, w)| h * w).sum()))
    }
}
