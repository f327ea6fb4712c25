use crate::{Color, Die, Position};

/// How much a turn in front is worth, in logits.
const PER_TURN: f64 = 0.45;
/// What it is worth to be next, in turns.
const NEXT: f64 = 0.6;

/// A guess of the chance that the side to move wins, for positions that are beyond all tables and too far to look ahead.
/// Neither 0 nor 1 unless the game is over.
#[must_use]
pub fn estimate(position: &Position) -> f64 {
    if let Some(winner) = position.winner() {
        return if winner == position.to_move() { 1.0 } else { 0.0 };
    }
    let color = position.to_move();
    let front = turns(position, color.other()) - turns(position, color) + NEXT;
    1.0 / (1.0 + (-PER_TURN * front).exp())
}

/// The turns that a side needs to its goal, about: a mean over its stones in which those that arrive first count most.
fn turns(position: &Position, color: Color) -> f64 {
    let stones = position.stones(color);
    let (mut sum, mut weights) = (0.0, 0.0);
    for number in stones.numbers() {
        let Some(square) = position.square(color, number) else { continue };
        let moves = f64::from(square.moves_to_goal(color));
        let dice = Die::ALL.iter().filter(|&&die| stones.chosen(die).any(|n| n == number)).count() as f64;
        // A stone that is rolled rarely waits in vain for most turns, but the others go on meanwhile.
        let turns = moves * (6.0 / dice).sqrt();
        let weight = (-turns).exp();
        sum += weight * turns;
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { f64::INFINITY }
}
