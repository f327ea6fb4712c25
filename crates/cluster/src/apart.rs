//! Who is left out of tables that are cut: because of whom, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::MemberId;
use crate::links::REMEDY;
use crate::sizes::time_in_words;

/// The most times the first span that somebody is left out at a stretch.
const MOST: u32 = 12;

/// A worker that is left out.
#[derive(Debug)]
struct Absence {
    /// Those with whom it cannot work.
    from: BTreeSet<MemberId>,
    span: Duration,
    until: Duration,
    who: String,
    why: String,
}

impl Absence {
    fn told(&self, now: Duration) -> String {
        let Self { who, why, .. } = self;
        let left = time_in_words(self.until.saturating_sub(now).as_secs_f64());
        format!("{who} is left out of tables that are cut for {left}, {why}: {REMEDY}")
    }
}

/// All workers that are left out, and what is remembered of those that were.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    absent: BTreeMap<MemberId, Absence>,
    /// Of those that were tried again: how long they had been left out, and until when.
    tried: BTreeMap<MemberId, (Duration, Duration)>,
}

impl Apart {
    /// Leaves a worker out: for `first`, or twice as long as before where it has not been sound for as long since.
    /// Each time that a worker is tried again in vain costs all others the time until that is known.
    pub(crate) fn leave_out(
        &mut self,
        now: Duration,
        id: MemberId,
        from: BTreeSet<MemberId>,
        first: Duration,
        (who, why): (String, String),
    ) {
        let span = match self.tried.remove(&id) {
            Some((span, until)) if now.saturating_sub(until) < span => (span * 2).min(first * MOST),
            _ => first,
        };
        self.absent.insert(id, Absence { from, span, until: now + span, who, why });
    }

    /// Tries those again whose time is over. True where there are any.
    pub(crate) fn try_again(&mut self, now: Duration) -> bool {
        let before = self.absent.len();
        self.end(|_, absence| absence.until <= now);
        self.absent.len() < before
    }

    /// A worker is gone: who could not work with it may work with all others.
    pub(crate) fn forget(&mut self, id: MemberId) {
        self.absent.remove(&id);
        self.tried.remove(&id);
        for absence in self.absent.values_mut() {
            absence.from.remove(&id);
        }
        self.end(|_, absence| absence.from.is_empty());
    }

    fn end(&mut self, mut is_over: impl FnMut(&MemberId, &mut Absence) -> bool) {
        let over = self.absent.extract_if(.., |id, absence| is_over(id, absence));
        self.tried.extend(over.map(|(id, absence)| (id, (absence.span, absence.until))));
    }

    /// Those who are left out because of somebody of whom this is true.
    pub(crate) fn because_of(&self, is_there: impl Fn(&MemberId) -> bool) -> BTreeSet<MemberId> {
        self.absent.iter().filter(|(_, absence)| absence.from.iter().any(&is_there)).map(|(&id, _)| id).collect()
    }

    /// Why a worker is left out, and what to do.
    pub(crate) fn trouble(&self, now: Duration, id: MemberId) -> Option<String> {
        self.absent.get(&id).map(|absence| absence.told(now))
    }

    /// As [`Self::trouble`], of all.
    pub(crate) fn troubles(&self, now: Duration) -> impl Iterator<Item = String> {
        self.absent.values().map(move |absence| absence.told(now))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.absent.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(600);
    const MINUTE: Duration = Duration::from_secs(60);
    const ID: MemberId = MemberId(1);

    fn leave_out(apart: &mut Apart, now: Duration, id: MemberId, from: &[u64]) {
        let from = from.iter().map(|&id| MemberId(id)).collect();
        apart.leave_out(now, id, from, FIRST, ("worker w".into(), "nobody hears it".into()));
    }

    /// Leaves the worker out, and tells after how many minutes it is tried again.
    fn minutes_out(apart: &mut Apart, now: &mut Duration) -> u64 {
        leave_out(apart, *now, ID, &[2]);
        let began = *now;
        while !apart.try_again(*now) {
            *now += MINUTE;
        }
        (*now - began).as_secs() / 60
    }

    #[test]
    fn who_is_tried_again_in_vain_stays_out_twice_as_long() {
        let (mut apart, mut now) = (Apart::default(), MINUTE);
        let mut spans = Vec::new();
        for _ in 0..6 {
            spans.push(minutes_out(&mut apart, &mut now));
            // Then it takes some time until it is known that nothing has changed.
            now += MINUTE;
        }
        assert_eq!(spans, [10, 20, 40, 80, 120, 120]);
        // It has been sound for as long, or for less.
        now += 120 * MINUTE;
        assert_eq!(minutes_out(&mut apart, &mut now), 10);
        now += 9 * MINUTE;
        assert_eq!(minutes_out(&mut apart, &mut now), 20);
        // Who joins anew may have been mended.
        apart.forget(ID);
        assert_eq!(minutes_out(&mut apart, &mut now), 10);
    }

    #[test]
    fn who_could_not_work_with_one_that_is_gone_is_taken_again() {
        let mut apart = Apart::default();
        leave_out(&mut apart, MINUTE, ID, &[2]);
        leave_out(&mut apart, MINUTE, MemberId(3), &[2, 4]);
        apart.forget(MemberId(2));
        assert_eq!(apart.because_of(|_| true), [MemberId(3)].into());
        let told = apart.trouble(5 * MINUTE, MemberId(3)).unwrap();
        assert!(told.starts_with("worker w is left out of tables that are cut for 6 min, nobody hears it: "), "{told}");
        apart.forget(MemberId(4));
        assert_eq!(apart.len(), 0);
        // Before their time was over, and so it counts as not yet sound.
        let mut now = 8 * MINUTE;
        assert_eq!(minutes_out(&mut apart, &mut now), 20);
    }
}
