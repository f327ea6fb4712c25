//! Perpetual check and chase: which cells a side that violates cannot leave without losing.
//!
//! When an order of labels is complete, each side in turn is the hunter, who may violate, with the other as the hunted. The
//! cells in which the hunter is to move are *stay* where every move that does not lose violates, and leads to a cell of
//! *press*; cells of the hunted are *press* where some move leads back. Both shrink to the greatest such sets, step by
//! step as labels are found: one side's cells in even steps, the other's in odd ones. Then the cells of the hunted who
//! cannot force a move of their own that is free are *lack*, and those of the hunter that lead there *stuck*;
//! where some lack it, they leave, and the sets shrink once more. What remains loses for the hunter: in the next order.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use canju_retro::{Cell, Code, Frontier, GameError, Rules, Side};
use canju_xiangqi::{Color, Position, Square};
use rayon::prelude::*;

use crate::index::Index;
use crate::labels::{Arrival, Labels};
use crate::legality::legal_words;
use crate::moves::{End, Moves};
use crate::own::Own;
use crate::territory::Territory;
use crate::victims::Victims;

/// What the steps of a part are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Labels of an order.
    Label(u16),
    /// The sets of the order are begun anew.
    Begin(u16),
    /// The sets of the order shrink.
    Lack(u16),
    /// Those that lack a free move leave.
    Cut(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Stay,
    Press,
    Lack,
    Stuck,
}

/// What a step does to one kind of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// They are what the step gives.
    New(Set),
    /// They lose what the step gives.
    Less(Set),
}

impl Change {
    fn of(phase: Phase, at: u16) -> Option<Self> {
        Some(match (phase, at) {
            (Phase::Label(_), _) | (Phase::Lack(_) | Phase::Cut(_), 0) => return None,
            (Phase::Begin(_), 0) => Self::New(Set::Stay),
            (Phase::Begin(_), 1) => Self::New(Set::Press),
            (Phase::Lack(_), 1) => Self::New(Set::Lack),
            (Phase::Lack(_), 2) => Self::New(Set::Stuck),
            (Phase::Lack(_), at) => Self::Less(if at % 2 == 1 { Set::Lack } else { Set::Stuck }),
            (Phase::Begin(_) | Phase::Cut(_), at) => Self::Less(if at % 2 == 1 { Set::Press } else { Set::Stay }),
        })
    }
}

/// Sets of slices, by side to move and slice: planes one behind the other.
type Sets = [HashMap<u32, Frontier>; 2];

/// The sets of a part and of the slices around it.
pub(crate) struct Stage {
    rules: Rules,
    /// By the side that is hunted.
    victims: [Victims; 2],
    sets: [Sets; 4],
    /// What the last step gave.
    recent: Sets,
}

/// Where the words of a slice that is worked on come from.
struct View<'a> {
    territory: &'a Territory,
    labels: &'a dyn Labels,
    slice: usize,
    /// The hunted one.
    hunted: Side,
    near: RefCell<HashMap<usize, Option<Cow<'a, [u128]>>>>,
    failed: RefCell<Option<GameError>>,
}

impl<'a> View<'a> {
    /// The cells of the hunted that he has not won.
    fn unwon(&self, slice: usize, word: usize) -> u128 {
        let mut near = self.near.borrow_mut();
        let set = near.entry(slice).or_insert_with(|| {
            self.labels.unwon(slice as u32, self.hunted).unwrap_or_else(|error| {
                self.failed.replace(Some(error));
                None
            })
        });
        match set {
            Some(set) => set[word],
            None => self.territory.legal(slice, word, self.hunted),
        }
    }

    /// Legal cells of a word by side to move.
    fn legal(&self, slice: usize, word: usize) -> [u128; 2] {
        let index = &self.territory.index;
        let place = index.place(slice);
        let configs = index.attackers.len();
        legal_words(index, place.first, place.second.start + word / configs, word % configs)
    }
}

impl Stage {
    pub fn new(index: &Index, rules: Rules) -> Self {
        Self {
            rules,
            victims: Side::BOTH.map(|side| Victims::new(index, side)),
            sets: Default::default(),
            recent: Default::default(),
        }
    }

    /// Planes of the hunted side.
    fn planes_of(&self, hunted: Side) -> usize {
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

    fn set(&self, set: Set, side: Side, slice: u32) -> Option<&Frontier> {
        self.sets[set as usize][side.index()].get(&slice)
    }

    fn word(&self, set: Set, side: Side, territory: &Territory, plane: usize, end: End) -> u128 {
        let words = territory.words(end.slice as u32);
        self.set(set, side, end.slice as u32).map_or(0, |f| f.get((plane * words + end.word) as u32))
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
                    let view = View {
                        territory,
                        labels,
                        slice: slice as usize,
                        hunted,
                        near: RefCell::default(),
                        failed: RefCell::default(),
                    };
                    let found = self.work_out(&view, phase, change, at, place)?;
                    if let Some(error) = view.failed.take() {
                        return Err(error);
                    }
                    own.record(step, Code::DRAW, side, &found)?;
                    Ok(found)
                })
                .collect::<Result<_, _>>()?;
        }
        if let Change::New(set) = change {
            self.sets[set as usize] = Default::default();
        }
        self.recent = Default::default();
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
            }
            (Phase::Lack(_), 0) => {
                self.sets[Set::Lack as usize] = Default::default();
                self.sets[Set::Stuck as usize] = Default::default();
                self.recent = Default::default();
            }
            (Phase::Cut(_), 0) => self.recent = Default::default(),
            _ => {}
        }
    }

    fn apply(&mut self, change: Change, side: Side, slice: u32, frontier: &Frontier) {
        let (Change::New(set) | Change::Less(set)) = change;
        let sets = &mut self.sets[set as usize][side.index()];
        match change {
            Change::New(_) => drop(sets.insert(slice, frontier.clone())),
            Change::Less(_) => {
                if let Some(set) = sets.get_mut(&slice) {
                    *set = without(set, frontier);
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
        let sets = self.sets.iter().flatten().chain(&self.recent).flat_map(HashMap::values);
        sets.map(|f| f.memory() as u64).sum()
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
        let all = at < 3 || change == Change::Less(Set::Lack) && at == 3;
        if !all && !self.is_near(view, at) {
            return Ok(Frontier::new());
        }
        let (hunted, hunter) = (view.hunted, view.hunted.other());
        let cells = |set, side| self.set(set, side, view.slice as u32).cloned().unwrap_or_default();
        Ok(match change {
            Change::New(Set::Stay) => self.begin(view, place)?,
            Change::New(Set::Press) => self.pressed(view),
            Change::New(Set::Lack) => self.lacking(view),
            Change::New(Set::Stuck) => {
                let rest = self.without_move(view, hunter, &cells(Set::Stay, hunter), |plane, end| {
                    self.word(Set::Lack, hunted, view.territory, plane, end)
                });
                without(&cells(Set::Stay, hunter), &rest)
            }
            // A cell of the hunter leaves when a move that does not lose leads out.
            Change::Less(Set::Stay) => {
                let stay = cells(Set::Stay, hunter);
                let rest = self.without_move(view, hunter, &stay, |plane, end| {
                    let out = view.unwon(end.slice, end.word);
                    out & !self.word(Set::Press, hunted, view.territory, plane, end)
                });
                without(&stay, &rest)
            }
            Change::Less(Set::Press) if matches!(phase, Phase::Cut(_)) && at == 1 => cells(Set::Lack, hunted),
            Change::Less(Set::Press) => self.without_move(view, hunted, &cells(Set::Press, hunted), |plane, end| {
                self.word(Set::Stay, hunter, view.territory, plane, end)
            }),
            Change::Less(Set::Lack) => {
                let lack = cells(Set::Lack, hunted);
                let rest = self.without_move(view, hunted, &lack, |plane, end| {
                    let stay = self.word(Set::Stay, hunter, view.territory, plane, end);
                    stay & !self.word(Set::Stuck, hunter, view.territory, plane, end)
                });
                without(&lack, &rest)
            }
            Change::Less(Set::Stuck) => self.without_move(view, hunter, &cells(Set::Stuck, hunter), |plane, end| {
                self.word(Set::Lack, hunted, view.territory, plane, end)
            }),
        })
    }

    /// Whether the last step gave something that the moves of the side at work lead to.
    fn is_near(&self, view: &View<'_>, at: u16) -> bool {
        let enemy = if at.is_multiple_of(2) { view.hunted } else { view.hunted.other() };
        let slice = view.slice as u32;
        let recent = &self.recent[enemy.index()];
        recent.contains_key(&slice) || view.territory.readers(slice, enemy).iter().any(|s| recent.contains_key(s))
    }

    /// Of some cells, those from which no quiet move of the side leads into sets by plane and word.
    fn without_move(
        &self,
        view: &View<'_>,
        side: Side,
        cells: &Frontier,
        set: impl Fn(usize, End) -> u128,
    ) -> Frontier {
        let index = &view.territory.index;
        let moves = Moves::new(index, view.slice, side);
        let words = index.words(view.slice);
        let victims = &self.victims[view.hunted.index()];
        let mut found = Frontier::new();
        for (number, cells) in cells.iter() {
            let (plane, word) = (number as usize / words, number as usize % words);
            let left = moves
                .without_move_into(word, cells, |end| set(victims.carry(index, plane, (view.slice, word), end), end));
            found.push(number, left);
        }
        found
    }

    /// Cells of the hunter in which every move that does not lose violates, and no capture saves him.
    fn begin(&self, view: &View<'_>, place: usize) -> Result<Frontier, GameError> {
        let index = &view.territory.index;
        let hunter = view.hunted.other();
        let moves = Moves::new(index, view.slice, hunter);
        let open = view.labels.open(place, view.slice as u32, hunter)?;
        let Some(unwon) = view.labels.unwon(view.slice as u32, hunter)? else { return Ok(Frontier::new()) };
        let words = open.len();
        let victims = &self.victims[view.hunted.index()];
        let mut found = Frontier::new();
        for plane in 0..self.planes_of(view.hunted) {
            for word in 0..words {
                let mut cells = open[word] & unwon[word];
                if cells == 0 {
                    continue;
                }
                cells = moves.without_move_into(word, cells, |end| {
                    let out = view.unwon(end.slice, end.word);
                    if out == 0 {
                        return 0;
                    }
                    if plane == 0 {
                        // With the hunter to move, the hunted king could be taken where he is in check.
                        return out & view.legal(end.slice, end.word)[hunter.index()];
                    }
                    let plane = victims.carry(index, plane, (view.slice, word), end);
                    out & !victims.attacked(index, plane, end.slice, end.word)
                });
                if plane > 0 && cells != 0 {
                    cells = self.chasing(view, plane, word, cells);
                }
                found.push((plane * words + word) as u32, cells);
            }
        }
        Ok(found)
    }

    /// Of cells of the hunter, those in which every move that does not lose chases the piece of a plane.
    fn chasing(&self, view: &View<'_>, plane: usize, word: usize, cells: u128) -> u128 {
        let index = &view.territory.index;
        let victims = &self.victims[view.hunted.index()];
        let mut board = Position::empty(Color::Red);
        let holds = |bit: usize, board: &mut Position| {
            set_up(index, view.slice, word, bit, view.hunted.other(), board) && {
                let victim = victims.square_at(index, plane, view.slice, word, bit as u8);
                let victim = Square::at(victim % 9, victim / 9);
                board.legal_moves().iter().filter(|m| !board.is_capture(**m)).all(|&chosen| {
                    let after = board.play(chosen);
                    // A move that loses needs not chase.
                    let lost =
                        find(index, &after).is_some_and(|(end, bit)| view.unwon(end.slice, end.word) >> bit & 1 == 0);
                    lost || board.chases_at(chosen, victim)
                })
            }
        };
        crate::geometry::members(cells).filter(|&bit| holds(bit, &mut board)).fold(0, |set, bit| set | 1 << bit)
    }

    /// Cells of the hunted that the violations may lead to and that have a move back.
    fn pressed(&self, view: &View<'_>) -> Frontier {
        let index = &view.territory.index;
        let (hunted, hunter) = (view.hunted, view.hunted.other());
        let moves = Moves::new(index, view.slice, hunted);
        let words = index.words(view.slice);
        let victims = &self.victims[hunted.index()];
        let mut found: BTreeMap<u32, u128> = BTreeMap::new();
        let slice = view.slice as u32;
        for &from in [slice].iter().chain(view.territory.readers(slice, hunter)) {
            let Some(stay) = self.set(Set::Stay, hunter, from) else { continue };
            let there = view.territory.words(from);
            for plane in 0..self.planes_of(hunted) {
                let mut one = Frontier::new();
                for (number, cells) in stay.iter().filter(|(n, _)| *n as usize / there == plane) {
                    one.push(number - (plane * there) as u32, cells);
                }
                let sink = |source: usize, end: End, cells: u128| {
                    let cells = cells & view.unwon(view.slice, source);
                    if cells != 0 {
                        // The same either way: by squares.
                        let plane = carry_back(victims, index, plane, (view.slice, source), end);
                        *found.entry((plane * words + source) as u32).or_default() |= cells;
                    }
                };
                if from == slice {
                    moves.sources(&one, sink);
                } else {
                    moves.crossing_sources(from as usize, &one, sink);
                }
            }
        }
        let mut pressed = Frontier::with_capacity(found.len());
        for (number, cells) in found {
            let (plane, word) = (number as usize / words, number as usize % words);
            let threatened = if plane == 0 {
                !view.legal(view.slice, word)[hunter.index()]
            } else {
                victims.attacked(index, plane, view.slice, word)
            };
            pressed.push(number, cells & threatened);
        }
        pressed.trim();
        pressed
    }

    /// Cells of the hunted from which no free move leads on: for the king's plane, one that gives no check; for a piece's,
    /// one that neither checks nor chases.
    fn lacking(&self, view: &View<'_>) -> Frontier {
        let index = &view.territory.index;
        let (hunted, hunter) = (view.hunted, view.hunted.other());
        let Some(press) = self.set(Set::Press, hunted, view.slice as u32) else { return Frontier::new() };
        let words = index.words(view.slice);
        let lack = self.without_move(view, hunted, press, |plane, end| {
            let stay = self.word(Set::Stay, hunter, view.territory, plane, end);
            if stay == 0 { 0 } else { stay & view.legal(end.slice, end.word)[hunted.index()] }
        });
        let mut board = Position::empty(Color::Red);
        let mut found = Frontier::new();
        for (number, cells) in press.iter() {
            let (plane, word) = (number as usize / words, number as usize % words);
            let mut lacking = lack.get(number) & cells;
            if plane > 0 {
                for bit in crate::geometry::members(cells & !lacking) {
                    if !self.has_free_move(view, plane, word, bit, &mut board) {
                        lacking |= 1 << bit;
                    }
                }
            }
            found.push(number, lacking);
        }
        found
    }

    fn has_free_move(&self, view: &View<'_>, plane: usize, word: usize, bit: usize, board: &mut Position) -> bool {
        let index = &view.territory.index;
        let (hunted, hunter) = (view.hunted, view.hunted.other());
        let victims = &self.victims[hunted.index()];
        if !set_up(index, view.slice, word, bit, hunted, board) {
            return false;
        }
        let stands = victims.square_at(index, plane, view.slice, word, bit as u8);
        board.legal_moves().iter().filter(|m| !board.is_capture(**m)).any(|&chosen| {
            let after = board.play(chosen);
            let Some((end, bit)) = find(index, &after) else { return false };
            let goes_on = if usize::from(stands) == chosen.from.index() { chosen.to.index() as u8 } else { stands };
            let goes_on = if end.mirrored { crate::word::mirror_square(goes_on) } else { goes_on };
            let plane = victims.plane_at(index, victims.role(plane), goes_on, end.slice, end.word, bit);
            plane.is_some_and(|plane| self.word(Set::Stay, hunter, view.territory, plane, end) >> bit & 1 == 1)
                && board.is_free(chosen)
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

/// The plane of the piece at the near end of a move that leads to `end`, where it has `plane`.
fn carry_back(victims: &Victims, index: &Index, plane: usize, here: (usize, usize), end: End) -> usize {
    let near = End { slice: here.0, word: here.1, mirrored: end.mirrored };
    victims.carry(index, plane, (end.slice, end.word), near)
}

/// Puts a cell's pieces on the board.
fn set_up(index: &Index, slice: usize, word: usize, bit: usize, side: Side, board: &mut Position) -> bool {
    let Ok(row) = index.axis_squares().binary_search(&(bit as u8)) else { return false };
    let cell = Cell { slice: slice as u32, index: (word * index.row() + row) as u32, side };
    index.set_up(cell, board)
}

/// The word and the bit of a position.
fn find(index: &Index, position: &Position) -> Option<(End, u8)> {
    let (cell, mirrored) = index.placed(position, false)?;
    let (word, row) = (cell.index as usize / index.row(), cell.index as usize % index.row());
    Some((End { slice: cell.slice as usize, word, mirrored }, index.axis_squares()[row]))
}

/// The cells of a set that are not in another.
fn without(set: &Frontier, other: &Frontier) -> Frontier {
    if other.is_empty() {
        return set.clone();
    }
    let mut left = Frontier::with_capacity(set.len());
    for (word, cells) in set.iter() {
        left.push(word, cells & !other.get(word));
    }
    left
}
