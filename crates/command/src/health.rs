//! Asking whether a process is well, for those who watch over processes and have no other program at hand.

use std::fmt;
use std::io::Write;

use anyhow::Result;
use canju_cluster::{LIVE, any_is_well};

use crate::Trust;

/// What was asked is not well; that was said already.
#[derive(Debug)]
pub struct Unwell;

impl fmt::Display for Unwell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not ready")
    }
}

impl std::error::Error for Unwell {}

/// Asks `what` at these URLs, and says on stderr what is wrong; one that is well is enough. With `live` it is enough that
/// one answers.
///
/// # Errors
/// [`Unwell`] when none is; what is wrong with the certificates.
pub async fn ask(what: &'static str, urls: &[String], live: bool, trust: &Trust) -> Result<()> {
    let network = trust.network()?;
    let service = if live { LIVE } else { "" };
    let urls: Vec<String> = urls.iter().map(|url| network.url_of(url)).collect();
    let Err(wrong) = any_is_well(&network, what, &urls, service).await else { return Ok(()) };
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "{}", wrong.join("; "));
    Err(Unwell.into())
}
