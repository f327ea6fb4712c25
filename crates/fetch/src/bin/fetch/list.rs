//! `fetch list`: what there is.

use std::collections::BTreeSet;
use std::io::Write;

use canju_command::words::distance;
use canju_fetch::Origin;
use canju_retro::{Metric, Rules, TableName};
use canju_table::{LongestLine, Manifest, no_tables};
use futures_util::{StreamExt, stream};
use serde::Serialize;

use crate::arguments::ListArguments;
use crate::source;
use crate::words::{Pattern, grouped};

/// Manifests that are asked for at once.
const AT_ONCE: usize = 16;

#[derive(Serialize)]
struct List {
    source: String,
    tables: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    endgame: String,
    rules: &'static str,
    metrics: Vec<&'static str>,
    positions: u64,
    bytes: u64,
    longest: Option<Longest>,
}

#[derive(Serialize)]
struct Longest {
    metric: &'static str,
    #[serde(skip_serializing_if = "is_none")]
    order: u16,
    plies: u16,
    fen: String,
}

/// The plain rules know no orders, and say none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks it so")]
const fn is_none(order: &u16) -> bool {
    *order == 0
}

impl Listed {
    fn new(manifest: &Manifest) -> Self {
        Self {
            endgame: manifest.endgame.to_string(),
            rules: manifest.rules.name(),
            metrics: manifest.metrics.keys().copied().map(Metric::name).collect(),
            positions: manifest.positions,
            bytes: manifest.metrics.values().map(|entry| entry.bytes()).sum(),
            longest: longest(manifest),
        }
    }
}

/// The longest win of either side, to mate where that was built, else to conversion.
fn longest(manifest: &Manifest) -> Option<Longest> {
    [Metric::Dtm, Metric::Dtc].into_iter().find_map(|metric| {
        let entry = manifest.metrics.get(&metric)?;
        // Of equally long ones that of the first-named side.
        let wins = [&entry.longest.b.win, &entry.longest.w.win].into_iter().flatten();
        let line: &LongestLine = wins.max_by_key(|line| (line.order, line.plies))?;
        Some(Longest { metric: metric.name(), order: line.order, plies: line.plies, fen: line.fen.clone() })
    })
}

pub(crate) async fn run(arguments: &ListArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let pattern = Pattern::new(arguments.pattern.as_deref())?;
    let origin = source::open(&arguments.from, AT_ONCE).await?;
    let folder = arguments.from.folder();
    let there = origin.tables().await?;
    let found: BTreeSet<Rules> = there.iter().map(|(rules, _)| *rules).collect();
    let of_rules = there.iter().filter(|(rules, _)| *rules == arguments.rules).count();
    let wanted = there.into_iter().filter(|(rules, table)| *rules == arguments.rules && pattern.fits(table));
    let manifests = wanted.map(|(rules, table)| manifest(&origin, rules, table));
    let mut manifests = stream::iter(manifests).buffered(AT_ONCE);
    let mut list = List { source: origin.place(), tables: Vec::new() };
    // One bad manifest must not hide the other tables.
    let mut bad = None;
    while let Some(manifest) = manifests.next().await {
        match manifest {
            Ok(manifest) => list.tables.push(Listed::new(&manifest)),
            Err(error) => bad = bad.or(Some(error)),
        }
    }
    if list.tables.is_empty() && bad.is_none() && !arguments.json {
        let nothing = match &arguments.pattern {
            Some(pattern) if of_rules > 0 => {
                format!(
                    "no table in {} is called {pattern}: there are {} of others",
                    list.source,
                    grouped(of_rules as u64)
                )
            }
            _ => no_tables(&list.source, folder.as_deref(), arguments.rules, &found),
        };
        writeln!(out, "{nothing}")?;
    } else if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&list)?)?;
    } else {
        print(&list, out)?;
    }
    bad.map_or(Ok(()), |error| Err(error.into()))
}

async fn manifest(origin: &Origin, rules: Rules, table: TableName) -> Result<Manifest, canju_fetch::FetchError> {
    origin.manifest(rules, &table).await
}

fn print(list: &List, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{:16}{:6}  {:12}{:>20}{:>18}  longest win", "endgame", "rules", "metrics", "positions", "bytes")?;
    for table in &list.tables {
        let (positions, bytes) = (grouped(table.positions), grouped(table.bytes));
        let longest =
            table.longest.as_ref().map_or("-".to_owned(), |l| format!("{} ({})", distance(l.order, l.plies), l.metric));
        let (name, rules, metrics) = (&table.endgame, table.rules, table.metrics.join(" "));
        writeln!(out, "{name:16}{rules:6}  {metrics:12}{positions:>20}{bytes:>18}  {longest}")?;
    }
    Ok(())
}
