//! One side's king, advisors and elephants as a single digit.

use std::collections::HashMap;

use canju_xiangqi::{Color, Role, Square, role_squares};

use crate::geometry::{self, members};

/// A placement of a fortress.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub king: u8,
    pub advisors: u128,
    pub elephants: u128,
    pub occupied: u128,
    pub edges: Vec<Edge>,
}

/// A move inside a fortress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The placement it leads to.
    pub to: u16,
    /// The square that the piece enters, whether it takes something there or not.
    pub target: u8,
    /// The elephant's eye, or nothing.
    pub eye: u128,
    /// Target and eye.
    pub all: u128,
}

/// All placements of one side's king, advisors and elephants, and the moves between them.
///
/// Mirror images are neighbours: placement `2k` and `2k + 1` for each pair, those that are
/// their own image at the end. The even ones of the pairs and the symmetric ones are canonical.
#[derive(Clone, Debug)]
pub(crate) struct Fortress {
    pub color: Color,
    pub placements: Vec<Placement>,
    /// How many placements belong to pairs; the rest are their own mirror images.
    paired: usize,
    by_pieces: HashMap<(u8, u128, u128), u16>,
    /// What a king, an advisor or an elephant on a square adds to the key of its placement.
    parts: [[u32; 90]; 3],
    /// The placement of each key, or `NOWHERE`.
    by_key: Vec<u16>,
}

/// Keys of placements: nine squares of the king, five bits of advisors, seven of elephants. The king comes lowest, so
/// that the few placements of small fortresses lie close together.
const KEYS: usize = 9 << 12;
const NOWHERE: u16 = u16::MAX;

impl Fortress {
    pub fn new(color: Color, advisors: usize, elephants: usize) -> Self {
        let mut all = Vec::new();
        for king in role_squares(color, Role::King) {
            for a in subsets(role_squares(color, Role::Advisor), advisors) {
                for e in subsets(role_squares(color, Role::Elephant), elephants) {
                    if a & e == 0 && (a | e) & king.bit() == 0 {
                        all.push((*king, a, e));
                    }
                }
            }
        }
        let image =
            |&(king, a, e): &(Square, u128, u128)| (king.mirror(), crate::word::mirror(a), crate::word::mirror(e));
        let (symmetric, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| image(p) == *p);
        let mut ordered = Vec::new();
        for p in others {
            if p < image(&p) {
                ordered.push(p);
                ordered.push(image(&p));
            }
        }
        let paired = ordered.len();
        ordered.extend(symmetric);
        let by_pieces: HashMap<_, _> =
            ordered.iter().enumerate().map(|(i, &(k, a, e))| ((k.index() as u8, a, e), i as u16)).collect();
        let parts = [(Role::King, 1, false), (Role::Advisor, 9, true), (Role::Elephant, 9 << 5, true)].map(
            |(role, unit, bits)| {
                // Where a piece cannot stand there is no placement.
                let mut parts = [KEYS as u32; 90];
                for (i, square) in role_squares(color, role).iter().enumerate() {
                    parts[square.index()] = if bits { unit << i } else { unit * i as u32 };
                }
                parts
            },
        );
        let mut fortress =
            Self { color, placements: Vec::new(), paired, by_pieces, parts, by_key: vec![NOWHERE; KEYS] };
        for (i, &(king, a, e)) in ordered.iter().enumerate() {
            let squares = |set| members(set).map(geometry::square);
            let key = fortress.key(king, squares(a), squares(e));
            fortress.by_key[key] = i as u16;
        }
        fortress.placements = ordered.into_iter().map(|(k, a, e)| fortress.placement(k, a, e)).collect();
        fortress
    }

    fn placement(&self, king: Square, advisors: u128, elephants: u128) -> Placement {
        let occupied = king.bit() | advisors | elephants;
        let mut edges = Vec::new();
        let mut add = |king: u8, advisors, elephants, target: u8, eye: u128| {
            if let Some(&to) = self.by_pieces.get(&(king, advisors, elephants)) {
                edges.push(Edge { to, target, eye, all: eye | 1u128 << target });
            }
        };
        let k = king.index();
        for to in role_squares(self.color, Role::King).iter().map(|s| s.index()) {
            if distance(k, to) == (0, 1) || distance(k, to) == (1, 0) {
                add(to as u8, advisors, elephants, to as u8, 0);
            }
        }
        for from in members(advisors) {
            for to in role_squares(self.color, Role::Advisor).iter().map(|s| s.index()) {
                if distance(from, to) == (1, 1) {
                    add(k as u8, advisors & !(1 << from) | 1 << to, elephants, to as u8, 0);
                }
            }
        }
        for from in members(elephants) {
            for to in role_squares(self.color, Role::Elephant).iter().map(|s| s.index()) {
                let eye = 1u128 << ((from + to) / 2);
                if distance(from, to) == (2, 2) && eye & occupied == 0 {
                    add(k as u8, advisors, elephants & !(1 << from) | 1 << to, to as u8, eye);
                }
            }
        }
        // An own piece on the target would be lost from the pieces' sets, and no such placement exists.
        Placement { king: k as u8, advisors, elephants, occupied, edges }
    }

    pub fn len(&self) -> usize {
        self.placements.len()
    }

    /// How many placements are canonical.
    pub fn canonical_len(&self) -> usize {
        self.paired / 2 + (self.len() - self.paired)
    }

    /// The mirror image of a placement.
    pub fn mirror(&self, placement: usize) -> usize {
        if placement < self.paired { placement ^ 1 } else { placement }
    }

    /// True where the placement is its own mirror image.
    pub fn is_symmetric(&self, placement: usize) -> bool {
        placement >= self.paired
    }

    /// The number among the canonical ones, and whether the placement must be mirrored to be one.
    pub fn canonical(&self, placement: usize) -> (usize, bool) {
        if placement < self.paired { (placement / 2, placement % 2 == 1) } else { (placement - self.paired / 2, false) }
    }

    /// The placement of a canonical number.
    pub fn of_canonical(&self, number: usize) -> usize {
        if number < self.paired / 2 { number * 2 } else { number + self.paired / 2 }
    }

    /// The placement of these pieces.
    pub fn find(&self, king: u8, advisors: u128, elephants: u128) -> Option<usize> {
        self.by_pieces.get(&(king, advisors, elephants)).map(|&p| usize::from(p))
    }

    /// The placement of pieces on these squares.
    #[inline]
    pub fn placed(
        &self,
        king: Square,
        advisors: impl Iterator<Item = Square>,
        elephants: impl Iterator<Item = Square>,
    ) -> Option<usize> {
        let number = *self.by_key.get(self.key(king, advisors, elephants))?;
        (number != NOWHERE).then_some(usize::from(number))
    }

    #[inline]
    fn key(
        &self,
        king: Square,
        advisors: impl Iterator<Item = Square>,
        elephants: impl Iterator<Item = Square>,
    ) -> usize {
        let [kings, advisor, elephant] = &self.parts;
        let fort = kings[king.index()] + advisors.map(|s| advisor[s.index()]).sum::<u32>();
        (fort + elephants.map(|s| elephant[s.index()]).sum::<u32>()) as usize
    }
}

fn distance(from: usize, to: usize) -> (usize, usize) {
    ((from % 9).abs_diff(to % 9), (from / 9).abs_diff(to / 9))
}

/// All sets of `n` of these squares.
fn subsets(squares: &[Square], n: usize) -> Vec<u128> {
    match (n, squares) {
        (0, _) => vec![0],
        (_, []) => vec![],
        (_, [first, rest @ ..]) => {
            let mut sets: Vec<u128> = subsets(rest, n - 1).into_iter().map(|s| s | first.bit()).collect();
            sets.extend(subsets(rest, n));
            sets
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_known_ones() {
        let sizes = [
            ((0, 0), 9),
            ((1, 0), 40),
            ((2, 0), 70),
            ((0, 1), 62),
            ((0, 2), 183),
            ((1, 1), 275),
            ((1, 2), 810),
            ((2, 1), 480),
            ((2, 2), 1410),
        ];
        for ((a, e), size) in sizes {
            for color in Color::ALL {
                assert_eq!(Fortress::new(color, a, e).len(), size, "{a} advisors, {e} elephants");
            }
        }
    }

    #[test]
    fn moves_go_back_and_mirror() {
        let fortress = Fortress::new(Color::Black, 2, 2);
        for (i, p) in fortress.placements.iter().enumerate() {
            for edge in &p.edges {
                let back = &fortress.placements[usize::from(edge.to)].edges;
                assert!(back.iter().any(|e| usize::from(e.to) == i && e.eye == edge.eye));
                let mirrored = &fortress.placements[fortress.mirror(i)].edges;
                assert!(mirrored.iter().any(|e| usize::from(e.to) == fortress.mirror(usize::from(edge.to))));
            }
            let (number, mirrored) = fortress.canonical(i);
            let canonical = if mirrored { fortress.mirror(i) } else { i };
            assert_eq!(fortress.of_canonical(number), canonical);
        }
    }
}
