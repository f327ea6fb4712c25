//! A toy game for tests: tables `T1`, `T2`, ... of a few hundred cells a slice. The moves of a cell are
//! drawn from a hash; they stay in the slice or go to the next one on either side; some are captures
//! into smaller tables. A side without moves has lost.
#![allow(dead_code, reason = "tests of other crates use some of it")]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use canju_retro::*;

const CELLS: u32 = 300;
const WORD: u32 = 100;
const NONE: u16 = u16::MAX;

/// The game, with switches for tests that need trouble.
#[derive(Default)]
pub struct Toy {
    /// No table has smaller ones.
    pub no_captures: bool,
    /// Parts of this table wait before they compute this ply until the gate is open.
    pub hold: Option<(&'static str, u16)>,
    pub gate: Arc<AtomicBool>,
    /// Parts of this table fail when they compute this ply.
    pub fail: Option<(&'static str, u16)>,
    /// Parts of this table panic when they compute this ply.
    pub panic: Option<(&'static str, u16)>,
    /// Parts of this table take so long over this ply.
    pub pause: Option<(&'static str, u16, Duration)>,
    /// How often parts of each table were prepared.
    pub prepared: Arc<Mutex<BTreeMap<String, u32>>>,
    /// How many parts wait at the gate.
    pub waiting: Arc<AtomicU32>,
    /// How often a ply of a slice of each table and metric was computed, not taken from a log.
    pub computed: Computed,
}

/// By table and metric, slice and ply.
pub type Computed = Arc<Mutex<BTreeMap<(String, u32, u16), u32>>>;

fn number(table: &TableName) -> u32 {
    table.as_str()[1..].parse().unwrap_or(0)
}

fn hash(words: &[u32]) -> u32 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64;
    for &w in words {
        h = (h ^ u64::from(w)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^= h >> 32;
    }
    h as u32
}

impl Game for Toy {
    fn table(&self, name: &str) -> Result<TableName, GameError> {
        let refuse = |reason: &str| GameError::Name { given: name.to_owned(), reason: reason.to_owned() };
        let upper = name.to_ascii_uppercase();
        let digits = upper.strip_prefix('T').ok_or_else(|| refuse("it does not begin with T"))?;
        match digits.parse::<u32>() {
            Ok(1..=20) => TableName::new(&upper),
            _ => Err(refuse("there are only T1 to T20")),
        }
    }

    fn smaller(&self, table: &TableName) -> Result<Vec<TableName>, GameError> {
        let n = if self.no_captures { 0 } else { number(table) };
        let mut names: Vec<_> = [n.saturating_sub(2), n.saturating_sub(1)].into_iter().filter(|&k| k > 0).collect();
        names.dedup();
        names.into_iter().map(|k| TableName::new(&format!("T{k}"))).collect()
    }

    fn shape(&self, table: &TableName) -> Result<Shape, GameError> {
        let slices = 3 * number(table) - 2;
        let around = |s: u32| [s.checked_sub(1), (s + 1 < slices).then_some(s + 1)].into_iter().flatten().collect();
        let slice = |s| SliceShape { cells: CELLS - 7 * (s % 3), neighbours: around(s) };
        let list: Vec<SliceShape> = (0..slices).map(slice).collect();
        let runs = (0..slices).step_by(2).map(|s| s..(s + 2).min(slices)).collect();
        let cells: u64 = list.iter().map(|s| u64::from(s.cells)).sum();
        Ok(Shape { slices: list, runs, row: 1, positions: 2 * cells, indexed: 2 * cells, set_bytes: 10 * cells })
    }

    fn part(&self, spec: &PartSpec, tables: Arc<dyn Tables>) -> Result<Box<dyn Part>, GameError> {
        if spec.metric == Metric::Wdl {
            return Err(GameError::OutOfTurn("no distance".into()));
        }
        let shape = self.shape(&spec.table)?;
        let mut labels = BTreeMap::new();
        for &slice in &spec.slices {
            let neighbours = &shape.slices[slice as usize].neighbours;
            for known in neighbours.iter().chain([&slice]) {
                for side in 0..2 {
                    labels.insert((*known, side), vec![NONE; shape.slices[*known as usize].cells as usize]);
                }
            }
        }
        let smaller = self.smaller(&spec.table)?;
        let at = |switch: Option<(&str, u16)>| switch.filter(|s| s.0 == spec.table.as_str()).map(|s| s.1);
        Ok(Box::new(ToyPart {
            hold: at(self.hold),
            pause: self.pause.filter(|p| p.0 == spec.table.as_str()).map(|p| (p.1, p.2)),
            fail: at(self.fail),
            panic: at(self.panic),
            gate: Arc::clone(&self.gate),
            waiting: Arc::clone(&self.waiting),
            prepared: Arc::clone(&self.prepared),
            computed: Arc::clone(&self.computed),
            shapes: smaller.iter().map(|t| self.shape(t)).collect::<Result<_, _>>()?,
            smaller,
            shape,
            spec: spec.clone(),
            tables,
            captures: BTreeMap::new(),
            labels,
            logged: spec.slices.iter().map(|&s| (s, 0)).collect(),
            is_prepared: false,
            begun: false,
            ply: 0,
        }))
    }

    fn show(&self, table: &TableName, cell: Cell) -> Result<String, GameError> {
        Ok(format!("{table}/{}/{} {}", cell.slice, cell.index, if cell.side == Side::First { "w" } else { "b" }))
    }
}

type Place = (u32, usize);

struct ToyPart {
    hold: Option<u16>,
    pause: Option<(u16, Duration)>,
    fail: Option<u16>,
    panic: Option<u16>,
    gate: Arc<AtomicBool>,
    waiting: Arc<AtomicU32>,
    prepared: Arc<Mutex<BTreeMap<String, u32>>>,
    computed: Computed,
    shape: Shape,
    smaller: Vec<TableName>,
    shapes: Vec<Shape>,
    spec: PartSpec,
    tables: Arc<dyn Tables>,
    /// The outcome, for who is to move behind it, of each cell's capture.
    captures: BTreeMap<(Place, u32), Outcome>,
    /// Labels of own slices and neighbours. Those of own slices are the log: they can be of plies that are still to come.
    labels: BTreeMap<Place, Vec<u16>>,
    /// Plies in the log, by own slice.
    logged: BTreeMap<u32, u16>,
    is_prepared: bool,
    /// True from the first step on.
    begun: bool,
    /// The next one.
    ply: u16,
}

impl ToyPart {
    fn legal(&self, (slice, side): Place, cell: u32) -> bool {
        !hash(&[number(&self.spec.table), slice, side as u32, cell, 99]).is_multiple_of(11)
    }

    fn moves(&self, (slice, side): Place, cell: u32) -> Vec<(Place, u32)> {
        let h = |k: u32| hash(&[number(&self.spec.table), slice, side as u32, cell, k]);
        let count = [0, 1, 1, 1, 2, 2, 2, 3][h(0) as usize % 8];
        let to = |k: u32| {
            let next = match h(10 * k) % 4 {
                0 if slice > 0 => slice - 1,
                1 if (slice as usize) + 1 < self.shape.slices.len() => slice + 1,
                _ => slice,
            };
            ((next, 1 - side), h(10 * k + 1) % self.shape.slices[next as usize].cells)
        };
        (1..=count).map(to).filter(|&(place, cell)| self.legal(place, cell)).collect()
    }

    fn capture(&self, (slice, side): Place, cell: u32) -> Option<(usize, Cell)> {
        let h = |k: u32| hash(&[number(&self.spec.table), slice, side as u32, cell, k]);
        if self.smaller.is_empty() || !h(50).is_multiple_of(4) {
            return None;
        }
        let which = h(51) as usize % self.smaller.len();
        let slices = &self.shapes[which].slices;
        let to = h(52) % slices.len() as u32;
        let index = h(53) % slices[to as usize].cells;
        Some((which, Cell { slice: to, index, side: Side::BOTH[1 - side] }))
    }

    fn name(&self) -> String {
        format!("{} {}", self.spec.table, self.spec.metric)
    }

    fn own(&self) -> Vec<(Place, u32)> {
        let cells = |slice: u32| self.shape.slices[slice as usize].cells;
        let places = self.spec.slices.iter().flat_map(|&s| [(s, 0), (s, 1)]);
        places.flat_map(|p| (0..cells(p.0)).map(move |c| (p, c))).filter(|&(p, c)| self.legal(p, c)).collect()
    }

    fn label(&self, place: Place, cell: u32) -> u16 {
        self.labels[&place][cell as usize]
    }

    /// The ply at which the capture makes the cell a win, or counts as lost.
    fn capture_ply(&self, outcome: Outcome) -> Option<u16> {
        match (outcome, self.spec.metric) {
            (Outcome::Draw, _) => None,
            (Outcome::Loss(d), Metric::Dtm) => Some(d.plies + 1),
            (Outcome::Win(d), Metric::Dtm) => Some(d.plies + 1),
            (Outcome::Loss(_), _) => Some(1),
            (Outcome::Win(_), _) => Some(2),
        }
    }

    /// What a ply labelled in a slice.
    fn labelled(&self, place: Place, ply: u16) -> Frontier {
        let mut set = Frontier::new();
        for (word, labels) in self.labels[&place].chunks(WORD as usize).enumerate() {
            let bit = |bits, (i, &label): (usize, &u16)| bits | u128::from(label == ply) << i;
            set.push(word as u32, labels.iter().enumerate().fold(0, bit));
        }
        set
    }

    /// What a test wants to go wrong at a ply.
    fn trouble(&self, ply: u16) -> Result<(), GameError> {
        if self.fail == Some(ply) {
            return Err(GameError::OutOfTurn("a test wants it so".into()));
        }
        assert!(self.panic != Some(ply), "a test wants a panic");
        if let Some((at, long)) = self.pause
            && at == ply
        {
            std::thread::sleep(long);
        }
        if self.hold == Some(ply) {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            while !self.gate.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        Ok(())
    }

    fn value(&self, place: Place, cell: u32, ply: u16) -> bool {
        let capture = self.captures.get(&(place, cell));
        let moves = self.moves(place, cell);
        if ply % 2 == 1 {
            let wins = |(p, c): &(Place, u32)| self.label(*p, *c) == ply - 1;
            return moves.iter().any(wins)
                || matches!(capture, Some(&o @ Outcome::Loss(_)) if self.capture_ply(o) == Some(ply));
        }
        let lost = |(p, c): &(Place, u32)| {
            let label = self.label(*p, *c);
            label != NONE && label % 2 == 1 && label < ply
        };
        let capture_loses = match capture {
            None => true,
            Some(&o @ Outcome::Win(_)) => self.capture_ply(o).is_some_and(|p| p <= ply),
            Some(_) => false,
        };
        moves.iter().all(lost) && capture_loses
    }
}

impl Part for ToyPart {
    fn prepare(&mut self) -> Result<(), GameError> {
        *self.prepared.lock().unwrap().entry(self.name()).or_default() += 1;
        self.is_prepared = true;
        let metric = if self.spec.metric == Metric::Dtm { Metric::Dtm } else { Metric::Wdl };
        let mut slices: BTreeMap<(usize, Side, u32), Vec<Code>> = BTreeMap::new();
        for (place, cell) in self.own() {
            let Some((which, to)) = self.capture(place, cell) else { continue };
            let key = (which, to.side, to.slice);
            if let Entry::Vacant(vacant) = slices.entry(key) {
                let mut codes = Vec::new();
                self.tables.read(&self.smaller[which], metric, to.side, to.slice, &mut |block| {
                    codes.extend(block.cells.iter().map(|&c| block.palette[usize::from(c)]));
                })?;
                vacant.insert(codes);
            }
            self.captures.insert((place, cell), slices[&key][to.index as usize].outcome());
        }
        Ok(())
    }

    fn step(&mut self, ply: u16) -> Result<StepCounts, GameError> {
        if ply != self.ply {
            return Err(GameError::OutOfTurn(format!("ply {ply} after {}", self.ply)));
        }
        if !self.is_prepared {
            return Err(GameError::OutOfTurn("a step before prepare".to_owned()));
        }
        self.begun = true;
        let fresh: Vec<u32> = self.spec.slices.iter().copied().filter(|s| self.logged[s] <= ply).collect();
        if !fresh.is_empty() {
            self.trouble(ply)?;
        }
        for &slice in &fresh {
            *self.computed.lock().unwrap().entry((self.name(), slice, ply)).or_default() += 1;
        }
        let mut counts = StepCounts::default();
        let mut found = Vec::new();
        for (place, cell) in self.own() {
            let label = self.label(place, cell);
            let now = label == ply || label == NONE && fresh.contains(&place.0) && self.value(place, cell, ply);
            if now {
                found.push((place, cell));
                counts.labels[place.1] += 1;
            } else if label > ply
                && let Some(&outcome) = self.captures.get(&(place, cell))
            {
                counts.pending |= self.capture_ply(outcome).is_some_and(|p| p > ply);
            }
        }
        for ((slice, side), cell) in found {
            self.labels.get_mut(&(slice, side)).unwrap()[cell as usize] = ply;
        }
        for slice in fresh {
            self.logged.insert(slice, ply + 1);
        }
        self.ply += 1;
        Ok(counts)
    }

    fn export(&self, readers: &[u32]) -> Vec<u8> {
        let Some(last) = self.ply.checked_sub(1) else { return Vec::new() };
        let is_read = |slice: &u32| self.shape.slices[*slice as usize].neighbours.iter().any(|n| readers.contains(n));
        let mut message = Vec::new();
        for slice in self.spec.slices.iter().copied().filter(is_read) {
            for side in 0..2 {
                let set = self.labelled((slice, side), last);
                if set.is_empty() {
                    continue;
                }
                if message.is_empty() {
                    message.extend_from_slice(&last.to_le_bytes());
                }
                message.extend_from_slice(&slice.to_le_bytes());
                message.push(side as u8);
                set.encode(&mut message);
            }
        }
        message
    }

    fn import(&mut self, message: &[u8]) -> Result<(), GameError> {
        let bad = |text: &str| GameError::Frontier(text.to_owned());
        let (ply, mut rest) = message.split_at_checked(2).ok_or_else(|| bad("short"))?;
        let ply = u16::from_le_bytes([ply[0], ply[1]]);
        if ply + 1 != self.ply {
            return Err(bad("another ply"));
        }
        while !rest.is_empty() {
            let (head, tail) = rest.split_at_checked(5).ok_or_else(|| bad("short"))?;
            rest = tail;
            let place = (u32::from_le_bytes([head[0], head[1], head[2], head[3]]), usize::from(head[4]));
            let set = Frontier::decode(&mut rest, CELLS.div_ceil(WORD)).map_err(|e| bad(&e.to_string()))?;
            let Some(labels) = self.labels.get_mut(&place) else { continue };
            for (word, bits) in set.iter() {
                for bit in (0..WORD).filter(|b| bits >> b & 1 == 1) {
                    *labels.get_mut((word * WORD + bit) as usize).ok_or_else(|| bad("beyond"))? = ply;
                }
            }
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), GameError> {
        if !self.is_prepared {
            return Err(GameError::OutOfTurn("a rewind before prepare".to_owned()));
        }
        self.ply = 0;
        Ok(())
    }

    fn known(&self) -> u16 {
        self.logged.values().copied().min().unwrap_or(0)
    }

    /// First and last ply, then the slices: each with its labels (0 where there is none) in these plies, by side.
    fn save(&self, plies: Range<u16>) -> Result<Vec<u8>, GameError> {
        let end = plies.end.min(self.known());
        let plies = plies.start.min(end)..end;
        let mut message = [plies.start.to_le_bytes(), plies.end.to_le_bytes()].concat();
        for &slice in &self.spec.slices {
            message.extend_from_slice(&slice.to_le_bytes());
            for label in (0..2).flat_map(|side| &self.labels[&(slice, side)]) {
                let label = if plies.contains(label) { label + 1 } else { 0 };
                message.extend_from_slice(&label.to_le_bytes());
            }
        }
        Ok(message)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), GameError> {
        let bad = |text: &str| GameError::Frontier(text.to_owned());
        if !self.is_prepared || self.begun {
            return Err(GameError::OutOfTurn("a load not between prepare and the first step".to_owned()));
        }
        let (head, mut rest) = saved.split_first_chunk::<4>().ok_or_else(|| bad("short"))?;
        let plies = u16::from_le_bytes([head[0], head[1]])..u16::from_le_bytes([head[2], head[3]]);
        while !rest.is_empty() {
            let (slice, tail) = rest.split_first_chunk().ok_or_else(|| bad("short"))?;
            let slice = u32::from_le_bytes(*slice);
            let cells = self.shape.slices.get(slice as usize).ok_or_else(|| bad("no such slice"))?.cells as usize;
            let (labels, tail) = tail.split_at_checked(4 * cells).ok_or_else(|| bad("short"))?;
            rest = tail;
            let Some(logged) = self.logged.get_mut(&slice).filter(|l| plies.start <= **l) else { continue };
            for (number, label) in labels.as_chunks().0.iter().enumerate() {
                let Some(label) = u16::from_le_bytes(*label).checked_sub(1) else { continue };
                if !plies.contains(&label) {
                    return Err(bad("another ply"));
                }
                self.labels.get_mut(&(slice, number / cells)).unwrap()[number % cells] = label;
            }
            *logged = plies.end.max(*logged);
        }
        Ok(())
    }

    fn codes(&self, slice: u32, side: Side, metric: Metric) -> Result<SliceCodes, GameError> {
        let labels = self.labels.get(&(slice, side.index())).filter(|_| self.spec.slices.contains(&slice));
        let labels = labels.ok_or_else(|| GameError::OutOfTurn(format!("slice {slice}")))?;
        let mut palette = Vec::new();
        let mut cells = Vec::new();
        for &label in labels {
            let mut outcome = outcome(label);
            if metric == Metric::Wdl {
                outcome = outcome.without_distance();
            }
            let code = Code::from(outcome);
            let at = palette.iter().position(|&c| c == code).unwrap_or_else(|| {
                palette.push(code);
                palette.len() - 1
            });
            cells.push(at as u8);
        }
        Ok(SliceCodes::Narrow { palette, cells })
    }

    fn statistics(&self) -> Result<Statistics, GameError> {
        let mut all = Statistics::default();
        for (place, cell) in self.own() {
            let cell = Cell { slice: place.0, index: cell, side: Side::BOTH[place.1] };
            let mut one = Statistics::default();
            let side = &mut one.sides[place.1];
            side.cells = 1;
            let outcome = outcome(self.label(place, cell.index));
            side.histogram.insert(outcome.into(), 1);
            match outcome {
                Outcome::Win(distance) => side.longest_win = Some(Longest { distance, cell }),
                Outcome::Loss(distance) => side.longest_loss = Some(Longest { distance, cell }),
                Outcome::Draw => {}
            }
            all.merge(&one);
        }
        Ok(all)
    }

    fn memory(&self) -> u64 {
        self.labels.values().map(|l| 2 * l.len() as u64).sum()
    }
}

fn outcome(label: u16) -> Outcome {
    let distance = Distance::plies(label);
    match label {
        NONE => Outcome::Draw,
        n if n % 2 == 1 => Outcome::Win(distance),
        _ => Outcome::Loss(distance),
    }
}
