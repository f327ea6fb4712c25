//! Logs go to stderr.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// What the command line says of logs.
#[derive(Args, Debug)]
pub struct Logging {
    /// What to log to stderr, as `info`, `warn` or `canju_cluster=debug`; RUST_LOG otherwise
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines look
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, ValueEnum)]
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
        let given = self.log.clone().map(|words| ("--log", words));
        let given = given.or_else(|| Some(("RUST_LOG", std::env::var("RUST_LOG").ok()?)));
        let (from, words) = given.unwrap_or_else(|| ("the default", default.to_owned()));
        let filter = EnvFilter::builder().parse(&words).with_context(|| {
            format!("{from} says {words:?}, which is no log filter: write for example info or canju_cluster=debug")
        })?;
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            // It would complain of a closed standard error there, and end the process by that.
            .log_internal_errors(false)
            .with_ansi(std::io::stderr().is_terminal());
        match self.log_format {
            LogFormat::Text => log.init(),
            LogFormat::Json => log.json().init(),
        }
        Ok(())
    }
}
