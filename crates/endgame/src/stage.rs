//! Perpetual check and chase: which cells a side that violates cannot leave without losing.
//!
//! When an order of labels is complete, each side in turn is the hunter, who may violate, with the other as the hunted. The
//! cells in which the hunter is to move are *stay* where every move that does not lose violates, and leads to a cell of
//! *press*; cells of the hunted are *press* where some move leads back. Both shrink to the greatest such sets, step by
//! step as labels are found: one side's cells in even steps, the other's in odd ones. They begin with what whole words tell,
//! and what is left is then tried on a board. Then the cells of the hunted who
//! cannot force a move of their own that is free are *lack*, and those of the hunter that lead there *stuck*;
//! where some lack it, they leave, and the sets shrink once more. What remains loses for the hunter: in the next order.

use std::collections::HashMap;

use canju_retro::{Code, Frontier, GameError, Rules, Side};
use canju_xiangqi::Color;
use rayon::prelude::*;

use crate::bounds::{Bounds, LEVELS, Sets, grow, suspects};
use crate::index::Index;
use crate::labels::{Arrival, Labels};
use crate::own::Own;
use crate::shrink::Shrink;
use crate::territory::Territory;
use crate::victims::Victims;
use crate::view::View;

/// What the steps of a part are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Labels of an order.
    Label(u16),
    /// The sets of the order are begun anew.
    Begin(u16),
    /// Violations that words did not tell are tried, and the sets shrink.
    Try(u16),
    /// Those that lack a free move are sought.
    Lack(u16),
    /// Those that lack a free move leave.
    Cut(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Stay,
    Press,
    Lack,
    Stuck,
}

/// What a step does to one kind of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// What the step gives enters the bound of *stay* of a level.
    Stay(usize),
    /// The same of *press*.
    Press(usize),
    /// They are what the step gives.
    New(Set),
    /// They lose what the step gives.
    Less(Set),
}

impl Change {
    fn of(phase: Phase, at: u16) -> Option<Self> {
        Some(match (phase, at) {
            (Phase::Label(_), _) | (Phase::Lack(_) | Phase::Cut(_), 0) => return None,
            (Phase::Begin(_), at) if at < FIRST && at % 2 == 0 => Self::Stay(usize::from(at) / 2),
            (Phase::Begin(_), at) if at < FIRST => Self::Press(usize::from(at) / 2),
            (Phase::Begin(_), FIRST) => Self::New(Set::Stay),
            (Phase::Begin(_), at) if at == FIRST + 1 => Self::New(Set::Press),
            (Phase::Lack(_), 1) => Self::New(Set::Lack),
            (Phase::Lack(_), 2) => Self::New(Set::Stuck),
            (Phase::Lack(_), at) => Self::Less(if at % 2 == 1 { Set::Lack } else { Set::Stuck }),
            (Phase::Begin(_) | Phase::Try(_) | Phase::Cut(_), at) => {
                Self::Less(if at % 2 == 1 { Set::Press } else { Set::Stay })
            }
        })
    }
}

/// The step of an order's beginning that gives the first set of *stay*; those before it are of bounds.
pub(crate) const FIRST: u16 = 2 * LEVELS as u16;

/// The sets of a part and of the slices around it.
pub(crate) struct Stage {
    rules: Rules,
    /// By the side that is hunted.
    victims: [Victims; 2],
    sets: [Sets; 4],
    /// What the last step gave.
    recent: Sets,
    pub bounds: Bounds,
    /// What is known since free moves were last sought in this order.
    pub sought: Option<Sought>,
}

/// What a search for free moves has found, and what has left since.
#[derive(Default)]
pub(crate) struct Sought {
    /// Cells of the hunted in owned slices that have none themselves.
    pub without: Sets,
    /// What has left *stay*.
    pub left: Sets,
}

/// Bytes that the sets and their logs take for each word and plane.
const BYTES_A_WORD: u64 = 80;

/// Whether each side has a chariot, horse, cannon or soldier. Where one has none, nobody loses by repetition what he
/// would not lose without: all rules give one table.
fn both_armed(index: &Index) -> bool {
    Color::ALL.iter().all(|&color| index.material().army(color).attack_weight() > 0)
}

impl Stage {
    /// Nothing where the rules decide nothing.
    pub fn new(index: &Index, rules: Rules) -> Option<Self> {
        (rules != Rules::Plain && both_armed(index)).then(|| Self {
            rules,
            victims: Side::BOTH.map(|side| Victims::new(index, side)),
            sets: Default::default(),
            recent: Default::default(),
            bounds: Bounds::default(),
            sought: None,
        })
    }

    /// Bytes that a part of so many words is expected to take for the rules of repetition: no bound, but more than any endgame
    /// that was measured (docs/design/0009).
    pub fn expected_bytes(&self, words: usize) -> u64 {
        let [first, second] = self.planes();
        (first + second) as u64 * words as u64 * BYTES_A_WORD
    }

    /// The pieces of the hunted side.
    pub fn victims(&self, hunted: Side) -> &Victims {
        &self.victims[hunted.index()]
    }

    /// Planes of the hunted side.
    pub fn planes_of(&self, hunted: Side) -> usize {
        if self.rules == Rules::Check { 1 } else { self.victims[hunted.index()].planes() }
    }

    /// Planes of each side, as hunted.
    pub fn planes(&self) -> [usize; 2] {
        Side::BOTH.map(|side| self.planes_of(side))
    }

    /// The last ply of an order at which cells may be lost as they are.
    pub fn last_ply(&self) -> u16 {
        let [first, second] = self.planes();
        2 * (first.max(second) as u16 - 1)
    }

    pub fn set(&self, set: Set, side: Side, slice: u32) -> Option<&Frontier> {
        self.sets[set as usize][side.index()].get(&slice)
    }

    /// What the last step gave in a slice with a side to move.
    pub fn recent(&self, side: Side, slice: u32) -> Option<&Frontier> {
        self.recent[side.index()].get(&slice)
    }

    /// True where words do not tell all violations.
    pub fn tries(&self) -> bool {
        self.planes() != [1; 2]
    }

    /// Does a step: works it out, or takes it from the logs.
    pub fn run(
        &mut self,
        territory: &Territory,
        labels: &dyn Labels,
        owns: &mut [Own],
        phase: Phase,
        at: u16,
        step: u16,
    ) -> Result<(), GameError> {
        self.recent_of_nothing(phase, at);
        let Some(change) = Change::of(phase, at) else { return Ok(()) };
        if change == Change::Stay(0) {
            self.bounds.begin(territory, owns, step)?;
        }
        let mut found: [Vec<Frontier>; 2] = Default::default();
        for side in Side::BOTH {
            let hunted = if at.is_multiple_of(2) { side.other() } else { side };
            let planes = self.planes_of(hunted);
            let work = territory.slices.par_iter().zip(&mut *owns).enumerate();
            found[side.index()] = work
                .map(|(place, (&slice, own))| {
                    if step < own.plies {
                        return own.logged(step, side, planes * territory.words(slice));
                    }
                    let view = View::new(territory, labels, slice, hunted);
                    let found = self.work_out(&view, phase, change, at, place)?;
                    view.finish()?;
                    own.record(step, Code::DRAW, side, &found)?;
                    Ok(found)
                })
                .collect::<Result<_, _>>()?;
        }
        if let Change::New(set) = change {
            self.sets[set as usize] = Default::default();
        }
        self.recent = Default::default();
        match change {
            Change::Stay(level) => self.bounds.grow_stay(level, &territory.slices, &found),
            Change::New(Set::Stay) => {
                self.bounds.set(&territory.slices, &found, step);
                owns.iter_mut().for_each(Own::begin);
            }
            Change::Less(Set::Stay) if matches!(phase, Phase::Try(_)) && at == 0 => {
                self.bounds.throw_out(&territory.slices, &found);
                self.bounds.prove(&territory.slices, &self.sets[Set::Stay as usize], &found);
            }
            Change::New(Set::Lack) => {
                let of = |found: &Vec<Frontier>| territory.slices.iter().copied().zip(found.iter().cloned()).collect();
                self.sought = Some(Sought { without: found.each_ref().map(of), left: Default::default() });
            }
            _ => {}
        }
        for (side, found) in Side::BOTH.into_iter().zip(found) {
            for (&slice, found) in territory.slices.iter().zip(found).filter(|(_, f)| !f.is_empty()) {
                self.apply(change, side, slice, &found);
                self.recent[side.index()].insert(slice, found);
            }
        }
        Ok(())
    }

    /// Forgets what is over.
    fn recent_of_nothing(&mut self, phase: Phase, at: u16) {
        match (phase, at) {
            (Phase::Begin(_), 0) => {
                self.sets = Default::default();
                self.recent = Default::default();
                self.sought = None;
            }
            (Phase::Lack(_), 0) => {
                self.sets[Set::Lack as usize] = Default::default();
                self.sets[Set::Stuck as usize] = Default::default();
                self.recent = Default::default();
            }
            (Phase::Try(_) | Phase::Cut(_), 0) => self.recent = Default::default(),
            _ => {}
        }
    }

    fn apply(&mut self, change: Change, side: Side, slice: u32, frontier: &Frontier) {
        match change {
            // Of slices that others own nobody asks for it.
            Change::Stay(_) => {}
            Change::Press(level) => self.bounds.grow_press(level, side, slice, frontier),
            Change::New(set) => drop(self.sets[set as usize][side.index()].insert(slice, frontier.clone())),
            Change::Less(set) => {
                if let (Set::Stay, Some(sought)) = (set, &mut self.sought) {
                    grow(&mut sought.left[side.index()], slice, frontier);
                }
                if let Some(set) = self.sets[set as usize][side.index()].get_mut(&slice) {
                    set.remove(frontier);
                }
            }
        }
    }

    /// Takes what another part's last step gave in one slice.
    pub fn import(&mut self, phase: Phase, at: u16, arrival: Arrival<'_>) {
        if let (Some(change), Some(frontier)) = (Change::of(phase, at), arrival.frontier) {
            self.apply(change, arrival.side, arrival.slice, &frontier);
            self.recent[arrival.side.index()].insert(arrival.slice, frontier);
        }
    }

    /// What the last step gave in an owned slice.
    pub fn outgoing(&self, slice: u32, side: Side) -> Option<&Frontier> {
        self.recent[side.index()].get(&slice)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> u64 {
        let sought = self.sought.iter().flat_map(|sought| sought.without.iter().chain(&sought.left));
        let sets = self.sets.iter().flatten().chain(&self.recent).chain(sought).flat_map(HashMap::values);
        sets.map(|f| f.memory() as u64).sum::<u64>() + self.bounds.memory()
    }

    /// What a step gives in one slice.
    fn work_out(
        &self,
        view: &View<'_>,
        phase: Phase,
        change: Change,
        at: u16,
        place: usize,
    ) -> Result<Frontier, GameError> {
        let shrink = Shrink { stage: self, view };
        Ok(match change {
            Change::Stay(0) => {
                let victims = (self.victims(view.hunted), self.planes_of(view.hunted));
                suspects(&self.bounds, view, place, victims)?
            }
            Change::Stay(level) => shrink.entering(level),
            Change::Press(level) => shrink.entering_press(level),
            Change::New(Set::Stay) => shrink.first(place)?,
            Change::New(Set::Press) => shrink.pressed(),
            Change::New(Set::Lack) => shrink.lacking(),
            Change::New(Set::Stuck) => shrink.stuck(),
            Change::Less(Set::Stay) => match (phase, at) {
                (Phase::Try(_), 0) => shrink.not_violating(),
                (Phase::Begin(_), at) if at == FIRST + 2 => shrink.leading_out(),
                _ => shrink.leading_out_now(),
            },
            Change::Less(Set::Press) => match (phase, at) {
                (Phase::Cut(_), 1) => self.set(Set::Lack, view.hunted, view.slice as u32).cloned().unwrap_or_default(),
                _ => shrink.not_led_back(),
            },
            Change::Less(Set::Lack) => shrink.no_longer_lacking(at == 3),
            Change::Less(Set::Stuck) => shrink.no_longer_stuck(),
        })
    }

    /// Cells of an owned slice that a side loses, going on or breaking off, at an even ply of the next order: those in which
    /// it is not in check, so that the enemy's last move was none. Each plane has its ply, so that values fall along the
    /// planes as well.
    pub fn broken(&self, territory: &Territory, slice: u32, side: Side, ply: u16) -> Frontier {
        let plane = usize::from(ply / 2);
        let hunted = side.other();
        let mut found = Frontier::new();
        let Some(stay) = self.set(Set::Stay, side, slice) else { return found };
        let words = territory.words(slice);
        for (number, cells) in stay.iter().filter(|(n, _)| *n as usize / words == plane) {
            let word = number as usize % words;
            found.push(word as u32, cells & territory.legal(slice as usize, word, hunted));
        }
        found
    }
}
