//! What a run has labelled, ply by ply, in little space.

use std::time::Duration;

use crate::pace::Pace;

/// The most groups of plies that are kept.
const GROUPS: usize = 256;
/// Plies in a group at first: one at which losses stand and one at which wins stand, as else the curve is a saw.
const STRIDE: u32 = 2;
/// A distance has sixteen bits; whoever reports more than that does not make the history larger.
const LAST: u32 = 1 << 16;

/// The labels of a run by ply, and how fast they come.
#[derive(Clone, Debug)]
pub(crate) struct History {
    stride: u32,
    groups: Vec<u64>,
    /// The ply at work, labels of all plies before, and how many of those came from logs.
    ply: u32,
    labels: u64,
    replayed: u64,
    since: Duration,
    pace: Pace,
}

/// What has come in with a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gain {
    /// Labels that were computed.
    pub(crate) labels: u64,
    /// Plies that were closed, and how long all of them took.
    pub(crate) plies: u32,
    pub(crate) took: Duration,
}

impl History {
    pub(crate) fn new(now: Duration) -> Self {
        let mut pace = Pace::default();
        pace.note(now, 0.0);
        Self { stride: STRIDE, groups: Vec::new(), ply: 0, labels: 0, replayed: 0, since: now, pace }
    }

    /// The ply at work, the labels so far, and how many of them came from logs: they take no time to speak of.
    pub(crate) fn note(&mut self, now: Duration, ply: u32, labels: u64, replayed: u64) -> Gain {
        let ply = ply.min(LAST);
        // Reports may be late, or say again what is known.
        if ply < self.ply || labels < self.labels {
            return Gain::default();
        }
        let gain = labels - self.labels;
        let plies = ply - self.ply;
        self.spread(self.ply..ply.max(self.ply + 1), gain);
        let gain = gain.saturating_sub(replayed.saturating_sub(self.replayed));
        self.replayed = self.replayed.max(replayed);
        self.pace.add(now, gain as f64);
        let took = if plies > 0 { now.saturating_sub(self.since) } else { Duration::ZERO };
        if plies > 0 {
            self.since = now;
        }
        (self.ply, self.labels) = (ply, labels);
        Gain { labels: gain, plies, took }
    }

    fn spread(&mut self, plies: std::ops::Range<u32>, gain: u64) {
        while plies.end.div_ceil(self.stride) as usize > GROUPS {
            self.groups = self.groups.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.stride *= 2;
        }
        let count = u64::from(plies.end - plies.start);
        for (number, ply) in plies.enumerate() {
            let group = (ply / self.stride) as usize;
            if self.groups.len() <= group {
                self.groups.resize(group + 1, 0);
            }
            // What cannot be shared evenly goes to the first ones.
            let share = gain / count + u64::from((number as u64) < gain % count);
            if let Some(sum) = self.groups.get_mut(group) {
                *sum += share;
            }
        }
    }

    /// Labels of groups of plies, from ply 0 on.
    pub(crate) fn frontier(&self) -> &[u64] {
        &self.groups
    }

    /// How many plies a group has.
    pub(crate) const fn stride(&self) -> u32 {
        self.stride
    }

    /// Since when the ply at work is.
    pub(crate) const fn since(&self) -> Duration {
        self.since
    }

    /// Labels a second, lately.
    pub(crate) fn rate(&self, now: Duration) -> f64 {
        self.pace.rate(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: Duration = Duration::ZERO;

    #[test]
    fn labels_stand_at_their_plies() {
        let mut history = History::new(ZERO);
        assert_eq!(
            history.note(Duration::from_secs(3), 1, 10, 0),
            Gain { labels: 10, plies: 1, took: Duration::from_secs(3) }
        );
        history.note(Duration::from_secs(4), 2, 15, 0);
        assert_eq!(history.note(Duration::from_secs(6), 3, 15, 0).took, Duration::from_secs(2));
        // The last ply closes without a next one.
        let last = history.note(Duration::from_secs(8), 3, 16, 0);
        assert_eq!(last, Gain { labels: 1, plies: 0, took: ZERO });
        assert_eq!((history.frontier(), history.stride()), (&[15, 1][..], 2));
        assert_eq!(history.since(), Duration::from_secs(6));
        assert!((history.rate(Duration::from_secs(8)) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_comes_from_logs_is_no_pace() {
        let mut history = History::new(ZERO);
        let second = Duration::from_secs(1);
        assert_eq!(history.note(second, 5, 1_000_000, 999_990).labels, 10);
        assert_eq!(history.frontier().iter().sum::<u64>(), 1_000_000);
        assert!((history.rate(second) - 10.0).abs() < 1e-9);
        assert_eq!(history.note(2 * second, 6, 1_000_020, 999_990).labels, 20);
    }

    #[test]
    fn plies_between_two_reports_share_the_labels() {
        let mut history = History::new(ZERO);
        assert_eq!(history.note(ZERO, 7, 23, 0).plies, 7);
        assert_eq!(history.frontier(), [8, 6, 6, 3]);
    }

    #[test]
    fn it_stays_small_and_loses_nothing() {
        let mut history = History::new(ZERO);
        for ply in 1..=5000u32 {
            history.note(ZERO, ply, u64::from(ply) * 3, 0);
            assert!(history.frontier().len() <= GROUPS);
        }
        assert_eq!(history.frontier().iter().sum::<u64>(), 15_000);
        assert_eq!(history.stride(), 32);
        history.note(ZERO, u32::MAX, 16_000, 0);
        assert!(history.frontier().len() <= GROUPS);
        assert_eq!(history.frontier().iter().sum::<u64>(), 16_000);
        // A late report, and one beyond all plies, change nothing.
        assert_eq!(history.note(ZERO, 3, 9, 0), Gain::default());
        assert_eq!(history.note(ZERO, u32::MAX, 16_000, 0), Gain::default());
    }
}
