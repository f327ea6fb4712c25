//! Which workers reach which. Who has a share of a table that is cut must be reached by all others; who is not is left
//! out of such tables, and people are told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::apart::Apart;
use crate::entry::MEMBERS;
use crate::exchange::LONGEST_TRY;
use crate::member::Member;
use crate::schedule::Placement;
use crate::work::Work;
use crate::{ClusterError, Conductor, MemberId, Task, WorkId, wire};

/// The part of the patience with workers for which complaints are gathered.
const GATHER: u32 = 5;
/// How many times that patience it is waited for a worker without which a table would not fit: what goes wrong between
/// workers may pass.
const NEEDED: u32 = 2;
/// Most complaints that are kept.
const COMPLAINTS: usize = 10_000;
/// Most workers that a trouble names.
const NAMED: usize = 3;
/// The age at which a complaint that was not repeated counts no more. Each try that reaches nobody repeats it.
const STALE: Duration = LONGEST_TRY;
/// How long it is told of a worker that was turned away and did not come again.
const TOLD: Duration = Duration::from_secs(60);
/// Characters of a cause.
const CAUSE: usize = 500;
pub(crate) const REMEDY: &str =
    "look at its --advertise, at the names in its certificate, and at firewalls between the machines of the cluster";

/// A worker that does not get through to another.
#[derive(Debug)]
struct Complaint {
    /// The attempt and the ply at which it stands still.
    at: (u64, u32),
    since: Duration,
    last: Duration,
    cause: String,
}

/// What is known of the ways between workers.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Who complains of whom.
    complaints: BTreeMap<(MemberId, MemberId), Complaint>,
    apart: Apart,
    /// Names of workers that the coordinator itself could not reach, when that was, and what was said.
    away: BTreeMap<String, (Duration, String)>,
    /// Workers that were taken in though the coordinator did not reach them, and why it did not.
    doubts: BTreeMap<MemberId, String>,
}

impl Links {
    /// A worker of this name was taken in.
    pub(crate) fn joined(&mut self, name: &str) {
        self.away.remove(name);
    }

    /// A worker is gone.
    pub(crate) fn forget(&mut self, id: MemberId) {
        self.complaints.retain(|&(by, of), _| by != id && of != id);
        self.doubts.remove(&id);
        self.apart.forget(id);
    }

    /// Those that were turned away lately, and why.
    fn away(&self, now: Duration) -> impl Iterator<Item = &String> {
        self.away.values().filter(move |(at, _)| now.saturating_sub(*at) < TOLD).map(|(_, trouble)| trouble)
    }

    /// What somebody must look at, each with its remedy.
    pub(crate) fn troubles(&self, now: Duration) -> Vec<String> {
        let others = self.doubts.values().chain(self.away(now)).cloned();
        self.apart.troubles(now).chain(others).collect()
    }

    /// How many workers were turned away lately, were taken in though the coordinator does not reach them, and are left out.
    pub(crate) fn counts(&self, now: Duration) -> [usize; 3] {
        [self.away(now).count(), self.doubts.len(), self.apart.len()]
    }

    /// The complaints by which somebody is to be left out now; none while they are still gathered. What was said once and not
    /// again has passed.
    fn due(&mut self, now: Duration, gather: Duration, at_work: &BTreeSet<(u64, u32)>) -> Vec<(MemberId, MemberId)> {
        self.complaints.retain(|_, c| at_work.contains(&c.at) && now.saturating_sub(c.last) < STALE);
        if !self.complaints.values().any(|c| c.lasted() >= gather) {
            return Vec::new();
        }
        self.complaints.iter().filter(|(_, c)| c.lasted() > Duration::ZERO).map(|(&pair, _)| pair).collect()
    }

    /// For how long it has been complained of a worker, or by it.
    fn lasted(&self, id: MemberId) -> Duration {
        let of_it = self.complaints.iter().filter(|((by, of), _)| *by == id || *of == id);
        of_it.map(|(_, complaint)| complaint.lasted()).max().unwrap_or_default()
    }
}

impl Complaint {
    fn lasted(&self) -> Duration {
        self.last.saturating_sub(self.since)
    }
}

/// Who is in most complaints, and with whom: it is left out. Of two that are in as many it is the one that is complained of,
/// and then the one that came last.
fn worst(complaints: &[(MemberId, MemberId)]) -> Option<(MemberId, BTreeSet<MemberId>)> {
    let mut all: BTreeMap<MemberId, (BTreeSet<MemberId>, usize)> = BTreeMap::new();
    for &(by, of) in complaints {
        all.entry(by).or_default().0.insert(of);
        let (with, times) = all.entry(of).or_default();
        with.insert(by);
        *times += 1;
    }
    let worst = all.into_iter().max_by_key(|(id, (with, times))| (with.len(), *times, *id));
    worst.map(|(id, (with, _))| (id, with))
}

impl Conductor {
    /// A worker that the coordinator cannot reach is not taken in. Returns what it is told.
    pub(crate) fn turn_away(&mut self, now: Duration, hello: &wire::Hello, cause: &str) -> String {
        let (name, address) = (&hello.name, &hello.address);
        let trouble = format!(
            "worker {name} is turned away, the coordinator cannot reach it at {address} as other workers must: {}: {REMEDY}",
            shortened(cause)
        );
        let away = &mut self.links.away;
        away.retain(|_, (at, _)| now.saturating_sub(*at) < TOLD);
        if away.get(name).is_none_or(|(_, before)| *before != trouble) {
            tracing::warn!("{trouble}");
        }
        if away.len() < MEMBERS || away.contains_key(name) {
            away.insert(name.clone(), (now, trouble.clone()));
        }
        trouble
    }

    /// A worker was taken in that the coordinator has not reached: others may reach it.
    pub(crate) fn doubt(&mut self, id: MemberId, cause: &str) {
        let Some(member) = self.members.get(&id) else { return };
        let trouble = format!(
            "the coordinator cannot reach worker {} at {}, and other workers perhaps neither: {}: {REMEDY}",
            member.name,
            member.address,
            shortened(cause)
        );
        tracing::warn!("{trouble}");
        self.links.doubts.insert(id, trouble);
    }

    /// A worker does not get through to another one.
    pub(crate) fn on_unreached(
        &mut self,
        now: Duration,
        by: MemberId,
        said: wire::Unreached,
    ) -> Result<(), ClusterError> {
        let (task, of) = (Task::try_from(said.task)?, MemberId(said.worker));
        let work = self.work_of(by, &task);
        let Some(run) = work.and_then(|id| self.works.get(&id)).and_then(Work::run) else { return Ok(()) };
        if of == by || !run.members().contains(&of) {
            return Ok(());
        }
        let (at, cause) = ((task.epoch, run.ply()), shortened(&said.cause));
        let complaint = Complaint { at, since: now, last: now, cause };
        let complaints = &mut self.links.complaints;
        if complaints.len() >= COMPLAINTS && !complaints.contains_key(&(by, of)) {
            return Ok(());
        }
        let known = complaints.entry((by, of)).or_insert(complaint);
        if known.at != at {
            (known.at, known.since) = (at, now);
        }
        known.last = now;
        Ok(())
    }

    /// Workers that are given no share of a table that is cut.
    ///
    /// Nobody is left out because of somebody who is left out already, so that there is always one who is not.
    pub(crate) fn apart(&self) -> BTreeSet<MemberId> {
        self.links.apart.because_of(|id| self.members.get(id).is_some_and(Member::takes_work))
    }

    /// Leaves out those who stand in the way of the others, and tries again those who were left out long ago.
    pub(crate) fn judge_links(&mut self, now: Duration) {
        let tried = self.links.apart.try_again(now);
        let runs = self.works.values().filter_map(Work::run).filter(|run| run.is_in_plies());
        let at_work = runs.map(|run| (run.task.epoch, run.ply())).collect();
        let mut complaints = self.links.due(now, self.settings.patience / GATHER, &at_work);
        let apart = self.apart();
        complaints.retain(|(by, of)| !apart.contains(by) && !apart.contains(of));
        let mut left = Vec::new();
        while let Some((id, from)) = worst(&complaints) {
            if self.is_needed(id) && self.links.lasted(id) < self.settings.patience * NEEDED {
                complaints.retain(|&(by, of)| by != id && of != id);
                continue;
            }
            let reason = self.reason(id, &complaints);
            self.links.apart.leave_out(now, id, from, self.settings.left_out, reason);
            if let Some(trouble) = self.links.apart.trouble(now, id) {
                tracing::warn!("{trouble}");
            }
            complaints.retain(|&(by, of)| by != id && of != id);
            left.push(id);
        }
        if left.is_empty() && !tried {
            return;
        }
        if !left.is_empty() {
            self.links.complaints.clear();
        }
        for id in left {
            self.leave_out(now, id);
        }
        self.schedule(now);
    }

    /// Which worker it is, and what is wrong with it by these complaints.
    fn reason(&self, id: MemberId, complaints: &[(MemberId, MemberId)]) -> (String, String) {
        let cause = |pair| self.links.complaints.get(pair).map_or("", |c| c.cause.as_str());
        let member = |id: &MemberId| self.members.get(id);
        let mut by: Vec<&(MemberId, MemberId)> = complaints.iter().filter(|(_, of)| *of == id).collect();
        let title = member(&id).map(Member::title).unwrap_or_default();
        let what = if by.is_empty() {
            by = complaints.iter().filter(|(by, _)| *by == id).collect();
            format!("it cannot send to {}", some(by.iter().filter_map(|(_, of)| member(of))))
        } else {
            format!("{} cannot send to it", some(by.iter().filter_map(|(by, _)| member(by))))
        };
        let cause = by.first().map_or("", |&pair| cause(pair));
        (title, format!("{what}: {cause}"))
    }

    /// Tables that are cut of which a worker has a share.
    fn shared_with(&self, id: MemberId) -> Vec<WorkId> {
        let has_share = |work: &Work| work.run().is_some_and(|run| !run.alone && run.members().contains(&id));
        self.works.iter().filter(|(_, work)| has_share(work)).map(|(&id, _)| id).collect()
    }

    /// Where a table at work may go when these stand apart.
    fn placed(&self, work: WorkId, apart: &BTreeSet<MemberId>) -> Option<Placement> {
        self.works.get(&work).map(|work| self.placement(&work.plan, apart))
    }

    /// True where a table at work would not fit without this worker.
    fn is_needed(&self, id: MemberId) -> bool {
        let mut apart = self.apart();
        apart.insert(id);
        self.shared_with(id)
            .into_iter()
            .any(|work| self.placed(work, &apart).is_some_and(|placement| placement.is_never()))
    }

    /// What a worker has of tables that are cut goes to others; where nobody can take it, the table fails.
    fn leave_out(&mut self, now: Duration, id: MemberId) {
        for work in self.shared_with(id) {
            if let Some(Placement::Never(reason)) = self.placed(work, &self.apart()) {
                let trouble = self.links.apart.trouble(now, id).unwrap_or_default();
                self.fail(now, work, &format!("{reason}; {trouble}"));
            } else {
                self.take_away(now, id, work);
            }
        }
    }
}

/// The names of some workers, of many the first.
fn some<'a>(members: impl Iterator<Item = &'a Member>) -> String {
    let names: Vec<&str> = members.map(|member| member.name.as_str()).collect();
    match names.get(..NAMED) {
        Some(first) if names.len() > NAMED => format!("{} and {} more", first.join(", "), names.len() - NAMED),
        _ => names.join(", "),
    }
}

/// What others say, not more than is good to read.
fn shortened(cause: &str) -> String {
    cause.chars().filter(|c| !c.is_control()).take(CAUSE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stands_in_the_way_of_most_is_found() {
        let found = |pairs: &[(u64, u64)]| {
            let complaints: Vec<_> = pairs.iter().map(|&(by, of)| (MemberId(by), MemberId(of))).collect();
            worst(&complaints).map(|(id, with)| (id.0, with.len()))
        };
        // Nobody reaches 1; it reaches the others, or it does not.
        assert_eq!(found(&[(2, 1), (3, 1)]), Some((1, 2)));
        assert_eq!(found(&[(2, 1), (3, 1), (1, 2), (1, 3)]), Some((1, 2)));
        // One that reaches nobody.
        assert_eq!(found(&[(1, 2), (1, 3)]), Some((1, 2)));
        // Two of them: who is complained of, else who came last.
        assert_eq!(found(&[(2, 1)]), Some((1, 1)));
        assert_eq!(found(&[(1, 2), (2, 1)]), Some((2, 1)));
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_complaint_that_is_not_repeated_has_passed() {
        let gather = Duration::from_secs(3);
        let at = |seconds| Duration::from_millis((seconds * 1000.0) as u64);
        let complaint = |since, last| Complaint { at: (1, 2), since: at(since), last: at(last), cause: String::new() };
        let pair = |by, of| (MemberId(by), MemberId(of));
        let due = |complaints: &[((MemberId, MemberId), Complaint)], now| {
            let copy = |(pair, c): &(_, Complaint)| (*pair, Complaint { cause: String::new(), ..*c });
            let mut links = Links { complaints: complaints.iter().map(copy).collect(), ..Links::default() };
            links.due(at(now), gather, &[(1, 2)].into())
        };
        // One that mended at once; one that mended before long; one that goes on.
        assert!(due(&[(pair(1, 2), complaint(0.0, 0.0))], 10.0).is_empty());
        assert!(due(&[(pair(1, 2), complaint(0.0, 2.9))], 10.0).is_empty());
        assert_eq!(due(&[(pair(1, 2), complaint(0.0, 3.0))], 3.0), [pair(1, 2)]);
        // Others that are repeated count with it.
        let all =
            [(pair(1, 2), complaint(0.0, 3.0)), (pair(3, 2), complaint(2.0, 3.0)), (pair(4, 2), complaint(2.0, 2.0))];
        assert_eq!(due(&all, 4.0), [pair(1, 2), pair(3, 2)]);
        // What was said long ago or of another ply does not.
        assert!(due(&all, 30.0).is_empty());
        let other = Complaint { at: (1, 1), ..complaint(0.0, 3.0) };
        assert!(due(&[(pair(1, 2), other)], 4.0).is_empty());
    }

    #[test]
    fn of_many_workers_some_are_named() {
        let member = |id: u64| {
            let hello = wire::Hello { name: format!("w{id}"), ..wire::Hello::default() };
            Member::new(MemberId(id), 1, &hello, Duration::ZERO)
        };
        let members: Vec<Member> = (0..9).map(member).collect();
        assert_eq!(some(members[..3].iter()), "w0, w1, w2");
        assert_eq!(some(members.iter()), "w0, w1, w2 and 6 more");
    }
}
