//! Workers are lost, leave and come: their shares go to others, who take up where the logs end.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use crate::assign::share_out;
use crate::member::{Holding, Member};
use crate::run::{Loss, Run, Share};
use crate::wire::command::Kind as Tell;
use crate::work::{Stage, Work};
use crate::{Action, Conductor, MemberId, WorkId, wire};

/// The workers that an earlier coordinator had, and how long they are waited for.
#[derive(Debug)]
pub(crate) struct Settling {
    pub(crate) missing: BTreeSet<String>,
    pub(crate) until: Duration,
}

/// A share on its way from one worker to another: it goes when its log is in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) work: WorkId,
    pub(crate) epoch: u64,
    share: usize,
    from: MemberId,
    /// Nobody in particular where the worker leaves.
    to: Option<MemberId>,
    /// Half of it goes.
    half: bool,
    /// Plies that the log in the store must have.
    plies: u32,
}

/// Shares for each worker beyond which they are not divided any more.
const MOST_SHARES: usize = 3;
/// The time after which a run that was shared out anew may be so again for somebody idle.
const REST: Duration = Duration::from_secs(20);

impl Conductor {
    /// Waits for the workers of an earlier coordinator before anything is given out.
    pub fn settle(&mut self, now: Duration, crew: BTreeSet<String>) {
        if !crew.is_empty() {
            tracing::info!(workers = crew.len(), "waiting for the workers of the coordinator before");
            self.settling = Some(Settling { missing: crew, until: now + self.settings.patience });
        }
    }

    pub(crate) fn is_settling(&mut self, now: Duration) -> bool {
        if self.settling.as_ref().is_some_and(|s| s.missing.is_empty() || now >= s.until) {
            self.settling = None;
        }
        self.settling.is_some()
    }

    /// A worker takes work from now on. What it holds of nothing that is at work any more it may drop.
    pub(crate) fn on_ready(&mut self, now: Duration, id: MemberId) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.ready = true;
        if let Some(settling) = &mut self.settling {
            settling.missing.remove(&member.name);
        }
        self.drop_useless_holdings(id);
        self.schedule(now);
    }

    fn drop_useless_holdings(&mut self, id: MemberId) {
        let Some(member) = self.members.get(&id) else { return };
        let useful = |holding: &Holding| self.works.values().any(|work| is_of(work, holding) && is_open(work));
        let useless: Vec<Holding> = member.holdings.iter().filter(|h| !useful(h)).cloned().collect();
        for holding in useless {
            self.tell_drop(id, &holding.task, false);
            if let Some(member) = self.members.get_mut(&id) {
                member.holdings.retain(|h| h.task != holding.task);
            }
        }
    }

    /// Parts of the next metric of some work that workers have from before.
    pub(crate) fn holdings_of<'a>(&'a self, work: &'a Work) -> impl Iterator<Item = (MemberId, &'a Holding)> {
        let apart = self.apart();
        let members = self.members.values().filter(move |m| m.takes_work() && !apart.contains(&m.id));
        members.flat_map(|m| m.holdings.iter().map(|h| (m.id, h))).filter(|(_, h)| is_of(work, h))
    }

    /// A worker is gone: what it had at work goes to others, or waits for them.
    pub(crate) fn lose(&mut self, now: Duration, gone: &Member, reason: &str) {
        self.moves.retain(|m| m.from != gone.id && m.to != Some(gone.id));
        let held: Vec<WorkId> = gone.parts.keys().copied().collect();
        for id in held {
            let most = self.settings.losses;
            let Some(work) = self.works.get_mut(&id) else { continue };
            let Stage::Running(run) = &mut work.stage else { continue };
            let loss = run.lose(gone.id);
            if loss == Loss::None {
                continue;
            }
            // A table that ends one worker after the other would do so for ever.
            let furthest = run.furthest();
            work.losses = if furthest > work.lost_at { 1 } else { work.losses + 1 };
            work.lost_at = furthest;
            if work.losses > most {
                let cause = format!(
                    "{} workers in a row were lost without a ply between them, the last one {}: {reason}",
                    work.losses,
                    gone.title()
                );
                self.fail(now, id, &cause);
                continue;
            }
            tracing::warn!(table = %work.plan.table, worker = %gone.name, reason, "part is lost, others take it over");
            self.tally.recoveries.inc();
            match loss {
                Loss::All => {
                    work.halt(now);
                    self.count_memory(id);
                }
                _ => self.share_again(now, id),
            }
        }
    }

    /// Gives the shares of a run that nobody has to workers, under a new epoch. Where there is no room for
    /// them the run stands still until there is.
    pub(crate) fn share_again(&mut self, now: Duration, id: WorkId) {
        let Some(run) = self.works.get(&id).and_then(Work::run) else { return };
        let before = run.members();
        self.share_anew(now, id, &before);
    }

    /// As [`Self::share_again`]; those who had shares before and have none now drop their parts.
    fn share_anew(&mut self, now: Duration, id: WorkId, before: &BTreeSet<MemberId>) {
        let epoch = self.new_epoch();
        let Some(work) = self.works.get(&id) else { return };
        let Some(run) = work.run() else { return };
        let mut shares = run.shares.clone();
        self.take_back(work, &mut shares);
        self.give_away(work, &mut shares);
        let task = run.task.clone();
        if let Some(Stage::Running(run)) = self.works.get_mut(&id).map(|w| &mut w.stage) {
            run.renew(now, epoch, shares);
            let members = run.members();
            for &member in before.difference(&members) {
                self.tell_drop(member, &task, false);
            }
        }
        self.assign(id);
        self.count_memory(id);
        // What was on its way went by the shares as they were.
        let members = self.works.get(&id).and_then(Work::run).map(Run::members).unwrap_or_default();
        for member in members {
            if self.members.get(&member).is_some_and(|m| m.draining) {
                self.send_away(id, member);
            }
        }
    }

    /// Runs without a worker go back to one who still has a part of just them. Shares that nobody could take have become
    /// one: it is divided again.
    fn take_back(&self, work: &Work, shares: &mut Vec<Share>) {
        let plan = &work.plan;
        for (member, holding) in self.holdings_of(work) {
            let held = &holding.runs;
            let has_it = |s: &Share| {
                let within = s.runs.start <= held.start && held.end <= s.runs.end;
                s.member.is_none() && within && (s.made.is_none() || s.runs == *held)
            };
            let Some(place) = shares.iter().position(has_it) else { continue };
            let share = shares.remove(place);
            let part = |member, runs: Range<usize>, complete| {
                let memory = plan.memory(plan.cells_of(&runs));
                Share { member, runs, memory, complete, ..share.clone() }
            };
            let pieces = [
                part(None, share.runs.start..held.start, 0),
                part(Some(member), held.clone(), holding.complete),
                part(None, held.end..share.runs.end, 0),
            ];
            shares.splice(place..place, pieces.into_iter().filter(|piece| !piece.runs.is_empty()));
        }
    }

    /// Shares without a worker go to those who have none; where everybody has one, they are divided among all.
    pub(crate) fn give_away(&self, work: &Work, shares: &mut Vec<Share>) {
        let plan = &work.plan;
        // Cells that each has of this table, and bytes that it has of it beyond what is counted already.
        let apart = self.apart();
        let takers = self.members.values().filter(|m| m.takes_work() && !apart.contains(&m.id));
        let mut load: BTreeMap<MemberId, (u64, u64)> = takers.map(|m| (m.id, (0, 0))).collect();
        for share in shares.iter() {
            if let Some(load) = share.member.and_then(|m| load.get_mut(&m)) {
                load.0 += plan.cells_of(&share.runs);
            }
        }
        let lost = joined(shares.iter().filter(|s| s.member.is_none()));
        shares.retain(|s| s.member.is_some());
        for share in lost {
            let idle = load.values().filter(|(cells, _)| *cells == 0).count();
            let pieces = match (&share.made, idle) {
                (Some(_), _) => 1,
                // Every share has copies of its neighbours' sets: many small ones cost more than they even out.
                (None, 0) if shares.len() < MOST_SHARES * load.len() => load.len(),
                (None, idle) => idle,
            };
            let ranges = share_out(plan.run_cells.get(share.runs.clone()).unwrap_or_default(), pieces.max(1));
            for range in ranges {
                let runs = share.runs.start + range.start..share.runs.start + range.end;
                let cells = plan.cells_of(&runs);
                let memory = plan.memory(cells);
                let takes = load.iter().filter(|(id, (_, more))| {
                    self.members.get(id).is_some_and(|m| m.has_room(memory.saturating_add(*more), plan))
                });
                let member =
                    takes.min_by_key(|(id, (cells, _))| (work.shunned.contains(id), *cells, **id)).map(|(id, _)| *id);
                if let Some(load) = member.and_then(|m| load.get_mut(&m)) {
                    load.0 += cells;
                    load.1 = load.1.saturating_add(memory);
                }
                let made = share.made.clone();
                shares.push(Share { member, saved: share.saved, made, ..Share::fresh(None, runs, memory) });
            }
        }
        shares.sort_by_key(|s| s.runs.start);
    }

    /// Runs that stand still go on where there is room now.
    pub(crate) fn resume_stopped(&mut self, now: Duration) {
        let stopped: Vec<WorkId> =
            self.works.iter().filter(|(_, w)| w.run().is_some_and(|r| r.is_stopped())).map(|(&id, _)| id).collect();
        for id in stopped {
            let Some(work) = self.works.get(&id) else { continue };
            let Some(run) = work.run() else { continue };
            let mut shares = run.shares.clone();
            self.take_back(work, &mut shares);
            self.give_away(work, &mut shares);
            if shares.iter().all(|s| s.member.is_some()) {
                self.share_again(now, id);
            }
        }
    }

    /// A worker is told to stop: its shares go elsewhere as soon as their logs are in the store.
    pub(crate) fn drain(&mut self, now: Duration, id: MemberId) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.draining = true;
        tracing::info!(worker = %member.name, "worker drains");
        let works: Vec<WorkId> = member.parts.keys().copied().collect();
        for work in works {
            self.send_away(work, id);
        }
        self.schedule(now);
    }

    /// The shares of a worker that leaves go as soon as their logs are in the store, those that others do not need stay.
    fn send_away(&mut self, work: WorkId, from: MemberId) {
        let Some(run) = self.works.get(&work).and_then(Work::run) else { return };
        if run.alone {
            return;
        }
        let shares: Vec<usize> = (0..run.shares.len())
            .filter(|&s| run.shares[s].member == Some(from) && (run.shares[s].made.is_none() || !run.is_encoding()))
            .collect();
        for share in shares {
            self.move_share(work, share, None, false);
        }
    }

    /// Somebody who has nothing takes a share of the run at work from who has most.
    pub(crate) fn make_room_for_idle(&mut self, now: Duration) {
        let running = self.works.iter().find(|(_, w)| w.run().is_some_and(|r| !r.alone && r.is_in_plies()));
        let Some((&id, work)) = running else { return };
        let Some(run) = work.run() else { return };
        let resting = now.saturating_sub(run.since) < REST && run.furthest() > 0;
        if resting || self.moves.iter().any(|m| m.work == id) {
            return;
        }
        let apart = self.apart();
        let idle = self.members.values().find(|m| m.takes_work() && m.parts.is_empty() && !apart.contains(&m.id));
        let Some(idle) = idle else { return };
        // Whose shards are in the store has nothing more to do than to send its log.
        let has_open = |share: &Share, member| share.member == Some(member) && share.made.is_none();
        let cells = |member: MemberId| -> u64 {
            run.shares.iter().filter(|s| has_open(s, member)).map(|s| work.plan.cells_of(&s.runs)).sum()
        };
        let Some(most) = run.members().into_iter().max_by_key(|&m| cells(m)) else { return };
        let shares: Vec<usize> = (0..run.shares.len()).filter(|&s| has_open(&run.shares[s], most)).collect();
        let (share, half) = match shares.as_slice() {
            [only] => (*only, true),
            [first, ..] => (*first, false),
            [] => return,
        };
        let Some(chosen) = run.shares.get(share) else { return };
        let worth_it = !half || (chosen.runs.len() > 1 && cells(most) >= self.settings.split_from);
        let bytes = if half { chosen.memory / 2 } else { chosen.memory };
        if worth_it && idle.has_room(bytes, &work.plan) {
            let to = idle.id;
            self.move_share(id, share, Some(to), half);
        }
    }

    fn move_share(&mut self, work: WorkId, share: usize, to: Option<MemberId>, half: bool) {
        let Some(run) = self.works.get(&work).and_then(Work::run) else { return };
        let Some((from, plies)) = run.shares.get(share).and_then(|s| Some((s.member?, s.complete))) else { return };
        let (epoch, task) = (run.task.epoch, Some((&run.task).into()));
        self.moves.push(Move { work, epoch, share, from, to, half, plies });
        self.actions.push(Action::Tell(from, Tell::Checkpoint(wire::Checkpoint { task })));
    }

    /// Shares whose logs are in the store by now go where they are to go.
    pub(crate) fn carry_on_moves(&mut self, now: Duration, id: WorkId) {
        let Some(run) = self.works.get(&id).and_then(Work::run) else { return };
        if run.is_before_plies() {
            return;
        }
        let saved = |m: &Move| run.shares.get(m.share).is_some_and(|s| s.saved >= m.plies);
        self.moves.retain(|m| m.work != id || m.epoch == run.task.epoch);
        let due: Vec<Move> = self.moves.iter().filter(|m| m.work == id && saved(m)).copied().collect();
        if due.is_empty() || self.moves.iter().any(|m| m.work == id && !saved(m)) {
            return;
        }
        self.moves.retain(|m| m.work != id);
        let Some(Stage::Running(run)) = self.works.get_mut(&id).map(|w| &mut w.stage) else { return };
        if !run.is_in_plies() {
            return;
        }
        // Before the shares go: a worker that gives its last one away is no member any more.
        let before = run.members();
        let mut more = Vec::new();
        for m in due {
            let Some(share) = run.shares.get_mut(m.share) else { continue };
            share.complete = 0;
            let middle = share.runs.start + share.runs.len() / 2;
            if m.half && middle > share.runs.start {
                let half = Share { runs: middle..share.runs.end, member: m.to, ..share.clone() };
                more.push(half);
                share.runs = share.runs.start..middle;
            } else {
                share.member = m.to;
            }
        }
        run.shares.extend(more);
        self.price_shares(id);
        self.share_anew(now, id, &before);
    }

    fn price_shares(&mut self, id: WorkId) {
        let Some(work) = self.works.get_mut(&id) else { return };
        let plan = work.plan.clone();
        if let Stage::Running(run) = &mut work.stage {
            for share in &mut run.shares {
                share.memory = plan.memory(plan.cells_of(&share.runs));
            }
        }
    }
}

/// Neighbouring shares of which nothing is made yet become one.
fn joined<'a>(shares: impl Iterator<Item = &'a Share>) -> Vec<Share> {
    let mut joined: Vec<Share> = Vec::new();
    for share in shares {
        match joined.last_mut() {
            Some(last) if last.runs.end == share.runs.start && last.made.is_none() && share.made.is_none() => {
                last.runs.end = share.runs.end;
                last.saved = last.saved.min(share.saved);
            }
            _ => joined.push(share.clone()),
        }
    }
    joined
}

/// True where the part is of the metric that the work solves next or now.
fn is_of(work: &Work, holding: &Holding) -> bool {
    work.rules == holding.rules
        && work.plan.table == holding.task.table
        && work.next_metric() == Some(holding.task.metric)
}

/// True while shares of the work are still to be given out.
fn is_open(work: &Work) -> bool {
    match &work.stage {
        Stage::Waiting => true,
        Stage::Running(run) => run.is_stopped(),
        Stage::Committing => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where something is wrong")]
mod tests {
    use canju_retro::Metric;

    use super::*;
    use crate::plan::{Plan, TablePlan};
    use crate::wire::report::Kind as Say;
    use crate::{Settings, VERSION};

    const NOW: Duration = Duration::ZERO;

    struct Hand {
        id: MemberId,
        epoch: u64,
    }

    impl Hand {
        fn join(conductor: &mut Conductor, name: &str) -> Self {
            let (name, address, version) = (name.to_owned(), format!("http://{name}:1"), VERSION.to_owned());
            let (id, epoch) = conductor.join(NOW, &wire::Hello { name, address, version, ..Default::default() });
            let hand = Self { id, epoch };
            hand.say(conductor, Say::Ready(wire::Ready {}));
            hand
        }

        fn say(&self, conductor: &mut Conductor, kind: Say) {
            conductor.report(NOW, self.id, wire::Report { epoch: self.epoch, kind: Some(kind) }).unwrap();
        }
    }

    /// What is told to whom.
    fn told(conductor: &mut Conductor) -> Vec<(MemberId, Tell)> {
        let actions = conductor.take_actions().into_iter();
        actions.filter_map(|a| if let Action::Tell(id, tell) = a { Some((id, tell)) } else { None }).collect()
    }

    fn assigned(told: &[(MemberId, Tell)], to: &Hand) -> Option<wire::Assign> {
        told.iter().rev().find_map(|(id, tell)| match tell {
            Tell::Assign(assign) if *id == to.id => Some(assign.clone()),
            _ => None,
        })
    }

    #[test]
    fn the_shares_of_a_worker_that_leaves_go_when_their_logs_are_in_the_store() {
        let settings = Settings { cut_from: 0, min_workers: 2, ..Settings::default() };
        let mut conductor = Conductor::new(settings, 1);
        let (a, b) = (Hand::join(&mut conductor, "a"), Hand::join(&mut conductor, "b"));
        let plan = TablePlan { build: vec![Metric::Dtm], ..TablePlan::sample("KRK", vec![50; 4], 4000) };
        let job = conductor.new_job();
        conductor.submit(NOW, job, Plan::sample(vec![plan]), 0);
        let task = assigned(&told(&mut conductor), &a).unwrap().task;
        for (share, hand) in [(0, &a), (1, &b)] {
            hand.say(&mut conductor, Say::Prepared(wire::Prepared { task: task.clone(), share, ..Default::default() }));
        }
        for (share, hand) in [(0, &a), (1, &b)] {
            let plied = wire::Plied { task: task.clone(), share, first_labels: 5, ..Default::default() };
            hand.say(&mut conductor, Say::Plied(plied));
        }
        let c = Hand::join(&mut conductor, "c");
        told(&mut conductor);
        a.say(&mut conductor, Say::Draining(wire::Draining::default()));
        let wanted = told(&mut conductor);
        assert!(matches!(&wanted[..], [(id, Tell::Checkpoint(_))] if *id == a.id), "{wanted:?}");
        let saved = wire::Checkpointed { task, share: 0, plies: 1, bytes: 9 };
        a.say(&mut conductor, Say::Checkpointed(saved));
        let after = told(&mut conductor);
        let shares = assigned(&after, &c).unwrap().shares;
        assert_eq!(shares.iter().map(|s| s.worker).collect::<Vec<_>>(), [c.id.0, b.id.0]);
        assert!(after.iter().any(|(id, tell)| *id == a.id && matches!(tell, Tell::Drop(drop) if !drop.solved)));
    }
}
