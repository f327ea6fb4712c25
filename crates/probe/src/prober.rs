//! The value of one position, and of each of its moves.

use std::sync::Arc;

use canju_endgame::{INDEX_VERSION, Index};
use canju_retro::{Cell, Metric, Outcome, TableName};
use canju_table::{Manifest, Table, TableError, TableSet};
use canju_xiangqi::{Color, Material, Move, Position, Role};

use crate::endgames::{Endgame, Endgames};
use crate::{Distances, ProbeError, Reason, Unknown, Value, Wdl};

/// A move with its value for who makes it, or why that is not known.
pub type RatedMove = (Move, Result<Value, ProbeError>);

/// Answers for positions from the tables of a set. Shared by any number of threads.
pub struct Prober {
    tables: TableSet,
    pub(crate) endgames: Endgames,
    pub(crate) distances: Distances,
}

impl Prober {
    /// A prober that asks these tables. Reads nothing yet.
    #[must_use]
    pub fn new(tables: TableSet) -> Self {
        Self { tables, endgames: Endgames::default(), distances: Distances::All }
    }

    /// The same that answers with these distances alone and reads no others.
    #[must_use]
    pub fn with_distances(self, distances: Distances) -> Self {
        Self { distances, ..self }
    }

    /// The tables that it asks.
    #[must_use]
    pub fn tables(&self) -> &TableSet {
        &self.tables
    }

    /// The value of a position for the side to move. Who cannot move has lost, even where no table tells.
    ///
    /// # Errors
    /// [`ProbeError`]: the position is not legal, outside the tables, or its table missing or damaged.
    pub fn probe(&self, position: &Position) -> Result<Value, ProbeError> {
        self.value(position, self.distances)
    }

    /// Who wins, without distances: the fastest question. Reads the table's metric of wins and draws where it has it,
    /// else a distance.
    ///
    /// # Errors
    /// As [`Prober::probe`].
    pub fn wdl(&self, position: &Position) -> Result<Wdl, ProbeError> {
        self.at(position, |endgame, cell| Ok(self.result(&endgame.table, cell)?.into()))
            .or_else(|error| ended(position, error).map(|value| value.outcome))
    }

    /// The value of a position in one metric, which alone is read.
    ///
    /// # Errors
    /// As [`Prober::probe`]; [`TableError::Missing`] where the table has not this metric.
    pub fn outcome(&self, position: &Position, metric: Metric) -> Result<Outcome, ProbeError> {
        self.at(position, |endgame, cell| Ok(self.tables.ask(&endgame.table, metric, cell)?.outcome()))
    }

    /// The value with other distances than those that the prober was opened for.
    pub(crate) fn value(&self, position: &Position, distances: Distances) -> Result<Value, ProbeError> {
        self.at(position, |endgame, cell| {
            let table = &*endgame.table;
            let outcome = |metric| -> Result<Option<Outcome>, ProbeError> {
                let wanted = distances.want(metric) && table.has(metric);
                Ok(if wanted { Some(self.tables.ask(table, metric, cell)?.outcome()) } else { None })
            };
            let (dtm, dtc) = (outcome(Metric::Dtm)?, outcome(Metric::Dtc)?);
            let known = match dtm.or(dtc) {
                Some(known) => known,
                None => self.result(table, cell)?,
            };
            if [dtm, dtc].into_iter().flatten().any(|o| o.without_distance() != known.without_distance()) {
                return Err(self.contradiction(table.name().clone(), position));
            }
            let order = match known {
                Outcome::Draw => 0,
                Outcome::Win(distance) | Outcome::Loss(distance) => distance.order,
            };
            let (outcome, dtm, dtc) = (Wdl::from(known), dtm.and_then(plies), dtc.and_then(plies));
            Ok(Value { outcome, order, dtm, dtc })
        })
        .or_else(|error| ended(position, error))
    }

    /// The result of a cell, from the smallest metric that tells it.
    fn result(&self, table: &Table, cell: Cell) -> Result<Outcome, ProbeError> {
        let metric = [Metric::Wdl, Metric::Dtm, Metric::Dtc].into_iter().find(|&metric| table.has(metric));
        let metric = metric.ok_or_else(|| self.missing(table.name(), None))?;
        Ok(self.tables.ask(table, metric, cell)?.outcome())
    }

    /// Every legal move with the value after it, seen from the mover; best first: the fastest win, ..., draws,
    /// ..., the fastest loss, by distance to mate where the table has it, else to conversion; of equals first free ones,
    /// where the other side violates, then by the other distance, then in the order of squares. Distances that the
    /// position's own table lacks are left out.
    ///
    /// # Errors
    /// As [`Prober::probe`], of the position and of those after each move.
    pub fn moves(&self, position: &Position) -> Result<Vec<(Move, Value)>, ProbeError> {
        let [by_mate, _] = self.held(position, self.distances)?;
        self.ranked(position, if by_mate { Metric::Dtm } else { Metric::Dtc }, self.distances)
    }

    /// The same with these distances, and with values compared by `first` before the other metric.
    pub(crate) fn ranked(
        &self,
        position: &Position,
        first: Metric,
        distances: Distances,
    ) -> Result<Vec<(Move, Value)>, ProbeError> {
        let held = self.held(position, distances)?;
        let rate = |&chosen: &Move| Ok((chosen, self.rate(position, chosen, held, distances)?));
        let mut moves = position.legal_moves().iter().map(rate).collect::<Result<Vec<_>, ProbeError>>()?;
        moves.sort_by_cached_key(|(chosen, value)| merit(position, *chosen, value, first));
        Ok(moves)
    }

    /// Every legal move as [`Prober::moves`] has it, also where the tables do not tell all: of each its value, or why that
    /// is not known. The known ones come first, the others in the order of squares. The position's own table may be missing
    /// too: then the moves that lead out of it have all distances that are there.
    ///
    /// # Errors
    /// [`ProbeError`]: the position is not legal, or a table cannot be read, which says nothing of any move.
    pub fn rated(&self, position: &Position) -> Result<Vec<RatedMove>, ProbeError> {
        let silent = |error: &ProbeError| Reason::of(error).is_some_and(|reason| reason != Reason::Illegal);
        let held = match self.held(position, self.distances) {
            Err(error) if !silent(&error) => return Err(error),
            held => held.ok(),
        };
        let first = if let Some([false, _]) = held { Metric::Dtc } else { Metric::Dtm };
        // What is not there is not looked for again for each move.
        let mut absent: Vec<(Material, TableName)> = Vec::new();
        let mut moves = Vec::new();
        for &chosen in &position.legal_moves() {
            let after = position.play(chosen);
            let material = Material::of(&after).canonical().0;
            let known = match (absent.iter().find(|(m, _)| *m == material), held) {
                (Some((_, table)), _) if after.has_legal_move() => Err(self.missing(table, None)),
                (_, Some(held)) => self.rate(position, chosen, held, self.distances),
                (_, None) => self.probe(&after).map(|value| value.of_move(position.is_capture(chosen))),
            };
            let known = match known {
                Err(error) if !silent(&error) => return Err(error),
                known => known,
            };
            if let Err(ProbeError::Table(TableError::Missing { table, metric: None, .. })) = &known {
                absent.push((material, table.clone()));
            }
            moves.push((chosen, known));
        }
        moves.sort_by_cached_key(|(chosen, known)| {
            (known.is_err(), known.as_ref().ok().map(|value| merit(position, *chosen, value, first)), *chosen)
        });
        Ok(moves)
    }

    /// The best move that is known to win a position that is unknown for this reason: one that ends the game, or one that
    /// leads to a table that is there. The position is then won, as fast as by this move or faster; where there is none it may
    /// be anything. Moves into tables that are known to be missing cost nothing, and of tables that cannot be read nothing is
    /// known.
    #[must_use]
    pub fn won_by(&self, position: &Position, unknown: &Unknown) -> Option<(Move, Value)> {
        if unknown.reason == Reason::Illegal {
            return None;
        }
        let material = |position: &Position| Material::of(position).canonical().0;
        let mut absent: Vec<Material> = Vec::new();
        if unknown.is_of_the_table() {
            absent.push(material(position));
        }
        let mut best: Option<(Move, Value)> = None;
        for &chosen in &position.legal_moves() {
            let after = position.play(chosen);
            let known = match absent.contains(&material(&after)) && after.has_legal_move() {
                true => continue,
                false => self.probe(&after),
            };
            let value = match known {
                Ok(value) => value.of_move(position.is_capture(chosen)),
                Err(error) => {
                    if Unknown::of(&error, &self.tables).is_none_or(|unknown| unknown.is_of_the_table()) {
                        absent.push(material(&after));
                    }
                    continue;
                }
            };
            let key = |&(chosen, value): &(Move, Value)| merit(position, chosen, &value, Metric::Dtm);
            if value.outcome == Wdl::Win && best.as_ref().is_none_or(|best| key(&(chosen, value)) < key(best)) {
                best = Some((chosen, value));
            }
        }
        best
    }

    /// Whether the distances to mate and to conversion are wanted and the position's table has them.
    fn held(&self, position: &Position, distances: Distances) -> Result<[bool; 2], ProbeError> {
        let held = |endgame: &Endgame| [Metric::Dtm, Metric::Dtc].map(|m| distances.want(m) && endgame.table.has(m));
        self.at(position, |endgame, _| Ok(held(endgame)))
    }

    /// The value of a move for who makes it, with the distances that the position's own table has.
    fn rate(
        &self,
        position: &Position,
        chosen: Move,
        [dtm, dtc]: [bool; 2],
        distances: Distances,
    ) -> Result<Value, ProbeError> {
        let after = position.play(chosen);
        let known = self.value(&after, distances)?;
        if dtm && known.outcome != Wdl::Draw && known.dtm.is_none() {
            return Err(self.missing(&self.table_of(&after)?, Some(Metric::Dtm)));
        }
        let value = known.of_move(position.is_capture(chosen));
        Ok(Value { dtm: value.dtm.filter(|_| dtm), dtc: value.dtc.filter(|_| dtc), ..value })
    }

    /// Gives a position's table and cell to `ask`.
    #[inline]
    fn at<T>(
        &self,
        position: &Position,
        ask: impl FnOnce(&Endgame, Cell) -> Result<T, ProbeError>,
    ) -> Result<T, ProbeError> {
        if let Some(color) = Color::ALL.into_iter().find(|&c| position.squares_of(c, Role::King).next().is_none()) {
            return Err(ProbeError::NoKing { color });
        }
        if let Some(reason) = position.illegality() {
            return Err(ProbeError::Illegal { fen: position.to_fen(), reason });
        }
        let doubled = || ProbeError::Doubled { fen: position.to_fen() };
        let signature = position.signature();
        let known = self.endgames.known.load();
        match known.get(&signature) {
            Some(endgame) if endgame.changes == self.tables.changes() => {
                ask(endgame, endgame.cell(position).ok_or_else(doubled)?)
            }
            _ => {
                drop(known);
                let endgame = self.look_up(position, signature)?;
                ask(&endgame, endgame.cell(position).ok_or_else(doubled)?)
            }
        }
    }

    /// The endgame of positions of a signature that was not asked for before.
    #[cold]
    fn look_up(&self, position: &Position, signature: u32) -> Result<Arc<Endgame>, ProbeError> {
        // The index would tell, but where there is no table there is none.
        if position.has_doubled_soldiers() {
            return Err(ProbeError::Doubled { fen: position.to_fen() });
        }
        let (material, swapped) = Material::of(position).canonical();
        let name = Index::check(&material).and_then(|()| TableName::new(&material.to_string()));
        let name = name.map_err(ProbeError::Endgame)?;
        // Before the table is: a change while it is read must not be missed.
        let changes = self.tables.changes();
        let table = self.tables.table(&name)?;
        check_version(&name, table.manifest())?;
        // Indices take memory: only those of tables that are there are made.
        self.endgames.learn(signature, (material, swapped), table, changes).map_err(ProbeError::Endgame)
    }

    pub(crate) fn table_of(&self, position: &Position) -> Result<TableName, ProbeError> {
        self.at(position, |endgame, _| Ok(endgame.table.name().clone()))
    }

    /// The manifest of a table whose cells are numbered as this software does it.
    pub(crate) fn manifest(&self, table: &TableName) -> Result<Arc<Manifest>, ProbeError> {
        let manifest = self.tables.manifest(table)?;
        check_version(table, &manifest)?;
        Ok(manifest)
    }

    /// What is said of a table whose values for a position do not go together.
    pub(crate) fn contradiction(&self, table: TableName, position: &Position) -> ProbeError {
        ProbeError::Contradiction { table, rules: self.tables.rules(), fen: position.to_fen() }
    }

    pub(crate) fn missing(&self, table: &TableName, metric: Option<Metric>) -> ProbeError {
        let (table, rules, place) = (table.clone(), self.tables.rules(), self.tables.place());
        ProbeError::Table(TableError::Missing { table, metric, rules, place })
    }
}

fn check_version(table: &TableName, manifest: &Manifest) -> Result<(), ProbeError> {
    let (table, found) = (table.clone(), manifest.index);
    if found == INDEX_VERSION { Ok(()) } else { Err(ProbeError::IndexVersion { table, found, known: INDEX_VERSION }) }
}

/// A key by which better moves are less.
fn merit(position: &Position, chosen: Move, value: &Value, first: Metric) -> impl Ord + use<> {
    // Who wins by the other's violation must not violate himself: of equals a free move comes first.
    let binds = value.outcome == Wdl::Win && value.order > 0 && !position.is_free(chosen);
    // The other metric comes after that: it does not keep him from going round.
    let [dtm, dtc] = [Metric::Dtm, Metric::Dtc].map(|m| value.distance(m).filter(|_| m == first));
    (Value { dtm, dtc, ..*value }.rank(first), binds, value.rank(first), chosen)
}

/// The value of a position of which there is no table, where the game has ended in it; else the error.
#[cold]
fn ended(position: &Position, error: ProbeError) -> Result<Value, ProbeError> {
    let silent = match &error {
        ProbeError::Doubled { .. } | ProbeError::Endgame(_) => true,
        ProbeError::Table(TableError::Missing { metric, .. }) => metric.is_none(),
        _ => false,
    };
    if silent && !position.has_legal_move() { Ok(Value::LOST) } else { Err(error) }
}

fn plies(outcome: Outcome) -> Option<u16> {
    match outcome {
        Outcome::Draw => None,
        Outcome::Win(distance) | Outcome::Loss(distance) => Some(distance.plies),
    }
}
