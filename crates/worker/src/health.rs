//! `worker health`, for those who watch over processes and have no other program at hand.

use std::fmt;

use anyhow::Result;
use canju_cluster::{LIVE, is_well};

use crate::arguments::Health;

/// What was asked is not well; that was said already.
#[derive(Debug)]
pub(crate) struct Unwell;

impl fmt::Display for Unwell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not ready")
    }
}

impl std::error::Error for Unwell {}

/// Asks the worker, and says what is wrong with it.
pub(crate) async fn health(arguments: &Health) -> Result<()> {
    let network = arguments.trust.network()?;
    let url = network.url_of(&arguments.url);
    let service = if arguments.live { LIVE } else { "" };
    match is_well(&network, "the worker", &url, service).await {
        Ok(true) => return Ok(()),
        Ok(false) => eprintln!("the worker at {url} is not ready"),
        Err(error) => eprintln!("error: {}", error.line()),
    }
    Err(Unwell.into())
}
