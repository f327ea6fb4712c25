//! The moves of a part turned round, and which of its cells are what before the first ply.

use super::ground::Ground;
use super::{End, Explicit, Players};
use crate::{Cell, GameError};

/// What is known of own cells before the first ply.
pub(crate) struct Start {
    /// Own cells that are no positions.
    pub(crate) illegal: Vec<u32>,
    /// Own cells that are ends without a winner.
    pub(crate) drawn: Vec<u32>,
    /// Own cells that are ends with a winner, and whether the side to move is that.
    pub(crate) ends: Vec<(u32, bool)>,
    /// How many moves each own cell has that are not known to lose; empty where there is no enemy.
    pub(crate) open: Vec<u32>,
}

/// Who leads to a cell.
pub(crate) enum Back {
    /// The game tells.
    Told,
    /// Of each known cell the own cells that lead to it, from `starts[id]` to `starts[id + 1]`.
    Turned { starts: Vec<u32>, sources: Vec<u32> },
}

impl Back {
    /// Gives the own cells that lead to a cell to `sink`, once for each move.
    pub(crate) fn each(
        &self,
        table: &dyn Explicit,
        ground: &Ground,
        id: u32,
        found: &mut Vec<Cell>,
        mut sink: impl FnMut(u32),
    ) {
        match self {
            Self::Turned { starts, sources } => {
                let run = starts[id as usize] as usize..starts[id as usize + 1] as usize;
                sources[run].iter().for_each(|&source| sink(source));
            }
            Self::Told => {
                found.clear();
                table.predecessors(ground.cell(id), found);
                let end = ground.own_cells();
                found.iter().filter_map(|&cell| ground.id(cell)).filter(|&id| id < end).for_each(sink);
            }
        }
    }

    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Told => 0,
            Self::Turned { starts, sources } => 4 * (starts.capacity() + sources.capacity()),
        }
    }
}

/// Goes through all own cells.
pub(crate) fn survey(table: &dyn Explicit, ground: &Ground) -> Result<(Start, Back), GameError> {
    let own = ground.own_cells();
    let two = table.players() == Players::Two;
    let open = vec![0; if two { own as usize } else { 0 }];
    let mut start = Start { illegal: Vec::new(), drawn: Vec::new(), ends: Vec::new(), open };
    let told = (0..own).map(|id| ground.cell(id)).find(|&c| table.legal(c));
    let told = told.is_some_and(|cell| table.predecessors(cell, &mut Vec::new()));
    // Moves by where they lead: counted, then put into their places.
    let mut starts = vec![0u32; if told { 0 } else { ground.cells() + 1 }];
    let mut moves: Vec<(u32, u32)> = Vec::new();
    let mut found = Vec::new();
    for place in ground.own_places() {
        for id in place.ids.clone() {
            let cell = Cell { slice: place.slice, index: id - place.ids.start, side: place.side };
            if !table.legal(cell) {
                start.illegal.push(id);
                continue;
            }
            match table.end(cell) {
                Some(End::Drawn) => {
                    start.drawn.push(id);
                    continue;
                }
                Some(end) => {
                    start.ends.push((id, end == End::Won));
                    continue;
                }
                None => {}
            }
            if told && !two {
                continue;
            }
            found.clear();
            table.successors(cell, &mut found);
            for &to in found.iter().filter(|&&to| table.legal(to)) {
                let to = target(table, ground, cell, to)?;
                if two {
                    start.open[id as usize] += 1;
                }
                if !told {
                    starts[to as usize] += 1;
                    moves.push((to, id));
                }
            }
        }
    }
    if told {
        return Ok((start, Back::Told));
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    // Each start is now the end of its run, and moves down to its beginning.
    let mut sources = vec![0; moves.len()];
    while let Some((to, id)) = moves.pop() {
        starts[to as usize] -= 1;
        sources[starts[to as usize] as usize] = id;
    }
    Ok((start, Back::Turned { starts, sources }))
}

/// The number of a cell that a move leads to.
fn target(table: &dyn Explicit, ground: &Ground, from: Cell, to: Cell) -> Result<u32, GameError> {
    let flaw = |what: &str| GameError::Flawed(format!("a move from {} to {} {what}", table.show(from), table.show(to)));
    if table.players() == Players::Two && from.side == to.side {
        return Err(flaw("leaves the same side to move"));
    }
    ground.id(to).ok_or_else(|| flaw("leaves for a slice that is not named as a neighbour, or for none"))
}
