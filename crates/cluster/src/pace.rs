//! How fast a count grows, lately.

use std::collections::VecDeque;
use std::time::Duration;

/// What counts as lately.
const SPAN: Duration = Duration::from_secs(10);
/// The shortest time between two samples that are kept.
const STEP: Duration = Duration::from_millis(500);

/// The growth of a count over the last seconds. It has no clock: times come in with the counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    samples: VecDeque<(Duration, f64)>,
    total: f64,
}

impl Pace {
    pub(crate) const fn new() -> Self {
        Self { samples: VecDeque::new(), total: 0.0 }
    }

    /// The count as it is now.
    pub(crate) fn note(&mut self, now: Duration, total: f64) {
        // A count that starts anew, as that of a process that was started again.
        if total < self.total {
            self.samples.clear();
        }
        self.total = total;
        if self.samples.back().is_none_or(|&(then, _)| now.saturating_sub(then) >= STEP) {
            self.samples.push_back((now, total));
        }
        while self.samples.get(1).is_some_and(|&(then, _)| now.saturating_sub(then) >= SPAN) {
            self.samples.pop_front();
        }
    }

    /// The count grows by so much now.
    pub(crate) fn add(&mut self, now: Duration, gain: f64) {
        self.note(now, self.total + gain);
    }

    /// Growth a second. It fades when nothing more is noted.
    pub(crate) fn rate(&self, now: Duration) -> f64 {
        let Some(&(then, before)) = self.samples.front() else { return 0.0 };
        let seconds = now.saturating_sub(then).as_secs_f64();
        if seconds > 0.0 { (self.total - before) / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut pace = Pace::default();
        assert_eq!(pace.rate(at(1.0)), 0.0);
        for second in 0..100 {
            pace.note(at(f64::from(second)), f64::from(second) * 7.0);
        }
        assert!((pace.rate(at(99.0)) - 7.0).abs() < 1e-9);
        assert!(pace.samples.len() < 25);
        // Then it stands still.
        pace.note(at(200.0), 99.0 * 7.0);
        pace.note(at(220.0), 99.0 * 7.0);
        assert_eq!(pace.rate(at(221.0)), 0.0);
    }

    #[test]
    fn many_notes_at_one_moment_are_few_samples() {
        let mut pace = Pace::default();
        pace.note(at(0.0), 0.0);
        for n in 1..=1000 {
            pace.add(at(f64::from(n) / 1000.0), 1.0);
        }
        assert!((pace.rate(at(1.0)) - 1000.0).abs() < 1e-6);
        assert!(pace.samples.len() <= 3);
    }

    #[test]
    fn a_count_may_start_anew() {
        let mut pace = Pace::default();
        pace.note(at(0.0), 1e6);
        pace.note(at(1.0), 5.0);
        pace.note(at(2.0), 6.0);
        assert_eq!(pace.rate(at(2.0)), 1.0);
    }
}
