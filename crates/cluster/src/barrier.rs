//! The barrier that closes a ply when all parts of a table have done it.

use std::collections::{BTreeMap, BTreeSet};

use canju_retro::{After, StepCounts};

use crate::sabotage::{Safeguard, is_gone};

/// What one part reports of one ply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlyReport {
    /// What it labelled.
    pub counts: StepCounts,
    /// Chunks that each reading share has acknowledged.
    pub sent: BTreeMap<u32, u32>,
    /// Chunks of each share that it reads.
    pub received: BTreeMap<u32, u32>,
}

/// What a report leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Others are still at work.
    Wait,
    /// All are done: on with this ply.
    Next(u16),
    /// All are done with a phase: on with this ply, which begins another one.
    Turn(u16, After),
    /// Nothing more can be labelled.
    Solved,
}

/// Why a ply can never close.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BarrierError {
    /// A report by someone who has no part.
    #[error("the table has no share {0}")]
    Stranger(u32),
    /// A report of a ply that was not asked for yet.
    #[error("share {share} reports ply {ply} while ply {open} is at work")]
    Ahead {
        /// Who reports.
        share: u32,
        /// What it reports.
        ply: u16,
        /// What is at work.
        open: u16,
    },
    /// Two reports of one ply that say different things.
    #[error("share {0} reports ply {1} twice with different counts")]
    Contradiction(u32, u16),
    /// Chunks that were lost or invented on the way.
    #[error("at ply {ply} share {from} sent {sent} chunks to share {to}, which holds {received}")]
    Mismatch {
        /// Which ply.
        ply: u16,
        /// Who sent.
        from: u32,
        /// Who received.
        to: u32,
        /// How many went.
        sent: u32,
        /// How many came.
        received: u32,
    },
    /// More plies than a distance can count.
    #[error("more than 65535 plies")]
    Endless,
}

/// The plies of one table whose shares are solved in step.
#[derive(Debug)]
pub struct Barrier {
    ply: u16,
    idle: u8,
    labels: u64,
    shares: BTreeSet<u32>,
    reports: BTreeMap<u32, PlyReport>,
    /// The reports of the ply before: a report of it that comes once more must say the same.
    closed: BTreeMap<u32, PlyReport>,
}

impl Barrier {
    /// The barrier of ply 0.
    #[must_use]
    pub fn new(shares: BTreeSet<u32>) -> Self {
        Self { ply: 0, idle: 0, labels: 0, shares, reports: BTreeMap::new(), closed: BTreeMap::new() }
    }

    /// The ply at work.
    #[must_use]
    pub const fn ply(&self) -> u16 {
        self.ply
    }

    /// Labels of all closed plies.
    #[must_use]
    pub const fn labels(&self) -> u64 {
        self.labels
    }

    /// Who has not reported the ply at work.
    pub fn late(&self) -> impl Iterator<Item = u32> + '_ {
        self.shares.iter().copied().filter(|s| !self.reports.contains_key(s))
    }

    /// Takes a report. The same report again changes nothing.
    ///
    /// # Errors
    /// When the ply can never close.
    pub fn report(&mut self, share: u32, ply: u16, report: PlyReport) -> Result<Verdict, BarrierError> {
        if !self.shares.contains(&share) {
            return Err(BarrierError::Stranger(share));
        }
        if ply > self.ply {
            return Err(BarrierError::Ahead { share, ply, open: self.ply });
        }
        let known = if ply == self.ply {
            self.reports.get(&share)
        } else if ply + 1 == self.ply {
            self.closed.get(&share)
        } else {
            return Ok(Verdict::Wait);
        };
        match known {
            Some(known) if *known == report => return Ok(Verdict::Wait),
            Some(_) => return Err(BarrierError::Contradiction(share, ply)),
            None => {}
        }
        self.reports.insert(share, report);
        if self.reports.len() < self.shares.len() { Ok(Verdict::Wait) } else { self.close() }
    }

    fn close(&mut self) -> Result<Verdict, BarrierError> {
        if !is_gone(Safeguard::Traffic) {
            self.check_traffic()?;
        }
        let labels: u64 = self.reports.values().map(|r| r.counts.total()).sum();
        let pending = self.reports.values().any(|r| r.counts.pending);
        let after = self.reports.values().map(|r| r.counts.after).max().unwrap_or_default();
        self.labels += labels;
        // Wins stand at odd plies and losses at even ones: two idle plies running are needed to know the end.
        self.idle = if labels == 0 && !pending { self.idle + 1 } else { 0 };
        let turns = self.idle == 2;
        if turns && after == After::End {
            return Ok(Verdict::Solved);
        }
        self.ply = self.ply.checked_add(1).ok_or(BarrierError::Endless)?;
        self.closed = std::mem::take(&mut self.reports);
        if turns {
            self.idle = 0;
            return Ok(Verdict::Turn(self.ply, after));
        }
        Ok(Verdict::Next(self.ply))
    }

    fn check_traffic(&self) -> Result<(), BarrierError> {
        for &from in &self.shares {
            for &to in &self.shares {
                let sent = self.reports.get(&from).and_then(|r| r.sent.get(&to)).copied().unwrap_or(0);
                let received = self.reports.get(&to).and_then(|r| r.received.get(&from)).copied().unwrap_or(0);
                if sent != received {
                    return Err(BarrierError::Mismatch { ply: self.ply, from, to, sent, received });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u32 = 0;
    const B: u32 = 1;

    fn barrier() -> Barrier {
        Barrier::new([A, B].into())
    }

    fn labels(n: u64) -> PlyReport {
        PlyReport { counts: StepCounts { labels: [n, 0], ..StepCounts::default() }, ..PlyReport::default() }
    }

    fn traffic(sent: &[(u32, u32)], received: &[(u32, u32)]) -> PlyReport {
        PlyReport { sent: sent.iter().copied().collect(), received: received.iter().copied().collect(), ..labels(1) }
    }

    #[test]
    fn a_ply_closes_when_all_have_reported() {
        let mut barrier = barrier();
        assert_eq!(barrier.report(A, 0, labels(5)), Ok(Verdict::Wait));
        assert_eq!(barrier.late().collect::<Vec<_>>(), [B]);
        assert_eq!(barrier.report(B, 0, labels(0)), Ok(Verdict::Next(1)));
        assert_eq!(barrier.labels(), 5);
    }

    #[test]
    fn two_idle_plies_running_end_it() {
        let mut barrier = barrier();
        let mut verdicts = Vec::new();
        for (ply, n) in [3, 0, 1, 0, 0].into_iter().enumerate() {
            barrier.report(A, ply as u16, labels(0)).unwrap();
            verdicts.push(barrier.report(B, ply as u16, labels(n)).unwrap());
        }
        let next: Vec<_> = (1..5).map(Verdict::Next).chain([Verdict::Solved]).collect();
        assert_eq!(verdicts, next);
    }

    #[test]
    fn pending_captures_keep_it_going() {
        let mut barrier = barrier();
        for ply in 0..10 {
            let mut report = labels(0);
            report.counts.pending = ply < 8;
            barrier.report(A, ply, report).unwrap();
            let verdict = barrier.report(B, ply, labels(0)).unwrap();
            assert_eq!(verdict == Verdict::Solved, ply == 9);
        }
    }

    #[test]
    fn a_phase_ends_with_two_idle_plies_and_another_begins() {
        let mut barrier = barrier();
        let mut verdicts = Vec::new();
        let afters = [After::Next, After::Next, After::Again, After::Next, After::End, After::End];
        for (ply, after) in afters.into_iter().enumerate() {
            let mut report = labels(0);
            report.counts.after = after;
            barrier.report(A, ply as u16, report).unwrap();
            verdicts.push(barrier.report(B, ply as u16, labels(0)).unwrap());
        }
        let (next, turn) = (Verdict::Next, Verdict::Turn);
        let all = [next(1), turn(2, After::Next), next(3), turn(4, After::Next), next(5), Verdict::Solved];
        assert_eq!(verdicts, all);
    }

    #[test]
    fn repeating_a_report_changes_nothing() {
        let mut barrier = barrier();
        for _ in 0..3 {
            assert_eq!(barrier.report(A, 0, labels(5)), Ok(Verdict::Wait));
        }
        barrier.report(B, 0, labels(1)).unwrap();
        assert_eq!(barrier.report(A, 0, labels(5)), Ok(Verdict::Wait));
        assert_eq!(barrier.labels(), 6);
        assert_eq!(barrier.report(A, 0, labels(6)), Err(BarrierError::Contradiction(A, 0)));
    }

    #[test]
    fn strangers_and_the_future_are_refused() {
        let mut barrier = barrier();
        assert_eq!(barrier.report(9, 0, labels(1)), Err(BarrierError::Stranger(9)));
        assert_eq!(barrier.report(A, 1, labels(1)), Err(BarrierError::Ahead { share: A, ply: 1, open: 0 }));
    }

    #[test]
    fn chunks_must_match() {
        let mut barrier = barrier();
        barrier.report(A, 0, traffic(&[(B, 2)], &[(B, 1)])).unwrap();
        assert_eq!(barrier.report(B, 0, traffic(&[(A, 1)], &[(A, 2)])), Ok(Verdict::Next(1)));
        barrier.report(A, 1, traffic(&[(B, 2)], &[(B, 1)])).unwrap();
        let lost = BarrierError::Mismatch { ply: 1, from: A, to: B, sent: 2, received: 1 };
        assert_eq!(barrier.report(B, 1, traffic(&[(A, 1)], &[(A, 1)])), Err(lost));
    }
}
