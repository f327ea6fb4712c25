//! The `coordinator` command: builds endgames by itself, serves a cluster, and talks to one that serves.

mod arguments;
mod columns;
mod follow;
mod logging;
mod plan;
mod remote;
mod start;
mod summary;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {}", canju_cluster::causes(error.as_ref()));
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    let quiet = match &arguments.command {
        Command::Start(start) => !start.build.is_empty(),
        _ => true,
    };
    // What ends a command is said once, as its error.
    logging::begin(&arguments.logging, if quiet { "error" } else { "info" })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        match arguments.command {
            Command::Start(arguments) => start::start(arguments).await,
            Command::Submit(arguments) => remote::submit(arguments).await,
            Command::Jobs(arguments) => remote::jobs(&arguments).await,
            Command::Status(arguments) => remote::status(&arguments).await,
            Command::Cancel(arguments) => remote::cancel(&arguments).await,
            Command::Plan(arguments) => plan::plan(arguments).await,
        }
    });
    // A part that is still on the threads must not hold up the end.
    runtime.shutdown_background();
    result
}

/// Prints to stdout. Who closed it does not want to know.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
