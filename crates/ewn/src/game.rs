use std::sync::Arc;

use canju_retro::{Cell, Game, GameError, Metric, Part, PartSpec, Rules, Shape, SliceShape, TableName, Tables};

use crate::part::EwnPart;
use crate::{Index, Signature};

/// The version of [`Index`]: another one would number cells otherwise.
pub const INDEX_VERSION: u32 = 1;
/// Most stones of a table: more have more slices than a plan should list.
pub const MOST_STONES: usize = 8;
/// Most shards.
const RUNS: u32 = 64;
/// Bytes of a cell while it is solved.
const CELL_BYTES: u64 = 8;

/// The tables of EinStein würfelt nicht!, behind the seam of all games: names such as `EWN12B1`, the metric
/// [`Metric::Odds`].
///
/// A ply is a layer: it computes the slices whose leading stones have so far to go. What a part holds of a table stays in
/// memory, whatever room it is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ewn;

/// The index of a table.
pub(crate) fn index(table: &TableName) -> Result<Index, GameError> {
    let signature: Signature = table.as_str().parse()?;
    if signature.to_string() != table.as_str() {
        let reason = format!("the table is called {signature}");
        return Err(GameError::Name { given: table.to_string(), reason });
    }
    if signature.count() > MOST_STONES {
        let reason = format!("{} stones, {MOST_STONES} at most", signature.count());
        return Err(GameError::TooLarge { table: table.clone(), reason });
    }
    Ok(Index::new(signature))
}

impl Game for Ewn {
    fn table(&self, name: &str) -> Result<TableName, GameError> {
        name.parse::<Signature>()?.name()
    }

    fn smaller(&self, table: &TableName) -> Result<Vec<TableName>, GameError> {
        let mut names =
            index(table)?.signature().smaller().into_iter().map(Signature::name).collect::<Result<Vec<_>, _>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn shape(&self, table: &TableName) -> Result<Shape, GameError> {
        let index = index(table)?;
        let slices = index.slices();
        let mut shapes: Vec<SliceShape> =
            (0..slices).map(|slice| SliceShape { cells: index.cells(), neighbours: index.leads_to(slice) }).collect();
        // Who reads is read.
        for slice in 0..slices {
            for to in index.leads_to(slice) {
                shapes[to as usize].neighbours.push(slice);
            }
        }
        for shape in &mut shapes {
            shape.neighbours.sort_unstable();
            shape.neighbours.dedup();
        }
        let run = slices.div_ceil(RUNS);
        let runs = (0..slices).step_by(run as usize).map(|start| start..slices.min(start + run)).collect();
        let positions = 2 * u64::from(crate::index::DIGITS).pow(index.signature().count() as u32);
        Ok(Shape {
            slices: shapes,
            runs,
            row: crate::index::DIGITS,
            positions,
            indexed: positions,
            set_bytes: 2 * CELL_BYTES * u64::from(slices) * u64::from(index.cells()),
        })
    }

    fn part(&self, spec: &PartSpec, tables: Arc<dyn Tables>) -> Result<Box<dyn Part>, GameError> {
        if spec.metric != Metric::Odds {
            let reason = format!("{} has only odds, the chance of winning: not {}", spec.table, spec.metric);
            return Err(GameError::OutOfTurn(reason));
        }
        self.repetition_bytes(&spec.table, spec.rules)?;
        Ok(Box::new(EwnPart::new(index(&spec.table)?, spec.slices.clone(), tables)?))
    }

    fn metrics(&self, _table: &TableName) -> &'static [Metric] {
        &[Metric::Odds]
    }

    fn repetition_bytes(&self, table: &TableName, rules: Rules) -> Result<u64, GameError> {
        if rules == Rules::Plain { Ok(0) } else { Err(GameError::Rules { table: table.clone(), rules }) }
    }

    fn show(&self, table: &TableName, cell: Cell) -> Result<String, GameError> {
        let position = index(table)?.position(cell);
        position.map(|position| position.to_string()).ok_or_else(|| GameError::Name {
            given: table.to_string(),
            reason: format!("cell {} of slice {} is no position", cell.index, cell.slice),
        })
    }
}
