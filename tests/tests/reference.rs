//! The solver against the second opinion, cell by cell, in every metric.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use canju_retro::{Cell, Game, Metric, Outcome, Side};
use canju_tests::{Board, Judged, Judgement, Reference, Workshop};
use canju_xiangqi::{Color, Position};

/// Endgames of up to four men that an ordinary run can afford.
const QUICK: [&str; 26] = [
    "KK", "KAK", "KBK", "KPK", "KNK", "KCK", "KRK", "KAAK", "KABK", "KBBK", "KAKA", "KAKB", "KBKB", "KAPK", "KBNK",
    "KPKA", "KPKB", "KCKA", "KNKB", "KRKA", "KACK", "KPPK", "KPKP", "KCKP", "KRKN", "KCKC",
];
/// The other endgames of up to four men with attackers on both sides or two on one, and five men.
const SLOW: [&str; 30] = [
    "KANK", "KABK", "KARK", "KBPK", "KBCK", "KBRK", "KNKA", "KCKB", "KRKB", "KNNK", "KCCK", "KRRK", "KNPK", "KCPK",
    "KRPK", "KCNK", "KRNK", "KRCK", "KNKN", "KNKP", "KRKR", "KRKC", "KRKP", "KCKN", "KAPKP", "KPKAB", "KNKBB", "KCAKP",
    "KPKAA", "KABPK",
];

fn letters(name: &str) -> String {
    let second = 1 + name[1..].find('K').unwrap();
    name[..second].to_owned() + &name[second..].to_lowercase()
}

fn letters_of(position: &Position) -> impl Iterator<Item = (char, usize)> {
    position.pieces().map(|(piece, square)| (piece.to_char(), square.index()))
}

fn outcome(judgement: Judgement, metric: Metric) -> Option<Outcome> {
    let distance = |dtm, dtc| canju_retro::Distance::plies(if metric == Metric::Dtc { dtc } else { dtm });
    let outcome = match judgement {
        Judgement::Illegal => return None,
        Judgement::Draw => Outcome::Draw,
        Judgement::Win(dtm, dtc) => Outcome::Win(distance(dtm, dtc)),
        Judgement::Loss(dtm, dtc) => Outcome::Loss(distance(dtm, dtc)),
    };
    Some(if metric == Metric::Wdl { outcome.without_distance() } else { outcome })
}

/// Compares all cells of a table, and the counts over the full board.
fn compare(workshop: &mut Workshop, judged: &Judged, name: &str) {
    let table = workshop.game().table(name).unwrap();
    for metric in [Metric::Dtm, Metric::Dtc] {
        let counts = workshop.solve(&table, metric).clone();
        for side in Side::BOTH {
            let s = &counts.sides[side.index()];
            assert_eq!(
                [s.wins(), s.losses(), s.draws()],
                judged.counts(side == Side::First),
                "{name} {metric} {side:?}"
            );
        }
    }
    let index = workshop.game().index(&table).unwrap();
    let mut board = Position::empty(Color::Red);
    for (slice, shape) in (0..).zip(index.shape().slices) {
        for side in Side::BOTH {
            let held = [(Metric::Dtm, Metric::Dtm), (Metric::Dtc, Metric::Dtc), (Metric::Dtm, Metric::Wdl)]
                .map(|(from, m)| (m, workshop.solved(from).slice(&table, m, side, slice).unwrap()));
            for number in 0..shape.cells {
                if !index.set_up(Cell { slice, index: number, side }, &mut board) {
                    continue;
                }
                let judgement = judged.judge(&Board::new(letters_of(&board)).unwrap(), side == Side::First);
                for (metric, codes) in &held {
                    if let Some(known) = outcome(judgement, *metric) {
                        let found = codes.get(number as usize).unwrap().outcome();
                        assert_eq!(found, known, "{name} {metric} {board}");
                    }
                }
            }
        }
    }
}

fn compare_all(names: &[&str]) {
    let (mut reference, mut workshop) = (Reference::new(), Workshop::new());
    for name in names {
        let name = workshop.game().table(name).unwrap().to_string();
        let start = std::time::Instant::now();
        let judged = reference.solve(&letters(&name));
        let solved = start.elapsed();
        compare(&mut workshop, &judged, &name);
        println!(
            "{name}: {:.1} s, compared in {:.1} s",
            solved.as_secs_f64(),
            (start.elapsed() - solved).as_secs_f64()
        );
    }
}

#[test]
fn small_endgames_cell_by_cell() {
    compare_all(&QUICK);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn more_endgames_cell_by_cell() {
    compare_all(&SLOW);
}

/// Five men with both sides armed: too many positions for the second opinion to solve, so that it takes one step from
/// some of them and reads the rest from the tables.
fn one_step(names: &[&str], cells: u64) {
    let mut workshop = Workshop::new();
    for name in names {
        let prober = canju_probe::Prober::new(workshop.tables(&[name], &[Metric::Dtm, Metric::Dtc]));
        let index = workshop.game().index(&workshop.game().table(name).unwrap()).unwrap();
        let slices = index.shape().slices;
        let (mut board, mut tried, mut seed) = (Position::empty(Color::Red), 0, 1u64);
        let mut below = |n: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (((seed >> 33) * u64::from(n)) >> 31) as u32
        };
        while tried < cells {
            let slice = below(slices.len() as u32);
            let number = below(slices[slice as usize].cells);
            let side = Side::BOTH[below(2) as usize];
            let red = side == Side::First;
            if !index.set_up(Cell { slice, index: number, side }, &mut board) {
                continue;
            }
            let here = Board::new(letters_of(&board)).unwrap();
            assert_eq!(here.is_legal(red), board.is_legal(), "{board}");
            if !board.is_legal() {
                continue;
            }
            tried += 1;
            let successors: Vec<_> = here
                .successors(red)
                .into_iter()
                .map(|(after, capture)| {
                    let value = prober.probe(&after.fen(!red).parse().unwrap()).unwrap();
                    (value, capture)
                })
                .collect();
            let value = prober.probe(&board).unwrap();
            use canju_probe::Wdl::{Draw, Loss, Win};
            let lost = || successors.iter().filter(|(v, _)| v.outcome == Loss);
            let (outcome, dtm, dtc) = if lost().count() > 0 {
                let dtc = lost().map(|(v, capture)| if *capture { 1 } else { v.dtc.unwrap() + 1 }).min();
                (Win, lost().map(|(v, _)| v.dtm.unwrap() + 1).min(), dtc)
            } else if successors.iter().any(|(v, _)| v.outcome == Draw) {
                (Draw, None, None)
            } else {
                let dtm = successors.iter().map(|(v, _)| v.dtm.unwrap() + 1).max().unwrap_or(0);
                let quiet = successors.iter().filter(|(_, capture)| !capture);
                (Loss, Some(dtm), Some(quiet.map(|(v, _)| v.dtc.unwrap() + 1).max().unwrap_or(0)))
            };
            assert_eq!((value.outcome, value.dtm, value.dtc), (outcome, dtm, dtc), "{name} {board}");
        }
    }
}

#[test]
fn both_sides_armed_one_step() {
    one_step(&["KPKAB", "KCKAP"], 20_000);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn five_men_both_sides_armed_one_step() {
    one_step(&["KPPKP", "KNPKP", "KRKPP", "KCCKP"], 200_000);
}
