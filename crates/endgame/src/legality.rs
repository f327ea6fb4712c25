//! Which cells are legal positions, word by word.
//!
//! A position in which the side to move can take the enemy king, or the kings face each other, is
//! not legal: the other side has just left its king in check.

use canju_retro::Side;
use canju_xiangqi::Color;

use crate::attackers::IMPOSSIBLE;
use crate::geometry::Geometry;
use crate::index::Index;

/// The legal cells of a word for each side to move.
pub(crate) fn legal_words(index: &Index, first: usize, second: usize, config: usize) -> [u128; 2] {
    let attackers = &index.attackers;
    let men = attackers.occupied[config];
    let (red, black) = (&index.forts[0].placements[first], &index.forts[1].placements[second]);
    if men == IMPOSSIBLE || red.occupied & black.occupied != 0 || men & (red.occupied | black.occupied) != 0 {
        return [0; 2];
    }
    let geometry = Geometry::get();
    let occupied = men | red.occupied | black.occupied;
    let mut possible = index.possible(occupied, config);
    let kings = [usize::from(red.king), usize::from(black.king)];
    if kings[0] % 9 == kings[1] % 9 {
        let line = geometry.between(kings[0], kings[1]);
        if line & occupied == 0 {
            possible &= line;
        }
    }
    let mut legal = [possible; 2];
    for man in &attackers.men {
        let from = usize::from(attackers.squares[config][man.at]);
        let attack = geometry.attack(man.color, man.role, from, kings[man.color.opposite().index()], occupied);
        legal[man.color.index()] &= !attack;
    }
    if let Some(axis) = attackers.axis {
        let king = kings[axis.color.opposite().index()];
        legal[axis.color.index()] &= !geometry.attackers(axis.color, axis.role, king, occupied);
    }
    legal
}

/// The legal cells of a whole slice for one side to move.
pub(crate) fn legal_slice(index: &Index, slice: usize, side: Side) -> Vec<u128> {
    let place = index.place(slice);
    let mut words = Vec::with_capacity(index.words(slice));
    for second in place.second {
        words.extend((0..index.attackers.len()).map(|c| legal_words(index, place.first, second, c)[side.index()]));
    }
    words
}

/// Red is the first side.
pub(crate) const fn color(side: Side) -> Color {
    match side {
        Side::First => Color::Red,
        Side::Second => Color::Black,
    }
}
