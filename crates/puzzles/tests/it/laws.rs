//! What must hold for every puzzle that users are shown: moves and positions go together, and every label follows from its moves.

use std::fs;
use std::sync::Arc;

use canju_puzzles::{Puzzle, Solution};
use canju_retro::{Game, MemoryTables, Metric, Rules, audit, examine, solve};

use crate::examples;

fn all() -> Vec<Puzzle> {
    let mut files: Vec<_> = fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10);
    files.iter().map(|path| Puzzle::read(path).unwrap()).collect()
}

#[test]
fn moves_and_positions_go_together() {
    for puzzle in all() {
        examine(puzzle.table().as_ref()).unwrap_or_else(|flaw| panic!("{}: {flaw}", puzzle.title()));
    }
}

#[test]
fn every_label_follows_from_its_moves() {
    for puzzle in all() {
        let (game, name) = (puzzle.game().unwrap(), puzzle.name().unwrap());
        let solution = Solution::of(&puzzle).unwrap();
        let found = audit(puzzle.table().as_ref(), Metric::Dtm, &|cell| solution.value(cell).unwrap());
        assert_eq!((found.wrong, found.checked), (0, solution.counts().legal), "{}", puzzle.title());
        // The solver of tables finds the same.
        let (tabled, _) = Solution::with_part(&puzzle).unwrap();
        assert_eq!(tabled.counts(), solution.counts());
        assert!(solution.cells().all(|cell| tabled.value(cell) == solution.value(cell)), "{}", puzzle.title());
        // A finished table tells the same as what was solved.
        let tables = MemoryTables::new();
        let solved = solve(&game, &name, Metric::Dtm, Rules::Plain, Arc::new(MemoryTables::new())).unwrap();
        tables.insert(&game, &name, Metric::Dtm, &solved).unwrap();
        let read = Solution::read(&puzzle, &tables).unwrap();
        assert_eq!(read.counts(), solution.counts());
        assert!(read.cells().all(|cell| read.value(cell) == solution.value(cell)));
    }
}

#[test]
fn tables_are_cut_even_where_they_are_small() {
    for puzzle in all() {
        let shape = puzzle.game().unwrap().shape(&puzzle.name().unwrap()).unwrap();
        assert!(shape.runs.len() >= 3, "{}: {}", puzzle.title(), shape.runs.len());
    }
}

/// What a puzzle is, is in its definition, and its name tells definitions apart.
#[test]
fn a_definition_is_the_puzzle() {
    let puzzles = all();
    let mut names: Vec<_> = puzzles.iter().map(|p| p.name().unwrap()).collect();
    for puzzle in &puzzles {
        let again = Puzzle::parse("definition", puzzle.definition()).unwrap();
        assert_eq!(again.name().unwrap(), puzzle.name().unwrap());
        assert_eq!(again.start(), puzzle.start());
        let crlf = Puzzle::parse("definition", &puzzle.definition().replace('\n', "\r\n")).unwrap();
        assert_eq!(crlf.name().unwrap(), puzzle.name().unwrap());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), puzzles.len());
}

#[test]
fn pictures_are_xml_that_ends() {
    for puzzle in all() {
        let svg = Solution::of(&puzzle).unwrap().svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{}", puzzle.title());
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert!(!svg.contains("NaN"));
    }
}
