use super::{LookupError, Player, greatest};
use crate::{Color, Dice, Die, Move, Position};

/// Plays any legal move, all alike.
#[derive(Clone, Debug)]
pub struct Random(Dice);

impl Random {
    /// A player with these random numbers.
    #[must_use]
    pub const fn new(dice: Dice) -> Random {
        Random(dice)
    }
}

impl Player for Random {
    fn start(&mut self, _: Color) -> [u8; 6] {
        self.0.shuffled()
    }

    fn choose(&mut self, position: &Position, die: Die) -> Result<Option<Move>, LookupError> {
        Ok(greatest(&mut self.0, position.legal_moves(die), |_| ()))
    }
}
