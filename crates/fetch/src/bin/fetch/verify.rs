//! `fetch verify`: a folder's tables against their checksums.

use std::io::Write;

use anyhow::bail;
use canju_command::failure::one_line;
use canju_fetch::{Checked, Finding, FindingKind, Home, check, has_tables, none_in};
use canju_retro::Metric;
use canju_table::{rules_given, shell_word};
use serde::Serialize;

use crate::arguments::VerifyArguments;
use crate::shown::Shown;
use crate::words::{count, grouped, tables};

#[derive(Serialize)]
struct Report<'a> {
    folder: String,
    rules: &'static str,
    whole: bool,
    tables: usize,
    shards: u64,
    blocks: u64,
    cells: u64,
    bytes: u64,
    findings: Vec<Found<'a>>,
}

#[derive(Serialize)]
struct Found<'a> {
    endgame: &'a str,
    kind: &'static str,
    metric: Option<&'static str>,
    file: Option<&'a str>,
    block: Option<u32>,
    offset: Option<u64>,
    what: &'a str,
}

impl<'a> Found<'a> {
    fn new(finding: &'a Finding) -> Self {
        Self {
            endgame: finding.table.as_str(),
            kind: finding.kind.name(),
            metric: finding.metric.map(|m| m.name()),
            file: finding.file.as_deref(),
            block: finding.block,
            offset: finding.offset,
            what: &finding.what,
        }
    }
}

pub(crate) fn run(arguments: &VerifyArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let names = tables(&arguments.names)?;
    let shown = Shown::new();
    let checked = check(&arguments.folder, arguments.rules, &names, &shown);
    shown.end();
    let checked = checked?;
    let whole = checked.findings.is_empty();
    if arguments.json {
        let right = checked.right;
        let report = Report {
            folder: arguments.folder.display().to_string(),
            rules: arguments.rules.name(),
            whole,
            tables: checked.tables,
            shards: right.shards,
            blocks: right.blocks,
            cells: right.cells,
            bytes: right.bytes,
            findings: checked.findings.iter().map(Found::new).collect(),
        };
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        tell(&checked, out)?;
    }
    out.flush()?;
    if whole { Ok(()) } else { bail!("{}", remedy(&checked, arguments)?) }
}

fn tell(checked: &Checked, out: &mut dyn Write) -> anyhow::Result<()> {
    for finding in &checked.findings {
        let mut place = finding.table.to_string();
        if let Some(file) = &finding.file {
            place += &format!(", {file}");
        }
        if let Some(block) = finding.block {
            place += &format!(", block {block}");
        }
        if let Some(offset) = finding.offset {
            place += &format!(", byte {offset}");
        }
        writeln!(out, "{}: {}: {}", finding.kind.name(), place, one_line(&finding.what))?;
    }
    let right = checked.right;
    writeln!(
        out,
        "{}, {}, {} bytes are what was written{}",
        count(checked.tables, "table"),
        count(right.shards as usize, "shard"),
        grouped(right.bytes),
        if checked.findings.is_empty() { ", and so are all that they were built from" } else { "" }
    )?;
    Ok(())
}

/// What is wrong, and the commands that repair it.
fn remedy(checked: &Checked, arguments: &VerifyArguments) -> anyhow::Result<String> {
    let (folder, rules) = (&arguments.folder, arguments.rules);
    let root = shell_word(&Home::new(folder)?.root().display().to_string());
    let mut names: Vec<&str> = checked.findings.iter().map(|finding| finding.table.as_str()).collect();
    names.dedup();
    let shown = names.iter().take(20).copied().collect::<Vec<_>>().join(",");
    let more = if names.len() > 20 { " and so on" } else { "" };
    let rules_given = rules_given(rules);
    let fetch = format!("`fetch get {shown} --from SOURCE --to {root}{rules_given}`{more}");
    let nothing = |finding: &Finding| finding.kind == FindingKind::Missing && finding.metric.is_none();
    if checked.findings.iter().all(nothing) {
        if !has_tables(folder, rules) {
            return Ok(format!("{}, or fetch what is missing with {fetch}", none_in(folder, rules)));
        }
        return Ok(format!(
            "{shown} {} not in {}: fetch what is missing with {fetch}, or build it with \
             `coordinator start --build {shown}{rules_given} --store {root}`{more}",
            if names.len() == 1 { "is" } else { "are" },
            folder.display(),
        ));
    }
    let mut metrics: Vec<Metric> = checked.findings.iter().filter_map(|finding| finding.metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    // Win, draw and loss comes with every distance.
    metrics.retain(|&metric| metric != Metric::Wdl);
    let metrics: Vec<&str> = metrics.into_iter().map(Metric::name).collect();
    let metrics = if metrics.is_empty() { String::new() } else { format!(" --metric {}", metrics.join(",")) };
    Ok(format!(
        "{} in {} {} not whole: fetch what is wrong again with {fetch}, or delete the damaged files and build them with \
         `coordinator start --build {shown}{metrics}{rules_given} --store {root}`{more}",
        count(names.len(), "table"),
        folder.display(),
        if names.len() == 1 { "is" } else { "are" },
    ))
}
