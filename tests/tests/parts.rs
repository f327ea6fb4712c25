//! A table solved in parts is the table solved whole, however its slices are dealt out.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_retro::{
    After, Game, MemoryTables, Metric, Part, PartSpec, Rules, Side, Statistics, StepCounts, TableName, solve,
};
use canju_tests::Workshop;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// A table's smaller ones, and what solving it whole gives.
struct Whole {
    game: Xiangqi,
    table: TableName,
    metric: Metric,
    rules: Rules,
    smaller: Arc<MemoryTables>,
    hashes: Vec<u64>,
    statistics: Statistics,
    slices: u32,
}

/// A hash of all cells of a slice, impossible ones too: a table's bytes must not depend on who solved it.
fn hash(part: &dyn Part, metric: Metric, slice: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    for side in Side::BOTH {
        for metric in [metric, Metric::Wdl] {
            let codes = part.codes(slice, side, metric).unwrap();
            let bits: Vec<u32> = (0..codes.len()).map(|i| codes.get(i).unwrap().bits()).collect();
            bits.hash(&mut hasher);
        }
    }
    hasher.finish()
}

impl Whole {
    fn new(name: &str, metric: Metric) -> Self {
        Self::under(Rules::Plain, name, metric)
    }

    fn under(rules: Rules, name: &str, metric: Metric) -> Self {
        let mut workshop = Workshop::under(rules);
        let game = Xiangqi::new();
        let table = game.table(name).unwrap();
        for smaller in game.smaller(&table).unwrap() {
            workshop.solve(&smaller, metric);
        }
        let smaller = workshop.solved(metric);
        let solved = solve(&game, &table, metric, rules, Arc::clone(&smaller) as _).unwrap();
        let slices = game.shape(&table).unwrap().slices.len() as u32;
        let hashes = (0..slices).map(|s| hash(&*solved.part, metric, s)).collect();
        let statistics = solved.part.statistics().unwrap();
        Self { game, table, metric, rules, smaller, hashes, statistics, slices }
    }

    fn part(&self, slices: Vec<u32>) -> Box<dyn Part> {
        let spec = PartSpec { table: self.table.clone(), metric: self.metric, rules: self.rules, slices, room: None };
        let mut part = self.game.part(&spec, Arc::clone(&self.smaller) as _).unwrap();
        part.prepare().unwrap();
        part
    }

    /// Solves with slice `s` at part `deal[s]`; parts without slices take part as well.
    fn compare(&self, deal: &[usize], parts: usize, twice: bool) {
        let owned: Vec<Vec<u32>> =
            (0..parts).map(|p| (0..self.slices).filter(|&s| deal[s as usize] == p).collect()).collect();
        let mut all: Vec<Box<dyn Part>> = owned.iter().map(|slices| self.part(slices.clone())).collect();
        let (mut idle, mut ply) = (0, 0);
        while idle < 2 {
            let counts: Vec<_> = all.iter_mut().map(|part| part.step(ply).unwrap()).collect();
            for to in 0..parts {
                for from in (0..parts).filter(|&from| from != to) {
                    let message = all[from].export(&owned[to]);
                    if message.is_empty() {
                        continue;
                    }
                    all[to].import(&message).unwrap();
                    if twice {
                        all[to].import(&message).unwrap();
                    }
                }
            }
            idle = if counts.iter().all(StepCounts::is_idle) { idle + 1 } else { 0 };
            let after = counts.iter().map(|c| c.after).max().unwrap();
            if idle == 2 && after != After::End {
                all.iter_mut().for_each(|part| part.turn(after).unwrap());
                idle = 0;
            }
            ply += 1;
        }
        let mut statistics = Statistics::default();
        all.iter().for_each(|part| statistics.merge(&part.statistics().unwrap()));
        assert_eq!(statistics, self.statistics, "{} in {parts} parts", self.table);
        let hashes: Vec<u64> = (0..self.slices).map(|s| hash(&*all[deal[s as usize]], self.metric, s)).collect();
        assert!(hashes == self.hashes, "{} in {parts} parts {deal:?}", self.table);
    }

    /// Deals that a property test draws, and the plain ones: in turn, and all but one slice at one part.
    fn compare_deals(&self, cases: u32) {
        let slices = self.slices as usize;
        for parts in [2, 3] {
            self.compare(&(0..slices).map(|s| s % parts).collect::<Vec<_>>(), parts, false);
        }
        self.compare(&(0..slices).map(|s| usize::from(s == slices / 2)).collect::<Vec<_>>(), 2, true);
        let deals = (2usize..6)
            .prop_flat_map(|parts| (Just(parts), proptest::collection::vec(0..parts, slices), any::<bool>()));
        let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        runner
            .run(&deals, |(parts, deal, twice)| {
                self.compare(&deal, parts, twice);
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn parts_make_the_whole() {
    for (name, cases) in [("KRKN", 4), ("KPKAB", 3), ("KPKP", 4), ("KABPK", 2), ("KNKAB", 3)] {
        for metric in [Metric::Dtm, Metric::Dtc] {
            Whole::new(name, metric).compare_deals(cases);
        }
    }
}

#[test]
fn parts_make_the_whole_under_the_rules_of_repetition() {
    for (rules, name, cases) in
        [(Rules::Axf, "KRKN", 2), (Rules::Check, "KRKN", 1), (Rules::Axf, "KRKR", 2), (Rules::Axf, "KPKAC", 2)]
    {
        for metric in [Metric::Dtm, Metric::Dtc] {
            Whole::under(rules, name, metric).compare_deals(cases);
        }
    }
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn parts_make_the_whole_of_larger_endgames_under_the_rules_of_repetition() {
    for (name, cases) in [("KNKPP", 2), ("KARKN", 2), ("KRKPP", 1), ("KCCKP", 1)] {
        for metric in [Metric::Dtm, Metric::Dtc] {
            Whole::under(Rules::Axf, name, metric).compare_deals(cases);
        }
    }
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn parts_make_the_whole_of_larger_endgames() {
    for (name, cases) in [("KRKAABB", 4), ("KNPKP", 1), ("KAPKP", 4), ("KAABPK", 4)] {
        for metric in [Metric::Dtm, Metric::Dtc] {
            Whole::new(name, metric).compare_deals(cases);
        }
    }
    // Large enough for two slices to each red fortress, so once is enough.
    let whole = Whole::new("KRCPKAA", Metric::Dtc);
    whole.compare(&(0..whole.slices as usize).map(|s| s % 3).collect::<Vec<_>>(), 3, false);
}

#[test]
fn garbage_is_refused() {
    let whole = Whole::new("KRKN", Metric::Dtm);
    let (first, second) = (vec![0, 1, 2], (3..whole.slices).collect::<Vec<_>>());
    let (mut from, mut to) = (whole.part(first), whole.part(second.clone()));
    let mut tried = 0;
    let mut old = Vec::new();
    for ply in 0..8 {
        from.step(ply).unwrap();
        to.step(ply).unwrap();
        let message = from.export(&second);
        if message.is_empty() {
            continue;
        }
        assert!(old.is_empty() || to.import(&old).is_err(), "a message of another ply was taken");
        for len in [1, message.len() / 2, message.len() - 1] {
            assert!(to.import(&message[..len]).is_err(), "{len} bytes of {} were taken", message.len());
        }
        assert!(to.import(&[&message[..], &[7]].concat()).is_err(), "a longer message was taken");
        assert!(to.import(&[0xff; 40]).is_err());
        to.import(&message).unwrap();
        old = message;
        tried += 1;
    }
    assert!(tried > 1);
    assert!(to.step(20).is_err(), "a ply out of turn was run");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_harmless(bytes in proptest::collection::vec(any::<u8>(), 1..200)) {
        thread_local!(static WHOLE: Whole = Whole::new("KNK", Metric::Dtm));
        WHOLE.with(|whole| {
            let mut part = whole.part(vec![0]);
            part.step(0).unwrap();
            let _ = part.import(&bytes);
            part.step(1).unwrap();
        });
    }
}
