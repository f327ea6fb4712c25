//! The fetch command: finds, fetches and checks finished tables.

mod arguments;
mod get;
mod index;
mod list;
mod shown;
mod signals;
mod source;
mod verify;
mod words;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use canju_command::failure;
use clap::Parser;
use tracing_subscriber::EnvFilter;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::misused(&error, "fetch", ": give one of list, get, verify, index"),
    };
    let done = start_log(&arguments).and_then(|()| run(&arguments.command));
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure::fail(&failure::line(&error)),
    }
}

/// True where who reads the output has closed it. Connections break too: only the output counts.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

fn run(command: &Command) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut out = io::BufWriter::new(io::stdout());
    let done = match command {
        Command::List(asked) => runtime.block_on(list::run(asked, &mut out)).map(|()| ExitCode::SUCCESS),
        Command::Get(asked) => runtime.block_on(get::run(asked, &mut out)),
        Command::Verify(asked) => verify::run(asked, &mut out).map(|()| ExitCode::SUCCESS),
        Command::Index(asked) => runtime.block_on(index::run(asked, &mut out)).map(|()| ExitCode::SUCCESS),
    };
    // File work that is still on the threads must not hold up the end.
    runtime.shutdown_background();
    let flushed = out.flush();
    let code = done?;
    flushed?;
    Ok(code)
}

fn start_log(arguments: &Arguments) -> anyhow::Result<()> {
    let filter = match (&arguments.log, std::env::var("RUST_LOG")) {
        (Some(given), _) => EnvFilter::try_new(given)
            .map_err(|e| anyhow::anyhow!("--log {given}: {e}; give error, warn, info, debug or trace"))?,
        (None, Ok(given)) => EnvFilter::try_new(&given)
            .map_err(|e| anyhow::anyhow!("RUST_LOG={given}: {e}; give error, warn, info, debug or trace"))?,
        // A source that fails is told as long as it does; what else the libraries mind is not for users.
        (None, Err(_)) => EnvFilter::new("error,canju_store=warn"),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    log.with_ansi(io::stderr().is_terminal()).init();
    Ok(())
}
