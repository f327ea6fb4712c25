use std::sync::Arc;

use super::{Lookup, LookupError, Player, estimate, greatest};
use crate::{Color, Dice, Die, Move, Position};

/// The player that knows the tables: exact in them, and looking ahead to them from elsewhere.
///
/// Beyond the tables it looks so many moves ahead, over all rolls and all moves, to tables where it comes to such, and
/// to [`estimate`] elsewhere.
pub struct TablePlayer {
    dice: Dice,
    tables: Arc<dyn Lookup>,
    depth: u32,
}

impl TablePlayer {
    /// A player with these tables, who looks ahead for `depth` moves, its own one counted.
    #[must_use]
    pub fn new(dice: Dice, tables: Arc<dyn Lookup>, depth: u32) -> TablePlayer {
        TablePlayer { dice, tables, depth }
    }

    /// The chance of the side to move before it rolls, looking ahead for so many moves.
    fn chance(&self, position: &Position, depth: u32) -> Result<f64, LookupError> {
        if let Some(known) = self.tables.chance(position)? {
            return Ok(known);
        }
        if depth == 0 || position.winner().is_some() {
            return Ok(estimate(position));
        }
        // The best of each stone, which several rolls share.
        let mut best = [0.0f64; 6];
        for number in position.stones(position.to_move()).numbers() {
            for m in position.moves_of(number) {
                let chance = 1.0 - self.chance(&position.after(&m), depth - 1)?;
                let stone = &mut best[usize::from(number) - 1];
                *stone = stone.max(chance);
            }
        }
        let stones = position.stones(position.to_move());
        let roll = |die: Die| stones.chosen(die).map(|number| best[usize::from(number) - 1]).fold(0.0, f64::max);
        Ok(Die::ALL.into_iter().map(roll).sum::<f64>() / 6.0)
    }
}

impl Player for TablePlayer {
    /// Any order: what tables of twelve stones would say is not known.
    fn start(&mut self, _: Color) -> [u8; 6] {
        self.dice.shuffled()
    }

    fn choose(&mut self, position: &Position, die: Die) -> Result<Option<Move>, LookupError> {
        let mut moves = Vec::new();
        for m in position.legal_moves(die) {
            moves.push((m, 1.0 - self.chance(&position.after(&m), self.depth.saturating_sub(1))?));
        }
        let best = moves.iter().map(|&(_, chance)| chance).fold(0.0, f64::max);
        Ok(greatest(&mut self.dice, moves.iter().filter(|&&(_, c)| c == best).map(|&(m, _)| m), |_| ()))
    }
}
