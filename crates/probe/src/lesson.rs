//! Positions from which the numbering of an index is learned.

use canju_xiangqi::{Color, Piece, Position, Role, Square};

/// Roles in a fortress.
pub(crate) const FORT: [Role; 3] = [Role::King, Role::Advisor, Role::Elephant];

/// A position to learn from, by fortress and kind of attacker.
#[derive(Clone)]
pub(crate) struct Lesson {
    /// Each side's king, advisors and elephants.
    pub forts: [Vec<(Piece, Square)>; 2],
    pieces: Vec<Piece>,
    /// The squares of each kind of attacker, ascending.
    pub men: Vec<Vec<Square>>,
}

impl Lesson {
    /// The pieces of a board, which has these attackers.
    pub fn of(board: &Position, attackers: impl Iterator<Item = Piece>) -> Self {
        let forts =
            Color::ALL.map(|c| board.pieces().filter(|(p, _)| p.color == c && FORT.contains(&p.role)).collect());
        let pieces: Vec<Piece> = attackers.collect();
        let men = pieces.iter().map(|piece| {
            let mut squares: Vec<Square> = board.squares_of(piece.color, piece.role).collect();
            squares.sort_unstable();
            squares
        });
        Self { forts, men: men.collect(), pieces }
    }

    /// The board with identical pieces in ascending order, or `None` where two share a square.
    pub fn board(&self) -> Option<Position> {
        let mut board = Position::empty(Color::Red);
        let men =
            self.pieces.iter().zip(&self.men).flat_map(|(&piece, squares)| squares.iter().map(move |&s| (piece, s)));
        for (piece, square) in self.forts.iter().flatten().copied().chain(men) {
            board.place(piece, square).ok()?;
        }
        Some(board)
    }
}
