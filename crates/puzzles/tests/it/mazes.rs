//! Mazes of squares and of regions.

use std::collections::VecDeque;

use canju_puzzles::{Board, Maze, Puzzle, Solution};
use canju_retro::GameError;
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
    assert_eq!(line.len() as u32, solution.steps().unwrap() + 1);
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

/// Blanks at the ends of lines are ways as everywhere else, where the drawing reaches as far.
#[test]
fn blanks_at_ends_of_lines_are_ways() {
    let solved = |text: &str| {
        let puzzle = Puzzle::parse("m", text).unwrap();
        let solution = Solution::of(&puzzle).unwrap();
        (solution.steps(), solution.counts().positions)
    };
    assert_eq!(solved("S     \n      \n     E"), (Some(7), 18));
    assert_eq!(solved("\nS     \n      \n     E\n\n"), (Some(7), 18));
    assert_eq!(solved("S#    \n #    \n     E"), (Some(7), 18));
    assert_eq!(solved("   E\n  # \nS # \n    "), (Some(5), 16));
    // An opening in the right wall.
    assert_eq!(solved("# ###\n#    \n#####"), (Some(4), 15));
    assert_eq!(solved("#####\n#S   \n### #\n#   E\n#####"), (Some(5), 25));
    // Behind and around the walls they are none.
    assert_eq!(solved("#####  \n#S#E#\n# # #   \n#   #\n#####"), (Some(6), 25));
    assert_eq!(solved("    # ###\n    #    \n    #####\n    "), (Some(4), 15));
    assert_eq!(solved("# ###   \n#   #   \n### #   \n        "), (Some(4), 15));
    // What is missing is wall.
    assert_eq!(solved("S\n\n     E").0, None);
    assert_eq!(solved("S....\n####.\nE....").0, Some(10));
    assert_eq!(solved("S    \n#### \nE    "), (Some(10), 15));
}

/// Editors of other systems begin a file with a mark.
#[test]
fn a_mark_of_the_order_of_bytes_is_no_part_of_a_file() {
    for (file, text) in [("m.txt", "#####\n#S E#\n#####\n"), ("m.toml", "puzzle = \"maze\"\ndrawing = \"S.E\"\n")] {
        let marked = Puzzle::parse(file, &format!("\u{feff}{text}")).unwrap();
        let plain = Puzzle::parse(file, text).unwrap();
        assert_eq!((marked.name().unwrap(), Solution::of(&marked).unwrap().steps()), (plain.name().unwrap(), Some(2)));
    }
}

/// The text in a manifest has no file's name to tell what it is.
#[test]
fn toml_is_known_however_its_keys_are_written() {
    for key in ["puzzle", "\"puzzle\"", " 'puzzle' ", "\"\\u0070uzzle\""] {
        let text = format!("{key} = \"maze\"\ndrawing = \"S.E\"\n");
        for file in ["m.toml", "MAZE0123456789", "definition"] {
            assert_eq!(Solution::of(&Puzzle::parse(file, &text).unwrap()).unwrap().steps(), Some(2), "{text}");
        }
    }
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

/// Steps from the exit, by breadth first, by rows.
fn by_breadth(maze: &Maze) -> Vec<Option<u32>> {
    let (width, height) = (maze.width(), maze.height());
    let at = |(row, column): (u32, u32)| (row * width + column) as usize;
    let mut steps = vec![None; (width * height) as usize];
    let exit = maze.square(maze.exit());
    steps[at(exit)] = Some(0);
    let mut queue = VecDeque::from([exit]);
    while let Some((row, column)) = queue.pop_front() {
        let next = steps[at((row, column))].map(|steps| steps + 1);
        for (r, c) in
            [(row.wrapping_sub(1), column), (row + 1, column), (row, column.wrapping_sub(1)), (row, column + 1)]
        {
            if r < height && c < width && maze.is_open(r, c) && steps[at((r, c))].is_none() {
                steps[at((r, c))] = next;
                queue.push_back((r, c));
            }
        }
    }
    steps
}

/// A million squares of which the walls are around those with two odd numbers; `ways` opens some between these.
fn million(ways: impl FnOnce(&mut dyn FnMut([usize; 2], [usize; 2]))) -> String {
    let mut squares = vec![vec![b'#'; 1001]; 1001];
    ways(&mut |[a, b], [c, d]| {
        for (row, column) in [(a, b), (a.midpoint(c), b.midpoint(d)), (c, d)] {
            squares[row][column] = b' ';
        }
    });
    (squares[1][1], squares[999][999]) = (b'S', b'E');
    String::from_utf8(squares.join(&b'\n')).unwrap()
}

/// To and fro over all rows.
fn serpentine() -> String {
    million(|open| {
        for row in (1..1000).step_by(2) {
            (1..999).step_by(2).for_each(|column| open([row, column], [row, column + 2]));
            if row < 999 {
                let turn = if row % 4 == 1 { 999 } else { 1 };
                open([row, turn], [row + 2, turn]);
            }
        }
    })
}

/// Depth first by chance, as mazes are often made: their ways are long.
fn depth_first() -> String {
    million(|open| {
        let mut random = 1u64;
        let mut seen = vec![[false; 1001]; 1001];
        seen[1][1] = true;
        let mut path = vec![[1usize, 1usize]];
        while let Some(&[row, column]) = path.last() {
            let near =
                [[row.wrapping_sub(2), column], [row + 2, column], [row, column.wrapping_sub(2)], [row, column + 2]];
            let free: Vec<[usize; 2]> =
                near.into_iter().filter(|&[r, c]| r < 1000 && c < 1000 && !seen[r][c]).collect();
            if free.is_empty() {
                path.pop();
                continue;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let next = free[(random >> 33) as usize % free.len()];
            open([row, column], next);
            seen[next[0]][next[1]] = true;
            path.push(next);
        }
    })
}

/// A table's plies are numbers of 16 bits, a maze's steps are not.
#[test]
fn ways_longer_than_a_table_tells_are_found() {
    for (text, least) in [(serpentine(), 499_000), (depth_first(), 65_536)] {
        let puzzle = Puzzle::parse("m", &text).unwrap();
        let solution = Solution::of(&puzzle).unwrap();
        let maze = maze_of(&puzzle);
        let steps = by_breadth(maze);
        let all = solution.cells().zip(&steps).all(|(cell, &steps)| solution.steps_from(cell) == steps);
        assert!(all && solution.counts().positions == steps.len() as u64);
        let found = solution.steps().unwrap();
        assert!(found >= least && (least < 100_000 || found == least), "{found}");
        assert_eq!(solution.shortest(), Some(1));
        let line = solution.line(puzzle.start());
        assert_eq!((line.len() as u32, line.last()), (found + 1, Some(&maze.exit())));
        let longest = steps.iter().copied().max().unwrap();
        assert_eq!(solution.longest().map(|(_, steps)| steps), longest);
        let refused = Solution::with_part(&puzzle).err();
        assert!(matches!(refused, Some(GameError::TooLong(text)) if text.contains(&longest.unwrap().to_string())));
    }
}

/// Long passages make a way long where there are few regions.
#[test]
fn long_passages_are_added_up() {
    let text = "puzzle = 'maze'\nentrance = 'a'\nexit = 'c'\n[[region]]\nname = 'a'\nnext = [{ to = 'b', length = 65535 }]\n\
                [[region]]\nname = 'b'\nnext = [{ to = 'c', length = 60000 }]\n[[region]]\nname = 'c'\nnext = []\n";
    let solution = Solution::of(&Puzzle::parse("m.toml", text).unwrap()).unwrap();
    assert_eq!((solution.steps(), solution.shortest()), (Some(125_535), Some(1)));
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
        for (cell, steps) in solution.cells().zip(steps) {
            prop_assert_eq!(solution.steps_from(cell), steps);
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
