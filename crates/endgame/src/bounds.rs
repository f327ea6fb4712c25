//! What the sets of an order begin with: bounds that only grow from order to order.
//!
//! The first bound of *stay* has the cells where every move that does not lose leads to a cell of the hunted in which he is
//! in check, or, for the plane of a piece, in which something might take it: whole words at a time. That of *press* has
//! the cells where that is so and from which a move leads back into it; the second bound of *stay*, those of the first
//! where every move that does not lose leads into that of *press*, and so on. As cells are won, cells enter bounds and none
//! ever leaves, but those that [`Trial`](crate::trial::Trial) throws out until a move of theirs leads to a cell that has been
//! won. So after the first order only those cells are tried again of which a move now leads to a cell that has just been won,
//! or that has just entered a bound, or that a capture no longer holds.

use std::borrow::Cow;
use std::collections::HashMap;

use canju_retro::{Frontier, GameError, Side};
use rayon::prelude::*;

use crate::labels::Arrival;
use crate::moves::{End, Moves};
use crate::own::{Own, misfit};
use crate::planes::{seek, union, without};
use crate::scratch::{Memo, Scratch};
use crate::territory::Territory;
use crate::victims::Victims;
use crate::view::View;

/// Bounds of *stay*: the last one is what the sets of an order begin with. Before each stands one of *press*.
pub(crate) const LEVELS: usize = 2;

/// Sets of slices, by side to move and slice: planes one behind the other.
pub(crate) type Sets = [HashMap<u32, Frontier>; 2];

/// The bounds of a part.
#[derive(Default)]
pub(crate) struct Bounds {
    /// Of owned slices. They may keep cells that have been decided.
    stay: [Sets; LEVELS + 1],
    /// Of owned slices and those around them; likewise.
    press: [Sets; LEVELS],
    /// What has last entered a bound of *stay*.
    fresh: Sets,
    /// Cells of owned slices that were tried in the last order and do violate: so they will, as cells are won.
    proven: Sets,
    /// The step in which the last order began.
    begun: Option<u16>,
    /// What others have won since then, as they sent it, by side to move and slice.
    arrived: [HashMap<u32, Vec<Box<[u8]>>>; 2],
    /// Cells of owned slices with a move to a cell that was won since then, and those that a capture held until after it,
    /// by the side to move; while an order begins.
    changed: [HashMap<u32, Frontier>; 2],
}

impl Bounds {
    /// True before the first order.
    pub fn are_new(&self) -> bool {
        self.begun.is_none()
    }

    pub fn stay(&self, level: usize, side: Side, slice: u32) -> Option<&Frontier> {
        self.stay[level][side.index()].get(&slice)
    }

    pub fn press(&self, level: usize, side: Side, slice: u32) -> Option<&Frontier> {
        self.press[level][side.index()].get(&slice)
    }

    /// What has last entered a bound of *stay* in an owned slice.
    pub fn fresh(&self, side: Side, slice: u32) -> Option<&Frontier> {
        self.fresh[side.index()].get(&slice)
    }

    /// Cells of an owned slice that have to be tried again, whatever their planes.
    pub fn changed(&self, side: Side, slice: u32) -> Option<&Frontier> {
        self.changed[side.index()].get(&slice)
    }

    /// Takes note of what another part has won.
    pub fn note(&mut self, arrival: &Arrival<'_>) {
        if self.begun.is_some() && arrival.wins {
            let arrived = self.arrived[arrival.side.index()].entry(arrival.slice).or_default();
            arrived.push(arrival.encoded.into());
        }
    }

    /// Begins an order: finds the cells that have to be tried again.
    pub fn begin(&mut self, territory: &Territory, owns: &[Own], step: u16) -> Result<(), GameError> {
        let Some(begun) = self.begun else { return Ok(()) };
        for side in Side::BOTH {
            let words = |slice| territory.words(slice);
            let owned = territory.slices.par_iter().zip(owns).map(|(&slice, own)| {
                let won = Scratch::with(words(slice), |scratch| {
                    own.won(begun..step, side, words(slice), |set| {
                        set.iter().for_each(|(word, cells)| scratch.add(word as usize, cells));
                    })?;
                    Ok(scratch.take(|_, cells| cells))
                })?;
                Ok((slice, won))
            });
            let mut won = owned.collect::<Result<HashMap<u32, Frontier>, GameError>>()?;
            for (slice, sets) in self.arrived[side.index()].drain() {
                let mut all = Frontier::new();
                for set in sets {
                    all = union(&all, &Frontier::decode(&mut &set[..], words(slice) as u32).map_err(misfit)?);
                }
                won.insert(slice, all);
            }
            let changed = territory.slices.par_iter().zip(owns).map(|(&slice, own)| {
                let won = |slice| won.get(&slice);
                Ok((slice, changed_cells(territory, slice, side.other(), own, won)?))
            });
            self.changed[side.other().index()] = changed.collect::<Result<_, GameError>>()?;
        }
        Ok(())
    }

    /// What enters a bound of *stay* in owned slices, by side and place.
    pub fn grow_stay(&mut self, level: usize, slices: &[u32], found: &[Vec<Frontier>; 2]) {
        for ((found, stay), fresh) in found.iter().zip(&mut self.stay[level]).zip(&mut self.fresh) {
            for (&slice, found) in slices.iter().zip(found) {
                grow(stay, slice, found);
                fresh.insert(slice, found.clone());
            }
        }
    }

    /// What enters a bound of *press* in one slice.
    pub fn grow_press(&mut self, level: usize, side: Side, slice: u32, found: &Frontier) {
        grow(&mut self.press[level][side.index()], slice, found);
    }

    /// The last bound of owned slices is what an order begins with.
    pub fn set(&mut self, slices: &[u32], found: &[Vec<Frontier>; 2], step: u16) {
        for (found, stay) in found.iter().zip(&mut self.stay[LEVELS]) {
            stay.extend(slices.iter().copied().zip(found.iter().cloned()));
        }
        self.fresh = Default::default();
        self.changed = Default::default();
        self.begun = Some(step);
    }

    /// Throws out cells of owned slices that do not violate.
    pub fn throw_out(&mut self, slices: &[u32], found: &[Vec<Frontier>; 2]) {
        for stay in &mut self.stay {
            for (found, stay) in found.iter().zip(stay) {
                for (slice, found) in slices.iter().zip(found).filter(|(_, found)| !found.is_empty()) {
                    if let Some(set) = stay.get_mut(slice) {
                        set.remove(found);
                    }
                }
            }
        }
    }

    /// Cells that were tried are proven, but for those that were thrown out.
    pub fn prove(&mut self, slices: &[u32], stay: &Sets, found: &[Vec<Frontier>; 2]) {
        for ((stay, found), proven) in stay.iter().zip(found).zip(&mut self.proven) {
            let left =
                slices.iter().zip(found).filter_map(|(slice, found)| Some((*slice, without(stay.get(slice)?, found))));
            *proven = left.collect();
        }
    }

    /// Cells that need not be tried again.
    pub fn proven(&self, side: Side, slice: u32) -> Option<&Frontier> {
        self.proven[side.index()].get(&slice)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> u64 {
        let sets = self.stay.iter().chain(&self.press).chain([&self.fresh, &self.proven, &self.changed]);
        let arrived = self.arrived.iter().flat_map(HashMap::values).flatten().map(|set| set.len() as u64);
        sets.flatten().flat_map(HashMap::values).map(|f| f.memory() as u64).chain(arrived).sum()
    }
}

/// Puts cells of a slice into its set.
pub(crate) fn grow(sets: &mut HashMap<u32, Frontier>, slice: u32, found: &Frontier) {
    if !found.is_empty() {
        let set = sets.entry(slice).or_default();
        *set = union(set, found);
    }
}

/// Legal cells of the hunter in an owned slice that are neither won nor lost and that no capture holds.
pub(crate) struct Undecided<'a> {
    open: Cow<'a, [u128]>,
    unwon: Option<Cow<'a, [u128]>>,
}

impl<'a> Undecided<'a> {
    pub fn new(view: &View<'a>, place: usize) -> Result<Self, GameError> {
        let (slice, hunter) = (view.slice as u32, view.hunter());
        Ok(Self { open: view.labels.open(place, slice, hunter)?, unwon: view.labels.unwon(slice, hunter)? })
    }

    pub fn get(&self, word: usize) -> u128 {
        self.unwon.as_ref().map_or(0, |unwon| unwon[word] & self.open[word])
    }
}

/// The cells of a slice that enter the first bound of *stay*, by planes.
pub(crate) fn suspects(
    bounds: &Bounds,
    view: &View<'_>,
    place: usize,
    (victims, planes): (&Victims, usize),
) -> Result<Frontier, GameError> {
    let slice = view.slice as u32;
    let undecided = Undecided::new(view, place)?;
    let tried = if bounds.are_new() {
        let mut all = Frontier::with_capacity(view.words);
        (0..view.words).for_each(|word| all.push(word as u32, undecided.get(word)));
        all
    } else {
        let mut changed = Frontier::new();
        let some = bounds.changed(view.hunter(), slice).into_iter().flat_map(Frontier::iter);
        some.for_each(|(word, cells)| changed.push(word, cells & undecided.get(word as usize)));
        changed
    };
    let mut found = Frontier::new();
    if tried.is_empty() {
        return Ok(found);
    }
    let escapes = Memo::new(planes * view.words);
    let moves = Moves::new(view.index, view.slice, view.hunter());
    let mut known = bounds.stay(0, view.hunter(), slice).map(seek);
    for plane in 0..planes {
        for (word, cells) in tried.iter() {
            let number = (plane * view.words) as u32 + word;
            let cells = cells & !known.as_mut().map_or(0, |known| known.get(number));
            // Of an undecided cell some quiet move does not lose: it would have to violate.
            if cells != 0 && victims.can_be_violated(view.index, plane, view.slice, word as usize) {
                let into = |end: End, asked: u128| {
                    let plane = victims.carry(view.index, plane, (view.slice, word as usize), end);
                    if end.slice != view.slice {
                        return escape(view, victims, plane, end, asked);
                    }
                    escapes.get(plane * view.words + end.word, || escape(view, victims, plane, end, u128::MAX))
                };
                found.push(number, moves.without_move_into(word as usize, cells, into));
            }
        }
    }
    Ok(found)
}

/// Of the cells at a move's end those in which it has not violated, and not lost.
fn escape(view: &View<'_>, victims: &Victims, plane: usize, end: End, asked: u128) -> u128 {
    let out = asked & view.unwon(end.slice, end.word);
    match plane {
        _ if out == 0 => 0,
        _ if out & victims.reach(view.index, plane, end.slice, end.word) == 0 => out,
        0 => out & !victims.checked(view.index, end.slice, end.word),
        _ => out & !victims.attacked(view.index, plane, end.slice, end.word),
    }
}

/// Cells of a side with a move to a cell that was won since the last order began, and those that a capture held until
/// then.
fn changed_cells<'w>(
    territory: &Territory,
    slice: u32,
    side: Side,
    own: &Own,
    won: impl Fn(u32) -> Option<&'w Frontier>,
) -> Result<Frontier, GameError> {
    let words = territory.words(slice);
    let opened = own.opened(side, words)?;
    let moves = Moves::new(&territory.index, slice as usize, side);
    Ok(Scratch::with(words, |scratch| {
        for &from in [slice].iter().chain(territory.readers(slice, side.other())) {
            let Some(won) = won(from) else { continue };
            let sink = |word: usize, _: End, cells: u128| scratch.add(word, cells);
            if from == slice {
                moves.sources(won, sink);
            } else {
                moves.crossing_sources(from as usize, won, sink);
            }
        }
        opened.iter().flat_map(Frontier::iter).for_each(|(word, cells)| scratch.add(word as usize, cells));
        scratch.take(|_, cells| cells)
    }))
}
