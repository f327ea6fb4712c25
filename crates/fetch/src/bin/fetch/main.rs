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

use std::io::{self, Write};
use std::process::ExitCode;

use canju_command::failure;
use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::misused::<Arguments>(&error, ": give one of list, get, verify, index"),
    };
    // A source that fails is told as long as it does; what else the libraries mind is not for users.
    let done = arguments.logging.begin("error,canju_store=warn").and_then(|()| run(&arguments.command));
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
