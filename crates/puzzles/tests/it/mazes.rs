//! Mazes of squares and of regions.

use std::collections::{BTreeMap, VecDeque};

use canju_puzzles::{Board, Maze, Puzzle, Solution};
use canju_retro::Explicit;
use proptest::prelude::*;

use crate::solved;

fn maze_of(puzzle: &Puzzle) -> &Maze {
    match puzzle.board() {
        Board::Maze(maze) => maze,
        _ => panic!("it is no maze of squares"),
    }
}

#[test]
fn the_example_is_solved() {
    let solution = solved("maze.txt");
    let line = solution.line(solution.puzzle().start());
    assert_eq!(line.len(), usize::from(solution.steps().unwrap()) + 1);
    let maze = maze_of(solution.puzzle());
    assert_eq!((line[0], *line.last().unwrap()), (maze.entrance(), maze.exit()));
    assert!(solution.svg().contains("<polyline"));
}

/// The exit has label 1 in the author's convention, and labels fall by one along the way.
#[test]
fn labels_are_one_more_than_steps() {
    let puzzle = Puzzle::parse("m", "####\n#S.#\n##E#\n####").unwrap();
    let solution = Solution::of(&puzzle).unwrap();
    assert_eq!((solution.steps(), solution.shortest()), (Some(2), Some(1)));
    for label in ["1", "2", "3"] {
        assert!(solution.svg().contains(&format!(">{label}</text>")), "{label}");
    }
    assert!(!solution.svg().contains(">4</text>"));
}

#[test]
fn marks_are_told_or_found() {
    let ends = |text: &str| {
        let puzzle = Puzzle::parse("m", text).unwrap();
        let maze = maze_of(&puzzle);
        (maze.square(maze.entrance()), maze.square(maze.exit()))
    };
    assert_eq!(ends("#####\n#E.S#\n#####"), ((1, 3), (1, 1)));
    assert_eq!(ends("#####\n#B.A#\n#####"), ((1, 1), (1, 3)));
    assert_eq!(ends("# ###\n#   #\n### #"), ((0, 1), (2, 3)));
    assert_eq!(ends("#   ##\n#    #\n#  #..\n######"), ((0, 2), (2, 5)));
    let toml = |entrance: &str, exit: &str| {
        ends(&format!("puzzle = \"maze\"\n{entrance}\n{exit}\ndrawing = '''\n#####\n#1.2#\n#####\n'''\n"))
    };
    assert_eq!(toml("", ""), ((1, 1), (1, 3)));
    assert_eq!(toml("entrance = \"2\"", ""), ((1, 3), (1, 1)));
    assert_eq!(toml("", "exit = \"1\""), ((1, 3), (1, 1)));
}

#[test]
fn a_maze_without_a_way_says_so() {
    let puzzle = Puzzle::parse("m", "#####\n#S#E#\n#####").unwrap();
    let solution = Solution::of(&puzzle).unwrap();
    assert_eq!((solution.steps(), solution.counts().legal, solution.counts().decided), (None, 2, 1));
}

#[test]
fn regions_count_or_measure() {
    let castle = solved("castle.toml");
    // Gate, yard, hall, then over kitchen and cellar or over gallery and tower.
    assert_eq!((castle.steps(), castle.shortest()), (Some(5), Some(2)));
    let roads = solved("roads.toml");
    let Board::Regions(regions) = roads.puzzle().board() else { panic!() };
    assert!(regions.is_measured());
    // Three and four and two; by the ford it would be eleven.
    assert_eq!((roads.steps(), roads.shortest()), (Some(9), Some(1)));
    let line = roads.line(roads.puzzle().start());
    let named: Vec<&str> = line.iter().filter_map(|&cell| regions.name(cell)).collect();
    assert_eq!(named, ["inn", "bridge", "chapel", "mill"]);
}

/// Steps from the exit, by breadth first.
fn by_breadth(maze: &Maze) -> BTreeMap<(u32, u32), u16> {
    let exit = maze.square(maze.exit());
    let mut steps = BTreeMap::from([(exit, 0)]);
    let mut queue = VecDeque::from([exit]);
    while let Some((row, column)) = queue.pop_front() {
        let next = steps[&(row, column)] + 1;
        for (r, c) in
            [(row.wrapping_sub(1), column), (row + 1, column), (row, column.wrapping_sub(1)), (row, column + 1)]
        {
            if r < maze.height() && c < maze.width() && maze.is_open(r, c) && !steps.contains_key(&(r, c)) {
                steps.insert((r, c), next);
                queue.push_back((r, c));
            }
        }
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn any_drawing_is_solved_as_by_breadth(
        width in 2usize..30,
        walls in proptest::collection::vec(0u8..3, 2..400),
        (entrance, exit) in (any::<usize>(), any::<usize>()),
    ) {
        let height = walls.len() / width;
        prop_assume!(height > 0);
        let squares = width * height;
        let (entrance, exit) = (entrance % squares, exit % squares);
        prop_assume!(entrance != exit);
        let mut text = String::new();
        for (at, wall) in walls.iter().enumerate().take(squares) {
            text.push(match at {
                _ if at == entrance => 'S',
                _ if at == exit => 'E',
                _ if *wall == 0 => '#',
                _ => '.',
            });
            if at % width == width - 1 {
                text.push('\n');
            }
        }
        let puzzle = Puzzle::parse("m", &text).unwrap();
        let solution = Solution::of(&puzzle).unwrap();
        let maze = maze_of(&puzzle);
        let steps = by_breadth(maze);
        for cell in solution.cells().into_iter().filter(|&c| maze.legal(c)) {
            prop_assert_eq!(solution.steps_from(cell), steps.get(&maze.square(cell)).copied());
        }
        // Ways counted one by one.
        fn ways(solution: &Solution, cell: canju_retro::Cell) -> u128 {
            if solution.steps_from(cell) == Some(0) { return 1; }
            solution.best(cell).into_iter().map(|to| ways(solution, to)).sum()
        }
        if solution.steps().is_none_or(|n| n < 16) {
            prop_assert_eq!(solution.shortest(), Some(ways(&solution, puzzle.start())));
        }
    }
}
