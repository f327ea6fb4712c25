//! Tables behind the seam of games: whole, cut, and taken over.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::sync::Arc;

use canju_ewn::{Book, Ewn, Index, Signature, verify};
use canju_retro::{Cell, Game, MemoryTables, Metric, Odds, Part, PartSpec, Rules, Side, TableName, solve};

fn tables(names: &[&str]) -> Arc<MemoryTables> {
    let tables = Arc::new(MemoryTables::new());
    for name in names {
        let table = Ewn.table(name).unwrap();
        let solved = solve(&Ewn, &table, Metric::Odds, Rules::Plain, tables.clone()).unwrap();
        tables.insert(&Ewn, &table, Metric::Odds, &solved).unwrap();
    }
    tables
}

fn part(table: &TableName, slices: Vec<u32>, tables: &Arc<MemoryTables>) -> Box<dyn Part> {
    let spec = PartSpec { table: table.clone(), metric: Metric::Odds, rules: Rules::Plain, slices, room: None };
    let mut part = Ewn.part(&spec, tables.clone()).unwrap();
    part.prepare().unwrap();
    part
}

/// Runs so many plies as a cluster does.
fn run(parts: &mut [(Vec<u32>, Box<dyn Part>)], plies: u16) {
    for ply in 0..plies {
        for (_, part) in parts.iter_mut() {
            part.step(ply).unwrap();
        }
        exchange(parts);
    }
}

fn exchange(parts: &mut [(Vec<u32>, Box<dyn Part>)]) {
    for from in 0..parts.len() {
        for to in (0..parts.len()).filter(|&to| to != from) {
            let message = parts[from].1.export(&parts[to].0);
            for _ in 0..2 {
                parts[to].1.import(&message).unwrap();
            }
        }
    }
}

#[test]
fn tables_err_by_rounding_only() {
    let names = ["EWN1B1", "EWN12B1", "EWN13B1", "EWN12B13"];
    let tables = tables(&names);
    let mut book = Book::new();
    // Each of two captures may add half a step of 2^-24, or two near 0 and 1, and so does writing.
    for (name, captures) in names.iter().zip([0, 1, 1, 2]) {
        let signature: Signature = name.parse().unwrap();
        book.add(signature);
        let index = Index::new(signature);
        let mut inexact = 0;
        for (slice, side) in (0..index.slices()).flat_map(|slice| Side::BOTH.map(|side| (slice, side))) {
            let codes = tables.slice(&Ewn.table(name).unwrap(), Metric::Odds, side, slice).unwrap();
            for cell in 0..index.cells() {
                let Some(chance) = book.table(signature).unwrap().get(Cell { slice, index: cell, side }) else {
                    continue;
                };
                let odds = codes.get(cell as usize).unwrap().odds().unwrap();
                assert_eq!([odds == Odds::LOST, odds == Odds::WON], [chance == 0.0, chance == 1.0]);
                let error = (odds.chance() - chance).abs();
                assert!(error <= f64::from(captures + 1) * 2f64.powi(-23), "{name}: {error}");
                inexact += u32::from(error > 0.0);
            }
        }
        assert_eq!(inexact > 0, captures > 0, "{name}");
    }
}

#[test]
fn cut_and_taken_over_they_are_the_same() {
    let tables = tables(&["EWN1B1", "EWN12B1", "EWN16B1"]);
    let table = Ewn.table("EWN12B16").unwrap();
    let shape = Ewn.shape(&table).unwrap();
    let whole = solve(&Ewn, &table, Metric::Odds, Rules::Plain, tables.clone()).unwrap();
    let all = shape.slices.len() as u32;
    let shares: Vec<Vec<u32>> = (0..3).map(|share| (0..all).filter(|s| s / 6 % 3 == share).collect()).collect();
    let mut parts: Vec<_> = shares.iter().map(|s| (s.clone(), part(&table, s.clone(), &tables))).collect();
    // The second is lost after seven plies; who takes over loads a checkpoint of five, and all begin again.
    run(&mut parts, 7);
    let saved = parts[1].1.save(0..5).unwrap();
    let mut fresh = part(&table, shares[1].clone(), &tables);
    fresh.load(&saved).unwrap();
    assert_eq!(fresh.known(), 5);
    assert!(fresh.load(&saved[..saved.len() - 1]).is_err());
    parts[1].1 = fresh;
    parts[0].1.rewind().unwrap();
    parts[2].1.rewind().unwrap();
    run(&mut parts, whole.plies);
    let mut statistics = canju_retro::Statistics::default();
    for (slices, part) in &parts {
        for &slice in slices {
            for side in Side::BOTH {
                let codes = |part: &dyn Part| part.codes(slice, side, Metric::Odds).unwrap();
                assert_eq!(codes(part.as_ref()), codes(whole.part.as_ref()));
            }
        }
        statistics.merge(&part.statistics().unwrap());
    }
    assert_eq!(statistics, whole.part.statistics().unwrap());
    let cells: u64 = statistics.sides.iter().map(|side| side.cells).sum();
    assert_eq!(cells, shape.positions);
}

#[test]
fn what_is_asked_out_of_turn_is_refused() {
    let tables = tables(&["EWN1B1"]);
    let table = Ewn.table("EWN1B1").unwrap();
    let spec = |metric, slices| PartSpec { table: table.clone(), metric, rules: Rules::Plain, slices, room: None };
    assert!(Ewn.part(&spec(Metric::Dtm, vec![0]), tables.clone()).is_err());
    assert!(Ewn.part(&spec(Metric::Odds, vec![14]), tables.clone()).is_err());
    let mut part = Ewn.part(&spec(Metric::Odds, vec![0, 3]), tables.clone()).unwrap();
    assert!(part.step(0).is_err(), "not prepared");
    part.prepare().unwrap();
    assert!(part.step(1).is_err(), "not the next ply");
    part.step(0).unwrap();
    assert!(part.import(b"CJE\x01what is no message").is_err());
    assert!(part.codes(1, Side::First, Metric::Odds).is_err(), "not owned");
    assert!(part.codes(3, Side::First, Metric::Odds).is_err(), "not solved");
    let missing = Ewn.table("EWN12B12").unwrap();
    let mut part = Ewn.part(&PartSpec { table: missing, ..spec(Metric::Odds, vec![0]) }, tables).unwrap();
    assert!(part.prepare().unwrap_err().to_string().contains("EWN12B1"));
}

/// In one against one Red has 370 of 553 placements.
#[test]
fn rules_of_repetition_are_refused() {
    let table = Ewn.table("EWN1B1").unwrap();
    assert_eq!(Ewn.repetition_bytes(&table, Rules::Plain).unwrap(), 0);
    let error = Ewn.repetition_bytes(&table, Rules::Axf).unwrap_err().to_string();
    assert_eq!(error, "EWN1B1 is of a game without rules of repetition: give the rules plain, not axf");
    let solved = solve(&Ewn, &table, Metric::Odds, Rules::Check, Arc::new(MemoryTables::new()));
    assert!(solved.err().unwrap().to_string().contains("not check"));
}

#[test]
fn counts_over_the_full_board() {
    let tables = tables(&[]);
    let table = Ewn.table("EWN1B1").unwrap();
    let solved = solve(&Ewn, &table, Metric::Odds, Rules::Plain, tables).unwrap();
    for side in solved.part.statistics().unwrap().sides {
        assert_eq!((side.cells, side.illegal, side.wins(), side.losses(), side.draws()), (576, 23, 370, 183, 0));
    }
    assert_eq!(Ewn.smaller(&Ewn.table("EWN123B14").unwrap()).unwrap().len(), 4);
    assert!(Ewn.shape(&Ewn.table("EWN12345B1234").unwrap()).is_err());
}

#[test]
fn tables_are_verified() {
    let good = tables(&["EWN1B1", "EWN12B1"]);
    let table = Ewn.table("EWN12B1").unwrap();
    let found = verify(&table, good.as_ref(), None, &|| {}).unwrap();
    assert_eq!((found.wrong, found.first), (0, None));
    // Two stones share a square in some cells.
    assert!(found.checked > 14_000 && found.checked < 2 * 14 * 576);
    // A table of other stones under its name is found out.
    let wrong = MemoryTables::new();
    for name in ["EWN1B1", "EWN13B1"] {
        let solved = solve(&Ewn, &Ewn.table(name).unwrap(), Metric::Odds, Rules::Plain, good.clone()).unwrap();
        let under = if name == "EWN1B1" { name } else { "EWN12B1" };
        wrong.insert(&Ewn, &Ewn.table(under).unwrap(), Metric::Odds, &solved).unwrap();
    }
    let found = verify(&table, &wrong, Some(5000), &|| {}).unwrap();
    let (_, position, stored, computed) = found.first.unwrap();
    assert!(found.wrong > 100 && stored != computed && position.winner().is_none());
}

#[test]
fn memory_is_told_before_it_is_taken() {
    assert_eq!([2, 3, 4, 5].map(Book::memory), [672, 145_824, 21_434_784, 941_117_856].map(|chances: u64| 8 * chances));
    let book = Book::up_to(3);
    let cells = |index: Index| 2 * u64::from(index.slices()) * u64::from(index.cells());
    let held = (2..=3).flat_map(Signature::with_count).filter_map(|s| book.table(s)).map(|table| cells(table.index()));
    assert_eq!(8 * held.sum::<u64>(), Book::memory(3));
}
