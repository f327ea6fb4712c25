//! Chances from finished tables, or from tables that are computed at once.

use std::collections::HashSet;
use std::sync::Arc;

use canju_ewn::{Book, Index, Lookup, LookupError, Position, Signature};
use canju_probe::Prober;
use canju_retro::Metric;

use super::arguments::Known;
use crate::tables;

/// Finished tables, of which some are there.
pub(crate) struct TableLookup {
    prober: Prober,
    there: HashSet<Signature>,
}

impl TableLookup {
    /// The tables of this game among those that the prober asks.
    pub(crate) fn new(prober: Prober) -> anyhow::Result<TableLookup> {
        let mut there = HashSet::new();
        for table in prober.tables().endgames()? {
            if let Ok(signature) = table.as_str().parse::<Signature>() {
                super::check_index(prober.tables(), &table)?;
                there.insert(signature);
            }
        }
        Ok(TableLookup { prober, there })
    }
}

impl Lookup for TableLookup {
    fn chance(&self, position: &Position) -> Result<Option<f64>, LookupError> {
        if let Some(winner) = position.winner() {
            return Ok(Some(if winner == position.to_move() { 1.0 } else { 0.0 }));
        }
        // Most positions of a game have more stones than tables: those cost nothing here.
        let Some((index, cell)) = Index::find(position).filter(|(index, _)| self.there.contains(&index.signature()))
        else {
            return Ok(None);
        };
        let wrong = |error: Box<dyn std::error::Error + Send + Sync>| LookupError(error);
        let table = index.signature().name().map_err(|error| wrong(error.into()))?;
        let code = self.prober.tables().code(&table, Metric::Odds, cell).map_err(|error| wrong(error.into()))?;
        let odds = code.odds().ok_or_else(|| wrong(format!("{table} has a cell that is no chance").into()))?;
        Ok(Some(odds.chance()))
    }
}

/// What the players may know.
pub(crate) fn open(known: &Known) -> anyhow::Result<Arc<dyn Lookup>> {
    if known.tables.is_some() {
        let place = known.place();
        return Ok(Arc::new(TableLookup::new(tables::open(&place)?)?));
    }
    Ok(Arc::new(Book::up_to(known.stones.into())))
}
