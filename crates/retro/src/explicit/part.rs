//! The solver of a part of a table that is given position by position.
//!
//! A ply takes the cells that the ply before has labelled, own ones and those that came from others, and goes back along
//! their moves. The label of a cell is final when it is given, so that a message that comes twice changes nothing.

use std::ops::Range;
use std::sync::Arc;

use super::graph::{Back, survey};
use super::ground::{Ground, WORD};
use super::saved::{self, Arrival, arrival, misfit, take};
use super::{Explicit, Players};
use crate::{
    Cell, Code, Distance, Frontier, FrontierLog, GameError, Longest, Metric, Outcome, Part, PartSpec, Side, SliceCodes,
    Statistics, StepCounts, next_ply,
};

/// What is known of a cell: two bits, and the ply above them.
const OPEN: u32 = 0;
const WON: u32 = 1;
const LOST: u32 = 2;
const ILLEGAL: u32 = 3;
const KIND: u32 = 3;
/// An end that nobody has won.
const DRAWN: u32 = 4;

/// What an own slice has labelled.
#[derive(Default)]
struct Own {
    log: FrontierLog,
    /// Plies in the log.
    plies: u16,
}

pub(super) struct ExplicitPart {
    table: Arc<dyn Explicit>,
    ground: Ground,
    /// Of all known cells.
    labels: Vec<u32>,
    /// Moves of own cells that are not known to lose, where there is an enemy.
    open: Vec<u32>,
    back: Back,
    /// Own cells that are ends with a winner, and whether the side to move is that.
    ends: Vec<(u32, bool)>,
    own: Vec<Own>,
    /// The cells of the last ply that was applied, own ones and those that came.
    front: Vec<u32>,
    /// The ply to run next; `None` before the moves are known.
    next: Option<u16>,
    /// Plies whose labels are given; more than `next` after the part was rewound.
    applied: u16,
}

impl ExplicitPart {
    pub(super) fn new(table: Arc<dyn Explicit>, spec: &PartSpec) -> Result<Self, GameError> {
        let ground = Ground::new(table.as_ref(), spec)?;
        Ok(Self {
            labels: Vec::new(),
            open: Vec::new(),
            back: Back::Told,
            ends: Vec::new(),
            own: spec.slices.iter().map(|_| Own::default()).collect(),
            front: Vec::new(),
            next: None,
            applied: 0,
            table,
            ground,
        })
    }

    /// Own cells that the ply labels, and whether they are won. Those of slices whose log has the ply are left out.
    fn reached(&mut self, ply: u16) -> Vec<(u32, bool)> {
        let covered: Vec<Range<u32>> = self
            .own
            .iter()
            .zip(&self.ground.own)
            .filter(|(own, _)| own.plies > ply)
            .flat_map(|(_, &slice)| Side::BOTH.map(|side| self.ground.place(slice, side).map(|p| p.ids.clone())))
            .flatten()
            .collect();
        let is_covered = |id: u32| covered.iter().any(|ids| ids.contains(&id));
        if ply == 0 {
            return self.ends.iter().copied().filter(|&(id, _)| !is_covered(id)).collect();
        }
        let mut reached = Vec::new();
        let mut found = Vec::new();
        let alone = self.table.players() == Players::One;
        let Self { labels, open, back, table, ground, front, .. } = self;
        for &from in front.iter() {
            let won = labels[from as usize] & KIND == WON;
            if alone && !won {
                continue;
            }
            back.each(table.as_ref(), ground, from, &mut found, |id| {
                let at = id as usize;
                if labels[at] != OPEN {
                    return;
                }
                let label = if alone || !won {
                    WON
                } else {
                    open[at] = open[at].saturating_sub(1);
                    if open[at] > 0 {
                        return;
                    }
                    LOST
                };
                if !is_covered(id) {
                    labels[at] = label | u32::from(ply) << 2;
                    reached.push((id, label == WON));
                }
            });
        }
        reached
    }

    /// Writes into the logs what a ply has labelled.
    fn record(&mut self, ply: u16, mut reached: Vec<(u32, bool)>) -> Result<(), GameError> {
        reached.sort_unstable();
        let mut rest = &reached[..];
        let places = self.ground.own_places();
        let sides = places.len() / self.own.len().max(1);
        for (own, places) in self.own.iter_mut().zip(places.chunks(sides.max(1))) {
            for place in places {
                let (here, after) = rest.split_at(rest.partition_point(|&(id, _)| id < place.ids.end));
                rest = after;
                for won in [true, false] {
                    let mut frontier = Frontier::new();
                    let ids = here.iter().filter(|&&(_, w)| w == won).map(|&(id, _)| id - place.ids.start);
                    gather(ids, &mut frontier);
                    own.log.append(place.side, code(won, ply), &frontier)?;
                }
            }
        }
        Ok(())
    }

    /// Labels own cells as the logs have them; returns these.
    fn replay(&mut self, ply: u16) -> Result<Vec<u32>, GameError> {
        let mut replayed = Vec::new();
        for (own, &slice) in self.own.iter().zip(&self.ground.own).filter(|(own, _)| own.plies > ply) {
            let words = self.ground.words(slice).unwrap_or_default();
            for entry in own.log.entries().iter().filter(|e| saved::ply(e.code) == ply) {
                let won = matches!(entry.code.outcome(), Outcome::Win(_));
                let frontier = own.log.frontier(entry, words)?;
                label(&self.ground, &mut self.labels, (slice, entry.side), ply, won, &frontier, &mut replayed)?;
            }
        }
        Ok(replayed)
    }

    /// How many cells of own slices a ply of the log labels, by side to move.
    fn counts(&self, ply: u16) -> Result<StepCounts, GameError> {
        let mut counts = StepCounts::default();
        for (own, &slice) in self.own.iter().zip(&self.ground.own) {
            let words = self.ground.words(slice).unwrap_or_default();
            for entry in own.log.entries().iter().filter(|e| saved::ply(e.code) == ply) {
                counts.labels[entry.side.index()] += own.log.frontier(entry, words)?.cells();
            }
        }
        Ok(counts)
    }

    /// What a label says of a legal cell.
    fn outcome(label: u32) -> Outcome {
        let distance = Distance::plies((label >> 2) as u16);
        match label & KIND {
            WON => Outcome::Win(distance),
            LOST => Outcome::Loss(distance),
            _ => Outcome::Draw,
        }
    }

    fn owned(&self, slice: u32) -> Result<usize, GameError> {
        self.ground.position(slice).ok_or_else(|| GameError::OutOfTurn(format!("slice {slice} is not owned here")))
    }
}

fn code(won: bool, ply: u16) -> Code {
    let distance = Distance::plies(ply);
    Code::from(if won { Outcome::Win(distance) } else { Outcome::Loss(distance) })
}

/// Makes ascending cells a frontier.
fn gather(cells: impl Iterator<Item = u32>, frontier: &mut Frontier) {
    let (mut word, mut bits) = (0, 0u128);
    for cell in cells {
        if cell / WORD != word {
            frontier.push(word, bits);
            (word, bits) = (cell / WORD, 0);
        }
        bits |= 1 << (cell % WORD);
    }
    frontier.push(word, bits);
}

/// Labels the cells of a frontier and adds those that were open to `fresh`.
fn label(
    ground: &Ground,
    labels: &mut [u32],
    (slice, side): (u32, Side),
    ply: u16,
    won: bool,
    frontier: &Frontier,
    fresh: &mut Vec<u32>,
) -> Result<(), GameError> {
    // What is far away concerns nobody here.
    let Some(place) = ground.place(slice, side) else { return Ok(()) };
    let label = if won { WON } else { LOST } | u32::from(ply) << 2;
    for (word, mut bits) in frontier.iter() {
        while bits != 0 {
            let id = place.ids.start + word * WORD + bits.trailing_zeros();
            bits &= bits - 1;
            if id >= place.ids.end {
                return Err(misfit("a cell is beyond its slice"));
            }
            match &mut labels[id as usize] {
                known if *known == OPEN => {
                    *known = label;
                    fresh.push(id);
                }
                known if *known == label => {}
                _ => {
                    return Err(GameError::Frontier(format!(
                        "cell {} of slice {slice} has another label",
                        id - place.ids.start
                    )));
                }
            }
        }
    }
    Ok(())
}

impl Part for ExplicitPart {
    fn prepare(&mut self) -> Result<(), GameError> {
        if self.next.is_some() {
            return Err(GameError::OutOfTurn("the part is prepared already".into()));
        }
        let (start, back) = survey(self.table.as_ref(), &self.ground)?;
        self.labels = vec![OPEN; self.ground.cells()];
        for id in start.illegal {
            self.labels[id as usize] = ILLEGAL;
        }
        for id in start.drawn {
            self.labels[id as usize] = DRAWN;
        }
        // An end is labelled by ply 0, and has no moves that could label it otherwise.
        (self.ends, self.open, self.back) = (start.ends, start.open, back);
        self.next = Some(0);
        Ok(())
    }

    fn step(&mut self, ply: u16) -> Result<StepCounts, GameError> {
        if self.next != Some(ply) {
            return Err(GameError::OutOfTurn(format!("ply {ply}, when {:?} is next", self.next)));
        }
        let next = next_ply(ply)?;
        self.next = Some(next);
        if ply < self.applied {
            return self.counts(ply);
        }
        let reached = self.reached(ply);
        if ply == 0 {
            for &(id, won) in &reached {
                self.labels[id as usize] = if won { WON } else { LOST };
            }
        }
        self.front = self.replay(ply)?;
        self.front.extend(reached.iter().map(|&(id, _)| id));
        self.record(ply, reached)?;
        for own in &mut self.own {
            own.plies = own.plies.max(next);
        }
        self.applied = next;
        let mut counts = StepCounts::default();
        for &id in &self.front {
            counts.labels[self.ground.place_of(id).side.index()] += 1;
        }
        Ok(counts)
    }

    fn export(&self, readers: &[u32]) -> Vec<u8> {
        let next = self.next.unwrap_or_default();
        let Some(last) = next.checked_sub(1) else { return Vec::new() };
        let mut message = Vec::new();
        for (own, &slice) in self.own.iter().zip(&self.ground.own) {
            let neighbours = &self.ground.slices[slice as usize].neighbours;
            if !neighbours.iter().any(|n| readers.binary_search(n).is_ok()) {
                continue;
            }
            let entries = own.log.entries().iter().enumerate().filter(|(_, e)| saved::ply(e.code) == last);
            for (number, entry) in entries {
                if message.is_empty() {
                    message.extend_from_slice(&next.to_le_bytes());
                }
                message.extend_from_slice(&slice.to_le_bytes());
                message.push(saved::tag(entry));
                // The logs of such parts are in memory.
                message.extend_from_slice(own.log.held(number).unwrap_or_default());
            }
        }
        message
    }

    fn import(&mut self, message: &[u8]) -> Result<(), GameError> {
        let mut rest = message;
        if rest.is_empty() {
            return Ok(());
        }
        let next = u16::from_le_bytes(*take(&mut rest)?);
        if next == 0 || Some(next) != self.next {
            return Err(GameError::Frontier(format!("it is of ply {}, not of the last one", next.wrapping_sub(1))));
        }
        let mut fresh = Vec::new();
        while !rest.is_empty() {
            let slice = u32::from_le_bytes(*take(&mut rest)?);
            let words = self.ground.words(slice).ok_or_else(|| misfit("there is no such slice"))?;
            if self.ground.position(slice).is_some() {
                return Err(GameError::Frontier(format!("slice {slice} is owned here")));
            }
            let Arrival { side, won, frontier, .. } = arrival(&mut rest, words)?;
            // A ply that was followed by another one is in the labels.
            if next == self.applied {
                label(&self.ground, &mut self.labels, (slice, side), next - 1, won, &frontier, &mut fresh)?;
            }
        }
        self.front.append(&mut fresh);
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), GameError> {
        if self.next.is_none() {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        }
        self.next = Some(0);
        Ok(())
    }

    fn known(&self) -> u16 {
        self.own.iter().map(|own| own.plies).min().unwrap_or(self.applied)
    }

    fn save(&self, plies: Range<u16>) -> Result<Vec<u8>, GameError> {
        let end = plies.end.min(self.known());
        let plies = plies.start.min(end)..end;
        let mut bytes = saved::begin(&plies);
        for (own, &slice) in self.own.iter().zip(&self.ground.own) {
            let mut labels = Vec::new();
            for (number, entry) in own.log.entries().iter().enumerate() {
                let ply = saved::ply(entry.code);
                if plies.contains(&ply) {
                    labels.extend_from_slice(&ply.to_le_bytes());
                    labels.push(saved::tag(entry));
                    labels.extend_from_slice(&own.log.encoded(number)?);
                }
            }
            saved::add(&mut bytes, slice, &labels);
        }
        Ok(bytes)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), GameError> {
        if self.next != Some(0) || self.applied > 0 {
            return Err(GameError::OutOfTurn("a log can be loaded only between prepare and the first step".into()));
        }
        let (plies, slices) = saved::read(saved)?;
        for (slice, mut labels) in slices {
            let words = self.ground.words(slice).ok_or_else(|| misfit("there is no such slice"))?;
            let Some(at) = self.ground.position(slice) else { continue };
            let own = &mut self.own[at];
            let follows = plies.start <= own.plies;
            let mut last = None;
            while !labels.is_empty() {
                let ply = u16::from_le_bytes(*take(&mut labels)?);
                let Arrival { side, won, frontier, encoded } = arrival(&mut labels, words)?;
                if !plies.contains(&ply) || last.is_some_and(|last| last >= (ply, side, !won)) || frontier.is_empty() {
                    return Err(GameError::Frontier(format!("ply {ply} is out of order or empty")));
                }
                last = Some((ply, side, !won));
                if follows && ply >= own.plies {
                    own.log.append_encoded(side, code(won, ply), encoded)?;
                }
            }
            if follows {
                own.plies = own.plies.max(plies.end);
            }
        }
        Ok(())
    }

    fn codes(&self, slice: u32, side: Side, metric: Metric) -> Result<SliceCodes, GameError> {
        if !matches!(metric, Metric::Dtm | Metric::Wdl) {
            return Err(GameError::OutOfTurn(format!("the part was solved for dtm, not {metric}")));
        }
        self.owned(slice)?;
        let Some(place) = self.ground.place(slice, side) else {
            // A side that never moves has nothing to say.
            let cells = vec![0; self.ground.slices[slice as usize].cells as usize];
            return Ok(SliceCodes::Narrow { palette: vec![Code::DRAW], cells });
        };
        if self.next.is_none() {
            return Err(GameError::OutOfTurn("the part is not prepared".into()));
        }
        let labels = &self.labels[place.ids.start as usize..place.ids.end as usize];
        let mut before = Code::DRAW;
        let codes: Vec<Code> = labels
            .iter()
            .map(|&label| {
                // What cannot occur repeats the cell before it.
                if label != ILLEGAL {
                    let outcome = Self::outcome(label);
                    before = if metric == Metric::Wdl { outcome.without_distance() } else { outcome }.into();
                }
                before
            })
            .collect();
        Ok(SliceCodes::of(&codes))
    }

    fn statistics(&self) -> Result<Statistics, GameError> {
        let mut statistics = Statistics::default();
        for place in self.ground.own_places() {
            let side = &mut statistics.sides[place.side.index()];
            for id in place.ids.clone() {
                side.cells += 1;
                let label = self.labels.get(id as usize).copied().unwrap_or(ILLEGAL);
                if label == ILLEGAL {
                    side.illegal += 1;
                    continue;
                }
                let outcome = Self::outcome(label);
                *side.histogram.entry(outcome.into()).or_default() += 1;
                let (longest, distance) = match outcome {
                    Outcome::Draw => continue,
                    Outcome::Win(distance) => (&mut side.longest_win, distance),
                    Outcome::Loss(distance) => (&mut side.longest_loss, distance),
                };
                if longest.is_none_or(|l| distance > l.distance) {
                    let cell = Cell { slice: place.slice, index: id - place.ids.start, side: place.side };
                    *longest = Some(Longest { distance, cell });
                }
            }
        }
        Ok(statistics)
    }

    fn memory(&self) -> u64 {
        let logs: usize = self.own.iter().map(|own| own.log.memory()).sum();
        let sets = 4 * (self.labels.capacity() + self.open.capacity() + self.front.capacity());
        (logs + sets + self.back.memory() + 8 * self.ends.capacity()) as u64
    }
}
