use std::str::FromStr;

use crate::{Color, Piece, Position, PositionError, Square};

/// Why a text is not the FEN of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// There is no board.
    #[error("the FEN is empty: give ten ranks from Black's home rank down, then w or b")]
    Empty,
    /// The board has not ten ranks.
    #[error("the board has {0} ranks, not 10")]
    Ranks(usize),
    /// A rank has not nine files.
    #[error("rank {rank} has {files} files, not 9: `{text}`")]
    Files {
        /// The rank, 0 for Red's home rank.
        rank: u8,
        /// How many files the text fills.
        files: usize,
        /// The text of the rank.
        text: String,
    },
    /// A letter that stands for no piece, or a digit other than 1 to 9.
    #[error("unknown letter `{letter}` on {square}: pieces are K A B R N C P, upper case for Red")]
    Letter {
        /// The letter.
        letter: char,
        /// Where a piece would stand.
        square: Square,
    },
    /// The pieces make no position.
    #[error(transparent)]
    Pieces(#[from] PositionError),
    /// The side to move is not known.
    #[error("unknown side to move `{0}`: give w (or r) for Red, b for Black")]
    Side(String),
}

impl Position {
    /// Reads a position from its FEN: ten ranks from Black's home rank down and the side to move.
    ///
    /// Red is to move where the side is missing. Fields after the side are passed over. A
    /// position that no game leads to is read all the same: see [`Position::illegality`].
    ///
    /// # Errors
    ///
    /// If the text does not have that shape, or the pieces are not a position's: see
    /// [`Position::from_pieces`].
    pub fn from_fen(fen: &str) -> Result<Position, FenError> {
        let mut fields = fen.split_whitespace();
        let board = fields.next().ok_or(FenError::Empty)?;
        let ranks: Vec<&str> = board.split('/').collect();
        if ranks.len() != 10 {
            return Err(FenError::Ranks(ranks.len()));
        }
        let mut pieces = Vec::with_capacity(32);
        for (rank, text) in (0..10).rev().zip(ranks) {
            read_rank(text, rank, &mut pieces)?;
        }
        let turn = match fields.next() {
            None => Color::Red,
            Some(side) => {
                (side.parse().ok()).and_then(Color::from_char).ok_or_else(|| FenError::Side(side.to_owned()))?
            }
        };
        Ok(Position::from_pieces(&pieces, turn)?)
    }

    /// Writes the board and the side to move.
    #[must_use]
    pub fn to_fen(&self) -> String {
        let mut fen = String::with_capacity(64);
        for rank in (0..10).rev() {
            let mut gap = 0;
            for file in 0..9 {
                match self.piece_at(Square::at(file, rank)) {
                    None => gap += 1,
                    Some(piece) => {
                        push_gap(&mut fen, &mut gap);
                        fen.push(piece.to_char());
                    }
                }
            }
            push_gap(&mut fen, &mut gap);
            fen.push(if rank == 0 { ' ' } else { '/' });
        }
        fen.push(self.turn().to_char());
        fen
    }
}

impl FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Position, FenError> {
        Position::from_fen(fen)
    }
}

fn read_rank(text: &str, rank: u8, pieces: &mut Vec<(Piece, Square)>) -> Result<(), FenError> {
    let mut file = 0;
    for letter in text.chars() {
        match letter {
            '1'..='9' => file += letter as usize - '0' as usize,
            _ => {
                // Pieces past the edge only count: the length is what is wrong then.
                if file < 9 {
                    let square = Square::at(file as u8, rank);
                    let piece = Piece::from_char(letter);
                    let piece = piece.ok_or(FenError::Letter { letter, square })?;
                    pieces.push((piece, square));
                }
                file += 1;
            }
        }
    }
    if file != 9 {
        return Err(FenError::Files { rank, files: file, text: text.to_owned() });
    }
    Ok(())
}

fn push_gap(fen: &mut String, gap: &mut u8) {
    if *gap > 0 {
        fen.push((b'0' + *gap) as char);
        *gap = 0;
    }
}
