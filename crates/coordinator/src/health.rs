//! `coordinator health`, for those who watch over processes and have no other program at hand.

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

/// Asks the coordinator, and says what is wrong with it. An image that holds several commands asks wherever one of them
/// may serve.
pub(crate) async fn health(arguments: &Health) -> Result<()> {
    let network = arguments.trust.network()?;
    let service = if arguments.live { LIVE } else { "" };
    let mut wrong = Vec::new();
    for url in &arguments.urls {
        let url = network.url_of(url);
        match is_well(&network, "the coordinator", &url, service).await {
            Ok(true) => return Ok(()),
            Ok(false) => wrong.push(format!("the coordinator at {url} is not ready")),
            Err(error) => wrong.push(format!("error: {}", error.line())),
        }
    }
    eprintln!("{}", wrong.join("; "));
    Err(Unwell.into())
}
