//! Chances from finished tables, or from tables that are computed at once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use canju_ewn::{Book, Index, Lookup, LookupError, Position, Signature};
use canju_probe::Prober;
use canju_retro::Metric;
use canju_table::TableSet;

use super::arguments::Known;
use crate::{memory, tables};

/// Finished tables, of which some are there.
pub(crate) struct TableLookup {
    prober: Prober,
    /// Those that are there, and what is wrong with their index: looked at when one is first asked.
    there: HashMap<Signature, OnceLock<Option<String>>>,
}

impl TableLookup {
    /// The tables of this game among those that the prober asks.
    pub(crate) fn new(prober: Prober) -> anyhow::Result<TableLookup> {
        let names = prober.tables().endgames()?;
        let there = names.iter().filter_map(|table| Some((table.as_str().parse().ok()?, OnceLock::new()))).collect();
        Ok(TableLookup { prober, there })
    }

    /// All tables that are asked, of whatever game.
    pub(super) fn tables(&self) -> &TableSet {
        self.prober.tables()
    }
}

impl Lookup for TableLookup {
    fn chance(&self, position: &Position) -> Result<Option<f64>, LookupError> {
        if let Some(winner) = position.winner() {
            return Ok(Some(if winner == position.to_move() { 1.0 } else { 0.0 }));
        }
        // Most positions of a game have more stones than tables: those cost nothing here.
        let Some((index, cell)) = Index::find(position) else { return Ok(None) };
        let Some(checked) = self.there.get(&index.signature()) else { return Ok(None) };
        let wrong = |error: Box<dyn std::error::Error + Send + Sync>| LookupError(error);
        let table = index.signature().name().map_err(|error| wrong(error.into()))?;
        let set = self.prober.tables();
        if let Some(error) = checked.get_or_init(|| super::check_index(set, &table).err().map(|e| format!("{e:#}"))) {
            return Err(wrong(error.clone().into()));
        }
        let code = set.code(&table, Metric::Odds, cell).map_err(|error| wrong(error.into()))?;
        let odds = code.odds().ok_or_else(|| wrong(format!("{table} has a cell that is no chance").into()))?;
        Ok(Some(odds.chance()))
    }
}

/// Tables that take more memory than this are announced.
const SAID: u64 = 1 << 30;

/// What the players may know.
pub(crate) fn open(known: &Known) -> anyhow::Result<Arc<dyn Lookup>> {
    if known.tables.is_some() {
        let place = known.place();
        return Ok(Arc::new(TableLookup::new(tables::open(&place)?)?));
    }
    let (stones, bytes) = (known.stones.into(), Book::memory(known.stones.into()));
    let what = format!("tables of up to {stones} stones take");
    memory::check(&what, bytes, "take fewer --stones, or give finished tables with --tables")?;
    if bytes > SAID {
        tracing::info!("computing the tables of up to {stones} stones: {:.1} GB of memory", bytes as f64 / 1e9);
    }
    Ok(Arc::new(Book::up_to(stones)))
}
