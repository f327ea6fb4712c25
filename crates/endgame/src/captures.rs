//! Captures into smaller tables: what they win, hold or lose, word by word, before the first ply.

use std::collections::BTreeMap;
use std::sync::Arc;

use canju_retro::{Code, Distance, Frontier, FrontierLog, GameError, Outcome, Side};
use canju_xiangqi::Role;

use crate::attackers::MOST_FIXED;
use crate::descent::{ANY, Descent, NO_ATTACKER, Slot, Slots, Squares};
use crate::geometry::{Geometry, members};
use crate::index::Index;
use crate::legality::{color, legal_words};
use crate::slab::{Effect, Slab, SlabCache, Slabs};
use crate::word;

/// A fortress piece that the bit-axis piece can capture, for one pair of placements: what is the same in all words.
struct FortTake {
    victim: usize,
    slab: Arc<Slab>,
    /// The first word of the smaller table's placements.
    start: usize,
    mirrored: bool,
    /// The capturer's place in the row, and its square, in the smaller table.
    place: usize,
    square: u8,
    descent: usize,
}

/// All captures of one endgame.
pub(crate) struct Captures {
    descents: Vec<Descent>,
}

/// What the captures of one slice come to.
pub(crate) struct SliceCaptures {
    /// For each side to move, cells that may be lost from the start: legal, and every capture (if there is one) loses
    /// without delaying anything.
    pub open: [Vec<u128>; 2],
    /// For each side to move, the legal cells.
    pub legal: [Vec<u128>; 2],
    /// Cells won by a capture, by distance, and cells that may be lost from a distance on; in order of distances.
    pub events: FrontierLog,
}

/// The effects on the cells of one word for one side to move.
#[derive(Default)]
struct WordEffects {
    wins: Vec<(Distance, u128)>,
    loses: Vec<(Distance, u128)>,
    holds: u128,
}

impl WordEffects {
    fn add(&mut self, effect: Effect, cells: u128) {
        let add = |list: &mut Vec<(Distance, u128)>, when| match list.iter_mut().find(|(w, _)| *w == when) {
            Some((_, set)) => *set |= cells,
            None => list.push((when, cells)),
        };
        match effect {
            Effect::Holds => self.holds |= cells,
            Effect::Wins(when) => {
                // A won capture never lets the cell be lost.
                self.holds |= cells;
                add(&mut self.wins, when);
            }
            Effect::Loses(when) => add(&mut self.loses, when),
        }
    }
}

impl Captures {
    pub fn new(index: &Index) -> Result<Self, GameError> {
        let mut descents = Vec::new();
        for (captured, left) in index.material().captures() {
            let (material, swapped) = left.canonical();
            let child = Arc::new(Index::new(material)?);
            descents.push(Descent::new(index, captured, child, swapped));
        }
        Ok(Self { descents })
    }

    /// Works out a slice. `events` is an empty log for its events.
    pub fn slice(
        &self,
        index: &Index,
        slice: usize,
        cache: &SlabCache,
        events: FrontierLog,
    ) -> Result<SliceCaptures, GameError> {
        let place = index.place(slice);
        let words = index.words(slice);
        let mut out = SliceCaptures {
            open: [Vec::with_capacity(words), Vec::with_capacity(words)],
            legal: [Vec::with_capacity(words), Vec::with_capacity(words)],
            events,
        };
        let mut by_ply: BTreeMap<(Distance, Side, bool), Frontier> = BTreeMap::new();
        let mut work = WordWork {
            captures: self,
            index,
            geometry: Geometry::get(),
            slabs: Slabs::new(cache, self.descents.len()),
        };
        let mut effects = WordEffects::default();
        let mut number = 0;
        for second in place.second.clone() {
            work.slabs.make_room();
            let takes = [
                work.fort_takes(place.first, second, Side::First)?,
                work.fort_takes(place.first, second, Side::Second)?,
            ];
            for config in 0..index.attackers.len() {
                let legal = legal_words(index, place.first, second, config);
                for side in Side::BOTH {
                    let legal = legal[side.index()];
                    let mut open = legal;
                    if legal != 0 {
                        work.fort_captures(
                            &takes[side.index()],
                            [place.first, second],
                            config,
                            side,
                            legal,
                            &mut effects,
                        );
                        work.word(place.first, second, config, side, legal, &mut effects)?;
                        open &= !effects.holds;
                        // Of several winning captures the quickest counts, of several losing ones the slowest.
                        effects.wins.sort_unstable_by_key(|&(when, _)| when);
                        let mut left = legal;
                        for (when, cells) in effects.wins.drain(..) {
                            by_ply.entry((when, side, true)).or_default().push(number, cells & left);
                            left &= !cells;
                        }
                        effects.loses.sort_unstable_by_key(|&(when, _)| std::cmp::Reverse(when));
                        let mut left = open;
                        for (when, cells) in effects.loses.drain(..).filter(|&(when, _)| when > Distance::default()) {
                            by_ply.entry((when, side, false)).or_default().push(number, cells & left);
                            left &= !cells;
                            open &= !cells;
                        }
                        effects.holds = 0;
                    }
                    out.legal[side.index()].push(legal);
                    out.open[side.index()].push(open);
                }
                number += 1;
            }
        }
        for ((distance, side, win), frontier) in by_ply {
            let outcome = if win { Outcome::Win(distance) } else { Outcome::Loss(distance) };
            out.events.append(side, Code::from(outcome), &frontier)?;
        }
        out.events.shrink();
        Ok(out)
    }
}

struct WordWork<'a> {
    captures: &'a Captures,
    index: &'a Index,
    geometry: &'static Geometry,
    slabs: Slabs<'a>,
}

/// One capture of a word: all but who captures and where the bit axis stands.
struct Case<'d> {
    number: usize,
    descent: &'d Descent,
    slots: &'d Slots,
    mover: Side,
}

impl WordWork<'_> {
    /// The captures of fortress pieces by the bit-axis piece of `mover` that these placements allow.
    fn fort_takes(&mut self, first: usize, second: usize, mover: Side) -> Result<Vec<FortTake>, GameError> {
        let captures = self.captures;
        let (own, enemy) = (color(mover), color(mover).opposite());
        let placements = [first, second];
        let mut takes = Vec::new();
        if self.index.attackers.axis.is_none_or(|a| a.color != own) {
            return Ok(takes);
        }
        for (number, descent) in captures.descents.iter().enumerate() {
            if descent.captured.color != enemy || descent.configs.is_empty() {
                continue;
            }
            let theirs = &self.index.forts[enemy.index()].placements[placements[enemy.index()]];
            let victims = if descent.captured.role == Role::Advisor { theirs.advisors } else { theirs.elephants };
            for victim in members(victims) {
                let Some([red, black]) = descent.fortresses(own, placements, victim as u8) else { continue };
                let (mut first, mut second) = if descent.swapped { (black, red) } else { (red, black) };
                let spot = descent.placed(&mut first, &mut second);
                let square = descent.turn_square(victim as u8);
                let square = if spot.mirrored { word::mirror_square(square) } else { square };
                let Ok(place) = descent.index.axis_squares().binary_search(&square) else { continue };
                let slab = self.slabs.get(number, &descent.index, spot.slice, descent.side(mover))?.clone();
                let (start, mirrored) = (spot.word, spot.mirrored);
                takes.push(FortTake { victim, slab, start, mirrored, place, square, descent: number });
            }
        }
        Ok(takes)
    }

    /// The effects of those captures in a word.
    fn fort_captures(
        &self,
        takes: &[FortTake],
        placements: [usize; 2],
        config: usize,
        mover: Side,
        legal: u128,
        effects: &mut WordEffects,
    ) {
        let Some(axis) = self.index.attackers.axis else { return };
        let occupied = self.occupied(placements, config);
        for take in takes {
            let cells = self.geometry.attackers(color(mover), axis.role, take.victim, occupied) & legal;
            if cells == 0 {
                continue;
            }
            let descent = &self.captures.descents[take.descent];
            let mut there = descent.configs[config] as usize;
            if take.mirrored {
                there = descent.index.attackers.mirror[there] as usize;
            }
            if let Some(effect) = take.slab.cell(take.start + there, take.place, take.square) {
                effects.add(effect, cells);
            }
        }
    }

    /// The effects of all other captures of `mover` in the cells `legal` of a word.
    fn word(
        &mut self,
        first: usize,
        second: usize,
        config: usize,
        mover: Side,
        legal: u128,
        effects: &mut WordEffects,
    ) -> Result<(), GameError> {
        let captures = self.captures;
        let enemy = color(mover).opposite();
        for (number, descent) in captures.descents.iter().enumerate().filter(|(_, d)| d.captured.color == enemy) {
            let placements = [first, second];
            let theirs = &self.index.forts[enemy.index()].placements[placements[enemy.index()]];
            let case = |captured| Case { number, descent, slots: &descent.slots[captured], mover };
            match descent.captured.role {
                Role::Advisor | Role::Elephant => {
                    let victims =
                        if descent.captured.role == Role::Advisor { theirs.advisors } else { theirs.elephants };
                    let case = case(NO_ATTACKER);
                    for victim in members(victims) {
                        self.take_at(&case, placements, config, victim, legal, effects)?;
                    }
                }
                role => {
                    for (i, man) in self.index.attackers.men.iter().enumerate() {
                        if man.color == enemy && man.role == role {
                            let victim = usize::from(self.index.attackers.squares[config][man.at]);
                            self.take_at(&case(i), placements, config, victim, legal, effects)?;
                        }
                    }
                    if self.index.attackers.axis.is_some_and(|a| a.color == enemy && a.role == role) {
                        self.take_axis(&case(MOST_FIXED), placements, config, legal, effects)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn occupied(&self, placements: [usize; 2], config: usize) -> u128 {
        let forts = &self.index.forts;
        forts[0].placements[placements[0]].occupied
            | forts[1].placements[placements[1]].occupied
            | self.index.attackers.occupied[config]
    }

    /// The attackers' squares after a capture: `mover` (a man's number) stands on `to`.
    fn squares(&self, case: &Case<'_>, config: usize, moved: Option<usize>, to: usize, axis: u8) -> Squares {
        let mut squares =
            Squares { men: [0; MOST_FIXED], axis: case.descent.index.attackers.cells.trailing_zeros() as u8 };
        let mut put = |slot: Option<Slot>, square: u8| match slot {
            Some(Slot::Man(at)) => squares.men[at] = case.descent.turn_square(square),
            Some(Slot::Axis) => squares.axis = case.descent.turn_square(square),
            None => {}
        };
        for (i, man) in self.index.attackers.men.iter().enumerate() {
            let square = if moved == Some(i) { to as u8 } else { self.index.attackers.squares[config][man.at] };
            put(case.slots[i], square);
        }
        if self.index.attackers.axis.is_some() {
            put(case.slots[MOST_FIXED], axis);
        }
        squares
    }

    /// Captures of the piece on a fixed square.
    fn take_at(
        &mut self,
        case: &Case<'_>,
        placements: [usize; 2],
        config: usize,
        victim: usize,
        legal: u128,
        effects: &mut WordEffects,
    ) -> Result<(), GameError> {
        let own = color(case.mover);
        let occupied = self.occupied(placements, config);
        let Some(mut forts) = case.descent.fortresses(own, placements, victim as u8) else { return Ok(()) };
        // The bit-axis piece captures: every cell from which it can leads to one and the same cell.
        // (Captures of fortress pieces are worked out beforehand where the bit axis stays.)
        let done = case.descent.configs.len() == self.index.attackers.len();
        if let Some(axis) = self.index.attackers.axis.filter(|a| a.color == own && !done) {
            let cells = self.geometry.attackers(own, axis.role, victim, occupied) & legal;
            if cells != 0 {
                let squares = self.squares(case, config, None, 0, victim as u8);
                if let Some(effect) = self.effect(case, forts, &squares)? {
                    effects.add(effect, cells);
                }
            }
        }
        for (i, man) in self.index.attackers.men.iter().enumerate().filter(|(_, m)| m.color == own) {
            let from = usize::from(self.index.attackers.squares[config][man.at]);
            let cells = self.geometry.attack(own, man.role, from, victim, occupied) & legal;
            if cells != 0 {
                self.words(case, forts, config, Some(i), victim, cells, effects)?;
            }
        }
        let edges = self.index.forts[own.index()].placements[placements[own.index()]].edges.iter();
        for edge in edges.filter(|e| usize::from(e.target) == victim && e.eye & occupied == 0) {
            let cells = legal & !edge.eye;
            let Some(mine) = case.descent.placement(own, usize::from(edge.to), ANY) else { continue };
            if cells != 0 {
                forts[own.index()] = mine;
                self.words(case, forts, config, None, 0, cells, effects)?;
            }
        }
        Ok(())
    }

    /// A capture by a piece off the bit axis of another off it: cells of a word lead to those of a word.
    #[expect(clippy::too_many_arguments, reason = "a capture has so many parts")]
    fn words(
        &mut self,
        case: &Case<'_>,
        forts: [usize; 2],
        config: usize,
        moved: Option<usize>,
        to: usize,
        cells: u128,
        effects: &mut WordEffects,
    ) -> Result<(), GameError> {
        let whole = self.index.attackers.axis.is_none() || case.slots[MOST_FIXED] == Some(Slot::Axis);
        if !whole {
            for square in members(cells) {
                let squares = self.squares(case, config, moved, to, square as u8);
                if let Some(effect) = self.effect(case, forts, &squares)? {
                    effects.add(effect, 1 << square);
                }
            }
            return Ok(());
        }
        let squares = self.squares(case, config, moved, to, 0);
        self.row(case, forts, &squares, cells, effects)
    }

    /// The effects of captures that lead from the cells of a word to those of one word of the smaller table.
    fn row(
        &mut self,
        case: &Case<'_>,
        forts: [usize; 2],
        squares: &Squares,
        cells: u128,
        effects: &mut WordEffects,
    ) -> Result<(), GameError> {
        let descent = case.descent;
        let Some(spot) = descent.spot(forts, &squares.men) else { return Ok(()) };
        let slab = self.slabs.get(case.number, &descent.index, spot.slice, descent.side(case.mover))?;
        let wanted = descent.turn_word(cells, spot.mirrored);
        slab.row(&descent.index, spot.word, wanted, |effect, set| {
            effects.add(effect, descent.turn_word(set, spot.mirrored));
        });
        Ok(())
    }

    /// The effect of a capture that leads to one cell.
    fn effect(&mut self, case: &Case<'_>, forts: [usize; 2], squares: &Squares) -> Result<Option<Effect>, GameError> {
        let descent = case.descent;
        let Some(spot) = descent.spot(forts, &squares.men) else { return Ok(None) };
        let off_board = descent.index.attackers.axis.is_none();
        let axis = squares.axis;
        let axis = if spot.mirrored && !off_board { word::mirror_square(axis) } else { axis };
        let Ok(place) = descent.index.axis_squares().binary_search(&axis) else { return Ok(None) };
        let slab = self.slabs.get(case.number, &descent.index, spot.slice, descent.side(case.mover))?;
        Ok(slab.cell(spot.word, place, axis))
    }

    /// Captures of the bit-axis piece: the smaller table has another one.
    fn take_axis(
        &mut self,
        case: &Case<'_>,
        placements: [usize; 2],
        config: usize,
        legal: u128,
        effects: &mut WordEffects,
    ) -> Result<(), GameError> {
        let own = color(case.mover);
        let occupied = self.occupied(placements, config);
        let Some(mut forts) = case.descent.fortresses(own, placements, ANY) else { return Ok(()) };
        let index = self.index;
        for (i, man) in index.attackers.men.iter().enumerate().filter(|(_, m)| m.color == own) {
            let from = usize::from(self.index.attackers.squares[config][man.at]);
            let cells = self.geometry.targets(own, man.role, from, occupied) & legal;
            if cells == 0 {
                continue;
            }
            if case.slots[i] == Some(Slot::Axis) {
                // The capturer is the smaller table's bit axis: it stands where the captured piece stood.
                let squares = self.squares(case, config, None, 0, 0);
                self.row(case, forts, &squares, cells, effects)?;
                continue;
            }
            for victim in members(cells) {
                let squares = self.squares(case, config, Some(i), victim, 0);
                if let Some(effect) = self.effect(case, forts, &squares)? {
                    effects.add(effect, 1 << victim);
                }
            }
        }
        let edges = self.index.forts[own.index()].placements[placements[own.index()]].edges.iter();
        for edge in edges.filter(|e| e.eye & occupied == 0 && legal >> e.target & 1 != 0) {
            let Some(mine) = case.descent.placement(own, usize::from(edge.to), ANY) else { continue };
            forts[own.index()] = mine;
            let squares = self.squares(case, config, None, 0, 0);
            if let Some(effect) = self.effect(case, forts, &squares)? {
                effects.add(effect, 1 << edge.target);
            }
        }
        Ok(())
    }
}
