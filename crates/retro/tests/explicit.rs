//! The solver of games that are given position by position, against the definition of a label, in one part and in several,
//! and over the loss of parts.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::sync::Arc;

use canju_retro::*;

/// A game whose moves are drawn from a hash.
struct Drawn {
    players: Players,
    slices: Vec<u32>,
    seed: u32,
    /// It can tell who leads to a cell.
    told: bool,
}

fn hash(words: &[u32]) -> u32 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64;
    for &w in words {
        h = (h ^ u64::from(w)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^= h >> 32;
    }
    h as u32
}

impl Drawn {
    fn hash(&self, cell: Cell, what: u32) -> u32 {
        hash(&[self.seed, cell.slice, cell.side as u32, cell.index, what])
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        let sides = if self.players == Players::One { &Side::BOTH[..1] } else { &Side::BOTH[..] };
        let all = self.slices.iter().enumerate();
        all.flat_map(move |(slice, &cells)| {
            sides.iter().flat_map(move |&side| (0..cells).map(move |index| Cell { slice: slice as u32, index, side }))
        })
    }
}

impl Explicit for Drawn {
    fn players(&self) -> Players {
        self.players
    }

    fn slices(&self) -> Vec<SliceShape> {
        let next = |slice: usize| if slice + 1 < self.slices.len() { vec![slice as u32 + 1] } else { vec![] };
        self.slices.iter().enumerate().map(|(s, &cells)| SliceShape { cells, neighbours: next(s) }).collect()
    }

    fn legal(&self, cell: Cell) -> bool {
        !self.hash(cell, 99).is_multiple_of(9)
    }

    fn end(&self, cell: Cell) -> Option<End> {
        match self.hash(cell, 98) % 60 {
            0 => Some(End::Won),
            1 => Some(End::Lost),
            2 => Some(End::Drawn),
            _ => None,
        }
    }

    fn successors(&self, cell: Cell, found: &mut Vec<Cell>) {
        for k in 0..[0, 1, 1, 1, 2, 2, 2, 3][self.hash(cell, 97) as usize % 8] {
            let slice = match self.hash(cell, 10 * k) % 4 {
                0 => cell.slice.saturating_sub(1),
                1 => (cell.slice + 1).min(self.slices.len() as u32 - 1),
                _ => cell.slice,
            };
            let index = self.hash(cell, 10 * k + 1) % self.slices[slice as usize];
            let side = if self.players == Players::One { cell.side } else { cell.side.other() };
            found.push(Cell { slice, index, side });
        }
    }

    fn predecessors(&self, cell: Cell, found: &mut Vec<Cell>) -> bool {
        for from in self.cells().filter(|_| self.told) {
            let mut to = Vec::new();
            self.successors(from, &mut to);
            found.extend(to.iter().filter(|&&to| to == cell).map(|_| from));
        }
        self.told
    }

    fn show(&self, cell: Cell) -> String {
        format!("{}-{}-{}", cell.slice, cell.side as u32, cell.index)
    }

    fn parse(&self, text: &str) -> Option<Cell> {
        let mut words = text.split('-').map(|w| w.parse::<u32>().ok());
        let (slice, side, index) = (words.next()??, words.next()??, words.next()??);
        Some(Cell { slice, index, side: *Side::BOTH.get(side as usize)? })
    }
}

struct Setting {
    name: TableName,
    table: Arc<Drawn>,
    game: ExplicitTables,
}

fn setting(players: Players, seed: u32, told: bool) -> Setting {
    let slices = if told { vec![40, 3, 1] } else { vec![300, 1, 129, 128, 257] };
    let table = Arc::new(Drawn { players, slices, seed, told });
    let name = TableName::new("DRAWN").unwrap();
    Setting { game: ExplicitTables::new().with(name.clone(), Arc::clone(&table) as _), table, name }
}

fn settings() -> impl Iterator<Item = Setting> {
    let both = |players| (0..6).map(move |seed| setting(players, seed, seed > 3));
    [Players::One, Players::Two].into_iter().flat_map(both)
}

impl Setting {
    fn part(&self, slices: &[u32]) -> Box<dyn Part> {
        let spec = PartSpec {
            table: self.name.clone(),
            metric: Metric::Dtm,
            rules: Rules::Plain,
            slices: slices.to_vec(),
            room: None,
        };
        let mut part = self.game.part(&spec, Arc::new(MemoryTables::new())).unwrap();
        part.prepare().unwrap();
        part
    }

    fn slices(&self) -> u32 {
        self.table.slices.len() as u32
    }
}

/// The cells of all parts, by slice and side.
fn codes(parts: &[(Vec<u32>, Box<dyn Part>)], metric: Metric) -> Vec<SliceCodes> {
    let mut all: Vec<(u32, Side, SliceCodes)> = Vec::new();
    for (slices, part) in parts {
        for &slice in slices {
            all.extend(Side::BOTH.map(|side| (slice, side, part.codes(slice, side, metric).unwrap())));
        }
    }
    all.sort_by_key(|&(slice, side, _)| (slice, side));
    all.into_iter().map(|(_, _, codes)| codes).collect()
}

/// One ply of all parts, with all messages given twice.
fn ply(parts: &mut [(Vec<u32>, Box<dyn Part>)], ply: u16) -> [u64; 2] {
    let counts: Vec<StepCounts> = parts.iter_mut().map(|(_, part)| part.step(ply).unwrap()).collect();
    for to in 0..parts.len() {
        for from in (0..parts.len()).filter(|&from| from != to) {
            let message = parts[from].1.export(&parts[to].0.clone());
            parts[to].1.import(&message).unwrap();
            parts[to].1.import(&message).unwrap();
        }
    }
    counts.iter().fold([0; 2], |sum, c| [sum[0] + c.labels[0], sum[1] + c.labels[1]])
}

fn solved(setting: &Setting) -> Vec<(Vec<u32>, Box<dyn Part>)> {
    let all: Vec<u32> = (0..setting.slices()).collect();
    let solved = solve(&setting.game, &setting.name, Metric::Dtm, Rules::Plain, Arc::new(MemoryTables::new())).unwrap();
    vec![(all, solved.part)]
}

#[test]
fn what_the_games_say_goes_together() {
    settings().for_each(|setting| examine(setting.table.as_ref()).unwrap());
}

#[test]
fn breadth_first_gives_the_same_labels() {
    for setting in settings().filter(|setting| setting.table.players == Players::One) {
        let [(_, part)] = &solved(&setting)[..] else { panic!() };
        let plies = Values::of(setting.table.as_ref(), part.as_ref()).unwrap();
        let breadth = by_breadth(setting.table.as_ref(), &setting.name).unwrap();
        for cell in setting.table.cells().filter(|&cell| setting.table.legal(cell)) {
            assert_eq!(breadth.get(cell), plies.get(cell), "{cell:?}");
        }
    }
    let against = setting(Players::Two, 0, false);
    assert!(matches!(by_breadth(against.table.as_ref(), &against.name), Err(GameError::OutOfTurn(_))));
    let ruled = solve(&against.game, &against.name, Metric::Dtm, Rules::Axf, Arc::new(MemoryTables::new()));
    assert!(matches!(ruled.err(), Some(GameError::Rules { rules: Rules::Axf, .. })));
    assert!(against.game.repetition_bytes(&against.name, Rules::Check).is_err());
}

#[test]
fn every_label_follows_from_the_moves() {
    let mut kinds = [0u64; 3];
    for setting in settings() {
        let memory = MemoryTables::new();
        let solved =
            solve(&setting.game, &setting.name, Metric::Dtm, Rules::Plain, Arc::new(MemoryTables::new())).unwrap();
        memory.insert(&setting.game, &setting.name, Metric::Dtm, &solved).unwrap();
        for metric in [Metric::Dtm, Metric::Wdl] {
            let values = Values::read(setting.table.as_ref(), &setting.name, metric, &memory).unwrap();
            let found = audit(setting.table.as_ref(), metric, &|cell| values.get(cell));
            assert_eq!((found.wrong, found.first), (0, None));
            let legal = setting.table.cells().filter(|&c| setting.table.legal(c)).count();
            assert_eq!(found.checked, legal as u64);
            let wrong = audit(setting.table.as_ref(), metric, &|_| Outcome::Draw);
            assert!(wrong.wrong > 0 && wrong.first.is_some());
        }
        let statistics = solved.part.statistics().unwrap();
        for side in &statistics.sides {
            kinds = [kinds[0] + side.wins(), kinds[1] + side.draws(), kinds[2] + side.losses()];
            assert_eq!(side.cells, side.illegal + side.wins() + side.draws() + side.losses());
        }
    }
    assert!(kinds.iter().all(|&n| n > 100), "{kinds:?}");
}

#[test]
fn parts_come_to_the_same_cells_as_one() {
    for setting in settings() {
        let whole = solved(&setting);
        let all: Vec<u32> = (0..setting.slices()).collect();
        let mut parts: Vec<_> =
            [all[..1].to_vec(), all[1..2].to_vec(), all[2..].to_vec()].map(|s| (s.clone(), setting.part(&s))).into();
        let mut n = 0;
        while ply(&mut parts, n) != [0; 2] || n < 2 {
            n += 1;
        }
        for metric in [Metric::Dtm, Metric::Wdl] {
            assert_eq!(codes(&parts, metric), codes(&whole, metric));
        }
        let mut sum = Statistics::default();
        parts.iter().for_each(|(_, part)| sum.merge(&part.statistics().unwrap()));
        assert_eq!(sum, whole[0].1.statistics().unwrap());
    }
}

/// A part is lost at some ply; a fresh one takes over with what was saved of the log, or without; the others begin again.
#[test]
fn a_lost_part_is_taken_over() {
    for setting in settings() {
        let whole = solved(&setting);
        let all: Vec<u32> = (0..setting.slices()).collect();
        for (lost_at, saved_to) in [(1, 1), (2, 0), (3, 3), (4, 2), (6, 5)] {
            let mut parts: Vec<_> =
                [all[..1].to_vec(), all[1..].to_vec()].map(|s| (s.clone(), setting.part(&s))).into();
            let mut counted = Vec::new();
            for n in 0..lost_at {
                counted.push(ply(&mut parts, n));
            }
            let logs = [parts[1].1.save(0..1).unwrap(), parts[1].1.save(1..saved_to).unwrap()];
            let mut fresh = setting.part(&parts[1].0);
            for log in logs.iter().take(usize::from(saved_to)) {
                fresh.load(log).unwrap();
            }
            assert_eq!(fresh.known(), saved_to);
            parts[1].1 = fresh;
            parts[0].1.rewind().unwrap();
            assert_eq!(parts[0].1.known(), lost_at);
            let mut n = 0;
            loop {
                let counts = ply(&mut parts, n);
                assert!(counted.get(usize::from(n)).is_none_or(|&before| before == counts), "{n}");
                if counts == [0; 2] && n > lost_at {
                    break;
                }
                n += 1;
            }
            assert_eq!(codes(&parts, Metric::Dtm), codes(&whole, Metric::Dtm));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let setting = setting(Players::Two, 0, false);
    let mut part = setting.part(&[0, 1]);
    assert!(matches!(part.step(1), Err(GameError::OutOfTurn(_))));
    part.step(0).unwrap();
    for message in [&[1][..], &[7, 0], &[1, 0, 9], &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[1, 0, 99, 0, 0, 0, 0, 0, 0]] {
        assert!(matches!(part.import(message), Err(GameError::Frontier(_))), "{message:?}");
    }
    assert!(matches!(part.load(&part.save(0..1).unwrap()), Err(GameError::OutOfTurn(_))));
    let mut fresh = setting.part(&[0, 1]);
    for log in [&b"CJX"[..], b"CJL\x01\0\0\0\0", b"CJX\x01\0\0\x01\0\x09"] {
        assert!(matches!(fresh.load(log), Err(GameError::Frontier(_))), "{log:?}");
    }
    for (slices, metric) in [(vec![9], Metric::Dtm), (vec![0], Metric::Dtc), (vec![0], Metric::Odds)] {
        let spec = PartSpec { table: setting.name.clone(), metric, rules: Rules::Plain, slices, room: None };
        assert!(setting.game.part(&spec, Arc::new(MemoryTables::new())).is_err());
    }
    assert!(setting.game.table("drawn").is_ok());
    assert!(setting.game.table("KRK").unwrap_err().to_string().contains("DRAWN"));
}

/// A way through so many cells.
struct Way(u32);

impl Explicit for Way {
    fn players(&self) -> Players {
        Players::One
    }

    fn slices(&self) -> Vec<SliceShape> {
        vec![SliceShape { cells: self.0, neighbours: vec![] }]
    }

    fn legal(&self, _: Cell) -> bool {
        true
    }

    fn end(&self, cell: Cell) -> Option<End> {
        (cell.index == 0).then_some(End::Won)
    }

    fn successors(&self, cell: Cell, found: &mut Vec<Cell>) {
        found.push(Cell { index: cell.index - 1, ..cell });
    }

    fn show(&self, cell: Cell) -> String {
        cell.index.to_string()
    }

    fn parse(&self, text: &str) -> Option<Cell> {
        text.parse().ok().map(|index| Cell { slice: 0, index, side: Side::First })
    }
}

#[test]
fn too_long_a_way_is_an_error() {
    let name = TableName::new("WAY").unwrap();
    let solved = |cells| {
        let game = ExplicitTables::new().with(name.clone(), Arc::new(Way(cells)));
        solve(&game, &name, Metric::Dtm, Rules::Plain, Arc::new(MemoryTables::new()))
    };
    let most = u32::from(MOST_PLIES);
    assert_eq!(solved(most + 1).unwrap().labels, u64::from(most) + 1);
    for cells in [most + 2, 70_000] {
        assert!(matches!(solved(cells).err(), Some(GameError::TooLong(text)) if text.contains("65532 plies")));
    }
    let way = Way(70_000);
    let values = by_breadth(&way, &name).unwrap();
    for index in [0, 1, 65_535, 65_536, 69_999] {
        let value = values.get(Cell { slice: 0, index, side: Side::First });
        assert_eq!(value, Outcome::Win(Distance::of_steps(index)));
        assert!(matches!(value, Outcome::Win(distance) if distance.steps() == index));
    }
    let found = audit(&way, Metric::Dtm, &|cell| values.get(cell));
    assert_eq!((found.checked, found.wrong), (70_000, 0));
}
