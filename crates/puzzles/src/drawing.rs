//! Mazes drawn with characters.

use crate::error::Text;
use crate::maze::MOST_SQUARES;
use crate::{Maze, PuzzleError};

/// Which marks of a drawing are what, where it is told.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) entrance: Option<char>,
    pub(crate) exit: Option<char>,
}

/// Marks that are entrances wherever they stand.
const ENTRANCES: [char; 2] = ['S', 's'];

/// Reads a drawing: `#` is wall, a space or a dot is none, two other characters mark entrance and exit. Without marks these
/// are two openings in the outer wall. Short lines are filled up with wall.
pub(crate) fn parse(source: Text, marks: &Marks) -> Result<Maze, PuzzleError> {
    let lines: Vec<&str> = source.text.lines().map(str::trim_end).collect();
    let blank = |line: &&str| line.is_empty();
    let skipped = lines.iter().take_while(|l| blank(l)).count();
    let height = lines.len() - skipped - lines[skipped..].iter().rev().take_while(|l| blank(l)).count();
    let lines = &lines[skipped..skipped + height];
    // Behind the last wall of a line nothing is lost: what editors cut off there is outside.
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    if width == 0 {
        return Err(source.whole("there is no drawing in it: draw walls as #, and mark entrance and exit"));
    }
    if width * height > MOST_SQUARES {
        return Err(source.whole(format!("{width} times {height} squares: a maze has at most {MOST_SQUARES}")));
    }
    let mut open = vec![false; width * height];
    let mut marked: Vec<(char, usize, usize)> = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        let number = skipped + row + 1;
        for (column, letter) in line.chars().enumerate() {
            let at = row * width + column;
            match letter {
                '#' => continue,
                ' ' | '.' => {}
                '\t' => return Err(source.on(number, "a tab: draw with spaces")),
                letter => {
                    if let Some(&(_, _, before)) = marked.iter().find(|&&(mark, _, _)| mark == letter) {
                        let reason = format!("{letter:?} marks a square on line {before} already; draw walls as #");
                        return Err(source.on(number, reason));
                    }
                    if marked.len() == 2 {
                        let reason = format!(
                            "{letter:?} is a third mark, after {:?} and {:?}; draw walls as # and ways as spaces",
                            marked[0].0, marked[1].0
                        );
                        return Err(source.on(number, reason));
                    }
                    marked.push((letter, at, number));
                }
            }
            open[at] = true;
        }
    }
    let (entrance, exit) = match marked[..] {
        [] => openings(width, &open).map_err(|reason| source.whole(reason))?,
        [first, second] => ordered(source, marks, first, second)?,
        [(mark, _, line), ..] => {
            return Err(source.on(line, format!("only {mark:?} is marked: mark entrance and exit")));
        }
    };
    Ok(Maze::new(width as u32, open, entrance as u32, exit as u32))
}

/// Which of two marks is the entrance: the one that is told, else an S, else the one that stands first.
fn ordered(
    source: Text,
    marks: &Marks,
    first: (char, usize, usize),
    second: (char, usize, usize),
) -> Result<(usize, usize), PuzzleError> {
    for told in [marks.entrance, marks.exit].into_iter().flatten() {
        if told != first.0 && told != second.0 {
            let reason =
                format!("{told:?} is not in the drawing, which has the marks {:?} and {:?}", first.0, second.0);
            return Err(source.whole(reason));
        }
    }
    let swap = match (marks.entrance, marks.exit) {
        (Some(entrance), Some(exit)) if entrance == exit => {
            return Err(source.whole(format!("{entrance:?} is to be both entrance and exit")));
        }
        (Some(entrance), _) => entrance == second.0,
        (None, Some(exit)) => exit == first.0,
        (None, None) => ENTRANCES.contains(&second.0) && !ENTRANCES.contains(&first.0),
    };
    Ok(if swap { (second.1, first.1) } else { (first.1, second.1) })
}

/// The middle squares of the two openings in the outer wall, the one that is read first before the other.
pub(crate) fn openings(width: usize, open: &[bool]) -> Result<(usize, usize), String> {
    let height = open.len() / width.max(1);
    // The outer squares, all around, beginning at the top left.
    let mut around: Vec<usize> = (0..width).collect();
    around.extend((1..height).map(|row| row * width + width - 1));
    if height > 1 {
        around.extend((0..width - 1).rev().map(|column| (height - 1) * width + column));
    }
    if width > 1 {
        around.extend((1..height.saturating_sub(1)).rev().map(|row| row * width));
    }
    let first_wall = around.iter().position(|&at| !open[at]).ok_or("it has no outer wall")?;
    around.rotate_left(first_wall);
    let mut runs: Vec<&[usize]> = around.split(|&at| !open[at]).filter(|run| !run.is_empty()).collect();
    runs.sort_by_key(|run| run[run.len() / 2]);
    match runs[..] {
        [a, b] => Ok((a[a.len() / 2], b[b.len() / 2])),
        _ => Err(format!(
            "entrance and exit are not marked, and the outer wall has {} opening{} where two are needed",
            runs.len(),
            if runs.len() == 1 { "" } else { "s" }
        )),
    }
}

/// The drawing of a maze.
pub(crate) fn draw(maze: &Maze) -> String {
    let (entrance, exit) = (maze.square(maze.entrance()), maze.square(maze.exit()));
    let mut text = String::new();
    for row in 0..maze.height() {
        for column in 0..maze.width() {
            text.push(match (row, column) {
                at if at == entrance => 'S',
                at if at == exit => 'E',
                _ if maze.is_open(row, column) => '.',
                _ => '#',
            });
        }
        text.push('\n');
    }
    text
}
