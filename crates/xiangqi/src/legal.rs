use std::ops::ControlFlow;

use crate::position::slots;
use crate::tables::{self, ADVISOR, ELEPHANT, HORSE, KING, SOLDIER, WALL};
use crate::{Move, MoveList, Position, Role, Square};

const ANYWHERE: u128 = u128::MAX;

/// What one enemy piece that aims at the king, or nearly so, forbids.
///
/// Only the number of pieces on `line` counts, and a move changes it by one at most: so the squares
/// that a piece may go to depend on nothing but whether it leaves the line.
#[derive(Clone, Copy)]
struct Threat {
    /// Chariot, cannon, king: the squares between it and the king. Horse: its leg.
    line: u128,
    /// Where a piece that stands on the line may go.
    inside: u128,
    /// Where any other piece may go.
    outside: u128,
}

/// All threats to a king: two chariots, two cannons, two horses, a king and the soldiers beside it.
struct Threats {
    list: [Threat; 12],
    len: usize,
    /// Where a piece on none of the lines may go.
    open: u128,
    /// All the lines.
    lines: u128,
}

impl Threats {
    #[inline]
    fn new() -> Threats {
        Threats {
            list: [Threat { line: 0, inside: ANYWHERE, outside: ANYWHERE }; 12],
            len: 0,
            open: ANYWHERE,
            lines: 0,
        }
    }

    #[inline]
    fn add(&mut self, threat: Threat) {
        self.list[self.len] = threat;
        self.len += 1;
        self.open &= threat.outside;
        self.lines |= threat.line;
    }

    /// A piece on `at` that captures along `line` when it is empty.
    #[inline]
    fn add_open(&mut self, line: u128, taken: u128, at: Square) {
        let met = line & taken;
        if met == 0 {
            self.add(Threat { line, inside: ANYWHERE, outside: line | at.bit() });
        } else if met & (met - 1) == 0 {
            self.add(Threat { line, inside: line | at.bit(), outside: ANYWHERE });
        }
    }

    /// A cannon on `at`, which captures along `line` over exactly one piece.
    #[inline]
    fn add_cannon(&mut self, line: u128, taken: u128, at: Square) {
        let met = line & taken;
        let rest = met & met.wrapping_sub(1);
        let shut = (line & !taken) | at.bit();
        if met == 0 {
            self.add(Threat { line, inside: ANYWHERE, outside: !line });
        } else if rest == 0 {
            self.add(Threat { line, inside: !line, outside: shut });
        } else if rest & (rest - 1) == 0 {
            self.add(Threat { line, inside: shut, outside: ANYWHERE });
        }
    }

    /// Where a piece on this square may go for the king to be safe.
    #[inline]
    fn allowed(&self, from: Square) -> u128 {
        let from = from.bit();
        if self.lines & from == 0 {
            return self.open;
        }
        let threats = &self.list[..self.len];
        threats.iter().fold(ANYWHERE, |allowed, threat| {
            let leaves = threat.line & from != 0;
            allowed & if leaves { threat.inside } else { threat.outside }
        })
    }
}

impl Position {
    /// All legal moves. There is none when the game is over: see [`is_mate`](Position::is_mate)
    /// and [`is_stalemate`](Position::is_stalemate), both of which lose.
    ///
    /// In a position that no game leads to, a king is still never captured.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        let _ = self.each_target_set(|from, targets| {
            for to in crate::squares(targets) {
                moves.push(Move::new(from, to));
            }
            ControlFlow::<()>::Continue(())
        });
        moves
    }

    /// How many legal moves there are, without listing them.
    #[must_use]
    pub fn count_legal_moves(&self) -> usize {
        let mut count = 0;
        let _ = self.each_target_set(|_, targets| {
            count += targets.count_ones();
            ControlFlow::<()>::Continue(())
        });
        count as usize
    }

    /// Whether the side to move can move at all; if not it has lost.
    #[must_use]
    pub fn has_legal_move(&self) -> bool {
        let found = self.each_target_set(
            |_, targets| {
                if targets == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        found.is_break()
    }

    /// Whether a move is legal for the side to move.
    #[must_use]
    pub fn is_legal_move(&self, chosen: Move) -> bool {
        let found = self.each_target_set(|from, targets| {
            if from == chosen.from && targets & chosen.to.bit() != 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        found.is_break()
    }

    /// Whether a move gives check, by the piece that moves or by another.
    ///
    /// # Panics
    ///
    /// If no piece stands on the square that the move leaves.
    #[must_use]
    pub fn gives_check(&self, chosen: Move) -> bool {
        self.play(chosen).in_check()
    }

    /// Whether the side to move is in check and cannot move: it has lost.
    #[must_use]
    pub fn is_mate(&self) -> bool {
        self.in_check() && !self.has_legal_move()
    }

    /// Whether the side to move is not in check and cannot move: it has lost too.
    #[must_use]
    pub fn is_stalemate(&self) -> bool {
        !self.in_check() && !self.has_legal_move()
    }

    /// Calls `each` with the square of every piece of the side to move and its legal targets,
    /// until told to stop.
    #[inline]
    fn each_target_set<B>(&self, mut each: impl FnMut(Square, u128) -> ControlFlow<B>) -> ControlFlow<B> {
        let us = self.turn();
        let king = self.king(us);
        let their_king = self.king(!us);
        let victims = self.side(!us) & !their_king.bit();
        let closed = self.side(us) | their_king.bit();
        let threats = self.threats();

        for from in self.squares_of(us, Role::Chariot) {
            each(from, self.chariot(from) & !closed & threats.allowed(from))?;
        }
        for from in self.squares_of(us, Role::Cannon) {
            each(from, self.cannon(from, victims) & threats.allowed(from))?;
        }
        for from in self.squares_of(us, Role::Horse) {
            each(from, self.hops(&HORSE, from) & !closed & threats.allowed(from))?;
        }
        for from in self.squares_of(us, Role::Soldier) {
            let steps = SOLDIER[us.index()][from.index()];
            each(from, steps & !closed & threats.allowed(from))?;
        }
        for from in self.squares_of(us, Role::Elephant) {
            let hops = self.hops(&ELEPHANT, from);
            each(from, hops & !closed & threats.allowed(from))?;
        }
        for from in self.squares_of(us, Role::Advisor) {
            let steps = ADVISOR[from.index()];
            each(from, steps & !closed & threats.allowed(from))?;
        }
        let mut steps = 0;
        for to in crate::squares(KING[king.index()] & !closed) {
            let safe = !self.faces(to, their_king, king.bit()) && self.strikers(to, !us, king.bit()) == 0;
            if safe {
                steps |= to.bit();
            }
        }
        each(king, steps)
    }

    #[inline]
    fn threats(&self) -> Threats {
        let us = self.turn();
        let them = !us;
        let king = self.king(us);
        let taken = self.occupied() | WALL;
        let mut threats = Threats::new();
        for at in self.squares_of(them, Role::Chariot) {
            threats.add_open(tables::between(king, at), taken, at);
        }
        for at in self.squares_of(them, Role::Cannon) {
            threats.add_cannon(tables::between(king, at), taken, at);
        }
        for at in self.squares_of(them, Role::Horse) {
            let leg = tables::leg(at, king);
            if leg != at {
                threats.add_open(leg.bit(), taken, at);
            }
        }
        let their_king = self.king(them);
        threats.add_open(tables::between(king, their_king), taken, their_king);
        let near = tables::SOLDIER_FROM[them.index()][king.index()] & self.side(them);
        if near != 0 {
            for at in crate::squares(near) {
                let slot = usize::from(self.board[at.index()]);
                if slots(them, Role::Soldier).contains(&slot) {
                    threats.add(Threat { line: 0, inside: ANYWHERE, outside: at.bit() });
                }
            }
        }
        threats
    }
}
