//! Cat and mouse: what is known of the author's lost picture, and the example.

use canju_puzzles::{Board, Puzzle, Solution};
use canju_retro::{Cell, Outcome, Side};

use crate::{example, solved};

fn longest(solution: &Solution) -> u32 {
    solution.longest().unwrap().1
}

#[test]
fn number_45_is_cat_2_mouse_3_mouse_to_move() {
    let puzzle = example("chase.toml");
    assert_eq!(puzzle.table().show(puzzle.start()), "2-3-mouse");
    assert_eq!(puzzle.number(puzzle.start()), 45);
    let solution = Solution::of(&puzzle).unwrap();
    let numbers: Vec<u64> = solution.cells().map(|cell| puzzle.number(cell)).collect();
    assert!(numbers.into_iter().eq(1..=72));
}

#[test]
fn the_mouse_is_safe_by_the_sanctuary() {
    let solution = solved("chase.toml");
    assert_eq!(solution.value(solution.puzzle().start()), Some(Outcome::Draw));
    assert_eq!(longest(&solution), 3);
    let safe = solution.best(solution.puzzle().start());
    assert!(!safe.is_empty() && safe.iter().all(|&to| solution.value(to) == Some(Outcome::Draw)));
    // The cat never stands on node 1.
    assert_eq!(solution.counts().positions - solution.counts().legal, 2 * 6);
}

#[test]
fn without_a_sanctuary_or_with_a_truce_it_is_caught_in_8_plies() {
    for name in ["chase-open.toml", "chase-shared.toml"] {
        let solution = solved(name);
        let puzzle = solution.puzzle();
        assert_eq!(solution.steps(), Some(8), "{name}");
        let line = solution.line(puzzle.start());
        assert_eq!(line.len(), 9);
        let Board::Chase(chase) = puzzle.board() else { panic!() };
        let [cat, mouse] = chase.places(line[8]);
        assert_eq!((cat, line[8].side), (mouse, Side::Second), "the cat has moved onto the mouse");
        assert!(puzzle.step(line[0], line[1]).starts_with("the mouse to "));
    }
    let truce = Cell { slice: 0, index: 0, side: Side::Second };
    assert!(!matches!(solved("chase-shared.toml").steps_from(truce), Some(0)));
    assert_eq!(solved("chase-open.toml").steps_from(truce), Some(0));
}

#[test]
fn nodes_that_are_numbers_need_no_quotes() {
    let text = |one: &str, two: &str| {
        let edges = r#"edges = ["1-2", "2-3", "3-1"]"#;
        let text =
            format!("puzzle = 'chase'\n{edges}\ncat = {one}\nmouse = {two}\nfirst = 'cat'\nsanctuary = [{two}]\n");
        let puzzle = Puzzle::parse("m.toml", &text).unwrap();
        (puzzle.start(), Solution::of(&puzzle).unwrap().counts())
    };
    assert_eq!(text("1", "3"), text("'1'", "'3'"));
}
