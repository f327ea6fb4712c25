//! Errors as one line: what is wrong, where, and what to do.

use std::io;

/// The line for an error, its causes in brackets.
pub(crate) fn line(error: &anyhow::Error) -> String {
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

/// The line for a command line that cannot be understood.
pub(crate) fn of_arguments(error: &clap::Error) -> String {
    let text = error.to_string();
    let what: Vec<&str> = text.lines().take_while(|line| !line.starts_with("Usage:")).collect();
    let what = one_line(&what.join(" ").replace("For more information, try '--help'.", ""));
    let what = if what.starts_with("error:") {
        what
    } else {
        "error: no command: give one of list, get, verify, index".to_owned()
    };
    format!("{what}; see `fetch --help`")
}

/// A text without line breaks and other control characters, which a source could hide in what it says.
pub(crate) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True where who reads the output has closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
