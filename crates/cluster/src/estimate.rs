//! What building a plan is expected to take of processors, network and store, by what was measured
//! (`docs/figures.md`): good for choosing a size, within a factor of two.

use std::collections::BTreeSet;
use std::time::Duration;

use canju_retro::{Metric, Rules, TableName};

use crate::plan::{Plan, TablePlan};

/// Positions that a CPU second counts one distance of, all included. Measured: 56 to 60 million for what `KABCPKAABB`
/// takes; endgames with two cannons have half of that.
const POSITIONS_A_CPU_SECOND: f64 = 50e6;

/// The fewest of a table in which repetition may decide. Measured for KRCKR: 17 million under `check`, 5.6 under `axf`.
const fn fewest(rules: Rules) -> f64 {
    match rules {
        Rules::Plain => POSITIONS_A_CPU_SECOND,
        Rules::Check => 15e6,
        _ => 5e6,
    }
}

/// Bytes sent for a position of a table that is cut, for each distance, in 1/1000. Measured: 30 to 90.
const SENT_PER_MILLE: u128 = 60;
/// What one request reads of a shard, and above what a shard is written in parts.
const REQUEST: u64 = 8 << 20;
/// How often each share is saved, and how often the lease is renewed.
const CHECKPOINT: Duration = Duration::from_secs(60);
const RENEWAL: Duration = Duration::from_secs(2);

/// What building is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Seconds of one processor.
    pub cpu_seconds: f64,
    /// The same where the rules of repetition decide as much as was ever met; not known before. More only where both sides
    /// are armed.
    pub cpu_seconds_most: f64,
    /// The fewest positions a CPU second that this goes by.
    pub fewest_a_cpu_second: f64,
    /// Seconds, when all threads are at work all the time.
    pub seconds: f64,
    /// Bytes that workers send each other.
    pub sent_bytes: u64,
    /// Requests that write to the store: parts of shards, manifests, checkpoints, the lease.
    pub puts: u64,
    /// Requests that read shards, each of which a worker reads once where it has a cache.
    pub gets: u64,
}

impl Plan {
    /// What building takes on so many workers with so many threads, which cut tables of `cut_from` cells.
    #[must_use]
    pub fn estimate(&self, workers: usize, threads: usize, cut_from: u64) -> Estimate {
        let mut estimate = Estimate { fewest_a_cpu_second: POSITIONS_A_CPU_SECOND, ..Estimate::default() };
        for table in self.missing() {
            let distances = table.build.len() as u64;
            let counted = (table.indexed * distances) as f64;
            let fewest = if table.repetition_bytes == 0 { POSITIONS_A_CPU_SECOND } else { fewest(self.rules) };
            estimate.cpu_seconds += counted / POSITIONS_A_CPU_SECOND;
            estimate.cpu_seconds_most += counted / fewest;
            estimate.fewest_a_cpu_second = estimate.fewest_a_cpu_second.min(fewest);
            if workers > 1 && table.run_cells.len() > 1 && table.cells() >= cut_from {
                let sent = u128::from(table.indexed) * u128::from(distances) * SENT_PER_MILLE / 1000;
                estimate.sent_bytes += sent as u64;
            }
            // The manifest once for each distance.
            estimate.puts += table.requests(&table.build) + distances;
        }
        estimate.seconds = estimate.cpu_seconds / (workers * threads).max(1) as f64;
        let times = |every: Duration| (estimate.seconds / every.as_secs_f64()) as u64;
        estimate.puts += times(RENEWAL) + times(CHECKPOINT) * workers as u64;
        let read: BTreeSet<&TableName> = self.missing().flat_map(|table| &table.smaller).collect();
        let read = self.tables.iter().filter(|table| read.contains(&table.table));
        estimate.gets = read.map(|table| table.requests(&self.metrics)).sum::<u64>() * workers as u64;
        estimate
    }
}

impl TablePlan {
    /// Requests by which the shards of some distances are written or read, win, draw and loss with them.
    fn requests(&self, distances: &[Metric]) -> u64 {
        let runs = self.run_cells.len() as u64;
        // Win, draw and loss are counted already.
        let present = BTreeSet::from([Metric::Wdl]);
        let bytes = |metric| TablePlan { build: vec![metric], present: present.clone(), ..self.clone() }.stored_bytes();
        let of = |bytes: u64| runs * (bytes / runs.max(1)).div_ceil(REQUEST).max(1);
        runs + distances.iter().map(|&metric| of(bytes(metric))).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use canju_retro::Rules;

    use super::*;

    fn table(name: &str, smaller: &[&str], positions: u64, runs: usize) -> TablePlan {
        TablePlan {
            smaller: smaller.iter().map(|s| TableName::new(s).unwrap()).collect(),
            build: vec![Metric::Dtm],
            ..TablePlan::sample(name, vec![positions / 2 / runs as u64; runs], positions)
        }
    }

    #[test]
    fn more_workers_take_less_time_and_more_network() {
        let tables = vec![table("KRK", &[], 1_000_000, 1), table("KRKN", &["KRK"], 10_000_000_000, 10)];
        let plan = Plan { asked: Vec::new(), metrics: vec![Metric::Dtm], rules: Rules::Plain, tables };
        let one = plan.estimate(1, 1, 4 << 20);
        assert_eq!((one.cpu_seconds, one.cpu_seconds_most), (200.02, 200.02));
        assert_eq!((one.seconds, one.sent_bytes), (200.02, 0));
        // The smaller table: one shard of each of two metrics.
        assert_eq!(one.gets, 2);
        // The larger one: 10 shards of wdl, and of dtm 10 of 12 parts; 3 of the smaller; manifests, checkpoints, lease.
        assert_eq!(one.puts, 10 + 120 + 2 + 2 + 3 + 100);
        let four = plan.estimate(4, 2, 4 << 20);
        assert_eq!((four.seconds, four.sent_bytes, four.gets), (200.02 / 8.0, 600_000_000, 8));
    }

    #[test]
    fn repetition_may_take_ten_times_as_long() {
        let mut tables = vec![table("KRK", &[], 1_000_000, 1), table("KRKN", &["KRK"], 1_000_000_000, 10)];
        tables[1].repetition_bytes = 1;
        let plan = |rules| Plan { asked: Vec::new(), metrics: vec![Metric::Dtm], rules, tables: tables.clone() };
        let of = |rules| plan(rules).estimate(1, 1, 4 << 20);
        assert_eq!((of(Rules::Axf).cpu_seconds, of(Rules::Axf).cpu_seconds_most), (20.02, 200.02));
        assert_eq!((of(Rules::Axf).fewest_a_cpu_second, of(Rules::Check).fewest_a_cpu_second), (5e6, 15e6));
        tables[1].repetition_bytes = 0;
        let plan = Plan { asked: Vec::new(), metrics: vec![Metric::Dtm], rules: Rules::Axf, tables };
        let estimate = plan.estimate(1, 1, 4 << 20);
        assert_eq!((estimate.cpu_seconds_most, estimate.fewest_a_cpu_second), (20.02, 50e6), "nobody chases");
    }
}
