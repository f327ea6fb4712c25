//! The `coordinator` command: builds endgames by itself, serves a cluster, and talks to one that serves.

mod arguments;
mod columns;
mod follow;
mod plan;
mod remote;
mod screen;
mod start;
mod summary;
mod watch;

use std::error::Error;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use canju_command::{Unwell, ask, failure};
use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::remote::Interrupted;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::misused::<Arguments>(&error, ""),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if has_read_enough(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Unwell>() => ExitCode::FAILURE,
        Err(error) if error.is::<Interrupted>() => {
            let _ = writeln!(std::io::stderr(), "{error}");
            // As for any command that Ctrl-C ends.
            ExitCode::from(130)
        }
        Err(error) => failure::fail(&format!("error: {}", canju_cluster::causes(error.as_ref()))),
    }
}

fn run(arguments: Arguments) -> Result<()> {
    let quiet = match &arguments.command {
        Command::Start(start) => !start.build.is_empty(),
        _ => true,
    };
    // What ends a command is said once, as its error.
    arguments.logging.begin(if quiet { "error" } else { "info" })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        match arguments.command {
            Command::Start(arguments) => start::start(*arguments).await,
            Command::Submit(arguments) => remote::submit(arguments).await,
            Command::Jobs(arguments) => remote::jobs(&arguments).await,
            Command::Status(arguments) => remote::status(&arguments).await,
            Command::Cancel(arguments) => remote::cancel(&arguments).await,
            Command::Plan(arguments) => plan::plan(arguments).await,
            Command::Health(h) => ask("the coordinator", &h.urls, h.live, &h.trust).await,
        }
    });
    // A part that is still on the threads must not hold up the end.
    runtime.shutdown_background();
    result
}

/// What could not be printed.
#[derive(Debug)]
struct Unprinted(std::io::Error);

impl fmt::Display for Unprinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write to the standard output: {}", self.0)
    }
}

impl Error for Unprinted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// True where who reads the output has closed it: that is an end, and nobody is there to be told.
fn has_read_enough(error: &anyhow::Error) -> bool {
    // Connections break too: only the output counts.
    error.downcast_ref::<Unprinted>().is_some_and(|e| e.0.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Prints to stdout.
///
/// # Errors
/// What the system says.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Unprinted)?)
}
