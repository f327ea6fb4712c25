//! Asking about many positions, of which some are unknown to the tables.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;

use canju_probe::{ProbeError, Prober, Value, Wdl};
use canju_retro::{GameError, Metric};
use canju_table::TableError;
use canju_xiangqi::{Material, Move, Position};
use serde::{Serialize, Serializer};

/// Why the value of a position is not known. It is never a draw.
#[derive(Debug, Serialize)]
pub(crate) struct Unknown {
    /// `missing`, `metric`, `too_large`, `doubled` or `illegal`.
    pub reason: &'static str,
    /// The same in words.
    pub message: String,
    /// The table that would tell.
    pub endgame: Option<String>,
    /// Commands that bring it.
    pub commands: Vec<String>,
}

impl Unknown {
    /// What an error says of a position, or the error where it is one of the tables.
    fn of(error: ProbeError) -> Result<Self, ProbeError> {
        let plain = |reason, message| Ok(Self { reason, message, endgame: None, commands: Vec::new() });
        match &error {
            ProbeError::Illegal { .. } => plain("illegal", error.to_string()),
            ProbeError::Doubled { .. } => plain("doubled", error.to_string()),
            ProbeError::Endgame(GameError::TooLarge { .. } | GameError::Name { .. }) => {
                let cause = error.source().map(|cause| format!(" ({cause})")).unwrap_or_default();
                plain("too_large", format!("{error}{cause}"))
            }
            ProbeError::Table(TableError::Missing { table, metric, .. }) => {
                let counted =
                    metric.filter(|m| *m != Metric::Wdl).map(|m| format!(" --metric {m}")).unwrap_or_default();
                Ok(Self {
                    reason: if metric.is_some() { "metric" } else { "missing" },
                    message: error.to_string(),
                    endgame: Some(table.to_string()),
                    commands: vec![
                        format!("fetch get {table} --from PLACE"),
                        format!("coordinator start --build {table}{counted}"),
                    ],
                })
            }
            _ => Err(error),
        }
    }

    /// In a few words.
    pub fn brief(&self) -> String {
        match (&self.endgame, self.reason) {
            (Some(endgame), "metric") => format!("unknown, {endgame} lacks a distance"),
            (Some(endgame), _) => format!("unknown, no table {endgame}"),
            (None, "too_large") => "unknown, too many men for any table".to_owned(),
            (None, "doubled") => "unknown, two soldiers of one side share a file before the river".to_owned(),
            (None, _) => "unknown, no game leads here".to_owned(),
        }
    }
}

/// A value, or why there is none.
pub(crate) type Answer = Result<Value, Rc<Unknown>>;

/// An answer in JSON.
#[derive(Serialize)]
pub(crate) struct Known {
    outcome: &'static str,
    dtm: Option<u16>,
    dtc: Option<u16>,
    #[serde(serialize_with = "shared")]
    unknown: Option<Rc<Unknown>>,
}

impl From<&Answer> for Known {
    fn from(answer: &Answer) -> Self {
        let value = answer.as_ref().ok();
        Self {
            outcome: value.map_or("unknown", |value| value.outcome.name()),
            dtm: value.and_then(|value| value.dtm),
            dtc: value.and_then(|value| value.dtc),
            unknown: answer.as_ref().err().map(Rc::clone),
        }
    }
}

fn shared<S: Serializer>(unknown: &Option<Rc<Unknown>>, to: S) -> Result<S::Ok, S::Error> {
    unknown.as_deref().serialize(to)
}

/// A prober that remembers which tables are not there.
pub(crate) struct Asker {
    prober: Prober,
    absent: RefCell<HashMap<Material, Rc<Unknown>>>,
}

impl Asker {
    pub fn new(prober: Prober) -> Self {
        Self { prober, absent: RefCell::default() }
    }

    /// The value of a position.
    ///
    /// # Errors
    ///
    /// If a table is there and cannot be read.
    pub fn value(&self, position: &Position) -> Result<Answer, ProbeError> {
        let material = Material::of(position).canonical().0;
        if let Some(absent) = self.absent.borrow().get(&material) {
            return Ok(Err(Rc::clone(absent)));
        }
        let error = match self.prober.probe(position) {
            Ok(value) => return Ok(Ok(value)),
            Err(error) => error,
        };
        let unknown = Rc::new(Unknown::of(error)?);
        if matches!(unknown.reason, "missing" | "too_large") {
            self.absent.borrow_mut().insert(material, Rc::clone(&unknown));
        }
        Ok(Err(unknown))
    }

    /// Every legal move of a position that is known, with its value for who makes it: the best first, those
    /// that lead to unknown positions last.
    ///
    /// # Errors
    ///
    /// If a table is there and cannot be read.
    pub fn moves(&self, position: &Position) -> Result<Vec<(Move, Answer)>, ProbeError> {
        match self.prober.moves(position) {
            Ok(moves) => return Ok(moves.into_iter().map(|(chosen, value)| (chosen, Ok(value))).collect()),
            Err(error) => Unknown::of(error)?,
        };
        // A table that a capture leads to is missing, which says nothing of the other moves.
        let mut moves = Vec::new();
        for chosen in position.legal_moves() {
            let after = self.value(&position.play(chosen))?;
            moves.push((chosen, after.map(|value| for_the_mover(&value))));
        }
        moves.sort_by_key(|(_, answer)| answer.as_ref().map_or((3, 0), rank));
        Ok(moves)
    }
}

/// The value of a position for the side that moved into it. What a capture converts is left out.
pub(crate) fn for_the_mover(after: &Value) -> Value {
    Value {
        outcome: after.outcome.opposite(),
        order: after.order,
        dtm: after.dtm.map(|plies| plies.saturating_add(1)),
        dtc: None,
    }
}

/// Less for better values.
fn rank(value: &Value) -> (u8, i32) {
    let plies = i32::from(value.dtm.unwrap_or_default());
    match value.outcome {
        Wdl::Win => (0, plies),
        Wdl::Draw => (1, 0),
        Wdl::Loss => (2, -plies),
    }
}
