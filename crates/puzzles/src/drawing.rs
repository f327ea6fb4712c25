//! Mazes drawn with characters.

use std::collections::HashSet;

use crate::error::Text;
use crate::margin::{Frame, beside, flood};
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

/// A row and a column.
type Place = (usize, usize);
/// A mark, its square, and its line.
type Marked = (char, Place, usize);

/// Reads a drawing: `#` is wall, a space or a dot is none, two other characters mark entrance and exit. Without marks these
/// are two openings in the outer wall. Short lines are filled up with wall.
pub(crate) fn parse(source: Text, marks: &Marks) -> Result<Maze, PuzzleError> {
    let lines: Vec<&str> = source.text.lines().collect();
    let empty = |lines: &[&str]| lines.iter().take_while(|line| line.is_empty()).count();
    let skipped = empty(&lines);
    let reversed: Vec<&str> = lines[skipped..].iter().rev().copied().collect();
    let lines = &lines[skipped..lines.len() - empty(&reversed)];
    let first = skipped + 1;
    let (height, width) = (lines.len(), lines.iter().map(|line| line.chars().count()).max().unwrap_or(0));
    if width.saturating_mul(height) > MOST_SQUARES {
        let reason = format!("{width} times {height} squares: a maze has at most {MOST_SQUARES}");
        return Err(source.on(first, reason));
    }
    let mut open = vec![false; width * height];
    let mut marked: Vec<Marked> = Vec::new();
    let mut drawn = None;
    for (row, line) in lines.iter().enumerate() {
        let number = first + row;
        for (column, letter) in line.chars().enumerate() {
            let square = Frame { rows: row..row + 1, columns: column..column + 1 };
            open[row * width + column] = letter != '#';
            match letter {
                ' ' => continue,
                '#' | '.' => {}
                '\t' => return Err(source.on(number, "a tab: draw with spaces")),
                letter => mark(source, &mut marked, (letter, (row, column), number))?,
            }
            drawn = Some(drawn.map_or(square.clone(), |drawn: Frame| drawn.and(&square)));
        }
    }
    let Some(drawn) = drawn else {
        return Err(source.on(1, "there is no drawing in it: draw walls as #, and mark entrance and exit"));
    };
    let (entrance, exit) = match marked[..] {
        [] => {
            let open = drawn.cut(width, &open);
            let ends =
                openings(drawn.columns.len(), &open).map_err(|reason| source.on(first + drawn.rows.start, reason))?;
            return Ok(Maze::new(drawn.columns.len() as u32, open, ends.0 as u32, ends.1 as u32));
        }
        [a, b] => ordered(source, marks, a, b)?,
        [(mark, _, line), ..] => {
            return Err(source.on(line, format!("only {mark:?} is marked: mark entrance and exit")));
        }
    };
    // Blanks around an outer wall are outside, as editors leave them there; where there is none they are ways.
    let [walls, ways] =
        [false, true].map(|way| drawn.runs(|(row, column)| open[row * width + column] == way).concat().len());
    let frame = if walls >= ways { drawn } else { Frame::whole(width, height) };
    if let Some(row) = joined(width, &open, &frame) {
        let reason = "it is not clear whether the blanks around the walls are ways from one opening to another: draw dots if \
                      they are, and cut them off if not";
        return Err(source.on(first + row, reason));
    }
    let at = |(row, column): Place| {
        (row - frame.rows.start) as u32 * frame.columns.len() as u32 + (column - frame.columns.start) as u32
    };
    Ok(Maze::new(frame.columns.len() as u32, frame.cut(width, &open), at(entrance), at(exit)))
}

/// Adds a mark.
fn mark(source: Text, marked: &mut Vec<Marked>, mark: Marked) -> Result<(), PuzzleError> {
    let (letter, _, line) = mark;
    if let Some(&(_, _, before)) = marked.iter().find(|&&(other, _, _)| other == letter) {
        let reason = format!("{letter:?} marks a square on line {before} already; draw walls as #");
        return Err(source.on(line, reason));
    }
    if let [(a, _, _), (b, _, _)] = marked[..] {
        let reason = format!("{letter:?} is a third mark, after {a:?} and {b:?}; draw walls as # and ways as spaces");
        return Err(source.on(line, reason));
    }
    marked.push(mark);
    Ok(())
}

/// The row of a way around a frame between squares of it that are not side by side at its edge: only such a way can be of use.
fn joined(width: usize, open: &[bool], frame: &Frame) -> Option<usize> {
    let place = |at: usize| (at / width, at % width);
    let outside = |at: usize| open[at] && !frame.has(place(at));
    let mut seen = vec![false; open.len()];
    (0..open.len()).find_map(|start| {
        let around = flood(width, start, false, &mut seen, outside);
        let edge: HashSet<Place> = around
            .iter()
            .flat_map(|&at| beside(width, open.len(), at, false))
            .filter(|&at| open[at] && !outside(at))
            .map(place)
            .collect();
        (edge.len() > 1 && frame.runs(|square| edge.contains(&square)).len() > 1).then(|| place(around[0]).0)
    })
}

/// Which of two marks is the entrance: the one that is told, else an S, else the one that stands first.
fn ordered(source: Text, marks: &Marks, first: Marked, second: Marked) -> Result<(Place, Place), PuzzleError> {
    for told in [marks.entrance, marks.exit].into_iter().flatten() {
        if told != first.0 && told != second.0 {
            let reason =
                format!("{told:?} is not in the drawing, which has the marks {:?} and {:?}", first.0, second.0);
            return Err(source.on(first.2, reason));
        }
    }
    let swap = match (marks.entrance, marks.exit) {
        (Some(entrance), Some(exit)) if entrance == exit => {
            return Err(source.on(first.2, format!("{entrance:?} is to be both entrance and exit")));
        }
        (Some(entrance), _) => entrance == second.0,
        (None, Some(exit)) => exit == first.0,
        (None, None) => ENTRANCES.contains(&second.0) && !ENTRANCES.contains(&first.0),
    };
    Ok(if swap { (second.1, first.1) } else { (first.1, second.1) })
}

/// The middle squares of the two openings in the outer wall, the one that is read first before the other.
pub(crate) fn openings(width: usize, open: &[bool]) -> Result<(usize, usize), String> {
    let number = |&(row, column): &Place| row * width + column;
    let outer = Frame::whole(width, open.len() / width.max(1));
    let mut runs = outer.runs(|square| open[number(&square)]);
    if outer.runs(|square| !open[number(&square)]).is_empty() {
        return Err("it has no outer wall".to_owned());
    }
    runs.sort_by_key(|run| number(&run[run.len() / 2]));
    match &runs[..] {
        [a, b] => Ok((number(&a[a.len() / 2]), number(&b[b.len() / 2]))),
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
