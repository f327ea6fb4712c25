//! What a step gives of the sets of the rules of repetition, in one slice.

use canju_retro::{Frontier, GameError, Side};

use crate::bounds::{LEVELS, Undecided};
use crate::moves::{End, Moves};
use crate::planes::{by_plane, seek, union, without};
use crate::scratch::{Scratch, Spread};
use crate::stage::{Set, Stage};
use crate::trial::Trial;
use crate::victims::Victims;
use crate::view::View;

/// So many words of a set are spread out in the time that it takes to try the moves of one.
const DENSE: usize = 100;

/// A slice that is worked on, with the sets around it.
pub(crate) struct Shrink<'s, 'v> {
    pub stage: &'s Stage,
    pub view: &'s View<'v>,
}

impl Shrink<'_, '_> {
    fn victims(&self) -> &Victims {
        self.stage.victims(self.view.hunted)
    }

    /// The slice's own cells of a set.
    fn cells(&self, set: Set, side: Side) -> Frontier {
        self.stage.set(set, side, self.view.slice as u32).cloned().unwrap_or_default()
    }

    /// Words of a set by plane and end, for the moves of so many words.
    fn words(&self, asked: usize, set: Set, side: Side) -> impl Fn(usize, End) -> u128 {
        self.lookup(asked, move |slice| self.stage.set(set, side, slice))
    }

    /// The same of any sets.
    fn lookup<'f>(&self, asked: usize, sets: impl Fn(u32) -> Option<&'f Frontier>) -> impl Fn(usize, End) -> u128 {
        let (view, words) = (self.view, self.view.words);
        let here = sets(view.slice as u32);
        let all = self.stage.planes_of(view.hunted) * words;
        // Those of its own slice are spread out where that costs less than to search for them.
        let spread = here.filter(|_| asked * DENSE > all).map(|set| Spread::new(set, all));
        move |plane, end| {
            let number = plane * words + end.word;
            match &spread {
                Some(spread) if end.slice == view.slice => spread.get(number),
                None if end.slice == view.slice => here.map_or(0, |set| set.get(number as u32)),
                _ => sets(end.slice as u32)
                    .map_or(0, |set| set.get((plane * view.territory.words(end.slice as u32) + end.word) as u32)),
            }
        }
    }

    /// Of some cells, those from which no quiet move of the side leads into sets by plane and word, of which `set` gives at
    /// least the cells that are asked for.
    fn without_move(&self, side: Side, cells: &Frontier, set: impl Fn(usize, End, u128) -> u128) -> Frontier {
        let (view, victims) = (self.view, self.victims());
        let moves = Moves::new(view.index, view.slice, side);
        let mut found = Frontier::new();
        for (number, cells) in cells.iter() {
            let (plane, word) = (number as usize / view.words, number as usize % view.words);
            let into = |end, asked| set(victims.carry(view.index, plane, (view.slice, word), end), end, asked);
            found.push(number, moves.without_move_into(word, cells, into));
        }
        found
    }

    /// The cells, by planes, from which a quiet move of the side leads into sets of the slices around: of each word those
    /// that `keep` leaves.
    fn with_move<'s>(
        &self,
        side: Side,
        sets: impl Fn(u32) -> Option<&'s Frontier>,
        mut keep: impl FnMut(u32, u128) -> u128,
    ) -> Frontier {
        let (view, victims, slice) = (self.view, self.victims(), self.view.slice as u32);
        let near = [slice];
        let near = near.iter().chain(view.territory.readers(slice, side.other()));
        let near: Vec<_> = near.filter_map(|&from| Some((from, sets(from)?))).collect();
        if near.is_empty() {
            return Frontier::new();
        }
        let moves = Moves::new(view.index, view.slice, side);
        Scratch::with(self.stage.planes_of(view.hunted) * view.words, |scratch| {
            for (from, set) in near {
                for (plane, set) in by_plane(set, view.territory.words(from)) {
                    let sink = |source: usize, end: End, cells: u128| {
                        // The same either way: by squares.
                        let near = End { slice: view.slice, word: source, mirrored: end.mirrored };
                        let plane = victims.carry(view.index, plane, (end.slice, end.word), near);
                        scratch.add(plane * view.words + source, cells);
                    };
                    if from == slice {
                        moves.sources(&set, sink);
                    } else {
                        moves.crossing_sources(from as usize, &set, sink);
                    }
                }
            }
            scratch.take(|number, cells| keep(number as u32, cells))
        })
    }

    /// Of some cells, those with a move to what the last step gave.
    fn affected(&self, side: Side, cells: &Frontier) -> Frontier {
        if cells.is_empty() {
            return Frontier::new();
        }
        let mut within = seek(cells);
        let recent = |slice| self.stage.recent(side.other(), slice);
        self.with_move(side, recent, |number, found| found & within.get(number))
    }

    /// Cells of the hunter that enter the bound of *stay* of a level beyond the first.
    pub fn entering(&self, level: usize) -> Frontier {
        let (view, bounds) = (self.view, &self.stage.bounds);
        let (slice, hunter) = (view.slice as u32, view.hunter());
        let Some(looser) = bounds.stay(level - 1, hunter, slice) else { return Frontier::new() };
        let nothing = Frontier::new();
        let within = without(looser, bounds.stay(level, hunter, slice).unwrap_or(&nothing));
        let press = |slice| bounds.press(level - 1, view.hunted, slice);
        if bounds.are_new() {
            return self.leading_into(&within, self.lookup(within.len(), press));
        }
        let changed = bounds.changed(hunter, slice).unwrap_or(&nothing);
        let mut tried = self.affected(hunter, &within);
        let mut others = Frontier::new();
        let (mut fresh, mut plane) = (seek(bounds.fresh(hunter, slice).unwrap_or(&nothing)), 0);
        let mut near = seek(changed);
        for (number, cells) in within.iter() {
            if number as usize / view.words != plane {
                (plane, near) = (number as usize / view.words, seek(changed));
            }
            let word = number - (plane * view.words) as u32;
            others.push(number, cells & (fresh.get(number) | near.get(word)));
        }
        if !others.is_empty() {
            tried = union(&tried, &others);
        }
        self.leading_into(&tried, self.lookup(tried.len(), press))
    }

    /// Of some cells of the hunter those from which every move that does not lose leads into a set.
    fn leading_into(&self, cells: &Frontier, set: impl Fn(usize, End) -> u128) -> Frontier {
        self.without_move(self.view.hunter(), cells, |plane, end, asked| {
            let out = asked & self.view.unwon(end.slice, end.word);
            if out == 0 { 0 } else { out & !set(plane, end) }
        })
    }

    /// Cells of the hunted that enter the bound of *press* of a level.
    pub fn entering_press(&self, level: usize) -> Frontier {
        let (view, nothing) = (self.view, Frontier::new());
        let known = self.stage.bounds.press(level, view.hunted, view.slice as u32).unwrap_or(&nothing);
        let mut known = seek(known);
        let fresh = |slice| self.stage.recent(view.hunter(), slice);
        self.with_move(view.hunted, fresh, |number, cells| self.threatened(number, cells & !known.get(number)))
    }

    /// What *stay* begins with.
    pub fn first(&self, place: usize) -> Result<Frontier, GameError> {
        let (view, bounds) = (self.view, &self.stage.bounds);
        let undecided = Undecided::new(view, place)?;
        let new = self.entering(LEVELS);
        let old = bounds.stay(LEVELS, view.hunter(), view.slice as u32);
        let all = old.map_or_else(|| new.clone(), |old| union(old, &new));
        let mut first = Frontier::with_capacity(all.len());
        all.iter().for_each(|(number, cells)| first.push(number, cells & undecided.get(number as usize % view.words)));
        Ok(first)
    }

    /// Of cells of the hunted those that a violation may have led to.
    fn threatened(&self, number: u32, cells: u128) -> u128 {
        let view = self.view;
        let (plane, word) = (number as usize / view.words, number as usize % view.words);
        let cells = if cells == 0 { 0 } else { cells & view.unwon(view.slice, word) };
        match plane {
            _ if cells == 0 => 0,
            0 => cells & self.victims().checked(view.index, view.slice, word),
            _ => cells & self.victims().attacked(view.index, plane, view.slice, word),
        }
    }

    /// Cells of the hunter from which a move that does not lose leads out of *press*.
    pub fn leading_out(&self) -> Frontier {
        let (hunted, hunter) = (self.view.hunted, self.view.hunter());
        let stay = self.cells(Set::Stay, hunter);
        let press = self.words(stay.len(), Set::Press, hunted);
        without(&stay, &self.leading_into(&stay, press))
    }

    /// The same when something has just left *press*: all of that has not been won.
    pub fn leading_out_now(&self) -> Frontier {
        self.affected(self.view.hunter(), &self.cells(Set::Stay, self.view.hunter()))
    }

    /// Cells of the hunter in which a move that does not lose does not violate after all.
    pub fn not_violating(&self) -> Frontier {
        let (slice, hunter) = (self.view.slice as u32, self.view.hunter());
        let stay = self.cells(Set::Stay, hunter);
        let untried = self.stage.bounds.proven(hunter, slice).map(|proven| without(&stay, proven));
        let mut trial = Trial::new(self.view, self.victims());
        let mut found = Frontier::new();
        for (number, cells) in untried.as_ref().unwrap_or(&stay).iter() {
            let (plane, word) = (number as usize / self.view.words, number as usize % self.view.words);
            if plane > 0 {
                found.push(number, trial.not_chasing(plane, word, cells));
            }
        }
        found
    }

    /// Cells of the hunted that violations may lead to and that have a move back.
    pub fn pressed(&self) -> Frontier {
        let stay = |slice| self.stage.set(Set::Stay, self.view.hunter(), slice);
        self.with_move(self.view.hunted, stay, |number, cells| self.threatened(number, cells))
    }

    /// Cells of the hunted from which no move leads back any more.
    pub fn not_led_back(&self) -> Frontier {
        let (hunted, hunter) = (self.view.hunted, self.view.hunter());
        let suspects = self.affected(hunted, &self.cells(Set::Press, hunted));
        let stay = self.words(suspects.len(), Set::Stay, hunter);
        self.without_move(hunted, &suspects, |plane, end, _| stay(plane, end))
    }

    /// Cells of the hunted from which no free move leads on: for the king's plane, one that gives no check; for a piece's,
    /// one that neither checks nor chases.
    pub fn lacking(&self) -> Frontier {
        let (hunted, press) = (self.view.hunted, self.cells(Set::Press, self.view.hunted));
        let Some(sought) = &self.stage.sought else { return self.lacking_of(&press) };
        // Since the last time only what leads to cells that have left can have lost its free moves.
        let mut within = seek(&press);
        let left = |slice| sought.left[hunted.other().index()].get(&slice);
        let tried = self.with_move(hunted, left, |number, found| found & within.get(number));
        let (mut within, mut still) = (seek(&press), Frontier::new());
        let lacked = sought.without[hunted.index()].get(&(self.view.slice as u32));
        lacked
            .into_iter()
            .flat_map(Frontier::iter)
            .for_each(|(number, cells)| still.push(number, cells & within.get(number)));
        union(&self.lacking_of(&tried), &still)
    }

    /// The same of some of them.
    fn lacking_of(&self, press: &Frontier) -> Frontier {
        let (view, hunted, hunter) = (self.view, self.view.hunted, self.view.hunter());
        if press.is_empty() {
            return Frontier::new();
        }
        let theirs = self.stage.victims(hunter);
        let stays = self.words(press.len(), Set::Stay, hunter);
        let lack = self.without_move(hunted, press, |plane, end, asked| {
            let stay = asked & stays(plane, end);
            if stay == 0 { 0 } else { stay & !theirs.checked(view.index, end.slice, end.word) }
        });
        let planes = 1..self.stage.planes_of(hunter);
        // Where nothing of the hunted's attacks by the rules, he chases nothing.
        if planes.is_empty() {
            return lack;
        }
        let chased = |end: End| {
            planes.clone().fold(0, |set, plane| set | theirs.attacked(view.index, plane, end.slice, end.word))
        };
        let unsure = self.without_move(hunted, press, |plane, end, asked| {
            let stay = asked & stays(plane, end);
            if stay == 0 { 0 } else { stay & !theirs.checked(view.index, end.slice, end.word) & !chased(end) }
        });
        let (mut trial, mut lack) = (Trial::new(view, self.victims()), seek(&lack));
        let mut found = Frontier::new();
        for (number, cells) in unsure.iter() {
            let (plane, word) = (number as usize / view.words, number as usize % view.words);
            let mut lacking = lack.get(number);
            if plane > 0 {
                for bit in crate::geometry::members(cells & !lacking) {
                    if !trial.has_free_move(plane, word, bit, &stays) {
                        lacking |= 1 << bit;
                    }
                }
            }
            found.push(number, lacking);
        }
        found
    }

    /// Cells of the hunted that no longer lack a free move: they can go where one is had.
    pub fn no_longer_lacking(&self, first: bool) -> Frontier {
        let (hunted, hunter) = (self.view.hunted, self.view.hunter());
        let lack = self.cells(Set::Lack, hunted);
        if !first {
            // What is no longer stuck stays.
            return self.affected(hunted, &lack);
        }
        let (stays, stuck) = (self.words(lack.len(), Set::Stay, hunter), self.words(lack.len(), Set::Stuck, hunter));
        let rest = self.without_move(hunted, &lack, |plane, end, asked| {
            let stay = asked & stays(plane, end);
            if stay == 0 { 0 } else { stay & !stuck(plane, end) }
        });
        without(&lack, &rest)
    }

    /// Cells of the hunter from which a move leads to where a free move is lacking.
    pub fn stuck(&self) -> Frontier {
        self.affected(self.view.hunter(), &self.cells(Set::Stay, self.view.hunter()))
    }

    /// Cells of the hunter that are no longer stuck.
    pub fn no_longer_stuck(&self) -> Frontier {
        let (hunted, hunter) = (self.view.hunted, self.view.hunter());
        let suspects = self.affected(hunter, &self.cells(Set::Stuck, hunter));
        let lack = self.words(suspects.len(), Set::Lack, hunted);
        self.without_move(hunter, &suspects, |plane, end, _| lack(plane, end))
    }
}
