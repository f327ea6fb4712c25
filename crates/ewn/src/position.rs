use crate::{Color, Die, Square, Stones};

/// Stands in for the square of a stone that is gone.
const GONE: u8 = u8::MAX;

/// Stones on the board, and who is to move. No two stones share a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The number of the square of each stone, or [`GONE`].
    places: [[u8; 6]; 2],
    to_move: Color,
}

/// One step of a stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Whose stone.
    pub color: Color,
    /// Its number, 1 to 6.
    pub number: u8,
    /// Where it stood.
    pub from: Square,
    /// Where it goes.
    pub to: Square,
    /// The stone that it takes off the board, the enemy's or its own side's.
    pub captured: Option<(Color, u8)>,
}

/// Why stones make no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// A number that no stone has.
    #[error("there is no stone {0}: stones are numbered 1 to 6")]
    Number(u8),
    /// The same stone twice.
    #[error("{color} {number} is there twice", color = .0.name(), number = .1)]
    Twice(Color, u8),
    /// Two stones on one square.
    #[error("two stones are on {0}")]
    Shared(Square),
    /// No stones at all.
    #[error("there is no stone")]
    Empty,
    /// Both have won, so that one of them made a move after the end.
    #[error("both sides have won: the game was over before")]
    BothWon,
}

impl Position {
    /// The position with these stones.
    ///
    /// # Errors
    /// [`PositionError`] says what does not fit.
    pub fn new(
        stones: impl IntoIterator<Item = (Color, u8, Square)>,
        to_move: Color,
    ) -> Result<Position, PositionError> {
        let mut position = Position { places: [[GONE; 6]; 2], to_move };
        for (color, number, square) in stones {
            if !matches!(number, 1..=6) {
                return Err(PositionError::Number(number));
            }
            if position.square(color, number).is_some() {
                return Err(PositionError::Twice(color, number));
            }
            if position.at(square).is_some() {
                return Err(PositionError::Shared(square));
            }
            position.put(color, number, square);
        }
        if Color::BOTH.iter().all(|&color| position.stones(color).is_empty()) {
            return Err(PositionError::Empty);
        }
        if Color::BOTH.iter().all(|&color| position.has_won(color)) {
            return Err(PositionError::BothWon);
        }
        Ok(position)
    }

    /// The start of a game: each side's numbers on its squares [`Color::start`], in that order.
    ///
    /// # Errors
    /// [`PositionError`] when the numbers are not 1 to 6, each once.
    pub fn start(red: [u8; 6], blue: [u8; 6], to_move: Color) -> Result<Position, PositionError> {
        let side = |color: Color, numbers: [u8; 6]| {
            numbers.into_iter().zip(color.start()).map(move |(number, square)| (color, number, square))
        };
        Position::new(side(Color::Red, red).chain(side(Color::Blue, blue)), to_move)
    }

    fn put(&mut self, color: Color, number: u8, square: Square) {
        self.places[color.index()][usize::from(number) - 1] = square.index() as u8;
    }

    /// Who is to move; where the game is over, who would be.
    #[must_use]
    pub fn to_move(&self) -> Color {
        self.to_move
    }

    /// The same stones with this side to move.
    #[must_use]
    pub fn with_to_move(self, to_move: Color) -> Position {
        Position { to_move, ..self }
    }

    /// The stones that a side has left.
    #[must_use]
    pub fn stones(&self, color: Color) -> Stones {
        (1..=6).filter(|&n| self.square(color, n).is_some()).fold(Stones::NONE, Stones::with)
    }

    /// How many stones are left.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.as_flattened().iter().filter(|&&place| place != GONE).count()
    }

    /// Where a stone is, `None` where it is gone or there is no such number.
    #[must_use]
    pub fn square(&self, color: Color, number: u8) -> Option<Square> {
        let &place = self.places[color.index()].get(usize::from(number.checked_sub(1)?))?;
        (place != GONE).then(|| Square::known(place))
    }

    /// The stone on a square.
    #[must_use]
    pub fn at(&self, square: Square) -> Option<(Color, u8)> {
        let place = square.index() as u8;
        Color::BOTH.into_iter().find_map(|color| {
            let found = self.places[color.index()].iter().position(|&p| p == place)?;
            Some((color, found as u8 + 1))
        })
    }

    /// All stones, Red's first, by number.
    pub fn all(&self) -> impl Iterator<Item = (Color, u8, Square)> + '_ {
        Color::BOTH
            .into_iter()
            .flat_map(move |color| (1..=6).filter_map(move |n| Some((color, n, self.square(color, n)?))))
    }

    fn has_won(&self, color: Color) -> bool {
        let goal = color.goal().index() as u8;
        self.places[color.index()].contains(&goal) || self.places[color.other().index()] == [GONE; 6]
    }

    /// Who has won, by a stone in the far corner or because the enemy has none left.
    #[must_use]
    pub fn winner(&self) -> Option<Color> {
        Color::BOTH.into_iter().find(|&color| self.has_won(color))
    }

    /// The steps of one stone of the side to move. None where the game is over or the stone is gone.
    pub fn moves_of(&self, number: u8) -> impl Iterator<Item = Move> + '_ {
        let color = self.to_move;
        let from = self.square(color, number).filter(|_| self.winner().is_none());
        from.into_iter().flat_map(move |from| {
            from.steps(color).map(move |to| Move { color, number, from, to, captured: self.at(to) })
        })
    }

    /// The moves that a roll allows, by stone. There is always one until the game is over.
    pub fn legal_moves(&self, die: Die) -> impl Iterator<Item = Move> + '_ {
        self.stones(self.to_move).chosen(die).flat_map(|number| self.moves_of(number))
    }

    /// The position after a move that this position gave.
    #[must_use]
    pub fn after(&self, chosen: &Move) -> Position {
        let mut next = *self;
        if let Some((color, number)) = chosen.captured {
            next.places[color.index()][usize::from(number) - 1] = GONE;
        }
        next.put(chosen.color, chosen.number, chosen.to);
        next.to_move = chosen.color.other();
        next
    }

    fn mapped(&self, map: impl Fn(Color, u8, Square) -> (Color, u8, Square), to_move: Color) -> Position {
        let mut image = Position { places: [[GONE; 6]; 2], to_move };
        for (color, number, square) in self.all() {
            let (color, number, square) = map(color, number, square);
            image.put(color, number, square);
        }
        image
    }

    /// Rows and columns exchanged: the same winning chance.
    #[must_use]
    pub fn transposed(&self) -> Position {
        self.mapped(|color, number, square| (color, number, square.transposed()), self.to_move)
    }

    /// One side's numbers i made 7 - i: the same winning chance.
    #[must_use]
    pub fn renumbered(&self, side: Color) -> Position {
        let map = |color, number, square| (color, if color == side { 7 - number } else { number }, square);
        self.mapped(map, self.to_move)
    }

    /// The board turned by half a turn and the colours exchanged: the same winning chance for the side to move.
    #[must_use]
    pub fn turned(&self) -> Position {
        self.mapped(|color, number, square| (color.other(), number, square.turned()), self.to_move.other())
    }
}
