//! The cells that a part knows, own ones and those of neighbours, numbered through.

use std::ops::Range;

use super::{Explicit, shape, sides};
use crate::{Cell, GameError, PartSpec, Side, SliceShape};

/// Cells of a word of a frontier.
pub(crate) const WORD: u32 = 128;

/// The cells of one slice for one side to move.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) slice: u32,
    pub(crate) side: Side,
    /// The numbers of its cells.
    pub(crate) ids: Range<u32>,
}

/// The cells that a part knows. Own ones come first.
pub(crate) struct Ground {
    pub(crate) slices: Vec<SliceShape>,
    sides: usize,
    /// Own slices, ascending.
    pub(crate) own: Vec<u32>,
    /// All places, by their numbers: own slices, then the others, each with the sides that move.
    places: Vec<Place>,
    /// The first place of each slice that is known.
    first: Vec<Option<u32>>,
    /// The numbers of the cells of each slice for each side that moves; none where it is not known.
    ids: Vec<Range<u32>>,
}

impl Ground {
    pub(crate) fn new(table: &dyn Explicit, spec: &PartSpec) -> Result<Self, GameError> {
        let shape = shape(table);
        let sides = sides(table);
        let absent = spec.slices.iter().find(|&&s| s as usize >= shape.slices.len());
        if let Some(slice) = absent {
            return Err(GameError::OutOfTurn(format!("{} has no slice {slice}", spec.table)));
        }
        let mut known = spec.slices.clone();
        let mut near: Vec<u32> =
            spec.slices.iter().flat_map(|&s| &shape.slices[s as usize].neighbours).copied().collect();
        near.sort_unstable();
        near.dedup();
        near.retain(|s| spec.slices.binary_search(s).is_err());
        known.extend(near);
        let mut first = vec![None; shape.slices.len()];
        let mut ids = vec![0..0; shape.slices.len() * sides.len()];
        let mut places = Vec::new();
        let mut next = 0u32;
        for slice in known {
            let cells = shape.slices[slice as usize].cells;
            first[slice as usize] = Some(places.len() as u32);
            for &side in sides {
                let end = next.checked_add(cells).ok_or_else(|| GameError::TooLarge {
                    table: spec.table.clone(),
                    reason: format!("a part of more than {} cells", u32::MAX),
                })?;
                places.push(Place { slice, side, ids: next..end });
                ids[slice as usize * sides.len() + side.index()] = next..end;
                next = end;
            }
        }
        Ok(Self { slices: shape.slices, sides: sides.len(), own: spec.slices.clone(), places, first, ids })
    }

    /// How many cells are known.
    pub(crate) fn cells(&self) -> usize {
        self.places.last().map_or(0, |p| p.ids.end as usize)
    }

    /// The places of own slices.
    pub(crate) fn own_places(&self) -> &[Place] {
        &self.places[..self.own.len() * self.sides]
    }

    /// How many cells are own ones: their numbers come first.
    pub(crate) fn own_cells(&self) -> u32 {
        self.own_places().last().map_or(0, |p| p.ids.end)
    }

    /// A place, if it is known.
    pub(crate) fn place(&self, slice: u32, side: Side) -> Option<&Place> {
        let first = (*self.first.get(slice as usize)?)? as usize;
        (side.index() < self.sides).then(|| &self.places[first + side.index()])
    }

    /// The place of an own slice among own slices.
    pub(crate) fn position(&self, slice: u32) -> Option<usize> {
        self.own.binary_search(&slice).ok()
    }

    /// The number of a cell, if it is known.
    pub(crate) fn id(&self, cell: Cell) -> Option<u32> {
        let ids = self.ids.get(cell.slice as usize * self.sides + cell.side.index())?;
        (cell.side.index() < self.sides && cell.index < ids.end - ids.start).then(|| ids.start + cell.index)
    }

    /// The place of a number.
    pub(crate) fn place_of(&self, id: u32) -> &Place {
        &self.places[self.places.partition_point(|p| p.ids.end <= id)]
    }

    /// The cell of a number.
    pub(crate) fn cell(&self, id: u32) -> Cell {
        let place = self.place_of(id);
        Cell { slice: place.slice, index: id - place.ids.start, side: place.side }
    }

    /// The words of a slice in frontiers, or `None` where there is no such slice.
    pub(crate) fn words(&self, slice: u32) -> Option<u32> {
        self.slices.get(slice as usize).map(|s| s.cells.div_ceil(WORD))
    }
}
