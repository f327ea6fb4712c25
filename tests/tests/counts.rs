//! Known counts over another index, exactly: every endgame of up to five men with one side armed, and some with both.
//!
//! The known counts keep one group of pieces in its mirror-canonical half. With `full` cells of the whole board, of
//! which `itself` have a group that is its own mirror image, they are `(full + itself) / 2`.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use canju_retro::{Cell, Game, Metric, Outcome, Rules, Side};
use canju_tests::Workshop;
use canju_xiangqi::{Color, Material, Piece, Position, Role, Square, role_squares};

const KNOWN: &str = include_str!("../../crates/endgame/tests/data/axf-five-men.tsv");
const FORT: [Role; 3] = [Role::King, Role::Advisor, Role::Elephant];
const ATTACKERS: [Role; 4] = [Role::Chariot, Role::Horse, Role::Cannon, Role::Soldier];

/// Pieces that one digit of the other index stands for.
#[derive(Clone)]
struct Group(Vec<(Piece, usize)>);

impl Group {
    /// All groups of an endgame: each side's fortress, and each kind of attacker; the first-named side's first, a
    /// fortress before the attackers.
    fn all(material: &Material) -> Vec<Self> {
        let mut groups = Vec::new();
        for roles in [&FORT[..], &[Role::Chariot], &[Role::Horse], &[Role::Cannon], &[Role::Soldier]] {
            for color in Color::ALL {
                let pieces = roles.iter().map(|&role| (Piece::new(color, role), material.count(color, role)));
                let group: Vec<_> = pieces.filter(|&(_, n)| n > 0).collect();
                if !group.is_empty() {
                    groups.push(Self(group));
                }
            }
        }
        // Of equals the first-named side's comes first: its groups stand before all of the other's.
        groups.sort_by_key(|group| group.0[0].0.color);
        groups
    }

    /// The share of placements that are their own mirror image, as a fraction.
    fn own_images(&self) -> (u64, u64) {
        let mut sets = vec![Position::empty(Color::Red)];
        for &(piece, count) in &self.0 {
            for _ in 0..count {
                let longer = sets.iter().flat_map(|board| {
                    let last = board.squares_of(piece.color, piece.role).max();
                    let rest =
                        role_squares(piece.color, piece.role).iter().filter(move |s| last.is_none_or(|l| l < **s));
                    rest.filter_map(|&square| {
                        let mut longer = *board;
                        longer.place(piece, square).ok().map(|()| longer)
                    })
                });
                sets = longer.collect();
            }
        }
        (sets.iter().filter(|board| self.is_own_image(board)).count() as u64, sets.len() as u64)
    }

    fn is_own_image(&self, board: &Position) -> bool {
        self.0.iter().all(|(piece, _)| {
            let set = |turn: fn(Square) -> Square| {
                board.squares_of(piece.color, piece.role).fold(0u128, |set, s| set | turn(s).bit())
            };
            set(|s| s) == set(Square::mirror)
        })
    }

    /// The group that the other index halves, for the table's colours.
    fn halved(name: &str) -> Self {
        let material: Material = name.parse().unwrap();
        let best = Self::all(&material).into_iter().reduce(|best, group| {
            let ((a, b), (c, d)) = (group.own_images(), best.own_images());
            if a * d < c * b { group } else { best }
        });
        let mut best = best.unwrap();
        if material.canonical().1 {
            best.0.iter_mut().for_each(|(piece, _)| piece.color = !piece.color);
        }
        best
    }
}

fn is_armed(material: &Material, color: Color) -> bool {
    ATTACKERS.iter().any(|&role| material.count(color, role) > 0)
}

/// Won, lost and drawn cells of a side whose group is its own mirror image.
fn own_images(workshop: &mut Workshop, name: &str, side: Side) -> [u64; 3] {
    let table = workshop.game().table(name).unwrap();
    let index = workshop.game().index(&table).unwrap();
    let group = Group::halved(name);
    let red = Group::all(index.material()).swap_remove(0);
    let kinds: Vec<usize> = Color::ALL
        .into_iter()
        .flat_map(|color| ATTACKERS.map(|role| index.material().count(color, role)))
        .filter(|&n| n > 0)
        .collect();
    // Where all attackers are identical, each position has a cell for each of them.
    let copies = if let [n] = kinds[..] { n as u64 } else { 1 };
    let mut board = Position::empty(Color::Red);
    let mut counts = [0; 3];
    for (slice, shape) in (0..).zip(index.shape().slices) {
        let codes = workshop.solved(Metric::Dtm).slice(&table, Metric::Wdl, side, slice).unwrap();
        for number in 0..shape.cells {
            let there = index.set_up(Cell { slice, index: number, side }, &mut board);
            if !there || !group.is_own_image(&board) || !board.is_legal() {
                continue;
            }
            let at = match codes.get(number as usize).unwrap().outcome() {
                Outcome::Win(_) => 0,
                Outcome::Loss(_) => 1,
                Outcome::Draw => 2,
            };
            // A red fortress that is not its own image stands for two of the full board.
            counts[at] += if red.is_own_image(&board) { 1 } else { 2 };
        }
    }
    counts.map(|n| n / copies)
}

fn compare(rules: Rules, wanted: impl Fn(&str, u64) -> bool) -> usize {
    let mut workshop = Workshop::under(rules);
    let mut compared = 0;
    for row in KNOWN.lines().filter(|l| !l.starts_with('#') && !l.starts_with("endgame")) {
        let row: Vec<&str> = row.split('\t').collect();
        let material: Material = row[0].parse().unwrap();
        let table = workshop.game().table(row[0]).unwrap();
        let one = is_armed(&material, Color::Red) != is_armed(&material, Color::Black);
        if one != (rules == Rules::Plain) || !wanted(row[0], workshop.game().shape(&table).unwrap().positions) {
            continue;
        }
        let side = if (row[1] == "b") != material.canonical().1 { Side::Second } else { Side::First };
        let counts = workshop.solve(&table, Metric::Dtm).sides[side.index()].clone();
        let full = [counts.wins(), counts.losses(), counts.draws()];
        let own = own_images(&mut workshop, row[0], side);
        let half: Vec<u64> = full.iter().zip(own).map(|(full, own)| (full + own) / 2).collect();
        let known: Vec<u64> = row[2..5].iter().map(|n| n.parse().unwrap()).collect();
        assert_eq!(half, known, "{} {}", row[0], row[1]);
        compared += 1;
    }
    compared
}

const QUICK: u64 = 700_000;

#[test]
fn small_endgames_with_one_side_armed() {
    let compared = compare(Rules::Plain, |_, positions| positions < QUICK);
    assert!(compared >= 40, "{compared}");
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn large_endgames_with_one_side_armed() {
    let compared = compare(Rules::Plain, |_, positions| positions >= QUICK);
    assert!(compared >= 40, "{compared}");
}

/// Of KRKBP no counts over the full board are known; of the other ones `repetition.rs` compares those.
#[test]
#[ignore = "slow: run by .ci/run"]
fn endgames_with_both_sides_armed() {
    assert_eq!(compare(Rules::Axf, |name, positions| name == "KRKBP" || positions < QUICK), 4);
}
