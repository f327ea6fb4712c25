//! All ways to place given pieces on the whole board, numbered: each piece on each square where it may stand.

use crate::board::{Board, may_stand};

/// The placements of one list of pieces.
pub(crate) struct Placements {
    letters: Vec<u8>,
    /// The squares that each piece may have.
    grounds: Vec<Vec<usize>>,
    /// The number of each square among those, by piece.
    numbers: Vec<[usize; 90]>,
}

impl Placements {
    pub(crate) fn new(letters: &[u8]) -> Self {
        let ground = |&letter: &u8| (0..90).filter(|&s| may_stand(letter, s)).collect::<Vec<_>>();
        let grounds: Vec<Vec<usize>> = letters.iter().map(ground).collect();
        let numbers = grounds.iter().map(|squares| {
            let mut numbers = [usize::MAX; 90];
            squares.iter().enumerate().for_each(|(i, &s)| numbers[s] = i);
            numbers
        });
        Self { letters: letters.to_vec(), numbers: numbers.collect(), grounds }
    }

    /// The pieces, as letters of a FEN.
    pub(crate) fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// How many there are, with those where two pieces share a square.
    pub(crate) fn len(&self) -> usize {
        self.grounds.iter().map(Vec::len).product()
    }

    /// Where each piece stands.
    pub(crate) fn squares(&self, mut id: usize) -> Vec<usize> {
        let mut squares = vec![0; self.letters.len()];
        for (square, ground) in squares.iter_mut().zip(&self.grounds).rev() {
            *square = ground[id % ground.len()];
            id /= ground.len();
        }
        squares
    }

    /// The placement where each piece stands there.
    pub(crate) fn id(&self, squares: impl Iterator<Item = usize>) -> usize {
        squares.zip(&self.numbers).zip(&self.grounds).fold(0, |id, ((s, numbers), g)| id * g.len() + numbers[s])
    }

    /// The placement of a board; of identical pieces the first stands on the first square.
    pub(crate) fn id_of(&self, board: &Board) -> usize {
        let mut used = 0u128;
        self.id(self.letters.iter().map(|letter| {
            let square = (0..90).find(|&s| board.0[s] == *letter && used >> s & 1 == 0).unwrap();
            used |= 1 << square;
            square
        }))
    }

    /// The board of a placement; none where two pieces share a square.
    pub(crate) fn board(&self, squares: &[usize]) -> Option<Board> {
        Board::new(self.letters.iter().map(|&l| char::from(l)).zip(squares.iter().copied()))
    }

    /// How many placements differ only in which of identical pieces is which.
    pub(crate) fn orders(&self) -> usize {
        let same = |letter: u8| self.letters.iter().filter(|&&l| l == letter).count();
        (b'A'..=b'z').map(|letter| (1..=same(letter)).product::<usize>()).product()
    }
}
