//! Errors as one line: what is wrong, where, and what to do.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Command, CommandFactory};

/// What a command ends with that could not do what it was asked.
pub const FAILED: u8 = 2;

/// The line for an error, its causes in brackets.
#[must_use]
pub fn line(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut told = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors tell their cause themselves.
        if !told.contains(&cause) {
            told += &cause;
            causes.push(cause);
        }
    }
    let causes = if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(": ")) };
    one_line(&format!("error: {error}{causes}"))
}

/// Ends the command `A` whose command line is help, or cannot be understood: help goes to stdout, and everything else is
/// one line on stderr, as every error. `none` is the rest of that line where no command is given.
#[must_use]
pub fn misused<A: CommandFactory>(error: &clap::Error, none: &str) -> ExitCode {
    if !error.use_stderr() {
        // Who closes the pipe has read enough.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    fail(&of_arguments(error, &whose(&A::command(), std::env::args_os().skip(1)), none))
}

/// Ends a command with a line on stderr.
#[must_use]
pub fn fail(line: &str) -> ExitCode {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "{line}");
    ExitCode::from(FAILED)
}

/// The command whose help tells more: with the subcommand where one was given.
fn whose(command: &Command, words: impl Iterator<Item = OsString>) -> String {
    let given = words.filter_map(|word| command.find_subcommand(word)).next();
    let given = given.map(|subcommand| format!(" {}", subcommand.get_name())).unwrap_or_default();
    format!("{}{given}", command.get_name())
}

fn of_arguments(error: &clap::Error, command: &str, none: &str) -> String {
    let text = error.to_string();
    let what: Vec<&str> = text.lines().take_while(|line| !line.starts_with("Usage:")).collect();
    let what = one_line(&what.join(" ").replace("For more information, try '--help'.", ""));
    let what = if what.starts_with("error:") { what } else { format!("error: no command{none}") };
    format!("{what}; see `{command} --help`")
}

/// A text without line breaks and other control characters, which a source could hide in what it says.
#[must_use]
pub fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_stand_in_brackets_and_once() {
        let error = anyhow::anyhow!("the disk is full").context("cannot write a.shard: the disk is full");
        assert_eq!(line(&error), "error: cannot write a.shard: the disk is full");
        let error = Err::<(), _>(anyhow::anyhow!("one\n\x1b[31mtwo")).context("three").unwrap_err();
        assert_eq!(line(&error), "error: three (one [31mtwo)");
    }

    #[test]
    fn what_is_missing_and_what_is_unknown_is_told() {
        let parse = |words: &[&str]| {
            clap::Command::new("x")
                .subcommand_required(true)
                .subcommand(clap::Command::new("go"))
                .try_get_matches_from(words)
        };
        let unknown = of_arguments(&parse(&["x", "gone"]).unwrap_err(), "x", "");
        assert!(unknown.starts_with("error: unrecognized subcommand 'gone'") && unknown.ends_with("; see `x --help`"));
        let x = clap::Command::new("x").subcommand(clap::Command::new("go"));
        let whose = |words: &[&str]| whose(&x, words.iter().map(OsString::from));
        assert_eq!([whose(&["--log", "info", "go", "--odd"]), whose(&["gone"]), whose(&[])], ["x go", "x", "x"]);
        let help = clap::Command::new("x").arg_required_else_help(true).arg(clap::Arg::new("y"));
        let none = of_arguments(&help.try_get_matches_from(["x"]).unwrap_err(), "x", ": give one of go");
        assert_eq!(none, "error: no command: give one of go; see `x --help`");
    }
}
