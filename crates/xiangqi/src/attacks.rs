use crate::position::{NONE, slots};
use crate::tables::{self, ADVISOR, ELEPHANT, FILE_SQUARES, HORSE, KING, LINES, SOLDIER, WALL};
use crate::{Color, Piece, Position, Role, Square};

/// Which of the two things a cannon's move depends on.
#[derive(Clone, Copy)]
enum Aim {
    /// The empty squares that it can go to.
    Quiet,
    /// The pieces that it can capture.
    Capture,
}

impl Position {
    /// The squares that the piece on a square can go to or capture on, own pieces excluded, with
    /// no regard to whose turn it is and to whether the move leaves a king in check. Empty when no
    /// piece stands there.
    #[must_use]
    pub fn reach(&self, from: Square) -> u128 {
        match self.piece_at(from) {
            Some(piece) => self.reach_of(piece, from) & !self.side(piece.color),
            None => 0,
        }
    }

    /// The taken squares, of either side, on which the piece on a square could capture if the
    /// piece there were an enemy's: what it attacks and what it protects.
    #[must_use]
    pub fn attacks(&self, from: Square) -> u128 {
        match self.piece_at(from) {
            Some(piece) => self.reach_of(piece, from) & self.occupied(),
            None => 0,
        }
    }

    /// The squares of a side's pieces that could capture on a square if an enemy stood there,
    /// with no regard to whether the capture would leave their own king in check. The square must
    /// be taken for a cannon's aim over a screen to be meant.
    #[must_use]
    pub fn attackers(&self, square: Square, by: Color) -> u128 {
        let mut attackers = self.strikers(square, by, 0);
        let king = self.squares_of(by, Role::King);
        let near = king.filter(|king| KING[king.index()] & square.bit() != 0);
        let advisors = self.squares_of(by, Role::Advisor);
        let near = near.chain(advisors.filter(|at| ADVISOR[at.index()] & square.bit() != 0));
        let elephants = self.squares_of(by, Role::Elephant);
        let near = near.chain(elephants.filter(|&at| self.hops(&ELEPHANT, at) & square.bit() != 0));
        for at in near {
            attackers |= at.bit();
        }
        attackers
    }

    /// Whether any piece of a side could capture on a square if an enemy stood there.
    #[must_use]
    pub fn is_attacked(&self, square: Square, by: Color) -> bool {
        self.attackers(square, by) != 0
    }

    /// The squares of the pieces that give check to the side to move.
    #[must_use]
    pub fn checkers(&self) -> u128 {
        self.strikers(self.king(self.turn()), !self.turn(), 0)
    }

    /// Whether the side to move is in check. Kings that face each other are no check but
    /// [illegal](Position::is_legal).
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.is_checked(self.turn())
    }

    /// Whether a side is in check, on turn or not.
    #[must_use]
    pub fn is_checked(&self, color: Color) -> bool {
        self.strikers(self.king(color), !color, 0) != 0
    }

    /// Whether the kings stand on one file with nothing between them.
    #[must_use]
    pub fn kings_face(&self) -> bool {
        self.faces(self.king(Color::Red), self.king(Color::Black), 0)
    }

    /// Whether two squares share a line with nothing between them, `vacated` taken as empty.
    pub(crate) fn faces(&self, a: Square, b: Square, vacated: u128) -> bool {
        tables::between(a, b) & ((self.occupied() & !vacated) | WALL) == 0
    }

    /// The chariots, horses, cannons and soldiers of a side that could capture on a square, with
    /// the squares of `vacated` taken as empty.
    #[inline]
    pub(crate) fn strikers(&self, square: Square, by: Color, vacated: u128) -> u128 {
        let taken = (self.occupied() & !vacated) | WALL;
        let mut strikers = 0;
        for at in self.squares_of(by, Role::Chariot) {
            if tables::between(square, at) & taken == 0 {
                strikers |= at.bit();
            }
        }
        for at in self.squares_of(by, Role::Cannon) {
            let screens = tables::between(square, at) & taken;
            if screens != 0 && screens & (screens - 1) == 0 {
                strikers |= at.bit();
            }
        }
        for at in self.squares_of(by, Role::Horse) {
            if taken & tables::leg(at, square).bit() == 0 {
                strikers |= at.bit();
            }
        }
        let near = tables::SOLDIER_FROM[by.index()][square.index()] & self.side(by);
        if near != 0 {
            for at in crate::squares(near) {
                if slots(by, Role::Soldier).contains(&usize::from(self.board[at.index()])) {
                    strikers |= at.bit();
                }
            }
        }
        strikers
    }

    fn reach_of(&self, piece: Piece, from: Square) -> u128 {
        match piece.role {
            Role::King => KING[from.index()],
            Role::Advisor => ADVISOR[from.index()],
            Role::Elephant => self.hops(&ELEPHANT, from),
            Role::Chariot => self.chariot(from),
            Role::Horse => self.hops(&HORSE, from),
            Role::Cannon => self.cannon(from, self.occupied()),
            Role::Soldier => SOLDIER[piece.color.index()][from.index()],
        }
    }

    #[inline]
    pub(crate) fn hops(&self, table: &[[tables::Hop; 4]; 90], from: Square) -> u128 {
        let mut targets = 0;
        for hop in &table[from.index()] {
            if self.board[hop.block.index()] == NONE {
                targets |= hop.targets;
            }
        }
        targets
    }

    #[inline]
    pub(crate) fn chariot(&self, from: Square) -> u128 {
        self.along(from, Aim::Quiet)
    }

    /// A cannon's empty targets and those of its captures that are in `victims`.
    #[inline]
    pub(crate) fn cannon(&self, from: Square, victims: u128) -> u128 {
        (self.along(from, Aim::Quiet) & !self.occupied()) | (self.along(from, Aim::Capture) & victims)
    }

    #[inline]
    fn along(&self, from: Square, aim: Aim) -> u128 {
        let (file, rank) = (from.file(), from.rank());
        let across = LINES[usize::from(file)][usize::from(self.ranks[usize::from(rank)])];
        let upward = LINES[usize::from(rank)][usize::from(self.files[usize::from(file)])];
        let (across, upward) = match aim {
            Aim::Quiet => (across.slide & 0x1ff, upward.slide),
            Aim::Capture => (across.jump, upward.jump),
        };
        (u128::from(across) << (9 * rank)) | (FILE_SQUARES[usize::from(upward)] << file)
    }
}
