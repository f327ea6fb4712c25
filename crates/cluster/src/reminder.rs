//! What goes on for long is told at once, and then once a minute: it must not drown the rest of a log.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two tellings.
const PAUSE: Duration = Duration::from_secs(60);

/// Knows when something was told last.
#[derive(Debug, Default)]
pub(crate) struct Reminder(Mutex<Option<(Instant, u64)>>);

impl Reminder {
    fn state(&self) -> MutexGuard<'_, Option<(Instant, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It has happened again. Where it is time to tell of it: how often it happened since that was done last.
    pub(crate) fn due(&self) -> Option<u64> {
        let mut state = self.state();
        match &mut *state {
            Some((told, times)) if told.elapsed() < PAUSE => {
                *times += 1;
                None
            }
            last => {
                let times = last.map_or(0, |(_, times)| times);
                *last = Some((Instant::now(), 0));
                Some(times + 1)
            }
        }
    }

    /// It is over. True if it had happened at all.
    pub(crate) fn end(&self) -> bool {
        self.state().take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_goes_on_is_told_once_a_minute() {
        let reminder = Reminder::default();
        assert!(!reminder.end());
        let mut told = Vec::new();
        for _ in 0..100 {
            told.extend(reminder.due());
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(told, [1, 60]);
        assert!(reminder.end() && !reminder.end());
        assert_eq!(reminder.due(), Some(1));
    }
}
