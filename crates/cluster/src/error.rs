//! What can go wrong in a cluster, by what the reader of the message can do about it.

use std::error::Error;

use canju_retro::{GameError, UnknownName};
use canju_store::StoreError;

/// Why a cluster did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A name that is none, or a table that cannot be solved.
    #[error(transparent)]
    Game(#[from] GameError),
    /// A metric or rules that do not exist.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A finished table could not be read or written.
    #[error(transparent)]
    Table(Box<dyn Error + Send + Sync>),
    /// No such job.
    #[error("there is no job {0:?}: `coordinator jobs` lists them")]
    UnknownJob(String),
    /// A request that must be asked differently; the text says how.
    #[error("{0}")]
    Refused(String),
    /// A part that cannot go on here, but may elsewhere; the text says why.
    #[error("{0}")]
    Elsewhere(String),
    /// Nobody answers at an address.
    #[error("cannot reach {what} at {address}: {hint}")]
    Unreachable {
        /// Who was to be reached.
        what: &'static str,
        /// Where.
        address: String,
        /// What to look at.
        hint: String,
        /// What the network said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: choose another address or port with {option}, or end what uses it")]
    Listen {
        /// Which address.
        address: String,
        /// The option of the command line that chooses it.
        option: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// What the other side answered.
    #[error("{0}")]
    Remote(String),
    /// A message that does not follow the protocol.
    #[error("the other side does not follow the protocol: {0}")]
    Protocol(String),
    /// A part failed in an unforeseen way.
    #[error("the solver stopped unexpectedly: {0}")]
    Panicked(String),
    /// The work is no longer wanted.
    #[error("the work was called off")]
    CalledOff,
}

impl ClusterError {
    /// Nobody answers at an address, for whatever reason.
    pub(crate) fn unreachable(
        what: &'static str,
        address: &str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let (address, hint) = (address.to_owned(), "is it running, and is the address right?".to_owned());
        Self::Unreachable { what, address, hint, source: source.into() }
    }

    /// A message with all its causes, as one line.
    #[must_use]
    pub fn line(&self) -> String {
        causes(self)
    }
}

/// An error and its causes, joined by colons; a cause that its effect already quotes is left out.
#[must_use]
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

/// What a call ended with, and why: broken connections have causes.
pub(crate) fn told(status: &tonic::Status) -> String {
    let text = status.message();
    match status.source() {
        // The text is often the last of the causes.
        Some(cause) if causes(cause).contains(text) => causes(cause),
        Some(cause) if !text.contains(&cause.to_string()) => format!("{text}: {}", causes(cause)),
        _ => text.to_owned(),
    }
}

impl From<tonic::Status> for ClusterError {
    fn from(status: tonic::Status) -> Self {
        Self::Remote(status.message().to_owned())
    }
}

impl From<ClusterError> for tonic::Status {
    fn from(error: ClusterError) -> Self {
        let line = error.line();
        match error {
            ClusterError::Game(_) | ClusterError::Name(_) => Self::invalid_argument(line),
            ClusterError::UnknownJob(_) => Self::not_found(line),
            ClusterError::Refused(_) | ClusterError::Protocol(_) => Self::failed_precondition(line),
            ClusterError::Store(ref e) if e.is_transient() => Self::unavailable(line),
            _ => Self::internal(line),
        }
    }
}
