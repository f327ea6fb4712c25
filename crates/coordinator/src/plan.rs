//! `coordinator plan`: what building takes, without building.

use std::collections::BTreeMap;

use anyhow::Result;
use canju_cluster::{
    Estimate, Plan, Settings, TablePlan, bytes_in_words, closure, parse_metrics, parse_tables, present, time_in_words,
};
use canju_games::{Games, INDEX_VERSION};
use canju_retro::Rules;
use serde_json::{Value, json};

use crate::arguments;
use crate::columns::{columns, grouped};
use crate::print;

/// Prints the plan; an error where it does not fit.
pub(crate) async fn plan(arguments: arguments::Plan) -> Result<()> {
    let (game, names) = Games::new().with_words(&arguments.names)?;
    let metrics = parse_metrics(&arguments.wanted.metric)?;
    let rules: Rules = arguments.wanted.rules.parse()?;
    let asked = parse_tables(&game, &names)?;
    let tables = closure(&game, &asked)?;
    // A folder that is not there has no tables; one that cannot be read is an error.
    let location = arguments.place.location()?;
    let present = match location.folder() {
        Some(folder) if !folder.exists() => BTreeMap::new(),
        _ => {
            let store = canju_store::open(&location, &arguments.place.options()).await?;
            present(store.as_ref(), rules, INDEX_VERSION, &tables).await?
        }
    };
    let plan = Plan::new(&game, asked, &metrics, rules, &present)?;
    let (workers, threads) = (arguments.workers as usize, usize::from(arguments.threads));
    if arguments.json {
        print(&format!("{:#}\n", as_json(&plan, workers, threads)))?;
    } else {
        print(&as_text(&plan, workers, threads))?;
    }
    if let Some(memory) = arguments.memory {
        plan.check_memory(workers, memory)?;
    }
    Ok(())
}

/// Memory that a worker needs with a scratch folder.
fn least(table: &TablePlan, workers: usize) -> u64 {
    let memory = table.memory_a_worker(workers);
    table.least(memory).min(memory)
}

fn as_text(plan: &Plan, workers: usize, threads: usize) -> String {
    let rows: Vec<_> = plan
        .tables
        .iter()
        .map(|t| {
            let build = t.build.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            [
                t.table.to_string(),
                if build.is_empty() { "there".to_owned() } else { build },
                grouped(t.positions),
                grouped(t.slices.into()),
                t.run_cells.len().to_string(),
                bytes_in_words(t.set_bytes),
                bytes_in_words(t.memory_a_worker(workers)),
                bytes_in_words(least(t, workers)),
                bytes_in_words(t.stored_bytes()),
            ]
        })
        .collect();
    let head = ["endgame", "build", "positions", "slices", "runs", "sets", "memory a worker", "with scratch", "stored"];
    let mut text = columns(head, 2, &rows);
    let missing = plan.missing().count();
    text += &format!(
        "\n{missing} of {} tables to build, {} positions\n",
        plan.tables.len(),
        grouped(plan.missing().map(|t| t.positions).sum())
    );
    text += &format!(
        "{} of memory on each of {workers} worker{}, about {} stored\n",
        bytes_in_words(plan.memory_a_worker(workers)),
        if workers == 1 { "" } else { "s" },
        bytes_in_words(plan.missing().map(canju_cluster::TablePlan::stored_bytes).sum())
    );
    text + &taken(&plan.estimate(workers, threads, Settings::default().cut_from), workers, threads)
}

/// What the estimate says, with what it goes by.
fn taken(estimate: &Estimate, workers: usize, threads: usize) -> String {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let is_range = estimate.cpu_seconds_most > estimate.cpu_seconds;
    let range = |shared: usize| {
        let [least, most] =
            [estimate.cpu_seconds, estimate.cpu_seconds_most].map(|seconds| time_in_words(seconds / shared as f64));
        if is_range && least != most { format!("{least} to {most}") } else { least }
    };
    let mut text = format!("about {} of one processor", range(1));
    if workers * threads > 1 {
        text += &format!(
            ", {} on {workers} worker{} with {threads} thread{} each",
            range(workers * threads),
            plural(workers),
            plural(threads)
        );
    }
    text += ", at 50 million positions a second for each distance";
    if is_range {
        text += &format!(", down to {:.0} where repetition decides", estimate.fewest_a_cpu_second / 1e6);
    }
    text += "\n";
    text += &format!(
        "about {} sent between workers; with S3 about {} requests to write, {} to read, checkpoints and lease included\n",
        bytes_in_words(estimate.sent_bytes),
        grouped(estimate.puts),
        grouped(estimate.gets)
    );
    text
}

fn as_json(plan: &Plan, workers: usize, threads: usize) -> Value {
    let estimate = plan.estimate(workers, threads, Settings::default().cut_from);
    let names = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>();
    let tables = plan.tables.iter().map(|t| {
        json!({
            "endgame": t.table.as_str(),
            "smaller": names(&mut t.smaller.iter().map(ToString::to_string)),
            "build": names(&mut t.build.iter().map(ToString::to_string)),
            "present": names(&mut t.present.iter().map(ToString::to_string)),
            "positions": t.positions, "cells": t.cells(), "slices": t.slices, "runs": t.run_cells.len(),
            "set_bytes": t.set_bytes, "memory_a_worker": t.memory_a_worker(workers),
            "memory_with_scratch": least(t, workers), "stored_bytes": t.stored_bytes(),
        })
    });
    json!({
        "tables": tables.collect::<Vec<_>>(),
        "workers": workers,
        "positions": plan.missing().map(|t| t.positions).sum::<u64>(),
        "memory_a_worker": plan.memory_a_worker(workers),
        "stored_bytes": plan.missing().map(canju_cluster::TablePlan::stored_bytes).sum::<u64>(),
        "threads": threads,
        "cpu_seconds": estimate.cpu_seconds, "cpu_seconds_most": estimate.cpu_seconds_most, "seconds": estimate.seconds, "sent_bytes": estimate.sent_bytes,
        "puts": estimate.puts, "gets": estimate.gets,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_makes_a_range_of_the_time() {
        let plain = Estimate { cpu_seconds: 20.0, cpu_seconds_most: 20.0, seconds: 10.0, ..Estimate::default() };
        let text = taken(&plain, 2, 1);
        let wanted = "about 20 s of one processor, 10 s on 2 workers with 1 thread each, at 50 million positions a second for \
                      each distance\n";
        assert!(text.starts_with(wanted), "{text}");
        let axf = Estimate { cpu_seconds_most: 40.0, fewest_a_cpu_second: 5e6, ..plain };
        let wanted = "about 20 s to 40 s of one processor, 10 s to 20 s on 2 workers with 1 thread each, at 50 million \
                      positions a second for each distance, down to 5 where repetition decides\n";
        assert!(taken(&axf, 2, 1).starts_with(wanted), "{}", taken(&axf, 2, 1));
    }
}
