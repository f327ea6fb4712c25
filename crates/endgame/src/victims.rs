//! The pieces that may be chased: each has a plane, a set of cells of its own, in what the rules of repetition work out.
//!
//! Plane 0 is the king's, the others are those of single pieces. A piece is named by its place among its like in a cell; a
//! move, or the mirror, can change that place, and the plane that goes on is found by the square.

use std::ops::Range;

use canju_retro::Side;
use canju_xiangqi::{Role, role_mask};

use crate::attackers::Man;
use crate::geometry::{Geometry, members};
use crate::index::Index;
use crate::legality::color;
use crate::moves::End;
use crate::word::{self, crossed};

/// A piece by how the index places it.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Axis,
    /// Where its square stands in a configuration.
    Man(usize),
    /// Which of them, by squares.
    Advisor(usize),
    Elephant(usize),
}

/// One side's pieces but the king, and what can attack them.
pub(crate) struct Victims {
    side: Side,
    slots: Vec<(Slot, Role)>,
    /// The slots of pieces that a move can put in each other's place, for each.
    likes: Vec<Range<usize>>,
    hunters: Vec<Man>,
    axis_hunter: Option<Role>,
    /// All that can check.
    checkers: Vec<Man>,
    axis_checker: Option<Role>,
    /// Where the enemy's advisors and elephants may capture.
    home: u128,
}

/// The squares of a word's fixed pieces.
struct Fixed {
    occupied: u128,
    king: u8,
    advisors: u128,
    elephants: u128,
    config: usize,
}

impl Victims {
    /// The pieces of a side; none where the enemy has nothing that attacks by the rules.
    pub fn new(index: &Index, side: Side) -> Self {
        let (own, enemy) = (color(side), color(side).opposite());
        let material = index.material();
        let attackers = &index.attackers;
        let hunts = |role: Role| role != Role::Soldier;
        let hunters: Vec<Man> = attackers.men.iter().copied().filter(|m| m.color == enemy && hunts(m.role)).collect();
        let axis_hunter = attackers.axis.filter(|a| a.color == enemy && hunts(a.role)).map(|a| a.role);
        let checkers = attackers.men.iter().copied().filter(|m| m.color == enemy).collect();
        let axis_checker = attackers.axis.filter(|a| a.color == enemy).map(|a| a.role);
        let mut home = 0;
        for role in [Role::Advisor, Role::Elephant] {
            if material.count(enemy, role) > 0 {
                home |= role_mask(enemy, role);
            }
        }
        let (slots, likes) = (Vec::new(), Vec::new());
        let mut victims = Self { side, slots, likes, hunters, axis_hunter, checkers, axis_checker, home };
        if victims.hunters.is_empty() && axis_hunter.is_none() && home == 0 {
            return victims;
        }
        if let Some(axis) = attackers.axis.filter(|a| a.color == own) {
            victims.add([Slot::Axis].into_iter(), axis.role);
        }
        for group in attackers.groups.iter().filter(|g| g.color == own) {
            victims.add((0..group.count).map(|i| Slot::Man(group.start + i)), group.role);
        }
        victims.add((0..material.count(own, Role::Advisor)).map(Slot::Advisor), Role::Advisor);
        victims.add((0..material.count(own, Role::Elephant)).map(Slot::Elephant), Role::Elephant);
        victims
    }

    fn add(&mut self, slots: impl Iterator<Item = Slot>, role: Role) {
        let first = self.slots.len();
        self.slots.extend(slots.map(|slot| (slot, role)));
        let likes = first..self.slots.len();
        self.likes.extend(likes.clone().map(|_| likes.clone()));
    }

    /// How many planes there are, with the king's.
    pub fn planes(&self) -> usize {
        1 + self.slots.len()
    }

    #[inline]
    fn fixed(&self, index: &Index, slice: usize, word: usize) -> Fixed {
        let place = index.place(slice);
        // Words are numbered by 32 bits, in which division is fast.
        let (word, configs) = (word as u32, index.attackers.len() as u32);
        let (at, config) = ((word / configs) as usize, (word % configs) as usize);
        let forts = [&index.forts[0].placements[place.first], &index.forts[1].placements[place.second.start + at]];
        let own = forts[self.side.index()];
        Fixed {
            occupied: forts[0].occupied | forts[1].occupied | index.attackers.occupied[config],
            king: own.king,
            advisors: own.advisors,
            elephants: own.elephants,
            config,
        }
    }

    /// The square of a piece that is not on the bit axis.
    #[inline]
    fn square(&self, index: &Index, slot: usize, fixed: &Fixed) -> Option<u8> {
        match self.slots[slot].0 {
            Slot::Axis => None,
            Slot::Man(at) => Some(index.attackers.squares[fixed.config][at]),
            Slot::Advisor(n) => members(fixed.advisors).nth(n).map(|s| s as u8),
            Slot::Elephant(n) => members(fixed.elephants).nth(n).map(|s| s as u8),
        }
    }

    /// The square of a plane's piece in a cell whose bit-axis piece stands on `bit`.
    pub fn square_at(&self, index: &Index, plane: usize, slice: usize, word: usize, bit: u8) -> u8 {
        self.square(index, plane - 1, &self.fixed(index, slice, word)).unwrap_or(bit)
    }

    /// The plane of the piece on a square.
    pub fn plane_at(&self, index: &Index, role: Role, square: u8, slice: usize, word: usize, bit: u8) -> Option<usize> {
        let fixed = self.fixed(index, slice, word);
        let stands = |slot: &usize| self.square(index, *slot, &fixed).unwrap_or(bit) == square;
        (0..self.slots.len()).filter(|&slot| self.slots[slot].1 == role).find(stands).map(|slot| slot + 1)
    }

    /// What a plane's piece is.
    pub fn role(&self, plane: usize) -> Role {
        self.slots[plane - 1].1
    }

    /// The plane of the same piece at the other end of a move, whichever way it goes.
    #[inline]
    pub fn carry(&self, index: &Index, plane: usize, here: (usize, usize), end: End) -> usize {
        // What moves on the bit axis stays in its word, and is like no other.
        if plane == 0 || here == (end.slice, end.word) || self.likes[plane - 1].len() == 1 {
            plane
        } else {
            self.carry_like(index, plane, here, end)
        }
    }

    /// The same of a piece that has its like, where the word is another.
    fn carry_like(&self, index: &Index, plane: usize, here: (usize, usize), end: End) -> usize {
        if let Slot::Man(at) = self.slots[plane - 1].0 {
            return self.carry_man(index, plane, at, here.1, end);
        }
        let likes = self.likes[plane - 1].clone();
        let there = self.fixed(index, end.slice, end.word);
        let here = self.fixed(index, here.0, here.1);
        let turned = |square: u8| if end.mirrored { word::mirror_square(square) } else { square };
        let before = |slot| self.square(index, slot, &here).map(turned);
        let after = |slot| self.square(index, slot, &there);
        let square = before(plane - 1);
        let same = likes.clone().find(|&slot| after(slot) == square);
        // The piece itself has moved: it stands where none of them stood.
        let moved = || likes.clone().find(|&slot| likes.clone().all(|other| before(other) != after(slot)));
        same.or_else(moved).map_or(plane, |slot| slot + 1)
    }

    /// The same of a man, whose squares need no look at the fortresses.
    fn carry_man(&self, index: &Index, plane: usize, at: usize, word: usize, end: End) -> usize {
        // Words are numbered by 32 bits, in which division is fast.
        let configs = index.attackers.len() as u32;
        let squares = |word: usize| &index.attackers.squares[(word as u32 % configs) as usize];
        let (before, after) = (squares(word), squares(end.word));
        let turned = |square: u8| if end.mirrored { word::mirror_square(square) } else { square };
        let square = turned(before[at]);
        if after[at] == square {
            return plane;
        }
        let likes = &self.likes[plane - 1];
        let start = at + likes.start + 1 - plane;
        if likes.len() == 2 {
            // It has kept its place if the other one has, or else has taken that one's.
            let other = 2 * start + 1 - at;
            return if after[other] == turned(before[other]) { plane } else { 2 * likes.start + 3 - plane };
        }
        let (before, after) = (&before[start..start + likes.len()], &after[start..start + likes.len()]);
        let same = after.iter().position(|&s| s == square);
        let moved = || after.iter().position(|&s| before.iter().all(|&b| turned(b) != s));
        same.or_else(moved).map_or(plane, |n| likes.start + n + 1)
    }

    /// The cells of a word in which the side's king is in check.
    pub fn checked(&self, index: &Index, slice: usize, word: usize) -> u128 {
        let geometry = Geometry::get();
        let enemy = color(self.side).opposite();
        let fixed = self.fixed(index, slice, word);
        let squares = &index.attackers.squares[fixed.config];
        let king = usize::from(fixed.king);
        let mut set = 0;
        for man in &self.checkers {
            set |= geometry.attack(enemy, man.role, usize::from(squares[man.at]), king, fixed.occupied);
        }
        match self.axis_checker {
            Some(role) => set | geometry.attackers(enemy, role, king, fixed.occupied),
            None => set,
        }
    }

    /// False where nothing that the enemy does violates against the piece of a plane: a soldier that has not crossed.
    pub fn can_be_violated(&self, index: &Index, plane: usize, slice: usize, word: usize) -> bool {
        if plane == 0 || self.role(plane) != Role::Soldier {
            return true;
        }
        let square = match self.slots[plane - 1].0 {
            Slot::Man(at) => Some(self.man(index, at, word)),
            _ => self.square(index, plane - 1, &self.fixed(index, slice, word)),
        };
        square.is_none_or(|square| crossed(color(self.side)) >> square & 1 == 1)
    }

    /// The square of a man of a word.
    fn man(&self, index: &Index, at: usize, word: usize) -> u8 {
        // Words are numbered by 32 bits, in which division is fast.
        index.attackers.squares[(word as u32 % index.attackers.len() as u32) as usize][at]
    }

    /// Cells of a word beyond which nothing attacks the piece of a plane, or checks, whatever stands where: all of them where
    /// more than the bit axis may attack it.
    pub fn reach(&self, index: &Index, plane: usize, slice: usize, word: usize) -> u128 {
        let enemy = color(self.side).opposite();
        let aim = |role, square: u8| Geometry::get().reach(enemy, role, usize::from(square));
        match plane {
            0 if self.checkers.is_empty() => {
                self.axis_checker.map_or(0, |role| aim(role, self.fixed(index, slice, word).king))
            }
            0 => u128::MAX,
            _ => match self.slots[plane - 1].0 {
                Slot::Man(at) if self.hunters.is_empty() && self.home == 0 => {
                    self.axis_hunter.map_or(0, |role| aim(role, self.man(index, at, word)))
                }
                _ => u128::MAX,
            },
        }
    }

    /// The cells of a word in which something may attack the piece of a plane; some of these attacks may not count.
    pub fn attacked(&self, index: &Index, plane: usize, slice: usize, word: usize) -> u128 {
        let geometry = Geometry::get();
        let (own, enemy) = (color(self.side), color(self.side).opposite());
        let fixed = self.fixed(index, slice, word);
        let squares = &index.attackers.squares[fixed.config];
        let role = self.role(plane);
        let Some(victim) = self.square(index, plane - 1, &fixed) else {
            let mut set = self.home;
            for man in &self.hunters {
                set |= geometry.targets(enemy, man.role, usize::from(squares[man.at]), fixed.occupied);
            }
            return if role == Role::Soldier { set & crossed(own) } else { set };
        };
        if role == Role::Soldier && crossed(own) >> victim & 1 == 0 {
            return 0;
        }
        if self.home >> victim & 1 == 1 {
            return u128::MAX;
        }
        let victim = usize::from(victim);
        let mut set = 0;
        for man in &self.hunters {
            set |= geometry.attack(enemy, man.role, usize::from(squares[man.at]), victim, fixed.occupied);
        }
        if let Some(role) = self.axis_hunter {
            set |= geometry.attackers(enemy, role, victim, fixed.occupied);
        }
        set
    }
}
