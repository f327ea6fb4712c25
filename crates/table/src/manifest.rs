//! The manifest of a table: what it is, what it holds, and where.

use std::collections::BTreeMap;

use canju_retro::{Cell, Code, Metric, Outcome, Rules, Shape, Side, SideStatistics, Statistics, TableName};
use serde::{Deserialize, Serialize};

use crate::names;
use crate::{ManifestError, ShardInfo, manifest_key};

/// The version of manifests that this crate writes and reads.
pub const MANIFEST_FORMAT: u32 = 1;

/// What a table is, what it holds, and where; `docs/format.md` tells of its JSON field by field.
///
/// The order of the fields here is their order in the JSON, which the content hash depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// One thing for each side to move, named as in a FEN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// What is stored of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricEntry {
    /// The shards in order; together they hold all slices.
    pub shards: Vec<ShardInfo>,
    /// The longest win and loss by side to move; neither for win-draw-loss.
    pub longest: BySide<LongestPair>,
    /// Legal positions by value and side to move.
    pub histogram: BySide<Histogram>,
    /// The smaller tables that this metric was built from.
    pub smaller: Vec<SmallerTable>,
    /// The software that built it.
    #[serde(default)]
    pub software: String,
    /// How its cells were checked against each other, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildStatistics>,
}

/// The longest win and the longest loss of one side to move, where there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestPair {
    /// The longest win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win: Option<LongestLine>,
    /// The longest loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LongestLine>,
}

/// How long, and a position that is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestLine {
    /// Rule violations still open to the loser; 0 under the plain rules.
    pub order: u16,
    /// Plies within that order.
    pub plies: u16,
    /// The first position of that length, as the game writes positions.
    pub fen: String,
}

/// Legal positions of one side to move by value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Draws.
    pub draw: u64,
    /// Wins by distance.
    #[serde(with = "names::by_distance")]
    pub win: BTreeMap<canju_retro::Distance, u64>,
    /// Losses by distance.
    #[serde(with = "names::by_distance")]
    pub loss: BTreeMap<canju_retro::Distance, u64>,
}

/// A smaller table that a metric was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmallerTable {
    /// The table.
    #[serde(with = "names::text")]
    pub endgame: TableName,
    /// Which of its metrics was read.
    #[serde(with = "names::text")]
    pub metric: Metric,
    /// Its [`Manifest::metric_hash`].
    pub content: String,
}

/// How the cells of a metric were checked against their successors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Who did it.
    pub by: Vec<String>,
    /// How many cells were checked.
    pub cells: u64,
    /// How many of them were wrong.
    pub wrong: u64,
}

/// What a metric cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BuildStatistics {
    /// How many workers took part.
    pub workers: u32,
    /// CPU time of all together.
    pub cpu_seconds: f64,
    /// From the first step to the last.
    pub wall_seconds: f64,
    /// The most memory that one worker held.
    pub peak_memory_bytes: u64,
    /// Bytes that workers sent each other.
    pub bytes_sent: u64,
    /// Bytes of the metric's shards.
    pub bytes_stored: u64,
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
        }
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

impl MetricEntry {
    /// The entry of a metric from the counts over all parts. `show` writes a cell as the game writes positions.
    ///
    /// # Errors
    /// What `show` says.
    pub fn new<E>(
        metric: Metric,
        statistics: &Statistics,
        shards: Vec<ShardInfo>,
        smaller: Vec<SmallerTable>,
        show: impl Fn(Cell) -> Result<String, E>,
    ) -> Result<Self, E> {
        let longest = |side: &SideStatistics| {
            let line = |longest: Option<canju_retro::Longest>| match longest {
                Some(l) if metric != Metric::Wdl => {
                    Ok(Some(LongestLine { order: l.distance.order, plies: l.distance.plies, fen: show(l.cell)? }))
                }
                _ => Ok(None),
            };
            Ok(LongestPair { win: line(side.longest_win)?, loss: line(side.longest_loss)? })
        };
        let [w, b] = &statistics.sides;
        Ok(Self {
            shards,
            longest: BySide { w: longest(w)?, b: longest(b)? },
            histogram: BySide { w: Histogram::of(metric, w), b: Histogram::of(metric, b) },
            smaller,
            software: format!("canju {}", env!("CARGO_PKG_VERSION")),
            verification: None,
            build: None,
        })
    }

    /// Bytes of all shards together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|s| s.bytes).sum()
    }

    /// The first shard that cannot be, and why.
    fn flaw(&self) -> Option<(usize, &'static str)> {
        let mut next = 0;
        self.shards.iter().enumerate().find_map(|(i, shard)| {
            let reason = if shard.number as usize != i {
                "shards are not numbered in order"
            } else if shard.first_slice != next {
                "its slices do not follow those of the shard before"
            } else if shard.blake3.len() != 64 || !shard.blake3.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            {
                "its blake3 is not 64 lower-case hexadecimal digits"
            } else if let Some(end) = next.checked_add(shard.slices) {
                next = end;
                return None;
            } else {
                "it has too many slices"
            };
            Some((i, reason))
        })
    }
}

impl Histogram {
    fn of(metric: Metric, side: &SideStatistics) -> Self {
        let mut histogram = Self::default();
        for (&code, &count) in &side.histogram {
            let outcome = match metric {
                Metric::Wdl => code.outcome().without_distance(),
                _ => Code::outcome(code),
            };
            match outcome {
                Outcome::Draw => histogram.draw += count,
                Outcome::Win(distance) => *histogram.win.entry(distance).or_default() += count,
                Outcome::Loss(distance) => *histogram.loss.entry(distance).or_default() += count,
            }
        }
        histogram
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
