//! Whether a folder's tables are what was written, and complete.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use canju_retro::{Metric, Rules, TableName};
use canju_table::{
    FolderSource, Manifest, ShardInfo, TableError, TableSet, Verified, manifest_key, no_tables, shard_key,
};
use rayon::prelude::*;

use crate::{Event, FetchError, Watch, sound};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Tables that were looked at.
    pub tables: usize,
    /// What was read and is right.
    pub right: Verified,
    /// What is wrong, by table. Empty where all is whole.
    pub findings: Vec<Finding>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The table that is damaged, missing, or another one than it should be.
    pub table: TableName,
    /// What kind of flaw it is.
    pub kind: FindingKind,
    /// The metric, where only one is concerned.
    pub metric: Option<Metric>,
    /// The file, as a key; none where a whole table is missing.
    pub file: Option<String>,
    /// The block, where it is within one.
    pub block: Option<u32>,
    /// The byte of the file where the damage begins, where that is known.
    pub offset: Option<u64>,
    /// What is wrong, in words.
    pub what: String,
}

/// The kinds of flaws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// Bytes are not those that were written, or a file that a manifest lists is not there.
    Damaged,
    /// A table that others were built from, or that was asked for, is not there.
    Missing,
    /// A smaller table is another one than that which a larger was built from.
    Other,
    /// The system could not read a file.
    Unreadable,
}

impl FindingKind {
    /// The kind in one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Missing => "missing",
            Self::Other => "other",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Reads tables of a folder: each manifest, each shard with all its checksums, and whether the smaller tables
/// are there that they were built from. `tables` are checked with all smaller ones; all of the folder where there
/// are none. Blocks, and works on all processors.
///
/// # Errors
/// [`FetchError::Local`] when the folder cannot be read, [`FetchError::NoTables`] when there is nothing to check. What is wrong with a table is no error but a [`Finding`].
pub fn check(folder: &Path, rules: Rules, tables: &[TableName], watch: &dyn Watch) -> Result<Checked, FetchError> {
    std::fs::read_dir(folder).map_err(FetchError::local(folder, "read"))?;
    // Blocks are read past the cache.
    let set = TableSet::with_cache(Arc::new(FolderSource::new(folder)), rules, 1 << 20);
    let mut check = Check { set, rules, checked: Checked::default(), open: Vec::new(), seen: BTreeSet::new() };
    if tables.is_empty() {
        let there = check.set.endgames().map_err(|e| FetchError::local(folder, "read")(std::io::Error::other(e)))?;
        if there.is_empty() {
            return Err(FetchError::NoTables(none_in(folder, rules)));
        }
        there.into_iter().for_each(|table| check.want(table));
    }
    tables.iter().for_each(|table| check.want(table.clone()));
    let mut manifests = Vec::new();
    while let Some(table) = check.open.pop() {
        manifests.extend(check.manifest(&table));
    }
    check.links(&manifests);
    check.shards(&manifests, watch);
    check.checked.findings.sort_by(|a, b| (&a.table, &a.file, a.metric).cmp(&(&b.table, &b.file, b.metric)));
    check.checked.findings.dedup();
    Ok(check.checked)
}

/// True where a folder has tables of these rules.
#[must_use]
pub fn has_tables(folder: &Path, rules: Rules) -> bool {
    let set = TableSet::with_cache(Arc::new(FolderSource::new(folder)), rules, 0);
    set.endgames().is_ok_and(|tables| !tables.is_empty())
}

/// What to tell who looked for tables in a folder that has none of these rules: where some are.
#[must_use]
pub fn none_in(folder: &Path, rules: Rules) -> String {
    let set = TableSet::with_cache(Arc::new(FolderSource::new(folder)), rules, 0);
    no_tables(&set.place(), Some(folder), rules, &set.all_rules().unwrap_or_default())
}

struct Check {
    set: TableSet,
    rules: Rules,
    checked: Checked,
    open: Vec<TableName>,
    seen: BTreeSet<TableName>,
}

impl Check {
    fn want(&mut self, table: TableName) {
        if self.seen.insert(table.clone()) {
            self.open.push(table);
        }
    }

    /// Reads a manifest, and wants the smaller tables.
    fn manifest(&mut self, table: &TableName) -> Option<Arc<Manifest>> {
        let manifest = match self.set.manifest(table) {
            Ok(manifest) => manifest,
            Err(error) => {
                let finding = self.finding(table, None, &error);
                self.checked.findings.push(finding);
                return None;
            }
        };
        self.checked.tables += 1;
        if let Some((field, reason)) = sound::flaw(&manifest) {
            let mut finding = self.damaged_manifest(table, format!("field {field}: {reason}"));
            finding.offset = None;
            self.checked.findings.push(finding);
        }
        for smaller in manifest.metrics.values().flat_map(|entry| &entry.smaller) {
            self.want(smaller.endgame.clone());
        }
        Some(manifest)
    }

    /// Compares each smaller table with the one that the larger was built from.
    fn links(&mut self, manifests: &[Arc<Manifest>]) {
        let by_name = |table: &TableName| manifests.iter().find(|m| m.endgame == *table);
        for manifest in manifests {
            for smaller in manifest.metrics.values().flat_map(|entry| &entry.smaller) {
                let metric = smaller.metric;
                let hash = match by_name(&smaller.endgame) {
                    // Said already.
                    None => continue,
                    Some(there) => there.metric_hash(metric),
                };
                let (kind, what) = match hash {
                    Some(hash) if hash == smaller.content => continue,
                    Some(_) => (
                        FindingKind::Other,
                        format!("{} was built from another {} ({metric})", manifest.endgame, smaller.endgame),
                    ),
                    None => (
                        FindingKind::Missing,
                        format!("{} was built from its {metric}, which is not there", manifest.endgame),
                    ),
                };
                let table = smaller.endgame.clone();
                let finding =
                    Finding { table, kind, metric: Some(metric), file: None, block: None, offset: None, what };
                self.checked.findings.push(finding);
            }
        }
    }

    fn shards(&mut self, manifests: &[Arc<Manifest>], watch: &dyn Watch) {
        let of = |manifest: &Arc<Manifest>| {
            let metrics = manifest.metrics.iter();
            let shards =
                metrics.flat_map(|(&metric, entry)| entry.shards.iter().map(move |info| (metric, info.clone())));
            shards.map(|(metric, info)| (manifest.endgame.clone(), metric, info)).collect::<Vec<_>>()
        };
        let all: Vec<(TableName, Metric, ShardInfo)> = manifests.iter().flat_map(of).collect();
        watch.see(Event::Checking(all.iter().fold(0u64, |sum, (_, _, info)| sum.saturating_add(info.bytes))));
        let set = &self.set;
        let verified: Vec<_> = all
            .par_iter()
            .map(|(table, metric, info)| {
                let verified = set.verify_shard(table, *metric, info.number);
                watch.see(Event::Checked(info.bytes));
                verified
            })
            .collect();
        for ((table, metric, info), verified) in all.iter().zip(verified) {
            match verified {
                Ok(right) => self.checked.right = self.checked.right.and(right),
                Err(error) => {
                    let mut finding = self.finding(table, Some(*metric), &error);
                    finding.file.get_or_insert_with(|| shard_key(self.rules, table, *metric, info.number));
                    self.checked.findings.push(finding);
                }
            }
        }
    }

    /// What an error of a table comes to.
    fn finding(&self, table: &TableName, metric: Option<Metric>, error: &TableError) -> Finding {
        let new = |kind, file: Option<String>, what: String| Finding {
            table: table.clone(),
            kind,
            metric,
            file,
            block: None,
            offset: None,
            what,
        };
        match error {
            TableError::Missing { .. } => new(FindingKind::Missing, None, "it is not there".to_owned()),
            TableError::Damaged { damage, .. } => Finding {
                block: damage.block,
                // A whole file that is wrong is wrong nowhere in particular.
                offset: (damage.block.is_some() || damage.offset > 0).then_some(damage.offset),
                ..new(FindingKind::Damaged, Some(damage.key.clone()), damage.what.clone())
            },
            TableError::Manifest { error, .. } => {
                let field = if error.field.is_empty() { String::new() } else { format!("field {}: ", error.field) };
                self.damaged_manifest(table, format!("{field}{}", error.reason))
            }
            TableError::Io { key, source, .. } => new(FindingKind::Unreadable, Some(key.clone()), source.to_string()),
            other => new(FindingKind::Damaged, None, other.to_string()),
        }
    }

    fn damaged_manifest(&self, table: &TableName, what: String) -> Finding {
        Finding {
            table: table.clone(),
            kind: FindingKind::Damaged,
            metric: None,
            file: Some(manifest_key(self.rules, table)),
            block: None,
            offset: None,
            what,
        }
    }
}
