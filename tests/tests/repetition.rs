//! The rules of repetition against known counts, and cell by cell against a second opinion.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use canju_probe::{Options, Prober, Value, Wdl};
use canju_retro::{Cell, Game, Metric, Outcome, Rules, Side};
use canju_tests::{Board, Endless, Fate, Workshop};
use canju_xiangqi::{Color, Material, Position};

const FULL: &str = include_str!("../../crates/endgame/tests/data/axf-full-board.tsv");

fn letters(name: &str) -> String {
    let second = 1 + name[1..].find('K').unwrap();
    name[..second].to_owned() + &name[second..].to_lowercase()
}

fn is_armed(name: &str, color: Color) -> bool {
    name.parse::<Material>().unwrap().army(color).attack_weight() > 0
}

/// Compares all cells of an endgame.
fn compare(name: &str, rules: Rules, workshop: &mut Workshop, endless: &mut Endless) {
    let table = workshop.game().table(name).unwrap();
    let settled = endless.solve(&letters(table.as_str()));
    let counts = workshop.solve(&table, Metric::Dtm).clone();
    let cells = workshop.solved(Metric::Dtm);
    let index = workshop.game().index(&table).unwrap();
    let mut board = Position::empty(Color::Red);
    for side in Side::BOTH {
        let s = &counts.sides[side.index()];
        assert_eq!([s.wins(), s.losses(), s.draws()], settled.counts(side == Side::First), "{name} {rules} {side:?}");
        for (slice, shape) in (0..).zip(index.shape().slices) {
            let codes = cells.slice(&table, Metric::Wdl, side, slice).unwrap();
            for number in 0..shape.cells {
                if !index.set_up(Cell { slice, index: number, side }, &mut board) || !board.is_legal() {
                    continue;
                }
                let pieces = board.pieces().map(|(piece, square)| (piece.to_char(), square.index()));
                let known = match settled.fate(&Board::new(pieces).unwrap(), side == Side::First) {
                    Fate::Illegal => panic!("{board} is illegal only for one of them"),
                    Fate::Draw => Outcome::Draw,
                    Fate::Win => Outcome::Win(Default::default()),
                    Fate::Loss => Outcome::Loss(Default::default()),
                };
                assert_eq!(codes.get(number as usize).unwrap().outcome(), known, "{name} {rules} {board}");
            }
        }
    }
}

fn compare_all(names: &[&str]) {
    for rules in [Rules::Check, Rules::Axf] {
        let (mut workshop, mut endless) = (Workshop::under(rules), Endless::new(rules));
        for name in names {
            let start = std::time::Instant::now();
            compare(name, rules, &mut workshop, &mut endless);
            println!("{name} {rules}: {:.1} s", start.elapsed().as_secs_f64());
        }
    }
}

#[test]
fn small_endgames_cell_by_cell() {
    compare_all(&["KPKP", "KNKP"]);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn four_men_cell_by_cell() {
    compare_all(&["KRKR", "KRKN", "KRKC", "KRKP", "KNKN", "KNKC", "KNKP", "KCKC", "KCKP", "KPKP"]);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn five_men_cell_by_cell() {
    compare_all(&["KAPKP", "KCKAP", "KRKAP"]);
}

/// Where chases decide what checks do not, and like victims change places.
#[test]
#[ignore = "takes five minutes and 6 GB: run it by hand"]
fn by_hand_chases_cell_by_cell() {
    let (mut workshop, mut endless) = (Workshop::under(Rules::Axf), Endless::new(Rules::Axf));
    compare("KNKPP", Rules::Axf, &mut workshop, &mut endless);
}

/// Where only one side has attackers, nothing that the rules forbid decides anything: the solver leaves them out there.
#[test]
#[ignore = "slow: run by .ci/run"]
fn one_side_armed_needs_no_rules() {
    compare_all(&["KNKAA", "KCKAB", "KRKAB"]);
}

/// Counts won, lost and drawn cells of every endgame with both sides armed for which there are known ones.
fn known_counts(wanted: impl Fn(u64) -> bool) -> usize {
    let (mut workshop, mut compared) = (Workshop::under(Rules::Axf), 0);
    for row in FULL.lines().filter(|l| !l.starts_with('#') && !l.starts_with("endgame")) {
        let row: Vec<&str> = row.split('\t').collect();
        let table = workshop.game().table(row[0]).unwrap();
        let both = Color::ALL.into_iter().all(|color| is_armed(row[0], color));
        if !both || !wanted(workshop.game().shape(&table).unwrap().positions) {
            continue;
        }
        let swapped = row[0].parse::<Material>().unwrap().canonical().1;
        let side = Side::BOTH[usize::from((row[1] == "b") != swapped)];
        let s = &workshop.solve(&table, Metric::Dtm).sides[side.index()];
        let known: Vec<u64> = row[2..5].iter().map(|n| n.parse().unwrap()).collect();
        assert_eq!(vec![s.wins(), s.losses(), s.draws()], known, "{} {}", row[0], row[1]);
        compared += 1;
    }
    compared
}

#[test]
fn known_counts_of_both_sides_armed() {
    assert!(known_counts(|positions| positions < 5_000_000) >= 20);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn known_counts_of_all_with_both_sides_armed() {
    assert_eq!(known_counts(|_| true), 68);
}

/// The profiles differ in cells that are drawn under the weaker one, and in no others; without such cells all values are the
/// same. Prints how many these are.
fn decided_beyond(names: &[&str]) {
    let mut workshops = [Rules::Plain, Rules::Check, Rules::Axf].map(|rules| (rules, Workshop::under(rules)));
    println!("cells decided: by check that are drawn under plain, by axf that are drawn under check");
    for name in names {
        let mut drawn = Vec::new();
        for (_, workshop) in &mut workshops {
            let table = workshop.game().table(name).unwrap();
            let counts = workshop.solve(&table, Metric::Dtm);
            drawn.push(counts.sides.iter().map(canju_retro::SideStatistics::draws).sum::<u64>());
        }
        let solved = workshops.each_mut().map(|(_, workshop)| workshop.solved(Metric::Dtm));
        let table = workshops[0].1.game().table(name).unwrap();
        let slices = workshops[0].1.game().shape(&table).unwrap().slices.len() as u32;
        for (side, slice) in Side::BOTH.into_iter().flat_map(|side| (0..slices).map(move |s| (side, s))) {
            let codes = |metric| solved.each_ref().map(|cells| cells.slice(&table, metric, side, slice).unwrap());
            let (outcomes, values) = (codes(Metric::Wdl), codes(Metric::Dtm));
            for at in 1..3 {
                let outcome = |at: usize, number| outcomes[at].get(number).unwrap().outcome();
                let kept =
                    |number| outcome(at - 1, number) == Outcome::Draw || outcome(at - 1, number) == outcome(at, number);
                assert!((0..outcomes[at].len()).all(kept), "{name} {}", workshops[at].0);
                // Where nothing is decided, nothing is different.
                assert!(drawn[at - 1] != drawn[at] || values[at - 1] == values[at], "{name} {}", workshops[at].0);
            }
        }
        println!("{name}\t{}\t{}", drawn[0] - drawn[1], drawn[1] - drawn[2]);
    }
}

#[test]
fn the_profiles_differ_in_draws() {
    decided_beyond(&["KRKN", "KNKP"]);
}

/// Of all with both sides armed for which counts are known.
#[test]
#[ignore = "slow: run by .ci/run"]
fn the_profiles_differ_in_draws_of_larger_endgames() {
    let names = FULL.lines().filter(|l| !l.starts_with('#') && !l.starts_with("endgame"));
    let mut names: Vec<&str> = names.filter_map(|row| row.split('\t').next()).collect();
    names.dedup();
    names.retain(|name| Color::ALL.into_iter().all(|color| is_armed(name, color)));
    names.extend(["KRKBP", "KAPKP"]);
    decided_beyond(&names);
}

/// Every value follows from its successors; where a lost one does not fall, the loser violates.
fn verified(name: &str, metric: Metric, rules: Rules) {
    let mut workshop = Workshop::under(rules);
    let prober = Prober::new(workshop.tables(&[name], &[metric]));
    let table = workshop.game().table(name).unwrap();
    let report = prober.verify(&table, &Options { threads: 2, ..Options::default() }, &|_| {}).unwrap();
    assert!(report.wrong == 0 && report.checked > 100_000, "{rules}: {report:?}");
}

#[test]
fn values_follow_from_their_successors() {
    verified("KRKN", Metric::Dtm, Rules::Axf);
    verified("KRKN", Metric::Dtc, Rules::Check);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn values_of_larger_endgames_follow_from_their_successors() {
    for (name, metric) in [("KNKPP", Metric::Dtm), ("KARKN", Metric::Dtc), ("KRKPP", Metric::Dtm)] {
        verified(name, metric, Rules::Axf);
    }
}

/// From won cells against every defence: the winner's first move makes the value fall; so does the loser's, or he violates,
/// and then the winner's reply is free and leads back to no more than the value was. So no play is endless but by violation.
fn greedy(name: &str, rules: Rules, every: u32) {
    let mut workshop = Workshop::under(rules);
    let prober = Prober::new(workshop.tables(&[name], &[Metric::Dtm]));
    let index = workshop.game().index(&workshop.game().table(name).unwrap()).unwrap();
    let far = |value: &Value| (value.order, value.dtm.unwrap());
    let mut board = Position::empty(Color::Red);
    let (mut tried, mut violations) = (0, 0);
    for (slice, shape) in (0..).zip(index.shape().slices) {
        for (number, side) in (0..shape.cells).step_by(every as usize).flat_map(|n| Side::BOTH.map(|side| (n, side))) {
            if !index.set_up(Cell { slice, index: number, side }, &mut board) || !board.is_legal() {
                continue;
            }
            let value = prober.probe(&board).unwrap();
            if value.outcome != Wdl::Win || value.order == 0 && number % 16 != 0 {
                continue;
            }
            tried += 1;
            let (best, _) = prober.moves(&board).unwrap()[0];
            let after = board.play(best);
            let here = prober.probe(&after).unwrap();
            let takes = board.is_capture(best);
            assert!(here.outcome == Wdl::Loss && (takes || far(&here) < far(&value)), "{board} {best}");
            for &reply in &after.legal_moves() {
                let next = prober.probe(&after.play(reply)).unwrap();
                assert_eq!(next.outcome, Wdl::Win, "{after} {reply}");
                if after.is_capture(reply) || far(&next) < far(&here) {
                    continue;
                }
                violations += 1;
                let goes_on = here.order > 0 && next.order == here.order && here.dtm.unwrap().is_multiple_of(2);
                assert!(goes_on && !board.gives_check(best), "{after} {reply}");
                let violates = after.gives_check(reply) || rules == Rules::Axf && after.chases(reply) != 0;
                assert!(violates, "{after} {reply}");
                let (back, _) = prober.moves(&after.play(reply)).unwrap()[0];
                let onward = prober.probe(&after.play(reply).play(back)).unwrap();
                // Who is checked for ever need not be free: it is enough that he does not check. Where he must check first,
                // he does not come back at once.
                let board = after.play(reply);
                let serves = if here.dtm == Some(0) { !board.gives_check(back) } else { board.is_free(back) };
                let first = far(&onward) > far(&here);
                assert!(serves || first || far(&onward) < far(&here), "{after} {reply} {back}");
            }
        }
    }
    println!("{name} {rules}: {tried} won cells, {violations} violations");
    assert!(tried > 1000 && violations > 0, "{tried} {violations}");
}

#[test]
fn greedy_play_ends() {
    greedy("KRKN", Rules::Check, 3);
}

/// Where only one side has attackers, all rules give the same table, byte by byte.
#[test]
fn one_side_armed_is_plain() {
    let mut plain = Workshop::new();
    for rules in [Rules::Check, Rules::Axf] {
        let mut workshop = Workshop::under(rules);
        for (name, metric) in [("KNKAA", Metric::Dtm), ("KCKA", Metric::Dtc), ("KPKB", Metric::Dtm)] {
            let table = workshop.game().table(name).unwrap();
            assert_eq!(workshop.solve(&table, metric).clone(), *plain.solve(&table, metric));
            for slice in 0..workshop.game().shape(&table).unwrap().slices.len() as u32 {
                for side in Side::BOTH {
                    let slice = |w: &mut Workshop| w.solved(metric).slice(&table, metric, side, slice).unwrap();
                    assert!(slice(&mut workshop) == slice(&mut plain), "{name} {metric}");
                }
            }
        }
    }
}
