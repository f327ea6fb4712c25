//! What a coordinator counts from its start on.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

use crate::history::Gain;
use crate::wire;
use crate::wire::report::Kind as Said;

/// Counts that only grow. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) labels: Counter,
    pub(crate) tables: Counter,
    pub(crate) stored: Counter,
    pub(crate) sent: Counter,
    pub(crate) received: Counter,
    /// Runs of a metric that were given out.
    pub(crate) runs: Counter,
    /// Runs that were begun again because something was lost.
    pub(crate) recoveries: Counter,
    pub(crate) ply_seconds: Histogram,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            labels: Counter::default(),
            tables: Counter::default(),
            stored: Counter::default(),
            sent: Counter::default(),
            received: Counter::default(),
            runs: Counter::default(),
            recoveries: Counter::default(),
            // From a millisecond to four hours.
            ply_seconds: Histogram::new(exponential_buckets(0.001, 3.0, 16)),
        }
    }
}

impl Tally {
    /// A worker has said something.
    pub(crate) fn reported(&self, report: &wire::Report) {
        if let Some(Said::Plied(plied)) = &report.kind {
            let bytes = |traffic: &[wire::Traffic]| traffic.iter().fold(0u64, |sum, t| sum.saturating_add(t.bytes));
            self.sent.inc_by(bytes(&plied.sent));
            self.received.inc_by(bytes(&plied.received));
        }
    }

    /// A run has come on.
    pub(crate) fn gained(&self, gain: Gain) {
        self.labels.inc_by(gain.labels);
        // A worker that has a table alone reports several plies at once.
        let each = gain.took.checked_div(gain.plies).unwrap_or(Duration::ZERO);
        for _ in 0..gain.plies {
            self.ply_seconds.observe(each.as_secs_f64());
        }
    }

    /// A table was committed.
    pub(crate) fn committed(&self, built: &wire::Built) {
        self.tables.inc();
        self.stored.inc_by(built.bytes_stored);
    }
}
