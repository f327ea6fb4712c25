//! Asking about many positions, of which some are unknown to the tables.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use canju_probe::{ProbeError, Prober, Reason, Unknown, Value, Wdl};
use canju_retro::TableName;
use canju_xiangqi::{Material, Move, Position};
use serde::{Serialize, Serializer};

/// A value, or why there is none.
pub(crate) type Answer = Result<Value, Rc<Unknown>>;

/// An answer in JSON.
#[derive(Serialize)]
pub(crate) struct Known {
    #[serde(flatten)]
    value: Worth,
    unknown: Option<Why>,
}

/// An answer in JSON, without the reason where it is unknown.
#[derive(Serialize)]
pub(crate) struct Worth {
    outcome: &'static str,
    #[serde(skip_serializing_if = "crate::stats::is_none")]
    order: u16,
    dtm: Option<u16>,
    dtc: Option<u16>,
}

#[derive(Serialize)]
pub(crate) struct Why {
    /// `missing`, `metric`, `too_large`, `doubled` or `illegal`.
    reason: &'static str,
    message: String,
    endgame: Option<String>,
    commands: Vec<String>,
}

impl From<&Rc<Unknown>> for Why {
    fn from(unknown: &Rc<Unknown>) -> Self {
        Self {
            reason: unknown.reason.name(),
            message: unknown.message.clone(),
            endgame: unknown.endgame.as_ref().map(TableName::to_string),
            commands: unknown.commands.clone(),
        }
    }
}

/// A move that is known to win where the value of its position is unknown: the position is won, as fast as by this move or
/// faster.
pub(crate) struct WonBy {
    pub chosen: Move,
    pub value: Value,
}

impl WonBy {
    /// The first of the moves of an unknown position, which is the best that is known, if it wins.
    pub fn of(answer: &Answer, moves: &[(Move, Answer)]) -> Option<Self> {
        let won =
            moves.first().and_then(|(chosen, known)| Some(Self { chosen: *chosen, value: *known.as_ref().ok()? }));
        won.filter(|won| answer.is_err() && won.value.outcome == Wdl::Win)
    }
}

impl Serialize for WonBy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Told {
            #[serde(rename = "move")]
            chosen: String,
            #[serde(skip_serializing_if = "crate::stats::is_none")]
            order: u16,
            dtm: Option<u16>,
            dtc: Option<u16>,
        }
        let Value { order, dtm, dtc, .. } = self.value;
        Told { chosen: self.chosen.to_string(), order, dtm, dtc }.serialize(to)
    }
}

impl From<&Answer> for Known {
    fn from(answer: &Answer) -> Self {
        Self { value: answer.into(), unknown: answer.as_ref().err().map(Why::from) }
    }
}

impl From<&Answer> for Worth {
    fn from(answer: &Answer) -> Self {
        let value = answer.as_ref().ok();
        Self {
            outcome: value.map_or("unknown", |value| value.outcome.name()),
            order: value.map_or(0, |value| value.order),
            dtm: value.and_then(|value| value.dtm),
            dtc: value.and_then(|value| value.dtc),
        }
    }
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

    pub fn prober(&self) -> &Prober {
        &self.prober
    }

    /// The value of a position.
    ///
    /// # Errors
    ///
    /// If a table is there and cannot be read.
    pub fn value(&self, position: &Position) -> Result<Answer, ProbeError> {
        let material = Material::of(position).canonical().0;
        if let Some(absent) = self.absent.borrow().get(&material)
            && position.is_legal()
            && !position.has_doubled_soldiers()
            && position.has_legal_move()
        {
            return Ok(Err(Rc::clone(absent)));
        }
        let unknown = match self.prober.probe(position) {
            Ok(value) => return Ok(Ok(value)),
            Err(error) => Rc::new(self.unknown(error)?),
        };
        if unknown.is_of_the_table() {
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
        let answer = |known: Result<Value, ProbeError>| -> Result<Answer, ProbeError> {
            match known {
                Ok(value) => Ok(Ok(value)),
                Err(error) => Ok(Err(Rc::new(self.unknown(error)?))),
            }
        };
        self.prober.rated(position)?.into_iter().map(|(chosen, known)| Ok((chosen, answer(known)?))).collect()
    }

    /// The value of a move for who makes it.
    ///
    /// # Errors
    ///
    /// If a table is there and cannot be read.
    pub fn value_of_move(&self, position: &Position, chosen: Move) -> Result<Answer, ProbeError> {
        let after = self.value(&position.play(chosen))?;
        Ok(after.map(|value| value.of_move(position.is_capture(chosen))))
    }

    /// What an error says of a position, or the error where it is one of a table that is there.
    fn unknown(&self, error: ProbeError) -> Result<Unknown, ProbeError> {
        match Unknown::of(&error, self.prober.tables()) {
            Some(unknown) if !matches!(unknown.reason, Reason::Damaged | Reason::Version) => Ok(unknown),
            _ => Err(error),
        }
    }
}
