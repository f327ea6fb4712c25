//! Questions about positions, answered on the thread that asks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use canju_probe::{ProbeError, Prober, Unknown, Value};
use canju_retro::{Metric, TableName};
use canju_table::TableError;
use canju_xiangqi::notation::{Notation, write_move};
use canju_xiangqi::{Material, Move, Position};

use crate::answers::{Ending, Line, NoLine, Outcome, Probed, Rated, WithMoves, WonBy};
use crate::failure::Failure;
use crate::fault::PositionFault;
use crate::statistics::Listing;
use crate::unknown::{away, judge};

/// Asks the tables. It reads files or a network, and computes: never on a thread that serves others.
pub(crate) struct Asker {
    prober: Arc<Prober>,
    /// The folder of the tables, where they lie in one.
    folder: Option<PathBuf>,
}

/// When a question has to be answered.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(pub Instant);

impl Deadline {
    /// Ends a long question whose asker has been told that it takes too long.
    pub fn check(self) -> Result<(), Failure> {
        if Instant::now() < self.0 { Ok(()) } else { Err(Failure::timeout()) }
    }
}

/// A value, or why there is none.
type Known = Result<Value, Unknown>;

impl Asker {
    pub fn new(prober: Arc<Prober>, folder: Option<PathBuf>) -> Self {
        Self { prober, folder }
    }

    pub fn prober(&self) -> &Prober {
        &self.prober
    }

    /// The value of a position.
    pub fn probe(&self, position: &Position) -> Result<Probed, Failure> {
        self.stand_won(position).map(|(probed, _)| probed)
    }

    /// The value of a position and of each of its moves.
    pub fn moves(&self, position: &Position) -> Result<WithMoves, Failure> {
        let (mut probed, known) = self.stand(position)?;
        let rated = self.rated(position)?;
        // Of the moves of an unknown position the first is the best that is known.
        if let (Err(_), Some((chosen, Ok(value)))) = (&known, rated.first())
            && Outcome::from(value.outcome) == Outcome::Win
        {
            probed.won_by = Some(WonBy::new(position, *chosen, value));
        }
        let moves = rated.into_iter().map(|(chosen, value)| show(position, chosen, value)).collect();
        Ok(WithMoves { position: probed, moves })
    }

    /// Each legal move with what is known of it: the known ones best first, then the others.
    pub fn rated(&self, position: &Position) -> Result<Vec<(Move, Known)>, Failure> {
        match self.prober.rated(position) {
            Ok(moves) => moves.into_iter().map(|(chosen, known)| Ok((chosen, self.known(known)?))).collect(),
            Err(error) => Err(self.judge(&error).err().unwrap_or_else(Failure::internal)),
        }
    }

    /// The tables that are there.
    pub fn listing(&self, deadline: Deadline) -> Result<Listing, Failure> {
        if self.is_away() {
            return Err(away());
        }
        Listing::of(&self.prober, deadline)
    }

    /// How play goes on.
    pub fn line(
        &self,
        position: &Position,
        metric: Option<Metric>,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Line, Failure> {
        let (probed, known) = self.stand_won(position)?;
        let mut line = Line {
            metric: None,
            plies: 0,
            moves: Vec::new(),
            complete: probed.ended.is_some(),
            end: probed.ended,
            end_fen: probed.fen.clone(),
            reason: None,
            position: probed,
        };
        match known {
            _ if line.complete => return Ok(line),
            Err(_) => line.reason = Some(NoLine::Unknown),
            Ok(value) if Outcome::from(value.outcome) == Outcome::Draw => line.reason = Some(NoLine::Draw),
            Ok(value) => {
                let metric = metric.unwrap_or(match (value.dtm, value.dtc) {
                    (None, Some(_)) => Metric::Dtc,
                    _ => Metric::Dtm,
                });
                match self.play(position, metric, limit, deadline)? {
                    Ok((moves, last)) => {
                        line.metric = Some(metric.name());
                        line.plies = moves.len();
                        line.moves = moves;
                        line.end = Ending::of(&last);
                        if line.end.is_none() && line.plies < limit {
                            line.reason = Some(NoLine::Perpetual);
                        }
                        line.complete = line.end.is_some() || line.reason.is_some();
                        line.end_fen = last.to_fen();
                    }
                    Err(unknown) => {
                        line.reason = Some(NoLine::Unknown);
                        line.position.unknown = Some((&unknown).into());
                    }
                }
            }
        }
        Ok(line)
    }

    /// The moves of a line and the position after them.
    fn play(
        &self,
        position: &Position,
        metric: Metric,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Result<(Vec<Rated>, Position), Unknown>, Failure> {
        let in_time = || deadline.check().is_ok();
        let line = match self.prober.main_line_while(position, metric, limit, in_time) {
            Ok(line) => line,
            Err(error) => return self.judge(&error).map(Err),
        };
        let (mut board, mut moves) = (*position, Vec::with_capacity(line.len()));
        for chosen in line {
            deadline.check()?;
            let value = self.value_after(&board, chosen)?;
            moves.push(show(&board, chosen, value));
            board = board.play(chosen);
        }
        Ok(Ok((moves, board)))
    }

    /// The same, and where its value is unknown a move that wins all the same, if one is known to.
    fn stand_won(&self, position: &Position) -> Result<(Probed, Known), Failure> {
        let (mut probed, known) = self.stand(position)?;
        if let Err(unknown) = &known {
            let won = self.prober.won_by(position, unknown);
            probed.won_by = won.map(|(chosen, value)| WonBy::new(position, chosen, &value));
        }
        Ok((probed, known))
    }

    /// What is told of a position, and its value.
    fn stand(&self, position: &Position) -> Result<(Probed, Known), Failure> {
        let ended = Ending::of(position);
        let known = self.value(position)?;
        let probed = Probed {
            fen: position.to_fen(),
            endgame: Material::of(position).canonical().0.to_string(),
            rules: self.prober.tables().rules().name(),
            turn: position.turn().into(),
            outcome: outcome(&known),
            order: known.as_ref().map_or(0, |value| value.order),
            dtm: known.as_ref().ok().and_then(|value| value.dtm),
            dtc: known.as_ref().ok().and_then(|value| value.dtc),
            ended,
            check: position.in_check(),
            won_by: None,
            unknown: known.as_ref().err().map(Into::into),
        };
        Ok((probed, known))
    }

    fn value(&self, position: &Position) -> Result<Known, Failure> {
        self.known(self.prober.probe(position))
    }

    fn known(&self, answer: Result<Value, ProbeError>) -> Result<Known, Failure> {
        match answer {
            Ok(value) => Ok(Ok(value)),
            Err(error) => self.judge(&error).map(Err),
        }
    }

    /// The value of a move for who makes it.
    fn value_after(&self, position: &Position, chosen: Move) -> Result<Known, Failure> {
        let known = self.value(&position.play(chosen))?;
        Ok(known.map(|value| value.of_move(position.is_capture(chosen))))
    }

    /// What an error of the tables says about a position, or the failure that it is. A table that turns out damaged is
    /// read anew next time: it may have been replaced.
    pub fn judge(&self, error: &ProbeError) -> Result<Unknown, Failure> {
        if let Some(table) = damaged(error) {
            tracing::warn!(%table, error = %error, "a table cannot be used");
            self.prober.tables().forget(table);
        }
        // A folder that is gone is a store that is away, and not one without tables.
        if matches!(error, ProbeError::Table(TableError::Missing { .. })) && self.is_away() {
            return Err(away());
        }
        judge(error, self.prober.tables())
    }

    fn is_away(&self) -> bool {
        let gone = self.folder.as_ref().filter(|folder| !folder.is_dir());
        if let Some(folder) = gone {
            tracing::warn!(folder = %folder.display(), "the folder of the tables is not there");
        }
        gone.is_some()
    }
}

/// A legal position, or what is wrong with it.
pub(crate) fn read(fen: &str, most: usize) -> Result<Position, Failure> {
    if fen.len() > most {
        let text = format!("the FEN has {} bytes: give at most {most}", fen.len());
        return Err(Failure::position("fen", text, PositionFault::long(fen.len())));
    }
    let position =
        Position::from_fen(fen).map_err(|error| Failure::position("fen", error.to_string(), (&error).into()))?;
    if let Some(reason) = position.illegality() {
        let error = ProbeError::Illegal { fen: position.to_fen(), reason };
        return Err(Failure::position("illegal", error.to_string(), reason.into()));
    }
    Ok(position)
}

fn outcome(known: &Known) -> Outcome {
    known.as_ref().map_or(Outcome::Unknown, |value| value.outcome.into())
}

impl WonBy {
    fn new(position: &Position, chosen: Move, value: &Value) -> Self {
        Self {
            squares: chosen.to_string(),
            wxf: write_move(position, chosen, Notation::Wxf),
            chinese: write_move(position, chosen, Notation::Chinese),
            order: value.order,
            dtm: value.dtm,
            dtc: value.dtc,
        }
    }
}

/// A move as it is told.
fn show(position: &Position, chosen: Move, known: Known) -> Rated {
    let after = position.play(chosen);
    let value = known.as_ref().ok();
    Rated {
        squares: chosen.to_string(),
        wxf: write_move(position, chosen, Notation::Wxf),
        chinese: write_move(position, chosen, Notation::Chinese),
        capture: position.is_capture(chosen),
        check: after.in_check(),
        fen: after.to_fen(),
        outcome: outcome(&known),
        order: value.map_or(0, |value| value.order),
        dtm: value.and_then(|value| value.dtm),
        dtc: value.and_then(|value| value.dtc),
        unknown: known.as_ref().err().map(Into::into),
    }
}

/// The table that an error calls damaged.
fn damaged(error: &ProbeError) -> Option<&TableName> {
    match error {
        ProbeError::Table(TableError::Damaged { table, .. } | TableError::Manifest { table, .. })
        | ProbeError::Contradiction { table, .. }
        | ProbeError::IndexVersion { table, .. } => Some(table),
        _ => None,
    }
}
