use crate::{Color, Piece, Position, Role, Square, role_mask};

/// Why some pieces make no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// A side has no king.
    #[error("{0} has no king")]
    NoKing(Color),
    /// A side has a second king, on this square.
    #[error("two kings on one side: {0} has a second king on {1}")]
    TwoKings(Color, Square),
    /// The game has fewer pieces of this kind; the first one too many stands on this square.
    #[error(
        "too many pieces: {0} on {1} is one more than the {limit} that a side has",
        limit = .0.role.limit()
    )]
    TooMany(Piece, Square),
    /// No piece of this kind ever comes to this square.
    #[error("{0} can never stand on {1}")]
    Misplaced(Piece, Square),
    /// Two pieces on one square.
    #[error("two pieces on {0}")]
    Occupied(Square),
}

/// Why no game leads to a position: the side that moved last left its king to be captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Illegality {
    /// The kings face each other on an open file.
    #[error("the kings face each other")]
    KingsFace,
    /// This side is in check and it is not its turn.
    #[error("{0} is in check and it is {other}'s turn", other = .0.opposite())]
    CheckUnanswered(Color),
}

impl Position {
    /// Sets up a position from its pieces.
    ///
    /// The result may still be one that no game leads to: see [`Position::illegality`].
    ///
    /// # Errors
    ///
    /// If a side has not exactly one king, if a side has more pieces of a role than the game has,
    /// if a piece stands on a square it can never come to, or if a square is taken twice.
    pub fn from_pieces(pieces: &[(Piece, Square)], turn: Color) -> Result<Position, PositionError> {
        let mut position = Position::empty(turn);
        for &(piece, square) in pieces {
            position.place(piece, square)?;
            if role_mask(piece.color, piece.role) & square.bit() == 0 {
                return Err(PositionError::Misplaced(piece, square));
            }
        }
        for color in Color::ALL {
            if position.count(color, Role::King) == 0 {
                return Err(PositionError::NoKing(color));
            }
        }
        Ok(position)
    }

    /// The start of a game.
    #[must_use]
    pub fn initial() -> Position {
        let back = [
            Role::Chariot,
            Role::Horse,
            Role::Elephant,
            Role::Advisor,
            Role::King,
            Role::Advisor,
            Role::Elephant,
            Role::Horse,
            Role::Chariot,
        ];
        let mut position = Position::empty(Color::Red);
        let mut place = |role, file, rank| {
            let square = Square::at(file, rank);
            for (color, square) in [(Color::Red, square), (Color::Black, square.flip())] {
                let placed = position.place(Piece::new(color, role), square);
                debug_assert!(placed.is_ok());
            }
        };
        for (file, role) in (0..).zip(back) {
            place(role, file, 0);
        }
        for file in [1, 7] {
            place(Role::Cannon, file, 2);
        }
        for file in [0, 2, 4, 6, 8] {
            place(Role::Soldier, file, 3);
        }
        position
    }

    /// Whether the side that moved last left its king safe.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        self.illegality().is_none()
    }

    /// Why no game leads to this position, if so.
    #[must_use]
    pub fn illegality(&self) -> Option<Illegality> {
        let waiting = !self.turn();
        if self.kings_face() {
            Some(Illegality::KingsFace)
        } else if self.is_checked(waiting) {
            Some(Illegality::CheckUnanswered(waiting))
        } else {
            None
        }
    }
}
