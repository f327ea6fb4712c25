//! Quiet moves between words, forwards and backwards.
//!
//! Everything here works on whole words. A word's cell that the result names by mistake because a
//! piece would share a square is never a legal one, and the caller masks with legal cells.

use canju_retro::{Frontier, Side};
use canju_xiangqi::Role;

use crate::attackers::Man;
use crate::fortress::Placement;
use crate::geometry::Geometry;
use crate::index::{Index, Place};
use crate::legality::color;
use crate::word;

/// The words of one slice and the moves of one side in it.
pub(crate) struct Moves<'a> {
    index: &'a Index,
    geometry: &'static Geometry,
    pub slice: usize,
    place: Place,
    first: &'a Placement,
    side: Side,
    /// The side's attackers beside the bit axis.
    men: Vec<Man>,
    /// The role of the bit axis, if it is this side's.
    axis: Option<Role>,
    /// Configurations of attackers: words for each black placement.
    configs: usize,
}

/// A move of the red fortress as seen from one slice: where it leads, and how words change on the way.
struct Crossing {
    /// Target square and eye.
    all: u128,
    eye: u128,
    /// The slice that holds the other end.
    slice: usize,
    /// True where the other end is kept as its mirror image.
    mirrored: bool,
}

/// The word at the other end of a move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub slice: usize,
    pub word: usize,
    /// True where it is kept as its mirror image.
    pub mirrored: bool,
}

/// Where a step leads: to what the move leads to, or to where it came from.
#[derive(Clone, Copy)]
enum Way {
    Forth,
    Back,
}

/// The words of single squares.
const BITS: [u128; 90] = {
    let mut bits = [0; 90];
    let mut s = 0;
    while s < 90 {
        bits[s] = 1 << s;
        s += 1;
    }
    bits
};

impl<'a> Moves<'a> {
    pub fn new(index: &'a Index, slice: usize, side: Side) -> Self {
        let place = index.place(slice);
        let attackers = &index.attackers;
        Self {
            geometry: Geometry::get(),
            slice,
            first: &index.forts[0].placements[place.first],
            side,
            men: attackers.men.iter().copied().filter(|m| m.color == color(side)).collect(),
            axis: attackers.axis.filter(|a| a.color == color(side)).map(|a| a.role),
            configs: attackers.len(),
            place,
            index,
        }
    }

    fn second(&self, at: usize) -> &'a Placement {
        &self.index.forts[1].placements[self.place.second.start + at]
    }

    /// The fixed pieces of a word.
    fn occupied(&self, at: usize, config: usize) -> u128 {
        self.first.occupied | self.second(at).occupied | self.index.attackers.occupied[config]
    }

    fn crossings(&self) -> impl Iterator<Item = Crossing> + '_ {
        let edges = if self.side == Side::First { &self.first.edges[..] } else { &[] };
        edges.iter().map(|edge| {
            let (canonical, mirrored) = self.index.forts[0].canonical(usize::from(edge.to));
            let (slice, _) = self.index.slice_of(canonical, self.place.second.start);
            Crossing { all: edge.all, eye: edge.eye, slice, mirrored }
        })
    }

    /// The word that is the mirror image of `(at, config)` in a slice of the same block.
    fn mirrored(&self, at: usize, config: usize) -> (usize, usize) {
        let start = self.place.second.start;
        (self.index.forts[1].mirror(start + at) - start, self.index.attackers.mirror[config] as usize)
    }

    /// Gives the configurations that a man reaches by one quiet step, forwards or backwards, with those of `cells` whose
    /// bit-axis square does not block it, until `sink` returns false.
    #[inline]
    fn steps(
        &self,
        man: Man,
        config: usize,
        occupied: u128,
        cells: u128,
        way: Way,
        mut sink: impl FnMut(usize, u128) -> bool,
    ) {
        let square = self.index.attackers.squares[config][man.at];
        let hop = self.index.attackers.hop(config, man);
        match man.role {
            Role::Chariot | Role::Cannon => {
                for walk in self.geometry.walks(square) {
                    let mut cells = cells;
                    for &to in walk {
                        // The end of a walk is no square.
                        let Some(bit) = BITS.get(usize::from(to)) else { break };
                        if bit & occupied != 0 || cells == 0 {
                            break;
                        }
                        if !sink(hop.to(to), cells) {
                            return;
                        }
                        cells &= !bit;
                    }
                }
            }
            role => {
                let steps = match way {
                    Way::Forth => self.geometry.forth(color(self.side), role),
                    Way::Back => self.geometry.back(color(self.side), role),
                };
                for step in &steps[usize::from(square)] {
                    if step.all & occupied == 0 && !sink(hop.to(step.to), cells & !step.path) {
                        return;
                    }
                }
            }
        }
    }

    /// Gives every word of this slice from which the side has a quiet move into `frontier`, which is this
    /// slice's own, with where it leads and the cells that have one. Words repeat.
    pub fn sources(&self, frontier: &Frontier, mut sink: impl FnMut(usize, End, u128)) {
        let own = color(self.side);
        let (mut at, mut start) = (0, 0);
        for (word, bits) in frontier.iter() {
            let word = word as usize;
            while word - start >= self.configs {
                at += 1;
                start += self.configs;
            }
            let config = word - start;
            let occupied = self.occupied(at, config);
            let end = End { slice: self.slice, word, mirrored: false };
            if let Some(role) = self.axis {
                sink(word, end, word::quiet_predecessors(own, role, bits, occupied));
            }
            for &man in &self.men {
                self.steps(man, config, occupied, bits, Way::Back, |source, bits| {
                    sink(start + source, end, bits);
                    true
                });
            }
            if self.side == Side::Second {
                for edge in &self.second(at).edges {
                    let source = usize::from(edge.to);
                    if edge.all & occupied == 0 && self.place.second.contains(&source) {
                        sink((source - self.place.second.start) * self.configs + config, end, bits & !edge.eye);
                    }
                }
            }
        }
        self.crossing_sources(self.slice, frontier, sink);
    }

    /// The same for the moves of a fortress that lead into the frontier of another slice.
    pub fn crossing_sources(&self, from: usize, frontier: &Frontier, mut sink: impl FnMut(usize, End, u128)) {
        if frontier.is_empty() {
            return;
        }
        let attackers = &self.index.attackers;
        for crossing in self.crossings().filter(|c| c.slice == from) {
            for (word, bits) in frontier.iter() {
                let (mut at, mut config) = (word as usize / self.configs, word as usize % self.configs);
                let mut bits = bits;
                if crossing.mirrored {
                    (at, config) = self.mirrored(at, config);
                    bits = word::mirror(bits);
                }
                if crossing.all & (self.second(at).occupied | attackers.occupied[config]) == 0 {
                    let end = End { slice: from, word: word as usize, mirrored: crossing.mirrored };
                    sink(at * self.configs + config, end, bits & !crossing.eye);
                }
            }
        }
        if self.side == Side::Second && from != self.slice {
            let there = self.index.place(from);
            for (word, bits) in frontier.iter() {
                let (at, config) = (word as usize / self.configs, word as usize % self.configs);
                let occupied = self.first.occupied | attackers.occupied[config];
                for edge in &self.index.forts[1].placements[there.second.start + at].edges {
                    let source = usize::from(edge.to);
                    if self.place.second.contains(&source) && edge.all & occupied == 0 {
                        let end = End { slice: from, word: word as usize, mirrored: false };
                        sink((source - self.place.second.start) * self.configs + config, end, bits & !edge.eye);
                    }
                }
            }
        }
    }

    /// Of the cells `left` of a word, those from which no quiet move leads into a set. `set` gives words of it: of each at
    /// least the cells that are asked for.
    #[inline]
    pub fn without_move_into(&self, word: usize, mut left: u128, set: impl Fn(End, u128) -> u128) -> u128 {
        let attackers = &self.index.attackers;
        let own = color(self.side);
        let (at, config) = (word / self.configs, word % self.configs);
        let start = word - config;
        let occupied = self.occupied(at, config);
        let here = |word| End { slice: self.slice, word, mirrored: false };
        if self.side == Side::Second {
            for edge in &self.second(at).edges {
                if edge.all & occupied != 0 {
                    continue;
                }
                let target = usize::from(edge.to);
                let end = if self.place.second.contains(&target) {
                    here((target - self.place.second.start) * self.configs + config)
                } else {
                    let canonical = self.index.forts[0].canonical(self.place.first).0;
                    let (slice, at) = self.index.slice_of(canonical, target);
                    End { slice, word: at * self.configs + config, mirrored: false }
                };
                left &= !(set(end, left & !edge.eye) & !edge.eye);
                if left == 0 {
                    return 0;
                }
            }
        }
        if let Some(role) = self.axis {
            left &= !word::quiet_predecessors(own, role, set(here(word), u128::MAX), occupied);
            if left == 0 {
                return 0;
            }
        }
        for &man in &self.men {
            self.steps(man, config, occupied, left, Way::Forth, |target, open| {
                left &= !(set(here(start + target), left & open) & open);
                left != 0
            });
            if left == 0 {
                return 0;
            }
        }
        for crossing in self.crossings() {
            if crossing.all & (self.second(at).occupied | attackers.occupied[config]) != 0 {
                continue;
            }
            let (at, config) = if crossing.mirrored { self.mirrored(at, config) } else { (at, config) };
            let (slice, word, mirrored) = (crossing.slice, at * self.configs + config, crossing.mirrored);
            let asked = if mirrored { word::mirror(left) } else { left };
            let reached = set(End { slice, word, mirrored }, asked);
            let reached = if mirrored { word::mirror(reached) } else { reached };
            left &= !(reached & !crossing.eye);
            if left == 0 {
                return 0;
            }
        }
        left
    }
}
