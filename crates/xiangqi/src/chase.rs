//! Which captures count as attacks, and which moves chase, by the rules of the Asian Xiangqi Federation.

use crate::{Color, Move, Position, Role, Square};

impl Position {
    /// Whether the piece on `attacker` attacks the one on `victim`, an enemy: it could take it now if it were its turn,
    /// and that would gain something by the rules of repetition.
    ///
    /// Kings and soldiers attack nothing, and nothing attacks a king or a soldier that has not crossed the river. A
    /// piece that can be recaptured is no attacker, but for a horse or cannon that attacks a chariot; nor is a chariot,
    /// horse or cannon that a victim of its own kind could take as well. False where there are no such pieces.
    #[must_use]
    pub fn is_attack(&self, attacker: Square, victim: Square) -> bool {
        let (Some(by), Some(of)) = (self.piece_at(attacker), self.piece_at(victim)) else { return false };
        if by.color == of.color || matches!(by.role, Role::King | Role::Soldier) || of.role == Role::King {
            return false;
        }
        if of.role == Role::Soldier && !has_crossed(of.color, victim) {
            return false;
        }
        let Some(after) = self.capture(attacker, victim) else { return false };
        match (by.role, of.role) {
            (Role::Horse | Role::Cannon, Role::Chariot) => true,
            (Role::Chariot, Role::Chariot) | (Role::Horse, Role::Horse) | (Role::Cannon, Role::Cannon) => {
                self.capture(victim, attacker).is_none() && !after.can_take(of.color, victim)
            }
            _ => !after.can_take(of.color, victim),
        }
    }

    /// The squares of the enemy's pieces that a legal move chases: after it a piece attacks them that did not attack
    /// them before it. Whether it gives check as well does not matter: check and chase by one move is both.
    ///
    /// ```
    /// use canju_xiangqi::{Position, Square};
    ///
    /// let position = Position::from_fen("3k5/9/9/9/9/9/3r5/9/2N6/4K4 b")?;
    /// assert_eq!(position.chases("d3c3".parse()?), Square::at(2, 1).bit());
    /// assert_eq!(position.chases("d3h3".parse()?), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move leaves.
    #[must_use]
    pub fn chases(&self, chosen: Move) -> u128 {
        let after = self.play(chosen);
        let king = after.king(after.turn()).bit();
        let victims = after.side(after.turn()) & !king;
        crate::squares(victims).filter(|&victim| self.attacks_anew(&after, chosen, victim)).fold(0, |s, v| s | v.bit())
    }

    /// Whether a legal move chases the enemy's piece on a square: see [`chases`](Position::chases).
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move leaves.
    #[must_use]
    pub fn chases_at(&self, chosen: Move, victim: Square) -> bool {
        let after = self.play(chosen);
        self.attacks_anew(&after, chosen, victim)
    }

    /// Whether a legal move neither gives check nor chases.
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move leaves.
    #[must_use]
    pub fn is_free(&self, chosen: Move) -> bool {
        self.chases(chosen) == 0 && !self.gives_check(chosen)
    }

    fn attacks_anew(&self, after: &Position, chosen: Move, victim: Square) -> bool {
        let attackers = after.attackers(victim, !after.turn());
        crate::squares(attackers).any(|attacker| {
            let before = if attacker == chosen.to { chosen.from } else { attacker };
            after.is_attack(attacker, victim) && !self.is_attack(before, victim)
        })
    }

    /// The position after a piece has taken another, if it can and its king is safe then, whoever's turn it is.
    fn capture(&self, from: Square, to: Square) -> Option<Position> {
        let color = self.piece_at(from)?.color;
        if self.reach(from) & to.bit() == 0 {
            return None;
        }
        let after = self.play(Move::new(from, to));
        (!after.is_checked(color) && !after.kings_face()).then_some(after)
    }

    /// Whether a side could take what stands on a square.
    fn can_take(&self, color: Color, square: Square) -> bool {
        crate::squares(self.attackers(square, color)).any(|from| self.capture(from, square).is_some())
    }
}

fn has_crossed(color: Color, square: Square) -> bool {
    match color {
        Color::Red => square.rank() >= 5,
        Color::Black => square.rank() < 5,
    }
}
