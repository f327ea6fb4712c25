//! A part that has too little room for its sets comes to the same table by a scratch folder.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_retro::{
    After, Game, GameError, MemoryTables, Metric, Part, PartSpec, Room, Rules, Side, StepCounts, TableName, Tables,
};
use canju_tests::Workshop;

struct Case {
    game: Xiangqi,
    table: TableName,
    metric: Metric,
    rules: Rules,
    smaller: Arc<MemoryTables>,
    slices: u32,
}

/// What solving in a room came to.
struct Run {
    parts: Vec<Box<dyn Part>>,
    /// The largest sum of what the parts said that they hold.
    peak: u64,
}

impl Case {
    fn new(name: &str, metric: Metric) -> Self {
        Self::under(Rules::Plain, name, metric)
    }

    fn under(rules: Rules, name: &str, metric: Metric) -> Self {
        let (mut workshop, game) = (Workshop::under(rules), Xiangqi::new());
        let table = game.table(name).unwrap();
        for smaller in game.smaller(&table).unwrap() {
            workshop.solve(&smaller, metric);
        }
        let slices = game.shape(&table).unwrap().slices.len() as u32;
        Self { game, table, metric, rules, smaller: workshop.solved(metric), slices }
    }

    fn part(&self, slices: Vec<u32>, room: Option<Room>) -> Result<Box<dyn Part>, GameError> {
        let spec = PartSpec { table: self.table.clone(), metric: self.metric, rules: self.rules, slices, room };
        self.game.part(&spec, Arc::clone(&self.smaller) as Arc<dyn Tables>)
    }

    /// Solves with every so many-th slice at one part.
    fn run(&self, parts: u32, room: Option<&Room>) -> Run {
        let deal: Vec<Vec<u32>> = (0..parts).map(|p| (p..self.slices).step_by(parts as usize).collect()).collect();
        let mut all: Vec<_> = deal.iter().map(|slices| self.part(slices.clone(), room.cloned()).unwrap()).collect();
        all.iter_mut().for_each(|part| part.prepare().unwrap());
        let memory = |all: &[Box<dyn Part>]| all.iter().map(|part| part.memory()).sum::<u64>();
        let (mut peak, mut idle, mut ply) = (memory(&all), 0, 0);
        while idle < 2 {
            let counts: Vec<_> = all.iter_mut().map(|part| part.step(ply).unwrap()).collect();
            for (from, to) in (0..all.len()).flat_map(|from| (0..deal.len()).map(move |to| (from, to))) {
                let message = if from == to { Vec::new() } else { all[from].export(&deal[to]) };
                all[to].import(&message).unwrap();
            }
            peak = peak.max(memory(&all));
            idle = if counts.iter().all(StepCounts::is_idle) { idle + 1 } else { 0 };
            let after = counts.iter().map(|c| c.after).max().unwrap();
            if idle == 2 && after != After::End {
                all.iter_mut().for_each(|part| part.turn(after).unwrap());
                idle = 0;
            }
            ply += 1;
        }
        Run { parts: all, peak }
    }

    /// Fails unless both runs came to the same cells, counts and logs.
    fn compare(&self, one: &Run, two: &Run) {
        for slice in 0..self.slices {
            let at = slice as usize % one.parts.len();
            for (side, metric) in Side::BOTH.into_iter().flat_map(|s| [(s, self.metric), (s, Metric::Wdl)]) {
                let codes = [one, two].map(|run| run.parts[at].codes(slice, side, metric).unwrap());
                assert!(codes[0] == codes[1], "{} slice {slice} {side:?} {metric}", self.table);
            }
        }
        for (one, two) in one.parts.iter().zip(&two.parts) {
            assert_eq!(one.statistics().unwrap(), two.statistics().unwrap());
            assert!(one.save(0..u16::MAX).unwrap() == two.save(0..u16::MAX).unwrap());
        }
    }
}

fn room(bytes: u64, folder: &Path) -> Room {
    Room { bytes, scratch: Some(folder.to_owned()) }
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn sets_three_times_the_room() {
    let folder = tempfile::tempdir().unwrap();
    for (name, metric, parts) in [("KNPKP", Metric::Dtm, 1), ("KRKPA", Metric::Dtc, 2), ("KRKN", Metric::Dtm, 3)] {
        let case = Case::new(name, metric);
        let sets = case.game.shape(&case.table).unwrap().set_bytes;
        let calm = case.run(parts, None);
        let tight = room(sets / 3 / u64::from(parts), folder.path());
        let squeezed = case.run(parts, Some(&tight));
        // What the logs, frontiers and dense sets take is in the room too; of small tables what remembers them is as large.
        let most = u64::from(parts) * tight.bytes;
        assert!(calm.peak > 3 * most, "{name}: {} without a bound, {most} with one", calm.peak);
        assert!(squeezed.peak <= most.max(400 << 10), "{name}: {} of {most} bytes", squeezed.peak);
        case.compare(&calm, &squeezed);
        assert_eq!(files(folder.path()), 0, "scratch files have no names");
    }
}

#[test]
fn no_room_at_all_is_slow_but_right() {
    let folder = tempfile::tempdir().unwrap();
    for (name, metric) in [("KPKP", Metric::Dtm), ("KCKA", Metric::Dtc)] {
        let case = Case::new(name, metric);
        case.compare(&case.run(2, None), &case.run(2, Some(&room(0, folder.path()))));
    }
    for (rules, name, metric) in [(Rules::Axf, "KRKN", Metric::Dtm), (Rules::Check, "KRKN", Metric::Dtc)] {
        let case = Case::under(rules, name, metric);
        case.compare(&case.run(2, None), &case.run(2, Some(&room(0, folder.path()))));
    }
}

#[test]
fn room_for_all_uses_no_folder() {
    let case = Case::new("KRKA", Metric::Dtm);
    let nowhere = room(1 << 30, Path::new("/no/such/folder"));
    let without = Room { bytes: 0, scratch: None };
    let calm = case.run(1, None);
    case.compare(&calm, &case.run(1, Some(&nowhere)));
    case.compare(&calm, &case.run(1, Some(&without)));
}

/// What is expected of the rules of repetition is about the most that they take.
#[test]
fn the_rules_of_repetition_take_what_is_expected() {
    for name in ["KRKN", "KNKP", "KRKR"] {
        let plain = Case::new(name, Metric::Dtm).run(1, None).peak;
        for rules in [Rules::Check, Rules::Axf] {
            let case = Case::under(rules, name, Metric::Dtm);
            let taken = case.run(1, None).peak.saturating_sub(plain);
            let expected = case.game.repetition_bytes(&case.table, rules).unwrap();
            println!("{name} {rules}: {taken} of {expected} bytes");
            assert!(taken <= expected, "{name} {rules}: {taken} of {expected} bytes");
        }
    }
    let game = Xiangqi::new();
    let expected = |name, rules| game.repetition_bytes(&game.table(name).unwrap(), rules).unwrap();
    assert_eq!([expected("KRKN", Rules::Plain), expected("KNKA", Rules::Axf)], [0, 0]);
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let case = Case::new("KRKA", Metric::Dtm);
    let nowhere = PathBuf::from("/no/such/folder");
    let Err(error) = case.part(vec![0, 1], Some(room(0, &nowhere))) else { panic!("a part without a folder") };
    assert!(matches!(&error, GameError::Scratch { folder, .. } if *folder == nowhere));
    assert!(error.to_string().contains("/no/such/folder") && error.source().is_some(), "{error}");
}
