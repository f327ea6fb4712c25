//! Moves tried one by one on a board, where words do not tell whether they chase.

use canju_retro::{Cell, Side};
use canju_xiangqi::{Color, Position, Square};

use crate::geometry::members;
use crate::index::Index;
use crate::moves::End;
use crate::victims::Victims;
use crate::view::View;
use crate::word::mirror_square;

/// A board for the cells of one slice.
pub(crate) struct Trial<'s, 'v> {
    view: &'s View<'v>,
    victims: &'s Victims,
    board: Position,
}

impl<'s, 'v> Trial<'s, 'v> {
    /// `victims` are the hunted's.
    pub fn new(view: &'s View<'v>, victims: &'s Victims) -> Self {
        Self { view, victims, board: Position::empty(Color::Red) }
    }

    /// Of cells of the hunter, those in which some move that does not lose does not chase the piece of a plane.
    pub fn not_chasing(&mut self, plane: usize, word: usize, cells: u128) -> u128 {
        members(cells).filter(|&bit| !self.chases(plane, word, bit)).fold(0, |set, bit| set | 1 << bit)
    }

    fn chases(&mut self, plane: usize, word: usize, bit: usize) -> bool {
        let view = self.view;
        if !set_up(view.index, view.slice, word, bit, view.hunter(), &mut self.board) {
            return false;
        }
        let board = &self.board;
        let victim = self.victims.square_at(view.index, plane, view.slice, word, bit as u8);
        let victim = Square::at(victim % 9, victim / 9);
        board.legal_moves().iter().filter(|m| !board.is_capture(**m)).all(|&chosen| {
            // What moves on the bit axis stays in its word.
            let here = || (End { slice: view.slice, word, mirrored: false }, chosen.to.index() as u8);
            let on_axis = chosen.from.index() == bit;
            let end = if on_axis { Some(here()) } else { find(view.index, &board.play(chosen)) };
            // A move that loses needs not chase.
            let lost = end.is_some_and(|(end, bit)| view.unwon(end.slice, end.word) >> bit & 1 == 0);
            lost || board.chases_at(chosen, victim)
        })
    }

    /// Whether the hunted has a move into a set, by plane and end, that neither checks nor chases.
    pub fn has_free_move(&mut self, plane: usize, word: usize, bit: usize, set: impl Fn(usize, End) -> u128) -> bool {
        let view = self.view;
        let index = view.index;
        if !set_up(index, view.slice, word, bit, view.hunted, &mut self.board) {
            return false;
        }
        let (board, victims) = (&self.board, self.victims);
        let stands = victims.square_at(index, plane, view.slice, word, bit as u8);
        board.legal_moves().iter().filter(|m| !board.is_capture(**m)).any(|&chosen| {
            let after = board.play(chosen);
            let Some((end, bit)) = find(index, &after) else { return false };
            let goes_on = if usize::from(stands) == chosen.from.index() { chosen.to.index() as u8 } else { stands };
            let goes_on = if end.mirrored { mirror_square(goes_on) } else { goes_on };
            let plane = victims.plane_at(index, victims.role(plane), goes_on, end.slice, end.word, bit);
            plane.is_some_and(|plane| set(plane, end) >> bit & 1 == 1) && board.is_free(chosen)
        })
    }
}

/// Puts a cell's pieces on the board.
fn set_up(index: &Index, slice: usize, word: usize, bit: usize, side: Side, board: &mut Position) -> bool {
    let Ok(row) = index.axis_squares().binary_search(&(bit as u8)) else { return false };
    let cell = Cell { slice: slice as u32, index: (word * index.row() + row) as u32, side };
    index.set_up(cell, board)
}

/// The word and the bit of a position.
fn find(index: &Index, position: &Position) -> Option<(End, u8)> {
    let (cell, mirrored) = index.placed(position, false)?;
    let (word, row) = (cell.index as usize / index.row(), cell.index as usize % index.row());
    Some((End { slice: cell.slice as usize, word, mirrored }, index.axis_squares()[row]))
}
