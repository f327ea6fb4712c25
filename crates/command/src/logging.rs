//! Logs go to stderr.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// What the command line says of logs.
#[derive(Args)]
pub struct Logging {
    /// What to log to stderr, as `info`, `warn` or `canju_cluster=debug`; RUST_LOG otherwise
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines look
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How log lines look.
#[derive(Clone, Copy, ValueEnum)]
#[allow(missing_docs, reason = "they would stand in the help, which has none of them")]
pub enum LogFormat {
    Text,
    Json,
}

impl Logging {
    /// Begins to log: what `--log` says, or RUST_LOG, or the default.
    ///
    /// # Errors
    /// For a filter that is none.
    pub fn begin(&self, default: &str) -> Result<()> {
        let words = self.log.clone().or_else(|| std::env::var("RUST_LOG").ok()).unwrap_or_else(|| default.to_owned());
        let filter = EnvFilter::builder()
            .parse(&words)
            .with_context(|| format!("{words:?} is no log filter: write for example info or canju_cluster=debug"))?;
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        match self.log_format {
            LogFormat::Text => log.init(),
            LogFormat::Json => log.json().init(),
        }
        Ok(())
    }
}
