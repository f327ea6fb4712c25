//! A part that is lost at any ply is taken over, and nothing of the table shows it.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

#[path = "../../crates/cluster/tests/it/toy.rs"]
mod toy;

use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_retro::{
    After, Game, GameError, MemoryTables, Metric, Part, PartSpec, Room, Rules, Side, SliceCodes, Statistics,
    StepCounts, TableName, solve,
};
use canju_tests::Workshop;
use toy::Toy;

/// Numbers that look drawn, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// One ply of an undisturbed run: the counts of each part, and what each sends to each.
struct Ply {
    /// What all turn to before.
    turn: After,
    counts: Vec<StepCounts>,
    messages: Vec<Vec<Vec<u8>>>,
}

/// What a run in parts came to.
struct Run {
    parts: Vec<Box<dyn Part>>,
    plies: Vec<Ply>,
}

struct Case<'a> {
    game: &'a dyn Game,
    table: TableName,
    metric: Metric,
    rules: Rules,
    smaller: Arc<MemoryTables>,
    slices: u32,
    room: Option<Room>,
}

/// Everything that a part gives in the end.
fn finished(part: &dyn Part, slices: &[u32], metric: Metric) -> (Vec<SliceCodes>, Statistics) {
    let each = |s: u32| {
        Side::BOTH.into_iter().flat_map(move |side| [metric, Metric::Wdl].map(|m| part.codes(s, side, m).unwrap()))
    };
    (slices.iter().flat_map(|&s| each(s)).collect(), part.statistics().unwrap())
}

impl Case<'_> {
    /// The slices of each part, every one with at least one.
    fn deal(&self, parts: usize, draw: &mut Draw) -> Vec<Vec<u32>> {
        let mut deal = vec![Vec::new(); parts];
        for slice in 0..self.slices {
            let to = if (slice as usize) < parts { slice as usize } else { draw.below(parts) };
            deal[to].push(slice);
        }
        deal
    }

    fn part(&self, slices: &[u32]) -> Box<dyn Part> {
        let (table, room) = (self.table.clone(), self.room.clone());
        let spec = PartSpec { table, metric: self.metric, rules: self.rules, slices: slices.to_vec(), room };
        let mut part = self.game.part(&spec, Arc::clone(&self.smaller) as _).unwrap();
        part.prepare().unwrap();
        part
    }

    /// Runs without a loss.
    fn run(&self, deal: &[Vec<u32>]) -> Run {
        let mut parts: Vec<_> = deal.iter().map(|slices| self.part(slices)).collect();
        let (mut plies, mut idle, mut turn) = (Vec::new(), 0, After::End);
        while idle < 2 {
            if turn != After::End {
                parts.iter_mut().for_each(|part| part.turn(turn).unwrap());
            }
            let counts: Vec<_> = parts.iter_mut().map(|part| part.step(plies.len() as u16).unwrap()).collect();
            idle = if counts.iter().all(StepCounts::is_idle) { idle + 1 } else { 0 };
            let messages: Vec<Vec<_>> =
                parts.iter().map(|from| deal.iter().map(|to| from.export(to)).collect()).collect();
            for (from, row) in messages.iter().enumerate() {
                for (to, message) in row.iter().enumerate().filter(|(to, m)| *to != from && !m.is_empty()) {
                    parts[to].import(message).unwrap();
                }
            }
            let after = counts.iter().map(|c| c.after).max().unwrap();
            plies.push(Ply { turn, counts, messages });
            turn = After::End;
            if idle == 2 && after != After::End {
                (idle, turn) = (0, after);
            }
        }
        Run { parts, plies }
    }

    /// Loses a part at every ply of one run, and sometimes another while that ply is played again: before what the others
    /// sent has come, when some of it has, and when some of them are a ply ahead. Of long runs, at so many plies that are drawn.
    fn lose_parts(&self, parts: usize, seed: u64, most: Option<usize>) {
        let mut draw = Draw(seed);
        let deal = self.deal(parts, &mut draw);
        let calm = self.run(&deal);
        let other_deal = self.deal(1 + draw.below(4.min(self.slices as usize)), &mut draw);
        let others = self.run(&other_deal);
        let mut troubled = Troubled {
            name: format!("{} {} in {parts} parts, seed {seed}", self.table, self.metric),
            all: deal.iter().map(|slices| self.part(slices)).collect(),
            next: vec![0; parts],
            applied: vec![0; parts],
            wants: vec![0; parts],
            deal: &deal,
            calm: &calm,
        };
        let mut losses = 0;
        let mut at: Vec<usize> = match most {
            None => (0..calm.plies.len()).collect(),
            Some(most) => (0..most).map(|_| draw.below(calm.plies.len())).collect(),
        };
        at.sort_unstable();
        for ply in at {
            troubled.play_to(ply);
            let mut again = true;
            while again {
                let at = *troubled.next.iter().min().unwrap();
                let steps = draw.below(parts + 1);
                (0..steps).for_each(|part| troubled.step(at, part));
                if troubled.next.iter().all(|&n| n > at) {
                    troubled.exchange(at, draw.below(parts * parts));
                }
                let lost = draw.below(parts);
                let mut fresh = self.part(&deal[lost]);
                let known =
                    self.restore(&mut *fresh, lost, troubled.applied[lost], [&calm, &others], &other_deal, &mut draw);
                troubled.lose(lost, fresh);
                assert_eq!(usize::from(troubled.all[lost].known()), known, "{}", troubled.name);
                losses += 1;
                again = draw.below(3) == 0;
                if again {
                    troubled.play_to(draw.below(ply + 1));
                }
            }
        }
        troubled.play_to(calm.plies.len());
        let Troubled { name, all, .. } = troubled;
        assert!(losses > 3, "{name}: {losses} losses");
        for ((part, slices), calm) in all.iter().zip(&deal).zip(&calm.parts) {
            assert_eq!(part.known(), calm.known());
            assert!(finished(&**part, slices, self.metric) == finished(&**calm, slices, self.metric), "{name}");
            assert!(part.save(0..u16::MAX).unwrap() == calm.save(0..u16::MAX).unwrap(), "{name}: logs differ");
        }
    }

    /// Gives a fresh part some of what was saved of it, and says how many plies it then knows.
    fn restore(
        &self,
        part: &mut dyn Part,
        lost: usize,
        most: usize,
        [calm, others]: [&Run; 2],
        other_deal: &[Vec<u32>],
        draw: &mut Draw,
    ) -> usize {
        if draw.below(2) == 0 {
            // The lost part's own, in pieces that may overlap.
            let end = draw.below(most + 1);
            let mut have = 0;
            while have < end {
                let to = have + 1 + draw.below(end - have);
                let from = draw.below(have + 1);
                part.load(&calm.parts[lost].save(from as u16..to as u16).unwrap()).unwrap();
                have = to;
            }
            return end;
        }
        // Those of parts with other borders, of each up to another ply; behind a gap nothing counts.
        let mut ends = vec![usize::MAX; self.slices as usize];
        for (slices, other) in other_deal.iter().zip(&others.parts) {
            let end = draw.below(most + 1);
            let middle = draw.below(end + 1);
            for range in [0..middle, middle..end, end + 1..end + 2] {
                part.load(&other.save(range.start as u16..range.end as u16).unwrap()).unwrap();
            }
            slices.iter().for_each(|&s| ends[s as usize] = end);
        }
        let owned = (0..self.slices).filter(|&s| calm.parts[lost].codes(s, Side::First, self.metric).is_ok());
        owned.map(|s| ends[s as usize]).min().unwrap()
    }
}

/// A run with losses, and what it must look like.
struct Troubled<'a> {
    name: String,
    all: Vec<Box<dyn Part>>,
    /// The next ply of each part.
    next: Vec<usize>,
    /// Plies that each part has run since it was made.
    applied: Vec<usize>,
    /// The first ply of which each part needs messages.
    wants: Vec<usize>,
    deal: &'a [Vec<u32>],
    calm: &'a Run,
}

impl Troubled<'_> {
    fn step(&mut self, ply: usize, part: usize) {
        if self.next[part] == ply {
            if self.calm.plies[ply].turn != After::End {
                self.all[part].turn(self.calm.plies[ply].turn).unwrap();
            }
            let counts = self.all[part].step(ply as u16).unwrap();
            assert_eq!(counts, self.calm.plies[ply].counts[part], "{}: part {part} at ply {ply}", self.name);
            self.next[part] = ply + 1;
            self.applied[part] = self.applied[part].max(ply + 1);
        }
    }

    /// Delivers the first messages of a ply to those who need them, and some to others.
    fn exchange(&mut self, ply: usize, most: usize) {
        let parts = self.all.len();
        let pairs = (0..parts).flat_map(|from| (0..parts).map(move |to| (from, to)));
        for (from, to) in pairs.filter(|(from, to)| from != to).take(most) {
            let message = self.all[from].export(&self.deal[to]);
            let name = &self.name;
            assert!(message == self.calm.plies[ply].messages[from][to], "{name}: {from} to {to} at ply {ply}");
            // Who has a ply complete is harmed by none of its messages.
            let told = ply >= self.wants[to] || (ply + from + to).is_multiple_of(3);
            if told && !message.is_empty() {
                self.all[to].import(&message).unwrap();
            }
        }
    }

    /// Brings all parts to the beginning of a ply, unless they are there or ahead.
    fn play_to(&mut self, end: usize) {
        while let Some(&ply) = self.next.iter().min().filter(|&&ply| ply < end) {
            (0..self.all.len()).for_each(|part| self.step(ply, part));
            self.exchange(ply, usize::MAX);
        }
    }

    /// Puts a fresh part in the place of a lost one, and all back to ply 0.
    fn lose(&mut self, lost: usize, fresh: Box<dyn Part>) {
        for part in (0..self.all.len()).filter(|&part| part != lost) {
            self.all[part].rewind().unwrap();
            self.wants[part] = self.wants[part].max(self.applied[part].saturating_sub(1));
        }
        self.all[lost] = fresh;
        (self.wants[lost], self.applied[lost]) = (0, 0);
        self.next.fill(0);
    }
}

/// Cases of an endgame with its smaller ones solved.
fn xiangqi(name: &str, metric: Metric, parts: &[usize], room: Option<Room>) {
    under(Rules::Plain, name, metric, parts, room, None);
}

/// The same under some rules of repetition.
fn under(rules: Rules, name: &str, metric: Metric, parts: &[usize], room: Option<Room>, losses: Option<usize>) {
    let (mut workshop, game) = (Workshop::under(rules), Xiangqi::new());
    let table = game.table(name).unwrap();
    for smaller in game.smaller(&table).unwrap() {
        workshop.solve(&smaller, metric);
    }
    let slices = game.shape(&table).unwrap().slices.len() as u32;
    let case = Case { game: &game, table, metric, rules, smaller: workshop.solved(metric), slices, room };
    parts.iter().for_each(|&parts| case.lose_parts(parts, 7 * parts as u64, losses));
}

#[test]
fn one_side_armed() {
    xiangqi("KRKA", Metric::Dtm, &[2, 3], None);
    xiangqi("KNKB", Metric::Dtc, &[4], None);
}

#[test]
fn both_sides_armed() {
    // Captures that win or lose many plies later stay pending.
    xiangqi("KRKN", Metric::Dtm, &[3], None);
    xiangqi("KPKP", Metric::Dtm, &[2], None);
    xiangqi("KCKN", Metric::Dtc, &[4], None);
}

#[test]
fn under_the_rules_of_repetition() {
    under(Rules::Axf, "KRKN", Metric::Dtm, &[3], None, None);
    under(Rules::Check, "KRKR", Metric::Dtc, &[2], None, None);
}

/// Six orders, in which chases are thrown out and come in again: 499 steps.
#[test]
#[ignore = "slow: run by .ci/run"]
fn under_rules_that_decide_again_and_again() {
    under(Rules::Axf, "KNKPP", Metric::Dtm, &[2, 3], None, Some(12));
}

#[test]
fn with_little_room() {
    let folder = tempfile::tempdir().unwrap();
    let room = |bytes| Some(Room { bytes, scratch: Some(folder.path().to_owned()) });
    xiangqi("KRKA", Metric::Dtm, &[3], room(0));
    xiangqi("KCKN", Metric::Dtc, &[2], room(100 << 10));
    under(Rules::Axf, "KRKN", Metric::Dtc, &[2], room(0), None);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn larger_endgames() {
    for metric in [Metric::Dtm, Metric::Dtc] {
        xiangqi("KPKAB", metric, &[2, 3, 4], None);
        xiangqi("KRKPA", metric, &[3], None);
        xiangqi("KRKN", metric, &[2, 4], None);
    }
}

/// A toy table with its smaller ones solved.
fn toy(name: &str, metric: Metric) -> (Toy, TableName, Arc<MemoryTables>) {
    fn below(game: &Toy, table: &TableName, metric: Metric, tables: &Arc<MemoryTables>) {
        for smaller in game.smaller(table).unwrap() {
            below(game, &smaller, metric, tables);
            let solved = solve(game, &smaller, metric, Rules::Plain, Arc::clone(tables) as _).unwrap();
            tables.insert(game, &smaller, metric, &solved).unwrap();
        }
    }
    let (game, tables) = (Toy::default(), Arc::new(MemoryTables::new()));
    let table = game.table(name).unwrap();
    below(&game, &table, metric, &tables);
    (game, table, tables)
}

#[test]
fn the_toy_keeps_the_contract_too() {
    for (name, metric, parts) in [("T3", Metric::Dtm, 2), ("T4", Metric::Dtc, 3), ("T5", Metric::Dtm, 4)] {
        let (game, table, smaller) = toy(name, metric);
        let slices = game.shape(&table).unwrap().slices.len() as u32;
        let case = Case { game: &game, table, metric, rules: Rules::Plain, smaller, slices, room: None };
        (0..4).for_each(|seed| case.lose_parts(parts, seed, None));
    }
}

#[test]
fn a_ply_of_the_log_is_not_computed_again() {
    let (game, table, smaller) = toy("T4", Metric::Dtm);
    let slices = game.shape(&table).unwrap().slices.len() as u32;
    let case = Case { game: &game, table, metric: Metric::Dtm, rules: Rules::Plain, smaller, slices, room: None };
    let run = case.run(&[(0..slices).collect()]);
    let saved = run.parts[0].save(0..4).unwrap();
    game.computed.lock().unwrap().clear();
    let mut part = case.part(&(0..slices).collect::<Vec<_>>());
    part.load(&saved).unwrap();
    (0..6).for_each(|ply| assert_eq!(part.step(ply).unwrap(), run.plies[usize::from(ply)].counts[0]));
    part.rewind().unwrap();
    (0..6).for_each(|ply| assert_eq!(part.step(ply).unwrap(), run.plies[usize::from(ply)].counts[0]));
    let computed = game.computed.lock().unwrap();
    assert!(computed.iter().all(|((_, _, ply), &times)| *ply >= 4 && times == 1), "{computed:?}");
    assert_eq!(computed.len(), 2 * slices as usize);
}

#[test]
fn calls_out_of_turn_are_refused() {
    let out_of_turn = |result: Result<(), GameError>| matches!(result, Err(GameError::OutOfTurn(_)));
    let (mut workshop, game) = (Workshop::new(), Xiangqi::new());
    let table = game.table("KRK").unwrap();
    workshop.solve(&game.table("KK").unwrap(), Metric::Dtm);
    let spec = PartSpec { table, metric: Metric::Dtm, rules: Rules::Plain, slices: vec![0, 1], room: None };
    let mut part = game.part(&spec, workshop.solved(Metric::Dtm) as _).unwrap();
    let nothing = part.save(0..9).unwrap();
    assert!(out_of_turn(part.rewind()) && out_of_turn(part.load(&nothing)));
    part.prepare().unwrap();
    part.load(&nothing).unwrap();
    assert_eq!(part.known(), 0);
    part.step(0).unwrap();
    assert!(out_of_turn(part.load(&nothing)));
    part.rewind().unwrap();
    assert!(out_of_turn(part.load(&nothing)), "labels that are in the sets already were loaded");
    assert!(out_of_turn(part.step(1).map(|_| ())));
}

#[test]
fn damaged_logs_never_panic() {
    let (mut workshop, game) = (Workshop::new(), Xiangqi::new());
    let (table, metric) = (game.table("KPK").unwrap(), Metric::Dtm);
    workshop.solve(&game.table("KK").unwrap(), metric);
    let slices = game.shape(&table).unwrap().slices.len() as u32;
    let case =
        Case { game: &game, table, metric, rules: Rules::Plain, smaller: workshop.solved(metric), slices, room: None };
    let run = case.run(&[vec![0], (1..slices).collect()]);
    let saved = run.parts[0].save(0..5).unwrap();
    assert!((100..4000).contains(&saved.len()), "{} bytes", saved.len());
    let load = |bytes: &[u8]| {
        let mut part = case.part(&[0]);
        part.load(bytes).map(|()| part)
    };
    for len in 0..saved.len() {
        assert!(matches!(load(&saved[..len]), Err(GameError::Frontier(_))), "{len} bytes were taken");
    }
    assert!(load(&[&saved[..], &[0]].concat()).is_err(), "a longer one was taken");
    let mut refused = 0;
    for at in 0..saved.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = saved.clone();
            damaged[at] ^= flip;
            let Ok(mut part) = load(&damaged) else {
                refused += 1;
                continue;
            };
            // What has the form of a log must be refused by the plies that it is wrong for, or be harmless.
            refused += usize::from((0..7).any(|ply| part.step(ply).is_err()));
        }
    }
    assert!(refused > saved.len(), "{refused} of {} refused", 3 * saved.len());
    // A log of more slices is as good; one that has a slice twice is not.
    assert!(load(&case.run(&[(0..slices).collect()]).parts[0].save(0..3).unwrap()).is_ok());
    let twice = [&saved[..8], &2u32.to_le_bytes(), &saved[12..], &saved[12..]].concat();
    assert!(load(&twice).is_err(), "a slice was taken twice");
}
