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
}
