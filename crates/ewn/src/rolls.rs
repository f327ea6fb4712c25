//! What each roll allows, and what it is worth.

use crate::{Die, Move, Position};

/// A roll of the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Roll {
    /// What the die shows.
    pub die: Die,
    /// The chance of winning by the best move; `None` where a move that may be better is not known.
    pub chance: Option<f64>,
    /// What it allows: the known ones best first, then the others.
    pub moves: Vec<RatedMove>,
}

/// A move and what it is worth for who makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedMove {
    /// The move.
    pub chosen: Move,
    /// The chance of winning after it; `None` where that is not known.
    pub chance: Option<f64>,
}

/// Rates the moves of these rolls by the chance of who is to move after them. None where the game is over.
///
/// # Errors
/// What `chance` says first.
pub fn rolls<E>(
    position: &Position,
    dice: &[Die],
    mut chance: impl FnMut(&Position) -> Result<Option<f64>, E>,
) -> Result<Vec<Roll>, E> {
    if position.winner().is_some() {
        return Ok(Vec::new());
    }
    let stones = position.stones(position.to_move());
    let wanted: Vec<Vec<u8>> = dice.iter().map(|&die| stones.chosen(die).collect()).collect();
    // Most rolls choose the same stones: each move is asked for once.
    let mut all = Vec::new();
    for number in stones.numbers().filter(|number| wanted.iter().any(|stones| stones.contains(number))) {
        for chosen in position.moves_of(number) {
            let chance = chance(&position.after(&chosen))?.map(|enemy| 1.0 - enemy);
            all.push(RatedMove { chosen, chance });
        }
    }
    let key = |rated: &RatedMove| rated.chance.unwrap_or(-1.0);
    all.sort_by(|a, b| key(b).total_cmp(&key(a)));
    let roll = |(&die, stones): (&Die, Vec<u8>)| {
        let moves: Vec<_> = all.iter().copied().filter(|rated| stones.contains(&rated.chosen.number)).collect();
        let best = moves.first().and_then(|best| best.chance);
        // Nothing is better than certainty.
        let chance = best.filter(|&best| best == 1.0 || moves.iter().all(|rated| rated.chance.is_some()));
        Roll { die, chance, moves }
    };
    Ok(dice.iter().zip(wanted).map(roll).collect())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn what_is_not_known_stands_behind_and_leaves_the_roll_open() {
        let position: Position = "R1d1 R4a1 B1b5 r".parse().unwrap_or_else(|e| panic!("{e}"));
        let mut asked = 0;
        // Only where somebody has won is anything known.
        let rolls = rolls(&position, &Die::ALL, |after| {
            asked += 1;
            Ok::<_, Infallible>(after.winner().map(|_| 0.0))
        });
        let rolls = rolls.unwrap_or_else(|never| match never {});
        assert_eq!(asked, 2, "each move once");
        let told: Vec<_> = rolls.iter().map(|roll| (roll.moves.len(), roll.chance)).collect();
        assert_eq!(told, [(1, Some(1.0)), (2, Some(1.0)), (2, Some(1.0)), (1, None), (1, None), (1, None)]);
        assert_eq!(rolls[1].moves[1].chance, None);
    }
}
