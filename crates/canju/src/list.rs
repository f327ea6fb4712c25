//! `canju list`: the tables of a folder.

use std::io::Write;

use canju_retro::Metric;
use canju_store::Location;
use canju_table::no_tables;
use serde::Serialize;

use crate::arguments::ListArguments;
use crate::tables;
use crate::words::grouped;

#[derive(Serialize)]
struct List {
    tables: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    endgame: String,
    rules: &'static str,
    metrics: Vec<&'static str>,
    cells: u64,
    bytes: u64,
}

pub(crate) fn run(arguments: &ListArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let prober = tables::open(&arguments.tables)?;
    let mut list = List { tables: Vec::new() };
    // One bad manifest must not hide the other tables.
    let mut bad = None;
    for table in prober.tables().endgames()? {
        let manifest = match prober.tables().manifest(&table) {
            Ok(manifest) => manifest,
            Err(error) => {
                bad = bad.or(Some(error));
                continue;
            }
        };
        list.tables.push(Listed {
            endgame: table.to_string(),
            rules: manifest.rules.name(),
            metrics: manifest.metrics.keys().copied().map(Metric::name).collect(),
            cells: manifest.sides.w.cells + manifest.sides.b.cells,
            bytes: manifest.metrics.values().map(|entry| entry.bytes()).sum(),
        });
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&list)?)?;
        return bad.map_or(Ok(()), |error| Err(error.into()));
    }
    if list.tables.is_empty() && bad.is_none() {
        let location: Location = arguments.tables.tables.parse()?;
        let (tables, rules) = (prober.tables(), arguments.tables.rules);
        writeln!(out, "{}", no_tables(&tables.place(), location.folder(), rules, &tables.all_rules()?))?;
        return Ok(());
    }
    writeln!(out, "{:16}{:6}  {:12}{:>20}{:>18}", "endgame", "rules", "metrics", "positions", "bytes")?;
    for table in &list.tables {
        let (cells, bytes) = (grouped(table.cells), grouped(table.bytes));
        writeln!(out, "{:16}{:6}  {:12}{cells:>20}{bytes:>18}", table.endgame, table.rules, table.metrics.join(" "))?;
    }
    bad.map_or(Ok(()), |error| Err(error.into()))
}
