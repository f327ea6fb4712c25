//! From a slice's log to the cells of its table.

use canju_retro::{Code, FrontierLog, GameError, LogEntry, Metric, Side, SliceCodes};

use crate::index::Index;

/// The cells of a slice for one side to move. `unwon` are its legal cells that are not won.
///
/// Cells that are no legal position repeat the cell above them in the row before, which costs next to nothing in a
/// compressed table.
pub(crate) fn finished_cells(
    index: &Index,
    unwon: &[u128],
    log: &FrontierLog,
    side: Side,
    metric: Metric,
) -> Result<SliceCodes, GameError> {
    // What the rules of repetition needed to be worked out is no label.
    let labels = |e: &&LogEntry| e.side == side && e.code != Code::DRAW;
    let entries: Vec<_> = log.entries().iter().filter(labels).collect();
    let mut palette = vec![Code::DRAW];
    let mut numbers = Vec::with_capacity(entries.len());
    for entry in &entries {
        let code = if metric == Metric::Wdl { Code::from(entry.code.outcome().without_distance()) } else { entry.code };
        let known = palette.iter().rposition(|&c| c == code);
        numbers.push(known.unwrap_or(palette.len()));
        if known.is_none() {
            palette.push(code);
        }
    }
    // The number after the last code marks cells that are no legal position until they are filled.
    let wide = palette.len() > 255;
    let frontiers = |sink: &mut dyn FnMut(usize, u32, u128)| {
        for (entry, &number) in entries.iter().zip(&numbers) {
            let frontier = log.frontier(entry, unwon.len() as u32)?;
            frontier.iter().for_each(|(word, cells)| sink(number, word, cells));
        }
        Ok(())
    };
    if wide {
        let cells = fill(index, unwon, frontiers, |n| n as u16)?;
        Ok(SliceCodes::Wide { palette, cells })
    } else {
        let cells = fill(index, unwon, frontiers, |n| n as u8)?;
        Ok(SliceCodes::Narrow { palette, cells })
    }
}

fn fill<T: Copy + PartialEq>(
    index: &Index,
    unwon: &[u128],
    frontiers: impl Fn(&mut dyn FnMut(usize, u32, u128)) -> Result<(), GameError>,
    number: impl Fn(usize) -> T,
) -> Result<Vec<T>, GameError> {
    let row = index.row();
    let unset = number(usize::MAX);
    let draw = number(0);
    let mut cells = vec![unset; unwon.len() * row];
    for (&legal, cells) in unwon.iter().zip(cells.chunks_exact_mut(row)) {
        set_cells(cells, index.row_bits(legal), draw);
    }
    frontiers(&mut |n, word, labelled| {
        let start = word as usize * row;
        set_cells(&mut cells[start..start + row], index.row_bits(labelled), number(n));
    })?;
    let one = row.min(cells.len());
    let (first, rest) = cells.split_at_mut(one);
    let mut last = draw;
    for cell in &mut *first {
        if *cell == unset {
            *cell = last;
        }
        last = *cell;
    }
    let mut above = first;
    for row in rest.chunks_exact_mut(row) {
        for (cell, above) in row.iter_mut().zip(&*above) {
            *cell = if *cell == unset { *above } else { *cell };
        }
        above = row;
    }
    Ok(cells)
}

/// Sets the cells of a row that `bits` selects.
fn set_cells<T: Copy>(row: &mut [T], bits: u128, value: T) {
    if bits.count_ones() < 16 {
        for (start, mut half) in [(0, bits as u64), (64, (bits >> 64) as u64)] {
            while half != 0 {
                if let Some(cell) = row.get_mut(start + half.trailing_zeros() as usize) {
                    *cell = value;
                }
                half &= half - 1;
            }
        }
        return;
    }
    for (cells, byte) in row.chunks_mut(8).zip(bits.to_le_bytes()) {
        if byte == u8::MAX && cells.len() == 8 {
            cells.fill(value);
        } else if byte != 0 {
            for (i, cell) in cells.iter_mut().enumerate() {
                *cell = if byte >> i & 1 != 0 { value } else { *cell };
            }
        }
    }
}
