//! `canju verify`: the checksums of tables, and their values against the rules.

use std::io::Write;
use std::time::Instant;

use canju_probe::{Options, Prober, Report};
use canju_retro::TableName;
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::VerifyArguments;
use crate::words::{grouped, outcome, written};
use crate::{ewn, puzzle, tables};

/// More threads than this only get in each other's way.
const MOST_THREADS: usize = 256;

/// Verifies each table; false where one is wrong.
pub(crate) fn run(arguments: &VerifyArguments, out: &mut dyn Write) -> anyhow::Result<bool> {
    if arguments.sample == Some(0) {
        anyhow::bail!("--sample 0 would check nothing: give a number of cells, or leave it out to check all");
    }
    if arguments.threads > MOST_THREADS {
        anyhow::bail!("--threads {} is too many: give at most {MOST_THREADS}", arguments.threads);
    }
    let names = arguments.names.iter().filter(|name| !name.is_empty());
    let (puzzles, names): (Vec<_>, Vec<_>) = names.partition(|name| puzzle::is_named(name));
    let (stones, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| canju_games::is_ewn(name));
    let tables = names.into_iter().map(|name| Ok(tables::endgame(name)?.table)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut right = true;
    for name in puzzles {
        right &= puzzle::verify(&arguments.tables, name, out)?;
        out.flush()?;
    }
    for name in stones {
        right &= ewn::verify(arguments, name, out)?;
        out.flush()?;
    }
    if tables.is_empty() {
        return Ok(right);
    }
    let prober = tables::open(&arguments.tables)?;
    for table in tables {
        right &= verify(arguments, &prober, &table, out)?;
        out.flush()?;
    }
    Ok(right)
}

fn verify(
    arguments: &VerifyArguments,
    prober: &Prober,
    table: &TableName,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let bytes = prober.tables().verify_shards(table)?;
    writeln!(out, "{}", written(table, bytes))?;
    out.flush()?;
    let options = Options { sample: arguments.sample, threads: arguments.threads, memory: arguments.memory };
    let bar = bar(table);
    let start = Instant::now();
    let report = prober.verify(table, &options, &|progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    });
    bar.finish_and_clear();
    let report = report?;
    let cells = report.checked + report.skipped;
    let rate = cells as f64 / start.elapsed().as_secs_f64().max(1e-6);
    tracing::info!(%table, cells, cells_per_second = rate as u64, "verified");
    tell(table, &report, out)?;
    Ok(report.wrong == 0)
}

fn tell(table: &TableName, report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    let metrics: Vec<&str> = report.metrics.iter().map(|m| m.name()).collect();
    let (checked, metrics) = (grouped(report.checked), metrics.join(", "));
    match &report.first {
        None => writeln!(out, "{table}: {checked} positions checked ({metrics}), all follow from the rules")?,
        Some(first) => {
            writeln!(out, "{table}: {checked} positions checked ({metrics}), {} wrong", grouped(report.wrong))?;
            let (stored, computed) = (outcome(first.stored), outcome(first.computed));
            writeln!(
                out,
                "{table}: first wrong: {} ({}): stored {stored}, computed {computed}",
                first.fen, first.metric
            )?;
        }
    }
    if !report.proves_all {
        writeln!(
            out,
            "{table}: not proved under these rules: that nobody loses a drawn position by repetition, that whom the table lets lose by \
             it can be held to it for ever, and that no order is too high; single moves cannot tell"
        )?;
    }
    Ok(())
}

/// A bar on standard error, which is hidden where that is no terminal.
fn bar(table: &TableName) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {per_sec}, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(table.to_string());
    bar
}
