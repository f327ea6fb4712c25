//! Chances against exact fractions: those that are known, and those of a slow solver that shares no code with the fast one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::collections::HashMap;
use std::sync::LazyLock;

use canju_ewn::{Book, Color, Die, Index, Position, Square, error_bound};
use canju_retro::{Cell, Side};
use num_rational::BigRational;

static BOOK: LazyLock<Book> = LazyLock::new(|| {
    let mut book = Book::new();
    for name in ["EWN126B34", "EWN16B16", "EWN25B14"] {
        book.add(name.parse().unwrap());
    }
    book
});

fn distances(position: &Position) -> u32 {
    position.all().map(|(color, _, square)| u32::from(square.distance(color))).sum()
}

fn fraction(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// A fraction as the nearest number of 64 bits: numerators and denominators need not fit.
fn nearest(fraction: &BigRational) -> f64 {
    let scaled = (fraction * fraction_of_two(80)).to_integer();
    // 80 bits after the point, rounded once by the parser.
    scaled.to_string().parse::<f64>().unwrap() / 2f64.powi(80)
}

fn fraction_of_two(bits: u32) -> BigRational {
    BigRational::from_integer(num_rational::BigRational::from_integer(2.into()).to_integer().pow(bits))
}

/// The chance by stepping forward, in fractions.
#[derive(Default)]
struct Slow(HashMap<Position, BigRational>);

impl Slow {
    fn chance(&mut self, position: &Position) -> BigRational {
        if let Some(winner) = position.winner() {
            return fraction(i64::from(winner == position.to_move()), 1);
        }
        if let Some(known) = self.0.get(position) {
            return known.clone();
        }
        let mut sum = fraction(0, 1);
        for die in Die::ALL {
            let moves: Vec<_> = position.legal_moves(die).collect();
            let best = moves.iter().map(|m| fraction(1, 1) - self.chance(&position.after(m))).max();
            sum += best.expect("a roll without a move");
        }
        let chance = sum / fraction(6, 1);
        self.0.insert(*position, chance.clone());
        chance
    }
}

fn agrees(book: &Book, position: &Position, exact: &BigRational) {
    let chance = book.chance(position).unwrap();
    let error = (chance - nearest(exact)).abs();
    assert!(error <= error_bound(distances(position)) + 1e-20, "{position}: {chance}, not {exact}");
    assert_eq!(chance == 0.0, *exact == fraction(0, 1), "{position}");
    assert_eq!(chance == 1.0, *exact == fraction(1, 1), "{position}");
}

fn square(row: u8, column: u8) -> Square {
    Square::new(row, column).unwrap()
}

/// Positions as (row, column) from the top left.
fn position(to_move: Color, red: &[(u8, u8, u8)], blue: &[(u8, u8, u8)]) -> Position {
    let side = |color, stones: &[(u8, u8, u8)]| {
        stones.iter().map(|&(n, row, column)| (color, n, square(row, column))).collect::<Vec<_>>()
    };
    Position::new(side(Color::Red, red).into_iter().chain(side(Color::Blue, blue)), to_move).unwrap()
}

#[test]
fn known_fractions() {
    use Color::{Blue, Red};
    let known = [
        (position(Red, &[(1, 4, 3), (4, 4, 0)], &[(1, 0, 1)]), Red, fraction(1, 2)),
        (position(Red, &[(1, 4, 3), (6, 4, 0)], &[(1, 0, 1)]), Red, fraction(5, 6)),
        (position(Red, &[(1, 1, 1), (6, 0, 2)], &[(3, 3, 3)]), Red, fraction(125, 144)),
        (position(Blue, &[(1, 1, 1), (6, 0, 2)], &[(3, 3, 3)]), Blue, fraction(125, 216)),
        (position(Blue, &[(2, 2, 2), (5, 1, 3)], &[(1, 2, 4), (4, 4, 2)]), Blue, fraction(1990, 2187)),
        (
            position(Red, &[(1, 2, 0), (2, 0, 2), (6, 1, 1)], &[(3, 3, 3), (4, 4, 4)]),
            Red,
            fraction(1_029_836_725, 1_289_945_088),
        ),
    ];
    for (position, side, red_wins) in known {
        let exact = if side == Red { red_wins } else { fraction(1, 1) - red_wins };
        // Larger ones take the slow solver too long.
        if position.count() < 5 {
            assert_eq!(Slow::default().chance(&position), exact, "{position}");
        }
        agrees(&BOOK, &position, &exact);
    }
    let far = position(Red, &[(1, 0, 0), (6, 0, 1)], &[(1, 4, 4), (6, 4, 3)]);
    assert!((BOOK.chance(&far).unwrap() - 0.429_997_871_233).abs() < 5e-13);
}

#[test]
fn one_against_one() {
    let (mut all, mut wins, mut losses) = (0, 0, 0);
    for (red, blue) in Square::all().flat_map(|red| Square::all().map(move |blue| (red, blue))) {
        let stones = [(Color::Red, 1, red), (Color::Blue, 1, blue)];
        let Ok(position) = Position::new(stones, Color::Red) else { continue };
        if position.winner().is_some() {
            continue;
        }
        all += 1;
        let chance = BOOK.chance(&position).unwrap();
        wins += i32::from(chance == 1.0);
        losses += i32::from(chance == 0.0);
    }
    assert_eq!((all, wins, losses), (553, 370, 183));
}

/// Every cell of small tables, and every 97th of larger ones.
#[test]
fn tables_against_the_slow_solver() {
    let mut slow = Slow::default();
    for (name, every) in [("EWN1B1", 1), ("EWN16B1", 1), ("EWN25B1", 41)] {
        let index = Index::new(name.parse().unwrap());
        let table = BOOK.table(index.signature()).unwrap();
        let cells = u64::from(index.slices()) * u64::from(index.cells());
        let mut compared = 0;
        for (number, side) in (0..cells).step_by(every).flat_map(|n| Side::BOTH.map(|side| (n, side))) {
            let per_slice = u64::from(index.cells());
            let cell = Cell { slice: (number / per_slice) as u32, index: (number % per_slice) as u32, side };
            let position = index.position(cell);
            assert_eq!(table.get(cell).is_some(), position.is_some(), "{name} {cell:?}");
            if let Some(position) = position {
                agrees(&BOOK, &position, &slow.chance(&position));
                compared += 1;
            }
        }
        assert!(compared > 10, "{name}");
    }
}

/// All images of a position have the same chance, bit by bit or within the bound.
#[test]
fn symmetries() {
    let index = Index::new("EWN126B34".parse().unwrap());
    let table = BOOK.table(index.signature()).unwrap();
    let (mut compared, mut number) = (0, 12345u32);
    while compared < 2000 {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let side = Side::BOTH[(number >> 31) as usize];
        let cell = Cell { slice: (number >> 8) % index.slices(), index: number % index.cells(), side };
        let Some(position) = index.position(cell) else { continue };
        let chance = table.get(cell).unwrap();
        let images = [
            position.transposed(),
            position.renumbered(Color::Red),
            position.renumbered(Color::Blue),
            position.turned(),
            position.renumbered(Color::Red).transposed().turned(),
        ];
        for image in images {
            let other = BOOK.chance(&image).unwrap();
            assert!((other - chance).abs() <= 2.0 * error_bound(distances(&position)), "{position}");
        }
        compared += 1;
    }
}

/// How many positions there are with so many stones, whose numbers do not matter, while the game goes on.
fn placed(red: u8, blue: u8) -> u64 {
    fn place(stones: &mut Vec<(Color, u8, Square)>, left: &[(Color, u8)]) -> u64 {
        let Some((&(color, number), rest)) = left.split_first() else {
            let position = Position::new(stones.iter().copied(), Color::Red);
            return u64::from(position.is_ok_and(|position| position.winner().is_none()));
        };
        let mut sum = 0;
        for square in Square::all() {
            if stones.iter().all(|&(_, _, taken)| taken != square) {
                stones.push((color, number, square));
                sum += place(stones, rest);
                stones.pop();
            }
        }
        sum
    }
    let side = |color, count| (1..=count).map(move |number| (color, number));
    place(&mut Vec::new(), &side(Color::Red, red).chain(side(Color::Blue, blue)).collect::<Vec<_>>())
}

/// Positions with one side to move, before symmetries: one by one up to four stones, and by the same count for more.
#[test]
fn there_are_so_many_positions() {
    let choose = |count: u64| (0..count).fold(1, |product, n| product * (6 - n) / (n + 1));
    let ways = |squares: u64, stones: u64| (0..stones).map(|n| squares - n).product::<u64>();
    let known = [19_908u64, 2_194_200, 119_405_880, 4_024_278_720, 90_956_859_840];
    for (stones, known) in (2u64..).zip(known) {
        let mut sum = 0;
        for red in 1..stones {
            let blue = stones - red;
            // Neither may have a stone in its goal.
            let open = ways(25, stones) + red * blue * ways(23, stones - 2) - stones * ways(24, stones - 1);
            if stones <= 4 {
                assert_eq!(placed(red as u8, blue as u8), open, "{red} {blue}");
            }
            sum += choose(red) * choose(blue) * open;
        }
        assert_eq!(sum, known, "{stones}");
    }
}
