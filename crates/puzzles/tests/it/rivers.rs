//! The crossings of the author's article, state by state, and his homework.

use canju_puzzles::{Counts, Puzzle, Solution};
use canju_retro::{Cell, GameError, Outcome, examine};

use crate::{example, solved};

fn counts(positions: u64, legal: u64, decided: u64, open: u64) -> Counts {
    Counts { positions, legal, decided, open }
}

/// The numbers of positions, for each its text.
fn numbered(solution: &Solution, line: &[Cell]) -> Vec<(u64, String)> {
    let table = solution.puzzle().table();
    line.iter().map(|&cell| (solution.puzzle().number(cell), table.show(cell))).collect()
}

fn is_line(solution: &Solution, expected: &[(u64, &str)]) {
    let expected: Vec<(u64, String)> = expected.iter().map(|&(n, text)| (n, text.to_owned())).collect();
    assert_eq!(numbered(solution, &solution.line(solution.puzzle().start())), expected);
}

#[test]
fn three_people_and_three_ghosts() {
    let solution = solved("ghosts.toml");
    assert_eq!(solution.counts(), counts(32, 20, 17, 3));
    assert_eq!(solution.steps(), Some(11));
    // The printed solution.
    is_line(
        &solution,
        &[
            (1, "331"),
            (19, "310"),
            (2, "321"),
            (20, "300"),
            (3, "311"),
            (27, "110"),
            (6, "221"),
            (30, "020"),
            (13, "031"),
            (31, "010"),
            (11, "111"),
            (32, "000"),
        ],
    );
    assert_eq!(solution.shortest(), Some(4));
    let table = solution.puzzle().table();
    let value = |text: &str| solution.value(table.parse(text).unwrap());
    // All are across, the boat stands at the start: it counts as solved.
    assert!(matches!(value("001"), Some(Outcome::Win(d)) if d.plies == 0));
    for dead in ["330", "301", "030"] {
        assert_eq!(value(dead), Some(Outcome::Draw), "{dead}");
    }
    assert_eq!(value("231"), None);
    // One step before the goal there are three positions, two steps before it there is one.
    let at = |steps| solution.cells().filter(|&c| solution.steps_from(c) == Some(steps)).count();
    assert_eq!([at(0), at(1), at(2)], [2, 3, 1]);
}

#[test]
fn a_hunter_a_dog_and_two_families() {
    let solution = solved("hunter.toml");
    assert_eq!(solution.counts(), counts(288, 84, 52, 32));
    assert_eq!(solution.steps(), Some(17));
    // The printed solution; where the article has 1112000 and 1102000 the boat is across all the same.
    is_line(
        &solution,
        &[
            (1, "1112121"),
            (253, "0012120"),
            (37, "1012121"),
            (254, "0012110"),
            (2, "1112111"),
            (150, "1112000"),
            (3, "1112101"),
            (168, "1102000"),
            (6, "1112001"),
            (258, "0012000"),
            (111, "0012101"),
            (276, "0002000"),
            (114, "0012001"),
            (282, "0001000"),
            (30, "1101001"),
            (252, "0100000"),
            (36, "1100001"),
            (288, "0000000"),
        ],
    );
}

#[test]
fn a_puzzle_without_a_solution() {
    let solution = solved("hunter-unsolvable.toml");
    assert_eq!(solution.counts(), counts(128, 44, 16, 28));
    assert_eq!((solution.steps(), solution.shortest()), (None, Some(0)));
    assert_eq!(solution.line(solution.puzzle().start()).len(), 1);
}

#[test]
fn four_people_and_two_boxes() {
    let solution = solved("boxes.toml");
    assert_eq!(solution.counts(), counts(128, 44, 34, 10));
    assert_eq!(solution.steps(), Some(13));
    assert_eq!(solution.line(solution.puzzle().start()).len(), 14);
}

#[test]
fn steps_are_told_in_words() {
    let solution = solved("ghosts.toml");
    let puzzle = solution.puzzle();
    let line = solution.line(puzzle.start());
    let words: Vec<String> = line.windows(2).map(|pair| puzzle.step(pair[0], pair[1])).collect();
    assert_eq!(words[..3], ["2 ghosts cross", "1 ghost comes back", "2 ghosts cross"]);
    assert_eq!(puzzle.describe(line[1]), "start: 3 people, 1 ghost; across: 2 ghosts with the boat");
    let hunter = example("hunter.toml");
    let line = Solution::of(&hunter).unwrap().line(hunter.start());
    assert_eq!(hunter.step(line[0], line[1]), "hunter, dog cross");
    assert_eq!(hunter.step(line[1], line[2]), "hunter comes back");
}

/// The same crossing whoever counts as one kind: missionaries by the dozen have no solution with three seats, but with four.
#[test]
fn seats_and_counts_of_two_digits() {
    let text = |count: u32, seats: u32| {
        format!(
            "puzzle = \"river\"\npassenger = [{{ name = \"m\", count = {count}, rows = true }}, {{ name = \"c\", count = {count}, rows = true }}]\n\
             [boat]\nseats = {seats}\n[[forbidden]]\nmore = \"c\"\nthan = \"m\"\n"
        )
    };
    for (count, seats, steps) in [(3, 2, Some(11)), (4, 2, None), (5, 3, Some(11)), (6, 3, None), (12, 4, Some(21))] {
        let puzzle = Puzzle::parse("missionaries.toml", &text(count, seats)).unwrap();
        assert_eq!(Solution::of(&puzzle).unwrap().steps(), steps, "{count} {seats}");
        let table = puzzle.table();
        let shown = table.show(puzzle.start());
        assert_eq!(shown, if count < 10 { format!("{count}{count}1") } else { format!("{count}.{count}.1") });
        assert_eq!(table.parse(&shown), Some(puzzle.start()));
    }
}

/// Many of one kind: slices are runs of numbers then, and the way may be longer than a table can tell.
#[test]
fn thousands_of_one_kind() {
    let text = |count: u32| {
        format!(
            "puzzle = 'river'\npassenger = [{{ name = 'sheep', count = {count}, rows = true }}]\nboat = {{ seats = 2 }}\n"
        )
    };
    for count in [17, 100, 5000, 60_000] {
        let puzzle = Puzzle::parse("sheep.toml", &text(count)).unwrap();
        let table = puzzle.table();
        assert!((3..=36).contains(&table.slices().len()), "{}", table.slices().len());
        if count < 10_000 {
            examine(table.as_ref()).unwrap();
        }
        let solution = Solution::of(&puzzle).unwrap();
        assert_eq!(solution.steps(), Some(2 * count - 3));
        match Solution::with_part(&puzzle) {
            Ok((tabled, _)) => assert!(solution.cells().all(|cell| tabled.value(cell) == solution.value(cell))),
            Err(error) => assert!(count > 50_000 && matches!(error, GameError::TooLong(_)), "{error}"),
        }
    }
    // What would take too long is refused by its size.
    let kinds: String = (0..16).map(|n| format!("[[passenger]]\nname = 'p{n}'\ncount = 2\nrows = true\n")).collect();
    let error = Puzzle::parse("sheep.toml", &format!("puzzle = 'river'\n{kinds}[boat]\nseats = 5\n")).err().unwrap();
    assert_eq!(error.line, Some(66), "{error}");
    assert!(error.reason.contains("86093442 positions") && error.reason.contains("17179869184"), "{error}");
}
