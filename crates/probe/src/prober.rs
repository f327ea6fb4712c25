//! The value of one position, and of each of its moves.

use std::sync::Arc;

use canju_endgame::{INDEX_VERSION, normalize};
use canju_retro::{Cell, Metric, Outcome, TableName};
use canju_table::{Manifest, TableError, TableSet};
use canju_xiangqi::{Color, Move, Position, Role};

use crate::endgames::Endgames;
use crate::{ProbeError, Value, Wdl};

/// Answers for positions from the tables of a set. Shared by any number of threads.
pub struct Prober {
    tables: TableSet,
    pub(crate) endgames: Endgames,
}

impl Prober {
    /// A prober that asks these tables. Reads nothing yet.
    #[must_use]
    pub fn new(tables: TableSet) -> Self {
        Self { tables, endgames: Endgames::default() }
    }

    /// The tables that it asks.
    #[must_use]
    pub fn tables(&self) -> &TableSet {
        &self.tables
    }

    /// The value of a position for the side to move.
    ///
    /// # Errors
    /// [`ProbeError`]: the position is not legal, outside the tables, or its table missing or damaged.
    pub fn probe(&self, position: &Position) -> Result<Value, ProbeError> {
        let (table, cell) = self.locate(position)?;
        let manifest = self.manifest(&table)?;
        let outcome = |metric| -> Result<Option<Outcome>, TableError> {
            let held = manifest.metrics.contains_key(&metric);
            held.then(|| self.tables.code(&table, metric, cell)).transpose().map(|code| code.map(|c| c.outcome()))
        };
        let (dtm, dtc) = (outcome(Metric::Dtm)?, outcome(Metric::Dtc)?);
        let known = match dtm.or(dtc) {
            Some(known) => known,
            None => outcome(Metric::Wdl)?.ok_or_else(|| self.missing(&table, None))?,
        };
        if [dtm, dtc].into_iter().flatten().any(|o| o.without_distance() != known.without_distance()) {
            return Err(ProbeError::Contradiction { table, fen: position.to_fen() });
        }
        Ok(Value { outcome: Wdl::from(known), dtm: dtm.and_then(plies), dtc: dtc.and_then(plies) })
    }

    /// Every legal move with the value after it, seen from the mover; best first: the fastest win, ..., draws,
    /// ..., the fastest loss, by distance to mate where the table has it, else to conversion; of equals in the
    /// order of squares. Distances that the position's own table lacks are left out.
    ///
    /// # Errors
    /// As [`Prober::probe`], of the position and of those after each move.
    pub fn moves(&self, position: &Position) -> Result<Vec<(Move, Value)>, ProbeError> {
        let (table, _) = self.locate(position)?;
        let has = |metric| self.manifest(&table).map(|m| m.metrics.contains_key(&metric));
        self.ranked(position, if has(Metric::Dtm)? { Metric::Dtm } else { Metric::Dtc })
    }

    /// The same, with values compared by `first` before the other metric.
    pub(crate) fn ranked(&self, position: &Position, first: Metric) -> Result<Vec<(Move, Value)>, ProbeError> {
        let (table, _) = self.locate(position)?;
        let manifest = self.manifest(&table)?;
        let [dtm, dtc] = [Metric::Dtm, Metric::Dtc].map(|m| manifest.metrics.contains_key(&m));
        let rate = |&chosen: &Move| {
            let after = position.play(chosen);
            let known = self.probe(&after)?;
            if dtm && known.outcome != Wdl::Draw && known.dtm.is_none() {
                return Err(self.missing(&self.locate(&after)?.0, Some(Metric::Dtm)));
            }
            let value = known.of_move(position.is_capture(chosen));
            Ok((chosen, Value { dtm: value.dtm.filter(|_| dtm), dtc: value.dtc.filter(|_| dtc), ..value }))
        };
        let mut moves = position.legal_moves().iter().map(rate).collect::<Result<Vec<_>, ProbeError>>()?;
        moves.sort_by_key(|(chosen, value)| (value.rank(first), *chosen));
        Ok(moves)
    }

    /// The table and the cell of a position.
    fn locate(&self, position: &Position) -> Result<(TableName, Cell), ProbeError> {
        if let Some(color) = Color::ALL.into_iter().find(|&c| position.count(c, Role::King) == 0) {
            return Err(ProbeError::NoKing { color });
        }
        if let Some(reason) = position.illegality() {
            return Err(ProbeError::Illegal { fen: position.to_fen(), reason });
        }
        let (material, turned) = normalize(position);
        let index = self.endgames.index(material).map_err(ProbeError::Endgame)?;
        let cell = index.cell(&turned).ok_or_else(|| ProbeError::Doubled { fen: position.to_fen() })?;
        Ok((index.name().clone(), cell))
    }

    pub(crate) fn table_of(&self, position: &Position) -> Result<TableName, ProbeError> {
        Ok(self.locate(position)?.0)
    }

    /// The manifest of a table whose cells are numbered as this software does it.
    pub(crate) fn manifest(&self, table: &TableName) -> Result<Arc<Manifest>, ProbeError> {
        let manifest = self.tables.manifest(table)?;
        if manifest.index != INDEX_VERSION {
            let (table, found) = (table.clone(), manifest.index);
            return Err(ProbeError::IndexVersion { table, found, known: INDEX_VERSION });
        }
        Ok(manifest)
    }

    pub(crate) fn missing(&self, table: &TableName, metric: Option<Metric>) -> ProbeError {
        ProbeError::Table(TableError::Missing { table: table.clone(), metric, place: self.tables.place() })
    }
}

fn plies(outcome: Outcome) -> Option<u16> {
    match outcome {
        Outcome::Draw => None,
        Outcome::Win(distance) | Outcome::Loss(distance) => Some(distance.plies),
    }
}
