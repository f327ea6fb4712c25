//! What the tables do not tell, as it is told.

use axum::http::StatusCode;
use canju_probe::{ProbeError, Reason};
use canju_table::{TableError, TableSet};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::failure::Failure;

/// Why the outcome of a legal position is unknown. It is never a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Unknown {
    #[schema(schema_with = reasons)]
    pub reason: &'static str,
    /// The same in words.
    pub message: String,
    /// The table that it is about.
    pub endgame: Option<String>,
    /// Commands that bring the table.
    pub commands: Vec<String>,
}

/// Every reason but that the position is illegal, which is a wrong question.
fn reasons() -> Schema {
    let names = Reason::ALL.into_iter().filter(|&reason| reason != Reason::Illegal).map(Reason::name);
    let meanings = "Why, for programs: `missing`, the table is not there; `metric`, it is there without the distance that \
         was asked for; `too_large`, no table can hold it; `damaged`, the table is not what was written; `doubled`, two \
         soldiers of one side share a file before the river, where no game leads; `version`, the table numbers its \
         positions in another way than this software";
    Schema::Object(
        ObjectBuilder::new().schema_type(Type::String).description(Some(meanings)).enum_values(Some(names)).build(),
    )
}

impl From<&canju_probe::Unknown> for Unknown {
    fn from(unknown: &canju_probe::Unknown) -> Self {
        Self {
            reason: unknown.reason.name(),
            message: unknown.message.clone(),
            endgame: unknown.endgame.as_ref().map(ToString::to_string),
            commands: unknown.commands.clone(),
        }
    }
}

/// What an error says about a position, or the failure that it is.
pub(crate) fn judge(error: &ProbeError, tables: &TableSet) -> Result<canju_probe::Unknown, Failure> {
    match canju_probe::Unknown::of(error, tables) {
        Some(unknown) if unknown.reason == Reason::Illegal => Err(Failure::request("illegal", unknown.message)),
        Some(unknown) => Ok(unknown),
        None => Err(match error {
            ProbeError::Table(error @ TableError::Io { .. }) => store(error),
            other => {
                tracing::error!(error = %other, "an unforeseen error of the tables");
                Failure::internal()
            }
        }),
    }
}

/// The store could not be read: that says nothing about the position.
pub(crate) fn store(error: &TableError) -> Failure {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::warn!(error = %error, cause, "the store could not be read");
    away()
}

/// What is told when the store cannot be reached. Where it is, and why, is told to its keeper only.
pub(crate) fn away() -> Failure {
    let text = "the tables cannot be read at the moment: ask again later; the server's log tells more";
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "store", text)
}
