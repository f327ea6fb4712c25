//! Who plays by the values wins, whatever the other side does: every way round that such play can take is one that the rules
//! of repetition count as lost for the other side.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::HashMap;

use canju_probe::{Prober, Wdl};
use canju_retro::{Cell, Game, Metric, Rules, Side};
use canju_tests::Workshop;
use canju_xiangqi::{Color, Move, Position, Repetition, Verdict};

/// A reply that goes on, and the winner's answer by the values.
struct Arc {
    reply: Move,
    answer: Move,
    to: usize,
}

/// What is lost by repetition, with all that can be played against the winner's best moves.
struct Play {
    places: Vec<Position>,
    arcs: Vec<Vec<Arc>>,
}

impl Play {
    /// From every cell of an endgame that is lost in an order above 0.
    fn of(name: &str, metrics: &[Metric], rules: Rules) -> Self {
        let mut workshop = Workshop::under(rules);
        let prober = Prober::new(workshop.tables(&[name], metrics));
        let index = workshop.game().index(&workshop.game().table(name).unwrap()).unwrap();
        let mut play = Self { places: Vec::new(), arcs: Vec::new() };
        let mut numbers = HashMap::new();
        let mut board = Position::empty(Color::Red);
        for (slice, shape) in (0..).zip(index.shape().slices) {
            for (number, side) in (0..shape.cells).flat_map(|n| Side::BOTH.map(|side| (n, side))) {
                if index.set_up(Cell { slice, index: number, side }, &mut board) && board.is_legal() {
                    let value = prober.probe(&board).unwrap();
                    if value.outcome == Wdl::Loss && value.order > 0 {
                        play.number(board, &mut numbers);
                    }
                }
            }
        }
        let mut answers = HashMap::new();
        let mut at = 0;
        while let Some(&place) = play.places.get(at) {
            let order = prober.probe(&place).unwrap().order;
            for &reply in place.legal_moves().iter().filter(|m| !place.is_capture(**m)) {
                let there = place.play(reply);
                let (answer, order_there) = *answers.entry(there).or_insert_with(|| {
                    let (answer, value) = prober.moves(&there).unwrap()[0];
                    assert_eq!(value.outcome, Wdl::Win, "{place} {reply}");
                    (answer, value.order)
                });
                assert!(order_there <= order, "{place} {reply}: the order rises");
                // A lower order and another endgame do not lead back.
                if order_there == order && !there.is_capture(answer) {
                    let to = play.number(there.play(answer), &mut numbers);
                    play.arcs[at].push(Arc { reply, answer, to });
                }
            }
            at += 1;
        }
        play
    }

    fn number(&mut self, place: Position, numbers: &mut HashMap<Position, usize>) -> usize {
        *numbers.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.arcs.push(Vec::new());
            self.places.len() - 1
        })
    }

    /// Which places lead to each other and back, by the number of their first; Tarjan's way without recursion.
    fn components(&self) -> Vec<usize> {
        let n = self.places.len();
        let (mut index, mut low, mut component) = (vec![usize::MAX; n], vec![0; n], vec![usize::MAX; n]);
        let (mut stack, mut next) = (Vec::new(), 0);
        for root in 0..n {
            if index[root] != usize::MAX {
                continue;
            }
            let mut calls = vec![(root, 0)];
            while let Some(&mut (at, ref mut arc)) = calls.last_mut() {
                if *arc == 0 {
                    (index[at], low[at]) = (next, next);
                    next += 1;
                    stack.push(at);
                }
                if let Some(Arc { to, .. }) = self.arcs[at].get(*arc) {
                    *arc += 1;
                    if index[*to] == usize::MAX {
                        calls.push((*to, 0));
                    } else if component[*to] == usize::MAX {
                        low[at] = low[at].min(index[*to]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(&(before, _)) = calls.last() {
                    low[before] = low[before].min(low[at]);
                }
                if low[at] == index[at] {
                    while let Some(member) = stack.pop() {
                        component[member] = at;
                        if member == at {
                            break;
                        }
                    }
                }
            }
        }
        component
    }

    /// All ways from a place back to it that meet no place twice and none before it, as moves; at most so many.
    fn rounds(&self, start: usize, component: &[usize], most: usize) -> Vec<Vec<Move>> {
        let mut rounds = Vec::new();
        let mut on_way = vec![start];
        let mut line: Vec<Move> = Vec::new();
        let mut calls = vec![0];
        while let Some(arc) = calls.last_mut() {
            let at = on_way[on_way.len() - 1];
            let Some(Arc { reply, answer, to }) = self.arcs[at].get(*arc) else {
                calls.pop();
                on_way.pop();
                line.truncate(line.len().saturating_sub(2));
                continue;
            };
            *arc += 1;
            if *to == start {
                rounds.push([line.as_slice(), &[*reply, *answer]].concat());
                if rounds.len() == most {
                    break;
                }
            } else if component[*to] == component[start] && *to > start && !on_way.contains(to) {
                line.extend([*reply, *answer]);
                on_way.push(*to);
                calls.push(0);
            }
        }
        rounds
    }
}

/// The positions of a line before each move.
fn stations(start: &Position, line: &[Move]) -> Vec<Position> {
    let steps = line.iter().scan(*start, |position, &chosen| {
        let before = *position;
        *position = position.play(chosen);
        Some(before)
    });
    steps.collect()
}

/// Ways round through one place that are tried.
const MOST: usize = 2000;

fn ends(name: &str, metrics: &[Metric], rules: Rules) {
    let play = Play::of(name, metrics, rules);
    let component = play.components();
    let (mut tried, mut longest, mut wrong, mut cut) = (0, 0, Vec::new(), 0);
    for start in 0..play.places.len() {
        let rounds = play.rounds(start, &component, MOST);
        cut += usize::from(rounds.len() == MOST);
        longest = rounds.iter().map(Vec::len).max().unwrap_or(0).max(longest);
        let place = &play.places[start];
        let mut judge = |from: &Position, line: &[Move]| {
            tried += 1;
            let repetition = Repetition::last(from, line).unwrap().unwrap();
            assert_eq!((repetition.first, repetition.again), (0, line.len()));
            let (verdict, rule) = if rules == Rules::Axf { repetition.by_chase() } else { repetition.by_check() };
            if verdict != Verdict::Loses(place.turn()) {
                let line: Vec<String> = line.iter().map(ToString::to_string).collect();
                wrong.push(format!("{from} {}: {verdict:?}, {rule}", line.join(" ")));
            }
        };
        for round in &rounds {
            judge(place, round);
        }
        // One after the other, they must not come to less than each alone: told from where only the first comes by.
        for (number, one) in rounds.iter().enumerate().take(50) {
            for other in rounds.iter().take(number) {
                let on_other = stations(place, other);
                if let Some(at) = stations(place, one).iter().position(|p| !on_other.contains(p)) {
                    let from = stations(place, one)[at];
                    judge(&from, &[&one[at..], other, &one[..at]].concat());
                }
            }
        }
    }
    println!(
        "{name} {rules} {metrics:?}: {} places, {tried} ways round, the longest of {longest} plies, {cut} places not tried in full; {} wrong",
        play.places.len(),
        wrong.len()
    );
    wrong.iter().take(20).for_each(|line| println!("{line}"));
    assert!(wrong.is_empty() && tried > 0);
}

#[test]
fn play_by_values_ends() {
    ends("KRKN", &[Metric::Dtm], Rules::Check);
    ends("KRKN", &[Metric::Dtm, Metric::Dtc], Rules::Axf);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn play_by_values_ends_in_larger_endgames() {
    let both = [Metric::Dtm, Metric::Dtc];
    for name in ["KNKPP", "KARKN", "KACKN", "KARKR"] {
        ends(name, &both, Rules::Axf);
    }
    // By the distance to conversion.
    for name in ["KARKN", "KACKN"] {
        ends(name, &[Metric::Dtc], Rules::Axf);
    }
}
