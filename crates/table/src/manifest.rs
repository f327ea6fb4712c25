//! The manifest of a table: what it is, what it holds, and where.

use std::collections::BTreeMap;

use canju_retro::{Metric, Rules, Shape, Side, Statistics, TableName};
use serde::{Deserialize, Serialize};

use crate::names;
use crate::{Histogram, LongestPair, ManifestError, MetricEntry, ShardInfo, SmallerTable, manifest_key};

/// The version of manifests that this crate writes and reads.
pub const MANIFEST_FORMAT: u32 = 1;

/// What a table is, what it holds, and where; `docs/format.md` tells of its JSON field by field.
///
/// The order of the fields here is their order in the JSON, which the content hash depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Manifest {
    /// The version of the manifest, [`MANIFEST_FORMAT`].
    pub format: u32,
    /// The table.
    #[serde(with = "names::text")]
    pub endgame: TableName,
    /// The rules that it holds for.
    #[serde(with = "names::text")]
    pub rules: Rules,
    /// The version of the index that tells which cell is which position.
    pub index: u32,
    /// Cells that are stored, both sides to move together.
    pub cells: u64,
    /// Positions of the full board, both sides to move together.
    pub positions: u64,
    /// Counts over the full board by side to move.
    pub sides: BySide<SideCounts>,
    /// What is stored of each metric.
    #[serde(with = "names::by_metric")]
    pub metrics: BTreeMap<Metric, MetricEntry>,
    /// The text that the table's rules come from, where its name alone does not tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

/// One thing for each side to move, named as in a FEN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct BySide<T> {
    /// The side that the table names first.
    pub w: T,
    /// The other.
    pub b: T,
}

impl<T> BySide<T> {
    /// What belongs to a side.
    pub fn of(&self, side: Side) -> &T {
        match side {
            Side::First => &self.w,
            Side::Second => &self.b,
        }
    }
}

/// Positions of one side to move over the full board, symmetric ones counted apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct SideCounts {
    /// All, illegal ones too.
    pub cells: u64,
    /// Won.
    pub win: u64,
    /// Drawn.
    pub draw: u64,
    /// Lost.
    pub loss: u64,
    /// No legal positions.
    pub illegal: u64,
}

/// Two manifests of one table that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two manifests of {table} disagree on {field}: one of them is damaged or of other software; verify both")]
pub struct MergeConflict {
    /// Which table.
    pub table: TableName,
    /// Where they disagree.
    pub field: String,
}

impl Manifest {
    /// A manifest without metrics.
    #[must_use]
    pub fn new(table: &TableName, rules: Rules, index: u32, shape: &Shape, statistics: &Statistics) -> Self {
        let [w, b] = statistics.sides.each_ref().map(|s| SideCounts {
            cells: s.cells,
            win: s.wins(),
            draw: s.draws(),
            loss: s.losses(),
            illegal: s.illegal,
        });
        Self {
            format: MANIFEST_FORMAT,
            endgame: table.clone(),
            rules,
            index,
            cells: shape.slices.iter().map(|s| 2 * u64::from(s.cells)).sum(),
            positions: shape.positions,
            sides: BySide { w, b },
            metrics: BTreeMap::new(),
            definition: None,
        }
    }

    /// The same with the text that the table's rules come from, if there is one.
    #[must_use]
    pub fn with_definition(self, definition: Option<String>) -> Self {
        Self { definition, ..self }
    }

    /// The same with one more metric, or another entry for it.
    #[must_use]
    pub fn with_metric(mut self, metric: Metric, entry: MetricEntry) -> Self {
        self.metrics.insert(metric, entry);
        self
    }

    /// Takes over the metrics of another manifest of the same table. Where both have a metric, its
    /// content must be the same, and this manifest's entry stays.
    ///
    /// # Errors
    /// [`MergeConflict`]; this manifest is then as it was.
    pub fn merge(&mut self, other: Self) -> Result<(), MergeConflict> {
        let same = [
            ("endgame", self.endgame == other.endgame),
            ("rules", self.rules == other.rules),
            ("index", self.index == other.index),
            ("cells", self.cells == other.cells),
            ("positions", self.positions == other.positions),
            ("sides", self.sides == other.sides),
            ("definition", self.definition == other.definition),
        ];
        let metric_differs = other
            .metrics
            .keys()
            .find(|&&m| self.metrics.contains_key(&m) && self.metric_hash(m) != other.metric_hash(m));
        let differs = same.iter().find(|(_, same)| !same).map(|(field, _)| (*field).to_owned());
        if let Some(field) = differs.or(metric_differs.map(|m| format!("metrics.{m}"))) {
            return Err(MergeConflict { table: self.endgame.clone(), field });
        }
        for (metric, entry) in other.metrics {
            self.metrics.entry(metric).or_insert(entry);
        }
        Ok(())
    }

    /// The BLAKE3 of all that the endgame determines of one metric, in hexadecimal: equal for every build,
    /// whoever made it. `None` where the metric is not there.
    #[must_use]
    pub fn metric_hash(&self, metric: Metric) -> Option<String> {
        let entry = self.metrics.get(&metric)?;
        let content = Content {
            format: self.format,
            endgame: self.endgame.as_str(),
            rules: self.rules.name(),
            index: self.index,
            cells: self.cells,
            positions: self.positions,
            sides: &self.sides,
            metric: metric.name(),
            shards: &entry.shards,
            longest: &entry.longest,
            histogram: &entry.histogram,
            smaller: &entry.smaller,
        };
        let json = serde_json::to_vec(&content).ok()?;
        Some(blake3::hash(&json).to_hex().to_string())
    }

    /// The BLAKE3 of all that the endgame determines, in hexadecimal: of the metrics' hashes, each with a line end.
    #[must_use]
    pub fn content_hash(&self) -> String {
        let hashes: String =
            self.metrics.keys().filter_map(|&m| self.metric_hash(m)).map(|hash| format!("{hash}\n")).collect();
        blake3::hash(hashes.as_bytes()).to_hex().to_string()
    }

    /// The key of the manifest.
    #[must_use]
    pub fn key(&self) -> String {
        manifest_key(self.rules, &self.endgame)
    }

    /// The JSON, with a line end.
    ///
    /// # Errors
    /// Only where a time in it is not a number.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads a manifest. `file` is what errors call it. Fields and metrics that are not known are passed over.
    ///
    /// # Errors
    /// [`ManifestError`] with the field.
    pub fn parse(file: &str, json: &[u8]) -> Result<Self, ManifestError> {
        let error = |field: String, reason: String| ManifestError { file: file.to_owned(), field, reason };
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Version {
            format: Option<u32>,
        }
        if let Ok(Version { format: Some(format) }) = serde_json::from_slice(json)
            && format != MANIFEST_FORMAT
        {
            let reason = format!("version {format}; this software reads version {MANIFEST_FORMAT}: update it");
            return Err(error("format".to_owned(), reason));
        }
        let mut read = serde_json::Deserializer::from_slice(json);
        let manifest: Self = serde_path_to_error::deserialize(&mut read).map_err(|e| {
            let path = e.path().to_string();
            error(if path == "." { String::new() } else { path }, e.inner().to_string())
        })?;
        read.end().map_err(|e| error(String::new(), e.to_string()))?;
        for (metric, entry) in &manifest.metrics {
            if let Some((shard, reason)) = entry.flaw() {
                return Err(error(format!("metrics.{metric}.shards[{shard}]"), reason.to_owned()));
            }
        }
        Ok(manifest)
    }

    /// Checks that the manifest is the one of this table.
    pub(crate) fn check_name(&self, file: &str, table: &TableName, rules: Rules) -> Result<(), ManifestError> {
        let error = |field: &str, reason| Err(ManifestError { file: file.to_owned(), field: field.to_owned(), reason });
        if self.endgame != *table {
            return error("endgame", format!("it is the manifest of {}", self.endgame));
        }
        if self.rules != rules {
            return error("rules", format!("it is the manifest for the rules {}", self.rules));
        }
        Ok(())
    }
}

/// What the content hash is taken of, in this order.
#[derive(Serialize)]
struct Content<'a> {
    format: u32,
    endgame: &'a str,
    rules: &'a str,
    index: u32,
    cells: u64,
    positions: u64,
    sides: &'a BySide<SideCounts>,
    metric: &'a str,
    shards: &'a [ShardInfo],
    longest: &'a BySide<LongestPair>,
    histogram: &'a BySide<Histogram>,
    smaller: &'a [SmallerTable],
}
