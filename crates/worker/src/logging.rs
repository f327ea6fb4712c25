//! Logs go to stderr.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::arguments::{LogFormat, Logging};

/// Begins to log: what `--log` says, or RUST_LOG, or `info`.
pub(crate) fn begin(logging: &Logging) -> Result<()> {
    let words = logging.log.clone().or_else(|| std::env::var("RUST_LOG").ok()).unwrap_or_else(|| "info".to_owned());
    let filter = EnvFilter::builder()
        .parse(&words)
        .with_context(|| format!("{words:?} is no log filter: write for example info or canju_cluster=debug"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match logging.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}
