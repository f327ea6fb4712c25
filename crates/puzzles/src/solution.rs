//! What people want to know of a puzzle whose positions are labelled.

use std::sync::Arc;

use canju_retro::{
    Cell, Code, Distance, Explicit, GameError, MOST_PLIES, MemoryTables, Metric, Outcome, Part, Players, Rules, Side,
    Tables, Values, by_breadth, solve,
};

use crate::Puzzle;

/// A puzzle and the label of each of its positions.
pub struct Solution {
    puzzle: Puzzle,
    values: Values,
    counts: Counts,
}

/// How many positions there are of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All, those that the rules forbid too.
    pub positions: u64,
    /// Those that the rules allow.
    pub legal: u64,
    /// The allowed ones from which the goal is reached; for cat and mouse those in which the mouse is caught.
    pub decided: u64,
    /// The other allowed ones: dead, or safe for the mouse.
    pub open: u64,
}

/// How many ways lead to a position.
struct Ways {
    to: Cell,
    count: u128,
    /// From which position of those before it was reached last.
    from: u32,
}

impl Solution {
    /// Labels all positions, on the calling thread. For one player a way may be as long as there are positions.
    ///
    /// # Errors
    /// [`GameError::TooLong`] where a chase is longer than a table can tell.
    pub fn of(puzzle: &Puzzle) -> Result<Self, GameError> {
        match puzzle.rules().players() {
            Players::One => Ok(Self::new(puzzle, by_breadth(puzzle.rules(), &puzzle.name()?)?)),
            Players::Two => Ok(Self::with_part(puzzle)?.0),
        }
    }

    /// The same by the solver of tables, with the part that has solved it, from which a table can be written.
    ///
    /// # Errors
    /// As [`Puzzle::check_table`].
    pub fn with_part(puzzle: &Puzzle) -> Result<(Self, Box<dyn Part>), GameError> {
        puzzle.check_table()?;
        let (game, name) = (puzzle.game()?, puzzle.name()?);
        let solved = solve(&game, &name, Metric::Dtm, Rules::Plain, Arc::new(MemoryTables::new()))?;
        let values = Values::of(puzzle.rules(), solved.part.as_ref())?;
        Ok((Self::new(puzzle, values), solved.part))
    }

    /// Takes the labels from a finished table of the puzzle.
    ///
    /// # Errors
    /// As [`Tables::read`].
    pub fn read(puzzle: &Puzzle, tables: &dyn Tables) -> Result<Self, GameError> {
        Ok(Self::new(puzzle, Values::read(puzzle.rules(), &puzzle.name()?, Metric::Dtm, tables)?))
    }

    fn new(puzzle: &Puzzle, values: Values) -> Self {
        let mut solution = Self { puzzle: puzzle.clone(), values, counts: Counts::default() };
        let mut counts = Counts::default();
        for cell in solution.cells() {
            counts.positions += 1;
            let Some(value) = solution.value(cell) else { continue };
            counts.legal += 1;
            match value {
                Outcome::Draw => counts.open += 1,
                _ => counts.decided += 1,
            }
        }
        solution.counts = counts;
        solution
    }

    /// The puzzle.
    #[must_use]
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// How many positions there are of which kind.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// All positions in the order of their numbers, those that the rules forbid too.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let rules = self.puzzle.rules();
        let sides = match rules.players() {
            Players::One => &Side::BOTH[..1],
            Players::Two => &Side::BOTH[..],
        };
        let slices: Arc<[u32]> = rules.slices().iter().map(|shape| shape.cells).collect();
        sides.iter().flat_map(move |&side| {
            let slices = Arc::clone(&slices);
            (0..slices.len())
                .flat_map(move |slice| (0..slices[slice]).map(move |index| Cell { slice: slice as u32, index, side }))
        })
    }

    /// What a position is for the side to move; `None` for one that the rules forbid.
    #[must_use]
    pub fn value(&self, cell: Cell) -> Option<Outcome> {
        self.puzzle.rules().legal(cell).then(|| self.values.get(cell))
    }

    /// Steps from a position to its end when all do their best; `None` where there is none.
    #[must_use]
    pub fn steps_from(&self, cell: Cell) -> Option<u32> {
        steps(self.value(cell)?)
    }

    /// The same from the position that the puzzle begins with.
    #[must_use]
    pub fn steps(&self) -> Option<u32> {
        self.steps_from(self.puzzle.start())
    }

    /// The positions that one move leads to, each once, in the order of their numbers.
    #[must_use]
    pub fn moves(&self, cell: Cell) -> Vec<Cell> {
        self.moves_to(cell, |_| true)
    }

    /// Those of them whose value is as wanted.
    fn moves_to(&self, cell: Cell, wanted: impl Fn(Outcome) -> bool) -> Vec<Cell> {
        let mut found = Vec::new();
        self.leads(cell, |code| wanted(code.outcome()), &mut found);
        found.sort_unstable_by_key(|&to| self.puzzle.number(to));
        found.dedup();
        found
    }

    /// The same in no order, and some of them perhaps more than once.
    fn leads(&self, cell: Cell, wanted: impl Fn(Code) -> bool, found: &mut Vec<Cell>) {
        let table = self.puzzle.rules();
        found.clear();
        if table.legal(cell) && table.end(cell).is_none() {
            table.successors(cell, found);
        }
        // Most are not wanted, and what is stored is quicker to ask than the rules.
        found.retain(|&to| wanted(self.values.code(to)) && table.legal(to));
    }

    /// The best moves: those that come nearest to the end for who wins, or stay away from it longest for who loses. All that
    /// keep the draw where there is one.
    #[must_use]
    pub fn best(&self, cell: Cell) -> Vec<Cell> {
        match self.value(cell) {
            Some(Outcome::Draw) if self.puzzle.rules().players() == Players::Two => {
                self.moves_to(cell, |value| value == Outcome::Draw)
            }
            Some(Outcome::Win(far) | Outcome::Loss(far)) => {
                self.moves_to(cell, |value| steps(value).is_some_and(|after| after + 1 == far.steps()))
            }
            _ => Vec::new(),
        }
    }

    /// The positions from one to its end, itself first; of equally good moves always the one with the smallest number. Only
    /// the position itself where there is no end.
    #[must_use]
    pub fn line(&self, from: Cell) -> Vec<Cell> {
        let mut line = vec![from];
        let mut at = from;
        for _ in 0..self.steps_from(from).unwrap_or(0) {
            let Some(&next) = self.best(at).first() else { break };
            line.push(next);
            at = next;
        }
        line
    }

    /// How many ways from the start to the end are as short as can be; `None` where there are more than 2^128. For puzzles
    /// of one player.
    #[must_use]
    pub fn shortest(&self) -> Option<u128> {
        let Some(steps) = self.steps() else { return Some(0) };
        // Of each cell its place among those that are reached next, and 0 for none: there may be millions of moves.
        let mut places = vec![0u32; self.values.cells()];
        let mut ways = vec![Ways { to: self.puzzle.start(), count: 1, from: 0 }];
        let mut found = Vec::new();
        for left in (0..steps).rev() {
            let nearer = Code::from(Outcome::Win(Distance::of_steps(left)));
            let mut next: Vec<Ways> = Vec::new();
            for (from, way) in (0..).zip(&ways) {
                self.leads(way.to, |code| code == nearer, &mut found);
                for &to in &found {
                    let Some(place) = self.values.place(to).and_then(|place| places.get_mut(place)) else { continue };
                    match next.get_mut((*place as usize).wrapping_sub(1)) {
                        Some(known) if known.from == from => {}
                        Some(known) => {
                            known.count = known.count.checked_add(way.count)?;
                            known.from = from;
                        }
                        None => {
                            next.push(Ways { to, count: way.count, from });
                            *place = next.len() as u32;
                        }
                    }
                }
            }
            for place in next.iter().filter_map(|way| self.values.place(way.to)) {
                places[place] = 0;
            }
            ways = next;
        }
        ways.iter().try_fold(0u128, |sum, way| sum.checked_add(way.count))
    }

    /// The position that is furthest from its end, the one with the smallest number, and how far that is.
    #[must_use]
    pub fn longest(&self) -> Option<(Cell, u32)> {
        let mut longest = None;
        for cell in self.cells() {
            if let Some(steps) = self.steps_from(cell)
                && longest.is_none_or(|(_, most)| steps > most)
            {
                longest = Some((cell, steps));
            }
        }
        longest
    }
}

/// How many positions there are, those that the rules forbid too.
pub(crate) fn positions(rules: &dyn Explicit) -> u64 {
    let sides = if rules.players() == Players::Two { 2 } else { 1 };
    sides * rules.slices().iter().map(|shape| u64::from(shape.cells)).sum::<u64>()
}

/// Steps to the end; `None` where there is none.
fn steps(value: Outcome) -> Option<u32> {
    match value {
        Outcome::Win(distance) | Outcome::Loss(distance) => Some(distance.steps()),
        Outcome::Draw => None,
    }
}

impl Puzzle {
    /// Checks that a table can hold what is to be told of the puzzle.
    ///
    /// # Errors
    /// [`GameError::TooLong`] where a way is longer than a table can tell.
    pub fn check_table(&self) -> Result<(), GameError> {
        let most = u32::from(MOST_PLIES);
        if self.rules().players() == Players::Two || positions(self.rules()) <= u64::from(most) {
            return Ok(());
        }
        match Solution::of(self)?.longest() {
            Some((cell, steps)) if steps > most => Err(GameError::TooLong(format!(
                "{steps} steps from {}, where {most} are the most: canju solve without a store tells all",
                self.rules().show(cell)
            ))),
            _ => Ok(()),
        }
    }
}
