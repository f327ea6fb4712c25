//! Questions about positions, answered on the thread that asks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use canju_endgame::Index;
use canju_probe::{ProbeError, Prober, Value};
use canju_retro::{Metric, TableName};
use canju_table::TableError;
use canju_xiangqi::notation::{Notation, write_move};
use canju_xiangqi::{Color, Material, Move, Position, Role};

use crate::answers::{Ending, LOST, Line, NoLine, Outcome, Probed, Rated, WithMoves};
use crate::failure::Failure;
use crate::statistics::Endgames;
use crate::unknown::{Unknown, away};

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
        self.stand(position).map(|(probed, _)| probed)
    }

    /// The value of a position and of each of its moves.
    pub fn moves(&self, position: &Position) -> Result<WithMoves, Failure> {
        let (probed, known) = self.stand(position)?;
        let rated = self.rate(position, known)?;
        let moves = rated.into_iter().map(|(chosen, value)| show(position, chosen, value)).collect();
        Ok(WithMoves { position: probed, moves })
    }

    /// Each legal move with what is known of it: the known ones best first, then the others.
    pub fn rated(&self, position: &Position) -> Result<Vec<(Move, Known)>, Failure> {
        let (_, known) = self.stand(position)?;
        self.rate(position, known)
    }

    /// The tables that are there.
    pub fn endgames(&self) -> Result<Endgames, Failure> {
        if self.is_away() {
            return Err(away());
        }
        Endgames::list(&self.prober)
    }

    /// How play goes on.
    pub fn line(
        &self,
        position: &Position,
        metric: Option<Metric>,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Line, Failure> {
        let (probed, known) = self.stand(position)?;
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
                        line.complete = line.end.is_some();
                        line.end_fen = last.to_fen();
                    }
                    Err(unknown) => {
                        line.reason = Some(NoLine::Unknown);
                        line.position.unknown = Some(unknown);
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
        let line = match self.prober.main_line(position, metric, limit) {
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

    /// What is told of a position, and its value.
    fn stand(&self, position: &Position) -> Result<(Probed, Known), Failure> {
        let ended = Ending::of(position);
        let known = if ended.is_some() { Ok(LOST) } else { self.value(position)? };
        let probed = Probed {
            fen: position.to_fen(),
            endgame: Material::of(position).canonical().0.to_string(),
            rules: self.prober.tables().rules().name(),
            turn: position.turn().into(),
            outcome: outcome(&known),
            dtm: known.as_ref().ok().and_then(|value| value.dtm),
            dtc: known.as_ref().ok().and_then(|value| value.dtc),
            ended,
            check: position.in_check(),
            unknown: known.as_ref().err().cloned(),
        };
        Ok((probed, known))
    }

    fn value(&self, position: &Position) -> Result<Known, Failure> {
        match self.admit(position).and_then(|()| self.prober.probe(position)) {
            Ok(value) => Ok(Ok(value)),
            Err(error) => self.judge(&error).map(Err),
        }
    }

    /// Refuses positions of which there is no table before anything is made for them: an index of a large endgame takes
    /// hundreds of megabytes, and anybody may ask.
    fn admit(&self, position: &Position) -> Result<(), ProbeError> {
        if has_doubled(position) {
            return Err(ProbeError::Doubled { fen: position.to_fen() });
        }
        let material = Material::of(position).canonical().0;
        Index::fits(&material).map_err(ProbeError::Endgame)?;
        let table = TableName::new(&material.to_string()).map_err(ProbeError::Endgame)?;
        self.prober.tables().manifest(&table)?;
        Ok(())
    }

    /// The value of a move for who makes it.
    fn value_after(&self, position: &Position, chosen: Move) -> Result<Known, Failure> {
        let after = position.play(chosen);
        let known = if after.has_legal_move() { self.value(&after)? } else { Ok(LOST) };
        Ok(known.map(|value| value.of_move(position.is_capture(chosen))))
    }

    fn rate(&self, position: &Position, known: Known) -> Result<Vec<(Move, Known)>, Failure> {
        if known.is_ok() {
            match self.prober.moves(position) {
                Ok(moves) => return Ok(moves.into_iter().map(|(chosen, value)| (chosen, Ok(value))).collect()),
                // One by one then: a smaller table is missing, and not all moves lead to it.
                Err(error) => self.judge(&error)?,
            };
        }
        // What is not there is not looked for again for each move.
        let mut without: HashMap<Material, Unknown> = HashMap::new();
        let mut rated = Vec::new();
        for &chosen in &position.legal_moves() {
            let after = position.play(chosen);
            let material = Material::of(&after).canonical().0;
            let known = match without.get(&material) {
                Some(unknown) if after.has_legal_move() => Err(unknown.clone()),
                _ => self.value_after(position, chosen)?,
            };
            if let Err(unknown) = &known
                && unknown.is_of_the_table()
            {
                without.insert(material, unknown.clone());
            }
            rated.push((chosen, known));
        }
        rated.sort_by_key(|(chosen, known)| {
            (known.is_err(), known.as_ref().ok().map(|value| value.rank(Metric::Dtm)), *chosen)
        });
        Ok(rated)
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
        Unknown::judge(error)
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
        return Err(Failure::request("fen", text));
    }
    let position = Position::from_fen(fen).map_err(|error| Failure::request("fen", error.to_string()))?;
    if let Some(reason) = position.illegality() {
        let error = ProbeError::Illegal { fen: position.to_fen(), reason };
        return Err(Failure::request("illegal", error.to_string()));
    }
    Ok(position)
}

/// True where two soldiers of one side share a file before the river.
fn has_doubled(position: &Position) -> bool {
    Color::ALL.into_iter().any(|color| {
        let mut files = [0; 9];
        let home = |rank: u8| if color == Color::Red { rank < 5 } else { rank >= 5 };
        let soldiers = position.squares_of(color, Role::Soldier).filter(|square| home(square.rank()));
        soldiers.for_each(|square| files[usize::from(square.file())] += 1);
        files.iter().any(|&soldiers| soldiers > 1)
    })
}

fn outcome(known: &Known) -> Outcome {
    known.as_ref().map_or(Outcome::Unknown, |value| value.outcome.into())
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
        dtm: value.and_then(|value| value.dtm),
        dtc: value.and_then(|value| value.dtc),
        unknown: known.err(),
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
