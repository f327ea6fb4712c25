//! What a worker's reports tell of the machine it is on.

use std::time::Duration;

use crate::pace::Pace;
use crate::wire;
use crate::wire::report::Kind as Said;

/// Traffic and CPU of a member since it joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    cpu: Pace,
}

impl Gauge {
    /// Reads a report, whatever it says.
    pub(crate) fn note(&mut self, now: Duration, report: &wire::Report) {
        let bytes = |traffic: &[wire::Traffic]| traffic.iter().fold(0u64, |sum, t| sum.saturating_add(t.bytes));
        match &report.kind {
            Some(Said::Plied(plied)) => {
                self.sent = self.sent.saturating_add(bytes(&plied.sent));
                self.received = self.received.saturating_add(bytes(&plied.received));
            }
            Some(Said::Heartbeat(wire::Heartbeat { usage: Some(usage) })) => self.cpu.note(now, usage.cpu_seconds),
            _ => {}
        }
    }

    /// Processors that are busy, lately.
    pub(crate) fn cpu_share(&self, now: Duration) -> f64 {
        self.cpu.rate(now)
    }
}
