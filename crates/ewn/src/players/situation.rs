use super::{LookupError, Player, Surroundings, greatest};
use crate::{Color, Dice, Die, Move, Position, Square};

/// What the diagonals and what is around a stone count, in moves. But for the main diagonal this is for six enemies left, falls with their
/// number, and is turned round for fewer than three.
const ON_MAIN: f64 = 0.1;
const ON_SECONDARY: f64 = 0.1;
const ENEMY_AROUND: f64 = 0.5;
const OWN_AROUND: f64 = -0.2;

/// The static player: it weighs the situation and looks no move ahead.
///
/// After W. Zhou and S. Li, "The research of static algorithms in WTN chess" (2014). Theirs are: what stands around a stone,
/// enemies and own ones among it ([`Surroundings`]), the number of enemies, and the diagonals; a stone one step from the end goes there whatever stands around; a side that can no
/// longer capture everything races for the corner; otherwise it attacks or advances by an assessment of the situation; own
/// stones may be captured to be more mobile. The rest of the paper is lost. The assessment, all weights and
/// the order of the numbers at the start are ours.
#[derive(Clone, Debug)]
pub struct Situation(Dice);

impl Situation {
    /// A player that chooses among equals by these random numbers.
    #[must_use]
    pub const fn new(dice: Dice) -> Situation {
        Situation(dice)
    }
}

impl Player for Situation {
    /// The numbers that most rolls lead to in the end, 3 and 4 last: those in the middle are in front.
    fn start(&mut self, _: Color) -> [u8; 6] {
        // By the squares: the corner, along the row, along the column; the front is the last of each.
        [3, 1, 2, 6, 4, 5]
    }

    fn choose(&mut self, position: &Position, die: Die) -> Result<Option<Move>, LookupError> {
        let race = cannot_capture_all(position, position.to_move());
        let ahead = assessment(position);
        Ok(greatest(&mut self.0, position.legal_moves(die), |m| weigh(position, m, race, ahead)))
    }
}

/// True where some enemy stone is out of reach of all of this side's, and so for ever: both move past each other.
fn cannot_capture_all(position: &Position, color: Color) -> bool {
    let mut enemies = position.all().filter(|&(whose, _, _)| whose != color);
    enemies.any(|(_, _, enemy)| {
        let mut own = position.all().filter(|&(whose, _, _)| whose == color);
        !own.any(|(_, _, own)| reaches(color, own, enemy))
    })
}

/// True where a stone of this side can come to the square.
fn reaches(color: Color, from: Square, to: Square) -> bool {
    let (from, to) = (from.ahead(color), to.ahead(color));
    to / 5 <= from / 5 && to % 5 <= from % 5
}

/// By how many moves the side to move is in front: moves of its foremost stone against the enemy's, weighed by the dice that
/// choose these.
fn assessment(position: &Position) -> f64 {
    let color = position.to_move();
    race(position, color.other()) - race(position, color) + 0.5
}

/// The turns that the side's best stone takes to its goal: moves for certain rolls, and more for rare ones.
fn race(position: &Position, color: Color) -> f64 {
    let stones = position.stones(color);
    let turns = stones.numbers().filter_map(|number| {
        let moves = f64::from(position.square(color, number)?.moves_to_goal(color));
        let dice = Die::ALL.iter().filter(|&&die| stones.chosen(die).any(|n| n == number)).count();
        // With all dice it is the moves; with one of six the stone waits two turns more for each.
        Some(moves * (1.0 + 2.0 * (6 - dice) as f64 / 5.0))
    });
    turns.fold(f64::INFINITY, f64::min)
}

/// How good a move looks.
fn weigh(position: &Position, m: &Move, race_only: bool, ahead: f64) -> f64 {
    let (color, enemy) = (m.color, m.color.other());
    let after = position.after(m);
    if after.winner() == Some(color) {
        return 1000.0;
    }
    // What the move makes of the race, for both: captures change it as well.
    let advance = race(position, color) - race(&after, color);
    let hinder = race(&after, enemy) - race(position, enemy);
    let step = f64::from(m.from.distance(color) - m.to.distance(color)) - 1.0;
    let around = Surroundings::of(&after, color, m.to);
    // While enemies are many, those around a stone are to be taken, and own ones in its way; when few are left, it is the other
    // way round: an enemy is to be passed, and an own stone taken makes the others more mobile.
    let phase = after.stones(enemy).len() as f64 / 3.0 - 1.0;
    let surrounded = phase * (ENEMY_AROUND * f64::from(around.enemies) + OWN_AROUND * f64::from(around.own));
    let main = if m.to.on_main() { ON_MAIN } else { 0.0 };
    let secondary = if m.to.on_secondary() { ON_SECONDARY * phase } else { 0.0 };
    // Who may take the stone next, by the rolls that let him.
    let danger = (1..=6)
        .filter(|&n| after.square(enemy, n).is_some_and(|from| from.steps(enemy).any(|to| to == m.to)))
        .map(|n| Die::ALL.iter().filter(|&&die| after.stones(enemy).chosen(die).any(|c| c == n)).count() as f64 / 6.0)
        .sum::<f64>()
        .min(1.0);
    let worth = 4.0 - f64::from(m.to.moves_to_goal(color));
    // An enemy one step from his end.
    let threat = (1..=6)
        .filter(|&n| after.square(enemy, n).is_some_and(|at| at.moves_to_goal(enemy) == 1))
        .map(|n| Die::ALL.iter().filter(|&&die| after.stones(enemy).chosen(die).any(|c| c == n)).count() as f64 / 6.0)
        .sum::<f64>()
        .min(1.0);
    let (attack, forward) = if race_only {
        (0.5, 1.5)
    } else if ahead > 0.0 {
        (0.8, 1.0)
    } else {
        (1.2, 0.7)
    };
    forward * (advance + 0.2 * step + main + secondary) + attack * (hinder.min(6.0) + surrounded)
        - 0.5 * danger * (1.0 + worth)
        - 4.0 * threat
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str, die: u8) -> String {
        let position: Position = text.parse().unwrap();
        let mut player = Situation::new(Dice::new(1));
        player.choose(&position, Die::new(die).unwrap()).unwrap().unwrap().to_string()
    }

    #[test]
    fn one_step_from_the_end_it_goes_there() {
        // Whatever stands around: an enemy beside the corner could be taken.
        assert_eq!(chosen("R1a4 R2d2 B4b4 b", 4), "4b4-a5");
        assert_eq!(chosen("B4a4 B3b5 R1c3 R6b2 b", 4), "4a4-a5");
    }

    #[test]
    fn who_can_be_captured_and_who_not() {
        let behind: Position = "R1d2 R2b4 B3c3 b".parse().unwrap();
        assert!(cannot_capture_all(&behind, Color::Blue));
        let before: Position = "R1a5 R2b4 B3c3 b".parse().unwrap();
        assert!(!cannot_capture_all(&before, Color::Blue));
    }

    #[test]
    fn a_threat_is_taken_off() {
        assert_eq!(chosen("R1e2 R6a5 B3e1 B4c4 b", 3), "3e1xe2");
    }
}
