use super::{LookupError, Player, greatest};
use crate::{Color, Dice, Die, Move, Position};

/// Wins if it can, else takes the enemy stone that is nearest to its goal, else goes as far as it can with the foremost
/// stone; takes a stone of its own only if it must.
#[derive(Clone, Debug)]
pub struct Greedy(Dice);

impl Greedy {
    /// A player that chooses among equals by these random numbers.
    #[must_use]
    pub const fn new(dice: Dice) -> Greedy {
        Greedy(dice)
    }
}

impl Player for Greedy {
    fn start(&mut self, _: Color) -> [u8; 6] {
        self.0.shuffled()
    }

    fn choose(&mut self, position: &Position, die: Die) -> Result<Option<Move>, LookupError> {
        let key = |m: &Move| {
            let wins = position.after(m).winner() == Some(m.color);
            let taken = match m.captured {
                Some((color, _)) if color == m.color => -1,
                Some((color, _)) => 10 - i32::from(m.to.distance(color)),
                None => 0,
            };
            let far = i32::from(m.from.distance(m.color)) - i32::from(m.to.distance(m.color));
            (wins, taken, far, -i32::from(m.to.distance(m.color)))
        };
        Ok(greatest(&mut self.0, position.legal_moves(die), key))
    }
}
