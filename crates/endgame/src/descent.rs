//! Where a capture leads: the smaller table, and how its pieces and words lie to those of the larger one.

use std::sync::Arc;

use canju_retro::Side;
use canju_xiangqi::{Color, Piece, Role};

use crate::attackers::MOST_FIXED;
use crate::fortress::Placement;
use crate::geometry::members;
use crate::index::Index;
use crate::slab::Spot;
use crate::word;

/// Where one of the larger table's attackers stands in a smaller table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Among the configuration's squares.
    Man(usize),
    /// On the bit axis.
    Axis,
}

/// The attackers as they stand after a capture, in the smaller table's own order and colours.
#[derive(Clone, Copy)]
pub(crate) struct Squares {
    pub men: [u8; MOST_FIXED],
    pub axis: u8,
}

/// Stands for whatever square, where the captured piece was no piece of the fortress.
pub(crate) const ANY: u8 = u8::MAX;

/// The smaller table that one capture leads to.
pub(crate) struct Descent {
    pub captured: Piece,
    pub index: Arc<Index>,
    /// True where the smaller table has the sides the other way round, the board turned.
    pub swapped: bool,
    /// For each colour of the larger table, the smaller table's number of each of its placements; of the captured
    /// piece's colour, when it was an advisor or elephant, by the square that it was taken from.
    forts: [Vec<Vec<(u8, u16)>>; 2],
    /// Where each attacker goes, by the attacker captured (the bit axis is `MOST_FIXED`, none the one after).
    pub slots: [Slots; MOST_FIXED + 2],
    /// Where no attacker is captured and the bit axis stays: the smaller table's configurations by the larger one's.
    pub configs: Vec<u32>,
}

/// The smaller table's slots of the larger one's attackers: men in order, the bit axis last.
pub(crate) type Slots = [Option<Slot>; MOST_FIXED + 1];
/// The place of "no attacker" in [`Descent::slots`].
pub(crate) const NO_ATTACKER: usize = MOST_FIXED + 1;

impl Descent {
    pub fn new(index: &Index, captured: Piece, child: Arc<Index>, swapped: bool) -> Self {
        let forts = Color::ALL.map(|color| {
            let there = &child.forts[if swapped { color.opposite() } else { color }.index()];
            let find = |p: &Placement, without: u128| {
                let (king, advisors, elephants) = (p.king, p.advisors & !without, p.elephants & !without);
                if swapped {
                    there.find(word::flip_square(king), word::flip(advisors), word::flip(elephants))
                } else {
                    there.find(king, advisors, elephants)
                }
            };
            let placements = index.forts[color.index()].placements.iter();
            placements
                .map(|p| {
                    let victims = match captured {
                        Piece { color: c, role: Role::Advisor } if c == color => p.advisors,
                        Piece { color: c, role: Role::Elephant } if c == color => p.elephants,
                        _ => return find(p, 0).map(|n| (ANY, n as u16)).into_iter().collect(),
                    };
                    members(victims).filter_map(|s| Some((s as u8, find(p, 1 << s)? as u16))).collect()
                })
                .collect()
        });
        let slots = [[None; MOST_FIXED + 1]; MOST_FIXED + 2];
        let mut descent = Self { captured, index: child, swapped, forts, slots, configs: Vec::new() };
        descent.slots = std::array::from_fn(|captured| descent.find_slots(index, captured));
        let slots = &descent.slots[NO_ATTACKER];
        if matches!(captured.role, Role::Advisor | Role::Elephant) && slots[MOST_FIXED] == Some(Slot::Axis) {
            let configs = index.attackers.squares.iter().map(|squares| {
                let mut there = [0; MOST_FIXED];
                for (i, man) in index.attackers.men.iter().enumerate() {
                    if let Some(Slot::Man(at)) = slots[i] {
                        there[at] = descent.turn_square(squares[man.at]);
                    }
                }
                descent.index.attackers.find(&there).unwrap_or_default()
            });
            descent.configs = configs.collect();
        }
        descent
    }

    fn find_slots(&self, index: &Index, captured: usize) -> Slots {
        let mut slots = [None; MOST_FIXED + 1];
        let there = &self.index.attackers;
        let mut used = [false; MOST_FIXED];
        let axis = index.attackers.axis;
        let key = |color: Color| if self.swapped { color.opposite() } else { color };
        let mut axis_free = there.axis;
        // The bit axis stays the bit axis where it can: then words go over as they are.
        if let Some(a) = axis
            && captured != MOST_FIXED
            && there.axis.is_some_and(|t| t.color == key(a.color) && t.role == a.role)
        {
            slots[MOST_FIXED] = Some(Slot::Axis);
            axis_free = None;
        }
        let men = index.attackers.men.iter().enumerate().map(|(i, m)| (i, m.color, m.role));
        for (i, color, role) in men.chain(axis.map(|a| (MOST_FIXED, a.color, a.role))) {
            if captured == i || slots[i].is_some() {
                continue;
            }
            let free = there.men.iter().find(|m| m.color == key(color) && m.role == role && !used[m.at]);
            if let Some(man) = free {
                used[man.at] = true;
                slots[i] = Some(Slot::Man(man.at));
            } else if axis_free.is_some_and(|t| t.color == key(color) && t.role == role) {
                axis_free = None;
                slots[i] = Some(Slot::Axis);
            }
        }
        slots
    }

    /// The smaller table's numbers of both sides' placements, by colour of the larger table, after `own` captured on
    /// `victim` without moving a piece of its fortress.
    pub fn fortresses(&self, own: Color, placements: [usize; 2], victim: u8) -> Option<[usize; 2]> {
        let mut forts = [0; 2];
        forts[own.index()] = self.placement(own, placements[own.index()], ANY)?;
        let enemy = own.opposite();
        forts[enemy.index()] = self.placement(enemy, placements[enemy.index()], victim)?;
        Some(forts)
    }

    pub fn placement(&self, color: Color, placement: usize, victim: u8) -> Option<usize> {
        self.forts[color.index()][placement]
            .iter()
            .find(|&&(s, _)| s == victim || s == ANY)
            .map(|&(_, n)| usize::from(n))
    }

    /// The word of these placements (of the larger table's colours, already numbered as the smaller table's) and men.
    pub fn spot(&self, forts: [usize; 2], men: &[u8; MOST_FIXED]) -> Option<Spot> {
        let [mut first, mut second] = if self.swapped { [forts[1], forts[0]] } else { forts };
        let mut config = self.index.attackers.find(men)? as usize;
        let spot = self.placed(&mut first, &mut second);
        if spot.mirrored {
            config = self.index.attackers.mirror[config] as usize;
        }
        Some(Spot { word: spot.word + config, ..spot })
    }

    /// The first word of two placements of the smaller table, which are turned to where the table keeps them.
    pub fn placed(&self, first: &mut usize, second: &mut usize) -> Spot {
        let mirrored = self.index.forts[0].canonical(*first).1;
        if mirrored {
            *first = self.index.forts[0].mirror(*first);
            *second = self.index.forts[1].mirror(*second);
        }
        let (slice, at) = self.index.slice_of(self.index.forts[0].canonical(*first).0, *second);
        Spot { slice, word: at * self.index.attackers.len(), mirrored }
    }

    pub fn turn_square(&self, s: u8) -> u8 {
        if self.swapped { word::flip_square(s) } else { s }
    }

    /// Words between the two tables, either way.
    pub fn turn_word(&self, w: u128, mirrored: bool) -> u128 {
        let w = if self.swapped { word::flip(w) } else { w };
        if mirrored { word::mirror(w) } else { w }
    }

    pub fn side(&self, mover: Side) -> Side {
        if self.swapped { mover } else { mover.other() }
    }
}
