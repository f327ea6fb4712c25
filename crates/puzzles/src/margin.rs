//! What lies around the walls of a maze: blanks behind the lines of a drawing, the white of a picture's page.

use std::ops::Range;

/// Some rows and columns of a rectangle of squares, at least one of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

impl Frame {
    pub(crate) fn whole(width: usize, height: usize) -> Self {
        Self { rows: 0..height, columns: 0..width }
    }

    /// The least frame with some squares, which are told by row and column.
    pub(crate) fn around(squares: impl IntoIterator<Item = (usize, usize)>) -> Option<Self> {
        let one = |(row, column)| Self { rows: row..row + 1, columns: column..column + 1 };
        squares.into_iter().map(one).reduce(|frame, square| frame.and(&square))
    }

    /// The least frame that has two others in it.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let hull = |a: &Range<usize>, b: &Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        Self { rows: hull(&self.rows, &other.rows), columns: hull(&self.columns, &other.columns) }
    }

    pub(crate) fn has(&self, (row, column): (usize, usize)) -> bool {
        self.rows.contains(&row) && self.columns.contains(&column)
    }

    /// The squares of a rectangle that are in the frame.
    pub(crate) fn cut<T: Copy>(&self, width: usize, squares: &[T]) -> Vec<T> {
        let row = |row: usize| &squares[row * width..][self.columns.clone()];
        self.rows.clone().flat_map(row).copied().collect()
    }

    /// The outer squares that are as wanted, those side by side together, in the order of a walk around from the top left.
    pub(crate) fn runs(&self, wanted: impl Fn((usize, usize)) -> bool) -> Vec<Vec<(usize, usize)>> {
        let (Range { start: top, end: bottom }, Range { start: left, end: right }) =
            (self.rows.clone(), self.columns.clone());
        let mut around: Vec<(usize, usize)> = (left..right).map(|column| (top, column)).collect();
        around.extend((top + 1..bottom).map(|row| (row, right - 1)));
        if bottom - top > 1 && right - left > 1 {
            around.extend((left..right - 1).rev().map(|column| (bottom - 1, column)));
            around.extend((top + 1..bottom - 1).rev().map(|row| (row, left)));
            // A run may go over the corner where the walk began.
            let begin = around.iter().position(|&at| !wanted(at)).unwrap_or(0);
            around.rotate_left(begin);
        }
        around.split(|&at| !wanted(at)).filter(|run| !run.is_empty()).map(<[_]>::to_vec).collect()
    }
}

/// The squares beside one, and at its corners too.
pub(crate) fn beside(width: usize, squares: usize, at: usize, corners: bool) -> impl Iterator<Item = usize> {
    let (row, column, height) = (at / width, at % width, squares / width);
    let rows = row.saturating_sub(1)..height.min(row + 2);
    let columns = column.saturating_sub(1)..width.min(column + 2);
    let all = rows.flat_map(move |r| columns.clone().map(move |c| (r, c)));
    all.filter(move |&(r, c)| if r == row { c != column } else { corners || c == column })
        .map(move |(r, c)| r * width + c)
}

/// The squares that are reached from one by going from each to those [`beside`] it, as long as they are wanted. They are
/// `seen` then, and what is so already is not wanted.
pub(crate) fn flood(
    width: usize,
    start: usize,
    corners: bool,
    seen: &mut [bool],
    wanted: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let (mut reached, mut next) = (Vec::new(), 0);
    if !seen[start] && wanted(start) {
        seen[start] = true;
        reached.push(start);
    }
    while let Some(&at) = reached.get(next) {
        next += 1;
        for to in beside(width, seen.len(), at, corners) {
            if !seen[to] && wanted(to) {
                seen[to] = true;
                reached.push(to);
            }
        }
    }
    reached
}
