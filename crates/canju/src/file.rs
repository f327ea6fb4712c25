//! Files of positions and games.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use canju_records::{Limits, Record};
use canju_table::shell_word;

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> anyhow::Result<canju_records::File> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let limits = Limits::default();
    // One byte more tells that there is more.
    let most = limits.bytes as u64 + 1;
    let read = if is_stdin {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.with_context(|| {
        format!("{name} cannot be read: name a file with positions or games, or - for standard input")
    })?;
    canju_records::read_within(&bytes, &limits).map_err(|error| anyhow!("{name}, {error}"))
}

/// What to tell who gives a file in place of a position.
pub(crate) fn meant(name: &str) -> anyhow::Error {
    let word = shell_word(name);
    anyhow!(
        "{name} is a file: `canju probe --file {word}` tells the values of its positions, `canju annotate {word}` what its \
         moves are worth"
    )
}

/// A heading for one of the records of a file: its number and what it is called.
pub(crate) fn heading(number: usize, record: &Record) -> String {
    let players = match (record.red.as_str(), record.black.as_str()) {
        ("", "") => String::new(),
        (red, black) => format!("{} - {}", or_unknown(red), or_unknown(black)),
    };
    let parts = [&record.title, &record.event, &players].map(|part| part.replace('\n', " "));
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{number}. {}", if parts.is_empty() { "untitled".to_owned() } else { parts.join(", ") })
}

fn or_unknown(name: &str) -> &str {
    if name.is_empty() { "?" } else { name }
}
