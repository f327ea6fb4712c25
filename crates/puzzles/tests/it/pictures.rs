//! Mazes as PNG.

use std::fs;

use canju_puzzles::{Board, Puzzle, PuzzleError, Solution};
use png::{BitDepth, ColorType, Encoder};

/// The picture of a drawing with squares of so many pixels.
fn picture(drawing: &str, size: usize, form: ColorType) -> Vec<u8> {
    let rows: Vec<&str> = drawing.lines().collect();
    let (width, height) = (rows[0].len() * size, rows.len() * size);
    let mut data = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let [r, g, b] = match rows[y / size].as_bytes()[x / size] {
                b'#' => [20, 20, 30],
                b'S' => [0, 200, 0],
                b'E' => [220, 30, 0],
                _ => [250, 250, 240],
            };
            match form {
                ColorType::Grayscale => data.push(r),
                ColorType::Rgba => data.extend([r, g, b, 255]),
                _ => data.extend([r, g, b]),
            }
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(form);
    encoder.set_depth(BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(&data).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Puzzle, PuzzleError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labyrinth.png");
    fs::write(&path, bytes).unwrap();
    Puzzle::read(&path)
}

const MARKED: &str = "#######\n#S  # #\n### # #\n#    E#\n#######";
const AT_THE_EDGE: &str = "#######\nS   # #\n### # #\n#     E\n#######";
const OPEN: &str = "# #####\n#   # #\n### # #\n#     #\n##### #";

#[test]
fn a_picture_is_its_drawing() {
    for (drawing, size, form) in [
        (MARKED, 1, ColorType::Rgb),
        (MARKED, 7, ColorType::Rgb),
        (MARKED, 4, ColorType::Rgba),
        (OPEN, 1, ColorType::Grayscale),
        (OPEN, 10, ColorType::Grayscale),
    ] {
        let puzzle = read(&picture(drawing, size, form)).unwrap();
        assert_eq!(puzzle.title(), "labyrinth");
        let drawn = Puzzle::parse("drawing", drawing).unwrap();
        let (Board::Maze(a), Board::Maze(b)) = (puzzle.board(), drawn.board()) else { panic!() };
        assert_eq!(a, b, "{size}");
        let [a, b] = [&puzzle, &drawn].map(|p| Solution::of(p).unwrap().steps());
        assert!(a == b && a.is_some());
    }
}

/// A drawing with some blanks around it.
fn on_a_page(drawing: &str, blanks: usize) -> String {
    let width = drawing.lines().map(str::len).max().unwrap_or(0) + 2 * blanks;
    let empty = format!("{:width$}\n", "").repeat(blanks);
    let lines: String = drawing.lines().map(|line| format!("{:width$}\n", format!("{:blanks$}{line}", ""))).collect();
    format!("{empty}{lines}{empty}")
}

#[test]
fn the_page_around_a_maze_is_no_part_of_it() {
    for (drawing, size, form) in
        [(MARKED, 5, ColorType::Rgb), (AT_THE_EDGE, 4, ColorType::Rgba), (OPEN, 6, ColorType::Grayscale)]
    {
        let drawn = Puzzle::parse("drawing", drawing).unwrap();
        for blanks in 1..4 {
            let puzzle = read(&picture(&on_a_page(drawing, blanks), size, form)).unwrap();
            let (Board::Maze(a), Board::Maze(b)) = (puzzle.board(), drawn.board()) else { panic!() };
            assert_eq!(a, b, "{blanks}");
        }
    }
    // A page of another size than squares have.
    let mut cut = picture(&on_a_page(OPEN, 10), 1, ColorType::Grayscale);
    assert_eq!(Solution::of(&read(&cut).unwrap()).unwrap().steps(), Some(8));
    cut.truncate(40);
    assert!(read(&cut).is_err());
    // A spot may stand before an opening.
    let before = "  S   \n # ###\n #   #\n ###E#\n #####\n      ";
    assert_eq!(Solution::of(&read(&picture(before, 3, ColorType::Rgb)).unwrap()).unwrap().steps(), Some(5));
    let both = " S   \n# ###\n#   #\n### #\n   E ";
    assert_eq!(Solution::of(&read(&picture(both, 3, ColorType::Rgb)).unwrap()).unwrap().steps(), Some(6));
}

#[test]
fn pictures_that_are_no_mazes_say_why() {
    let says = |bytes: &[u8], word: &str| {
        let error = read(bytes).err().unwrap().to_string();
        assert!(error.contains("labyrinth.png: ") && error.contains(word), "{error}");
    };
    says(b"no picture", "no PNG");
    says(&picture(MARKED, 3, ColorType::Rgb)[..60], "no PNG");
    says(&picture("###\n#.#\n###", 2, ColorType::Rgb), "0 openings");
    says(&picture("#####\n#S..#\n#####", 2, ColorType::Rgb), "without a red exit");
    says(&picture("# # #\n#   #\n### #", 2, ColorType::Rgb), "3 openings");
    says(
        &picture("#####\n#S#S#\n#E  #\n#####", 4, ColorType::Rgb),
        "two green spots, at pixels column 5, row 5 and column 13, row 5",
    );
    says(&picture("#####\n#S E#\n#E  #\n#####", 1, ColorType::Rgb), "two red spots");
    says(&picture("S   E\n# # #\n#   #\n#####", 2, ColorType::Rgb), "a way leads around");
    says(&picture("  S  \n     \n ### \n  E  ", 2, ColorType::Rgb), "a way leads around");
    says(&picture(&on_a_page("# # #\n#S  #\n    #\n#E# #", 2), 2, ColorType::Rgb), "5 openings");
}
