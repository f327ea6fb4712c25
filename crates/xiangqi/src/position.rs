use std::fmt;
use std::hash::{Hash, Hasher};

use crate::{Color, Move, Piece, PositionError, Role, Square};

/// Marks an empty square on the board and a piece that is off the board in the list.
pub(crate) const NONE: u8 = 0xff;

/// The first slot of each role in a side's sixteen, and the slot past the last.
const SLOTS: [u8; 8] = [0, 1, 3, 5, 7, 9, 11, 16];

/// The slots of a role in the list of pieces.
pub(crate) const fn slots(color: Color, role: Role) -> std::ops::Range<usize> {
    let base = 16 * color.index();
    base + SLOTS[role.index()] as usize..base + SLOTS[role.index() + 1] as usize
}

/// The piece that a slot is kept for.
static SLOT_PIECE: [Piece; 32] = {
    let mut pieces = [Piece::new(Color::Red, Role::King); 32];
    let mut side = 0;
    while side < 2 {
        let mut role = 0;
        while role < 7 {
            let range = slots(Color::ALL[side], Role::ALL[role]);
            let mut slot = range.start;
            while slot < range.end {
                pieces[slot] = Piece::new(Color::ALL[side], Role::ALL[role]);
                slot += 1;
            }
            role += 1;
        }
        side += 1;
    }
    pieces
};

/// A board with its pieces and the side to move.
///
/// The board knows the slot of the piece on each square and the list knows the square of the piece
/// in each slot; the two always agree, and so does the occupancy of ranks and files from which the
/// moves of chariots and cannons are looked up.
///
/// Two positions are equal when the same pieces stand on the same squares with the same side to
/// move.
#[derive(Clone, Copy)]
pub struct Position {
    pub(crate) board: [u8; 90],
    pub(crate) list: [u8; 32],
    pub(crate) sides: [u128; 2],
    pub(crate) ranks: [u16; 10],
    pub(crate) files: [u16; 9],
    pub(crate) turn: Color,
}

/// What [`Position::make`] hands out for [`Position::unmake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a move can only be unmade with its undo"]
pub struct Undo {
    captured: u8,
}

impl Undo {
    /// The piece that the move captured.
    #[must_use]
    pub fn captured(self) -> Option<Piece> {
        SLOT_PIECE.get(usize::from(self.captured)).copied()
    }
}

impl Position {
    /// A board without pieces, to be filled by [`place`](Position::place).
    ///
    /// Moves, checks and anything else that asks for a king may only be called once both kings
    /// stand; other than that, every arrangement of pieces is safe to ask about.
    #[must_use]
    pub const fn empty(turn: Color) -> Position {
        Position { board: [NONE; 90], list: [NONE; 32], sides: [0; 2], ranks: [0; 10], files: [0; 9], turn }
    }

    /// Takes all pieces off the board; the side to move stays.
    pub fn clear(&mut self) {
        *self = Position::empty(self.turn);
    }

    /// Puts a piece on an empty square, without a look at whether a piece of this role may stand
    /// there.
    ///
    /// # Errors
    ///
    /// If the square is taken or all pieces of this kind are on the board already.
    #[inline]
    pub fn place(&mut self, piece: Piece, square: Square) -> Result<(), PositionError> {
        if self.board[square.index()] != NONE {
            return Err(PositionError::Occupied(square));
        }
        for slot in slots(piece.color, piece.role) {
            if self.list[slot] == NONE {
                self.board[square.index()] = slot as u8;
                self.list[slot] = square.index() as u8;
                self.sides[piece.color.index()] |= square.bit();
                self.toggle_lines(square);
                return Ok(());
            }
        }
        Err(match piece.role {
            Role::King => PositionError::TwoKings(piece.color, square),
            _ => PositionError::TooMany(piece, square),
        })
    }

    /// Takes the piece off a square and returns it.
    #[inline]
    pub fn remove(&mut self, square: Square) -> Option<Piece> {
        let slot = self.board[square.index()];
        let piece = *SLOT_PIECE.get(usize::from(slot))?;
        self.board[square.index()] = NONE;
        self.list[usize::from(slot)] = NONE;
        self.sides[piece.color.index()] ^= square.bit();
        self.toggle_lines(square);
        Some(piece)
    }

    /// The side to move.
    #[must_use]
    #[inline]
    pub const fn turn(&self) -> Color {
        self.turn
    }

    /// Gives the move to a side.
    pub fn set_turn(&mut self, turn: Color) {
        self.turn = turn;
    }

    /// The piece on a square.
    #[must_use]
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        SLOT_PIECE.get(usize::from(self.board[square.index()])).copied()
    }

    /// All pieces with their squares, Red's first, each side in the order K A B R N C P.
    pub fn pieces(&self) -> impl Iterator<Item = (Piece, Square)> + '_ {
        (self.list.iter().zip(&SLOT_PIECE)).filter_map(|(&square, &piece)| Some((piece, Square::new(square)?)))
    }

    /// The squares of the pieces of one kind, in no particular order.
    #[inline]
    pub fn squares_of(&self, color: Color, role: Role) -> impl Iterator<Item = Square> + '_ {
        (self.list[slots(color, role)].iter()).filter_map(|&square| Square::new(square))
    }

    /// How many pieces of one kind are on the board.
    #[must_use]
    pub fn count(&self, color: Color, role: Role) -> usize {
        self.squares_of(color, role).count()
    }

    /// Whether two soldiers of one side share a file before the river: no game leads there, since a soldier goes
    /// sideways only beyond it.
    #[must_use]
    pub fn has_doubled_soldiers(&self) -> bool {
        Color::ALL.into_iter().any(|color| {
            let home = match color {
                Color::Red => 0..5,
                Color::Black => 5..10,
            };
            let mut files = 0_u16;
            let mut soldiers = self.squares_of(color, Role::Soldier).filter(|square| home.contains(&square.rank()));
            soldiers.any(|square| {
                let file = 1 << square.file();
                let taken = files & file != 0;
                files |= file;
                taken
            })
        })
    }

    /// The square of a side's king.
    ///
    /// # Panics
    ///
    /// If the side has no king, which only happens on a board that is still being filled.
    #[must_use]
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        match Square::new(self.list[16 * color.index()]) {
            Some(square) => square,
            None => panic!("{color} has no king on the board"),
        }
    }

    /// The set of squares that are taken: bit [`Square::index`] of each.
    #[must_use]
    #[inline]
    pub const fn occupied(&self) -> u128 {
        self.sides[0] | self.sides[1]
    }

    /// The set of squares that a side's pieces stand on.
    #[must_use]
    #[inline]
    pub const fn side(&self, color: Color) -> u128 {
        self.sides[color.index()]
    }

    /// Whether a move's target is taken, by whichever side.
    #[must_use]
    #[inline]
    pub const fn is_capture(&self, chosen: Move) -> bool {
        self.board[chosen.to.index()] != NONE
    }

    /// Makes a move, legal or not, and gives the turn to the other side.
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move leaves.
    #[inline]
    pub fn make(&mut self, chosen: Move) -> Undo {
        let Move { from, to } = chosen;
        let slot = self.board[from.index()];
        let captured = self.board[to.index()];
        let color = usize::from(slot >> 4);
        assert!(color < 2, "no piece to move on {from}");
        if captured == NONE {
            self.toggle_lines(to);
        } else {
            self.list[usize::from(captured)] = NONE;
            self.sides[usize::from(captured >> 4)] ^= to.bit();
        }
        self.toggle_lines(from);
        self.sides[color] ^= from.bit() | to.bit();
        self.board[from.index()] = NONE;
        self.board[to.index()] = slot;
        self.list[usize::from(slot)] = to.index() as u8;
        self.turn = self.turn.opposite();
        Undo { captured }
    }

    /// Takes back the last move made.
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move went to.
    #[inline]
    pub fn unmake(&mut self, made: Move, undo: Undo) {
        let Move { from, to } = made;
        let slot = self.board[to.index()];
        let color = usize::from(slot >> 4);
        assert!(color < 2, "no piece to take back on {to}");
        self.board[to.index()] = undo.captured;
        self.board[from.index()] = slot;
        self.list[usize::from(slot)] = from.index() as u8;
        self.sides[color] ^= from.bit() | to.bit();
        self.toggle_lines(from);
        if undo.captured == NONE {
            self.toggle_lines(to);
        } else {
            self.list[usize::from(undo.captured)] = to.index() as u8;
            self.sides[usize::from(undo.captured >> 4)] ^= to.bit();
        }
        self.turn = self.turn.opposite();
    }

    /// The position after a move.
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move leaves.
    #[must_use]
    pub fn play(&self, chosen: Move) -> Position {
        let mut next = *self;
        let _ = next.make(chosen);
        next
    }

    /// The same position with left and right exchanged.
    #[must_use]
    pub fn mirror(&self) -> Position {
        self.rearranged(self.turn, |piece, square| (piece, square.mirror()))
    }

    /// The same position with the sides exchanged: colours, ranks and turn.
    #[must_use]
    pub fn flip(&self) -> Position {
        self.rearranged(!self.turn, |piece, square| (Piece::new(!piece.color, piece.role), square.flip()))
    }

    fn rearranged(&self, turn: Color, moved: impl Fn(Piece, Square) -> (Piece, Square)) -> Position {
        let mut next = Position::empty(turn);
        for (piece, square) in self.pieces() {
            let (piece, square) = moved(piece, square);
            let placed = next.place(piece, square);
            debug_assert!(placed.is_ok());
        }
        next
    }

    #[inline]
    fn toggle_lines(&mut self, square: Square) {
        let (file, rank) = (square.file(), square.rank());
        self.ranks[usize::from(rank)] ^= 1 << file;
        self.files[usize::from(file)] ^= 1 << rank;
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Position) -> bool {
        self.turn == other.turn
            && self.sides == other.sides
            && (self.pieces()).all(|(piece, square)| other.piece_at(square) == Some(piece))
    }
}

impl Eq for Position {}

impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.turn.hash(state);
        for square in crate::squares(self.occupied()) {
            (square, self.piece_at(square)).hash(state);
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_fen())
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({})", self.to_fen())
    }
}
