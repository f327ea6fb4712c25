//! Counts over one finished slice.

use canju_retro::{Cell, Code, Distance, GameError, LogEntry, Longest, Outcome, Side, Statistics};

use crate::index::Index;
use crate::own::Own;

/// Adds the counts of a slice, symmetric positions counted apart.
pub(crate) fn census(index: &Index, slice: u32, own: &Own, statistics: &mut Statistics) -> Result<(), GameError> {
    let copies = index.attackers.copies;
    let weight = index.weight(slice as usize);
    let words = index.words(slice as usize) as u32;
    for side in Side::BOTH {
        let counts = &mut statistics.sides[side.index()];
        let cells = index.placements(slice as usize);
        let legal = own.legal[side.index()] * weight / copies;
        counts.cells += cells;
        counts.illegal += cells - legal;
        let mut decided = 0;
        let (mut win, mut loss) = (None, None);
        let labels = |(e, _): &(&LogEntry, &u64)| e.side == side && e.code != Code::DRAW;
        for (entry, &labelled) in own.log.entries().iter().zip(&own.counts).filter(labels) {
            let labelled = labelled * weight / copies;
            decided += labelled;
            *counts.histogram.entry(entry.code).or_default() += labelled;
            // Entries come in order of distances: the last one stays.
            match entry.code.outcome() {
                Outcome::Win(distance) => win = Some((entry, distance)),
                Outcome::Loss(distance) => loss = Some((entry, distance)),
                Outcome::Draw => {}
            }
        }
        if legal > decided {
            *counts.histogram.entry(Code::DRAW).or_default() += legal - decided;
        }
        let longest = |found: Option<(&LogEntry, Distance)>| {
            let Some((entry, distance)) = found else { return Ok(None) };
            let frontier = own.log.frontier(entry, words)?;
            Ok(frontier.iter().next().map(|(word, cells)| {
                let place = index.row_bits(cells).trailing_zeros();
                let index = word * index.row() as u32 + place;
                Longest { distance, cell: Cell { slice, index, side } }
            }))
        };
        let longest = [longest(win)?, longest(loss)?];
        let mut one = Statistics::default();
        one.sides[side.index()].longest_win = longest[0];
        one.sides[side.index()].longest_loss = longest[1];
        statistics.merge(&one);
    }
    Ok(())
}
