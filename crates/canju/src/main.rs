//! The canju command: asks finished tables about positions, counts, and checks them.

mod annotate;
mod arguments;
mod ask;
mod ewn;
mod file;
mod judge;
mod line;
mod list;
mod memory;
mod probe;
mod probe_file;
mod puzzle;
mod repetition;
mod serve;
mod solve;
mod stats;
mod tables;
mod verify;
mod words;

use std::io::{self, Write};
use std::process::ExitCode;

use canju_command::failure;
use clap::Parser;

use arguments::{Arguments, Command};

/// Something asked for was found to be wrong; it has been told.
const WRONG: u8 = 1;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let all = ": give one of probe, line, stats, verify, list, annotate, judge, serve, solve, match, grade";
            return failure::misused::<Arguments>(&error, all);
        }
    };
    // Who serves wants to see who asks.
    let default = if matches!(arguments.command, Command::Serve(_)) { "info" } else { "warn" };
    if let Err(error) = arguments.logging.begin(default) {
        return failure::fail(&failure::line(&error));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = run(&arguments.command, &mut out).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = out.flush();
            failure::fail(&failure::line(&error))
        }
    }
}

fn run(command: &Command, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match command {
        Command::Solve(asked) => solve::run(asked, out)?,
        Command::Probe(asked) if puzzle::is_meant(&asked.fen) => puzzle::probe(asked, out)?,
        Command::Probe(asked) if ewn::is_meant(&asked.fen) => ewn::probe(asked, out)?,
        Command::Probe(asked) => probe::run(asked, out)?,
        Command::Line(asked) => line::run(asked, out)?,
        Command::Stats(asked) => stats::run(asked, out)?,
        Command::List(asked) => list::run(asked, out)?,
        Command::Match(asked) => ewn::play(asked, out)?,
        Command::Grade(asked) => ewn::grade(asked, out)?,
        Command::Serve(asked) => serve::run(asked, out)?,
        Command::Annotate(asked) => annotate::run(asked, out)?,
        Command::Judge(asked) => repetition::run(asked, out)?,
        Command::Verify(asked) => {
            if !verify::run(asked, out)? {
                out.flush()?;
                return Ok(ExitCode::from(WRONG));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// True where who reads the output has closed it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe))
}
