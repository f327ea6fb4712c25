//! What a manifest tells of one metric.

use std::collections::BTreeMap;

use canju_retro::{Cell, Code, Distance, Longest, Metric, Outcome, SideStatistics, Statistics, TableName};
use serde::{Deserialize, Serialize};

use crate::names;
use crate::{BySide, ShardInfo};

/// What is stored of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct MetricEntry {
    /// The shards in order; together they hold all slices.
    pub shards: Vec<ShardInfo>,
    /// The longest win and loss by side to move; none for win-draw-loss and for odds.
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
#[serde(expecting = "an object")]
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
#[serde(expecting = "an object")]
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
#[serde(expecting = "an object")]
pub struct Histogram {
    /// Draws.
    pub draw: u64,
    /// Wins by distance.
    #[serde(with = "names::by_distance")]
    pub win: BTreeMap<Distance, u64>,
    /// Losses by distance.
    #[serde(with = "names::by_distance")]
    pub loss: BTreeMap<Distance, u64>,
}

/// A smaller table that a metric was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct SmallerTable {
    /// The table.
    #[serde(with = "names::text")]
    pub endgame: TableName,
    /// Which of its metrics was read.
    #[serde(with = "names::text")]
    pub metric: Metric,
    /// Its [`Manifest::metric_hash`](crate::Manifest::metric_hash).
    pub content: String,
}

/// How the cells of a metric were checked against their successors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Verification {
    /// Who did it.
    pub by: Vec<String>,
    /// How many cells were checked.
    pub cells: u64,
    /// How many of them were wrong.
    pub wrong: u64,
}

/// What a metric cost. It is for people to look at: what other software does not tell is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
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
            let line = |longest: Option<Longest>| match longest {
                Some(l) if metric.is_distance() => {
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
    pub(crate) fn flaw(&self) -> Option<(usize, &'static str)> {
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
                Metric::Wdl | Metric::Odds => code.outcome().without_distance(),
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
