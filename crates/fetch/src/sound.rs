//! Whether a manifest can be true.

use canju_table::{Manifest, MetricEntry, SideCounts};

/// Most bytes of a manifest that anybody reads.
pub(crate) const MOST_MANIFEST_BYTES: u64 = 64 << 20;

/// Most bytes that a shard takes apart from its cells: head, directory, palettes of small blocks.
const SHARD_EXTRA: u64 = 64 << 20;

/// The first field that contradicts another one or is beyond all reason, and why. A byte that was flipped in a number
/// shows here even where no checksum covers the manifest.
pub(crate) fn flaw(manifest: &Manifest) -> Option<(String, String)> {
    let sides = [("w", &manifest.sides.w), ("b", &manifest.sides.b)];
    for (name, side) in sides {
        if sum(&[side.win, side.draw, side.loss, side.illegal]) != Some(side.cells) {
            return Some((format!("sides.{name}"), "its counts do not add up to its cells".to_owned()));
        }
    }
    if sum(&[manifest.sides.w.cells, manifest.sides.b.cells]) != Some(manifest.positions) {
        return Some(("positions".to_owned(), "they are not those of both sides together".to_owned()));
    }
    if manifest.metrics.is_empty() {
        return Some(("metrics".to_owned(), "there is none that this software knows".to_owned()));
    }
    manifest.metrics.iter().find_map(|(metric, entry)| {
        let (field, reason) = metric_flaw(manifest, entry)?;
        Some((format!("metrics.{metric}{field}"), reason))
    })
}

fn metric_flaw(manifest: &Manifest, entry: &MetricEntry) -> Option<(String, String)> {
    let mut total = 0u64;
    for (at, shard) in entry.shards.iter().enumerate() {
        // Half of the metric's bytes could be palettes; nothing makes them ten times the cells.
        if shard.bytes > manifest.cells.saturating_mul(10).saturating_add(SHARD_EXTRA) {
            let reason = format!("{} bytes for a table of {} cells", shard.bytes, manifest.cells);
            return Some((format!(".shards[{at}].bytes"), reason));
        }
        match total.checked_add(shard.bytes) {
            Some(sum) => total = sum,
            None => return Some((".shards".to_owned(), "they have more bytes together than can be".to_owned())),
        }
    }
    let sides = [
        ("w", &manifest.sides.w, &entry.histogram.w, &entry.longest.w),
        ("b", &manifest.sides.b, &entry.histogram.b, &entry.longest.b),
    ];
    sides.into_iter().find_map(|(name, side, histogram, longest)| {
        let SideCounts { win, draw, loss, .. } = *side;
        let all = |counts: &std::collections::BTreeMap<_, u64>| sum(&counts.values().copied().collect::<Vec<_>>());
        if (all(&histogram.win), Some(histogram.draw), all(&histogram.loss)) != (Some(win), Some(draw), Some(loss)) {
            return Some((format!(".histogram.{name}"), format!("it does not add up to the counts of sides.{name}")));
        }
        let lines = [(&longest.win, &histogram.win, "win"), (&longest.loss, &histogram.loss, "loss")];
        lines.into_iter().find_map(|(line, counts, what)| {
            let line = line.as_ref()?;
            let last = counts.keys().next_back().map(|d| (d.order, d.plies));
            let reason = "it is not the longest of the histogram".to_owned();
            (last != Some((line.order, line.plies))).then(|| (format!(".longest.{name}.{what}"), reason))
        })
    })
}

fn sum(numbers: &[u64]) -> Option<u64> {
    numbers.iter().try_fold(0u64, |sum, &n| sum.checked_add(n))
}
