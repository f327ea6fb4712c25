//! Games and matches in the contest's format.

use std::time::Duration;

use crate::{Color, Dice, Die, LookupError, Move, Player, Position};

/// Who begins each of the at most seven games of a match. Red is the contest's side A.
pub const BEGINS: [Color; 7] = [Color::Red, Color::Blue, Color::Blue, Color::Red, Color::Red, Color::Blue, Color::Blue];
/// Games that win a match.
pub const WINS: usize = 4;
/// The time that a side has for all its moves of a game.
pub const TIME: Duration = Duration::from_secs(180);

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A stone in the far corner.
    Corner,
    /// The enemy has no stone left.
    Captured,
    /// The enemy has taken more than [`TIME`].
    Time,
    /// The enemy has made no legal move.
    Illegal,
}

/// One game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The stones at the start, and who began.
    pub start: Position,
    /// Rolls and moves.
    pub moves: Vec<(Die, Move)>,
    /// Who won.
    pub winner: Color,
    /// And how.
    pub ending: Ending,
}

/// What a game needs from outside.
pub struct Table<'a> {
    /// Red and Blue.
    pub players: [&'a mut dyn Player; 2],
    /// The rolls.
    pub dice: Dice,
    /// The time now, counted from anywhere.
    pub clock: &'a mut dyn FnMut() -> Duration,
    /// Is told every move before it is made.
    pub watch: &'a mut dyn FnMut(&Position, Die, &Move) -> Result<(), LookupError>,
}

impl Table<'_> {
    /// Plays one game.
    ///
    /// # Errors
    /// [`LookupError`] from a player or from who watches.
    pub fn game(&mut self, begins: Color) -> Result<GameRecord, LookupError> {
        let [red, blue] = &mut self.players;
        let stones = [red.start(Color::Red), blue.start(Color::Blue)];
        // A player that cannot count to six gets the numbers in order.
        let order = [1, 2, 3, 4, 5, 6];
        let start = Position::start(stones[0], stones[1], begins)
            .or_else(|_| Position::start(order, order, begins))
            .map_err(|error| LookupError(Box::new(error)))?;
        let (mut position, mut moves, mut spent) = (start, Vec::new(), [Duration::ZERO; 2]);
        loop {
            let (color, die) = (position.to_move(), self.dice.roll());
            let before = (self.clock)();
            let chosen = self.players[color.index()].choose(&position, die)?;
            let used = &mut spent[color.index()];
            *used += (self.clock)().saturating_sub(before);
            let lost = |ending, moves| Ok(GameRecord { start, moves, winner: color.other(), ending });
            if *used > TIME {
                return lost(Ending::Time, moves);
            }
            let Some(chosen) = chosen.filter(|chosen| position.legal_moves(die).any(|m| m == *chosen)) else {
                return lost(Ending::Illegal, moves);
            };
            (self.watch)(&position, die, &chosen)?;
            moves.push((die, chosen));
            position = position.after(&chosen);
            if let Some(winner) = position.winner() {
                let ending = if chosen.to == color.goal() { Ending::Corner } else { Ending::Captured };
                return Ok(GameRecord { start, moves, winner, ending });
            }
        }
    }

    /// Plays a match: up to seven games, until a side has won four.
    ///
    /// # Errors
    /// As [`Table::game`].
    pub fn contest(&mut self) -> Result<Vec<GameRecord>, LookupError> {
        let mut games: Vec<GameRecord> = Vec::new();
        for begins in BEGINS {
            games.push(self.game(begins)?);
            if Color::BOTH.iter().any(|&color| games.iter().filter(|g| g.winner == color).count() == WINS) {
                break;
            }
        }
        Ok(games)
    }
}

/// What came of many matches, by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Matches won.
    pub matches: [u64; 2],
    /// Games won.
    pub games: [u64; 2],
    /// Games won by who began them.
    pub begun: [u64; 2],
    /// Games begun.
    pub begins: [u64; 2],
    /// Games lost by the clock.
    pub overrun: [u64; 2],
    /// Games lost by a move that is none.
    pub illegal: [u64; 2],
    /// Moves of both.
    pub moves: u64,
}

impl Tally {
    /// Counts one match.
    pub fn add(&mut self, games: &[GameRecord]) {
        let mut won = [0; 2];
        for game in games {
            let (begins, winner) = (game.start.to_move(), game.winner);
            won[winner.index()] += 1;
            self.games[winner.index()] += 1;
            self.begins[begins.index()] += 1;
            self.begun[begins.index()] += u64::from(begins == winner);
            self.overrun[winner.other().index()] += u64::from(game.ending == Ending::Time);
            self.illegal[winner.other().index()] += u64::from(game.ending == Ending::Illegal);
            self.moves += game.moves.len() as u64;
        }
        self.matches[usize::from(won[1] > won[0])] += 1;
    }

    /// The sum of both. The order does not matter.
    #[must_use]
    pub fn and(mut self, other: &Tally) -> Tally {
        let add = |mine: &mut [u64; 2], theirs: &[u64; 2]| mine.iter_mut().zip(theirs).for_each(|(m, t)| *m += t);
        add(&mut self.matches, &other.matches);
        add(&mut self.games, &other.games);
        add(&mut self.begun, &other.begun);
        add(&mut self.begins, &other.begins);
        add(&mut self.overrun, &other.overrun);
        add(&mut self.illegal, &other.illegal);
        self.moves += other.moves;
        self
    }
}

/// The share of wins and an interval that holds the true one in 95 of 100 cases (Wilson's); `None` without trials.
#[must_use]
pub fn share(wins: u64, trials: u64) -> Option<(f64, [f64; 2])> {
    const Z: f64 = 1.959_963_984_540_054;
    if trials == 0 {
        return None;
    }
    let (n, p) = (trials as f64, wins as f64 / trials as f64);
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some((p, [(middle - half).max(0.0), (middle + half).min(1.0)]))
}
