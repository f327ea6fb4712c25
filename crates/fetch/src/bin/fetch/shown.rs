//! How far a command is, on standard error: a bar on a terminal, lines now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use canju_command::failure::one_line;
use canju_fetch::{Event, Watch};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::words::{count, grouped};

/// How often a line is written where there is no terminal.
const NOW_AND_THEN: Duration = Duration::from_secs(10);

const COMPARING: &str = "{msg} [{bar:40}] {percent}% {bytes}/{total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Shows events.
pub(crate) struct Shown {
    bar: ProgressBar,
    terminal: bool,
    lines: Mutex<Lines>,
}

struct Lines {
    what: &'static str,
    begun: Instant,
    told: Instant,
    /// Bytes that were there when it began.
    kept: u64,
    at: u64,
    of: u64,
    tables: (usize, usize),
}

impl Shown {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template(COMPARING) {
            bar.set_style(style.progress_chars("=> "));
        }
        let lines = Lines { what: "", begun: now, told: now, kept: 0, at: 0, of: 0, tables: (0, 0) };
        Self { bar, terminal: io::stderr().is_terminal(), lines: Mutex::new(lines) }
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Writes a line, above the bar where there is one.
    fn say(&self, text: &str) {
        let text = one_line(text);
        self.bar.suspend(|| {
            // Nobody is left to be told where standard error is closed.
            let _ = writeln!(io::stderr(), "{text}");
        });
    }

    fn begin(&self, what: &'static str, at: u64, of: u64, tables: usize) {
        let now = Instant::now();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        *lines = Lines { what, begun: now, told: now, kept: at, at, of, tables: (0, tables) };
        self.bar.reset();
        self.bar.set_length(of);
        self.bar.set_message(what);
        // What was there already is not part of the rate.
        self.bar.set_position(at);
        self.bar.reset_eta();
    }

    fn forward(&self, bytes: i64) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.at = lines.at.saturating_add_signed(bytes);
        if self.terminal {
            self.bar.set_position(lines.at);
        } else if lines.told.elapsed() >= NOW_AND_THEN {
            lines.told = Instant::now();
            let line = lines.line();
            drop(lines);
            self.say(&line);
        }
    }
}

impl Lines {
    fn line(&self) -> String {
        let seconds = self.begun.elapsed().as_secs_f64().max(1e-6);
        let rate = self.at.saturating_sub(self.kept) as f64 / seconds;
        let left = self.of.saturating_sub(self.at) as f64 / rate;
        let left =
            Duration::try_from_secs_f64(left).map_or("unknown time".to_owned(), |d| HumanDuration(d).to_string());
        let (done, of) = self.tables;
        let tables = if of == 0 { String::new() } else { format!(", {done} of {} whole", count(of, "table")) };
        let (at, of, rate) = (grouped(self.at), grouped(self.of), grouped(rate as u64));
        format!("{}: {at} of {of} bytes{tables}, {rate} bytes a second, {left} left", self.what)
    }
}

impl Watch for Shown {
    fn see(&self, event: Event<'_>) {
        match event {
            Event::Waiting { folder } => self.say(&waiting(folder)),
            Event::Checking(bytes) => self.begin("comparing", 0, bytes, 0),
            Event::Checked(bytes) | Event::Got(bytes) => self.forward(bytes as i64),
            Event::Lost(bytes) => self.forward(-(bytes as i64)),
            Event::Replaced { key, what } => self.say(&format!("{key} is damaged and will be replaced: {what}")),
            Event::Begin { tables, bytes, kept } => {
                if tables > 0 {
                    let before =
                        if kept == 0 { String::new() } else { format!(", {} are here already", grouped(kept)) };
                    self.say(&format!("{} to fetch, {} bytes{before}", count(tables, "table"), grouped(bytes)));
                }
                self.begin("fetching", kept, bytes.saturating_add(kept), tables);
            }
            Event::Again { key } => self.say(&format!("{key} came with wrong bytes and is fetched once more")),
            Event::Finished { table, done, of } => {
                self.lines.lock().unwrap_or_else(PoisonError::into_inner).tables = (done, of);
                self.bar.set_message(format!("{table} is whole, {done} of {of}"));
            }
            _ => {}
        }
    }
}

fn waiting(folder: &Path) -> String {
    format!("another fetch works in {}: waiting for its end", folder.display())
}
