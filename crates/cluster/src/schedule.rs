//! What begins when, and where it goes: whole to one worker, or cut over all of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use crate::assign::share_out;
use crate::member::Member;
use crate::plan::TablePlan;
use crate::run::{Run, Share};
use crate::wire::command::Kind as Tell;
use crate::work::{Stage, Work};
use crate::{Action, Conductor, MemberId, Task, WorkId, bytes_in_words, wire};

/// Where a table goes.
#[derive(Debug)]
pub(crate) enum Placement {
    /// To this worker, whole.
    Whole(Box<Share>),
    /// To these workers, each its share.
    Cut(Vec<Share>),
    /// To nobody yet: those that it fits have no room now.
    Later {
        /// It will go whole.
        whole: bool,
    },
    /// To nobody ever; the text tells why, with numbers.
    Never(String),
}

impl Placement {
    pub(crate) const fn is_never(&self) -> bool {
        matches!(self, Self::Never(_))
    }
}

/// Places a table on workers that take work. Those on which it has failed are shunned while others can have it. Those
/// that stand apart are given no share of a table that is cut.
pub(crate) fn place<'a>(
    plan: &TablePlan,
    members: impl Iterator<Item = &'a Member>,
    shunned: &BTreeSet<MemberId>,
    apart: &BTreeSet<MemberId>,
    cut_from: u64,
) -> Placement {
    let (bad, good): (Vec<&Member>, Vec<&Member>) = members.partition(|m| shunned.contains(&m.id));
    if !bad.is_empty() && !good.is_empty() {
        let placement = place_on(plan, &good, apart, cut_from);
        if !placement.is_never() {
            return placement;
        }
    }
    place_on(plan, &[good, bad].concat(), apart, cut_from)
}

fn place_on(plan: &TablePlan, members: &[&Member], apart: &BTreeSet<MemberId>, cut_from: u64) -> Placement {
    let need = plan.memory(plan.cells());
    let fits_whole = members.iter().any(|m| m.could_solve(need, plan));
    let linked: Vec<&Member> = members.iter().copied().filter(|m| !apart.contains(&m.id)).collect();
    let can_cut = linked.len() > 1 && plan.run_cells.len() > 1;
    if !linked.is_empty() && (plan.cells() >= cut_from || (can_cut && !fits_whole)) {
        match cut(plan, &linked) {
            // Who stands apart may have it all.
            Placement::Never(_) if fits_whole => whole(plan, members, need),
            placement => placement,
        }
    } else if fits_whole {
        whole(plan, members, need)
    } else {
        Placement::Never(too_large(plan, members, need))
    }
}

fn whole(plan: &TablePlan, members: &[&Member], need: u64) -> Placement {
    let free = members.iter().filter(|m| m.has_slot() && m.has_room(need, plan));
    match free.min_by_key(|m| (m.parts.len(), m.id)) {
        Some(m) => Placement::Whole(Box::new(Share::fresh(Some(m.id), 0..plan.run_cells.len(), need))),
        None => Placement::Later { whole: true },
    }
}

fn cut(plan: &TablePlan, members: &[&Member]) -> Placement {
    let shares: Vec<Share> = share_out(&plan.run_cells, members.len())
        .into_iter()
        .zip(members)
        .map(|(runs, m)| {
            let memory = plan.memory(plan.cells_of(&runs));
            Share::fresh(Some(m.id), runs, memory)
        })
        .collect();
    let pairs = || shares.iter().zip(members);
    if let Some((share, _)) = pairs().find(|(s, m)| !m.could_solve(s.memory, plan)) {
        // Those that it does not fit are given none of it, where the others can have it all.
        let fits = |n: usize, m: &Member| shares.get(n).is_none_or(|share| m.could_solve(share.memory, plan));
        let able: Vec<&Member> = members.iter().enumerate().filter(|(n, m)| fits(*n, m)).map(|(_, m)| *m).collect();
        let placement = (!able.is_empty()).then(|| cut(plan, &able));
        return placement
            .filter(|placement| !placement.is_never())
            .unwrap_or_else(|| Placement::Never(too_large(plan, members, share.memory)));
    }
    if pairs().all(|(s, m)| m.has_room(s.memory, plan)) {
        Placement::Cut(shares)
    } else {
        Placement::Later { whole: false }
    }
}

fn too_large(plan: &TablePlan, members: &[&Member], need: u64) -> String {
    let scratch_of = |m: &Member| if plan.keeps_to_room { m.scratch } else { 0 };
    let largest = members.iter().max_by_key(|m| m.memory.saturating_add(scratch_of(m)));
    let (memory, scratch) = largest.map_or((0, 0), |m| (m.memory, scratch_of(m)));
    let (mut disk, mut room) = (String::new(), String::new());
    if scratch > 0 {
        disk = format!(" and {} free on its scratch disk", bytes_in_words(scratch));
        // With too little memory a larger disk does not help.
        if plan.least(need) <= memory {
            let lacking = bytes_in_words(need.saturating_sub(memory));
            room = format!("make {lacking} free on the disk of --scratch, or ");
        }
    }
    format!(
        "it does not fit: a share takes {} on each of {} worker(s), the largest of which has {}{disk}; {room}{}",
        bytes_in_words(need),
        members.len(),
        bytes_in_words(memory),
        plan.remedy(memory),
    )
}

impl Conductor {
    /// Begins what can begin: first what was stopped by a loss; then small tables wherever there is a slot, the largest
    /// first; then, when no small one is left to begin, one that is cut over all workers. While that runs
    /// nothing else is begun, because each of its plies ends with the slowest worker.
    pub(crate) fn schedule(&mut self, now: Duration) {
        if self.is_settling(now) {
            return;
        }
        let ready = self.members.values().filter(|m| m.takes_work()).count();
        if ready == 0 {
            return;
        }
        self.resume_stopped(now);
        self.make_room_for_idle(now);
        if ready < self.settings.min_workers || self.works.values().filter_map(Work::run).any(|r| !r.alone) {
            return;
        }
        let mut candidates: Vec<WorkId> = self.works.iter().filter(|(_, w)| w.is_ready()).map(|(&id, _)| id).collect();
        candidates.sort_by_key(|id| (Reverse(self.works.get(id).map_or(0, |w| w.plan.cells())), *id));
        let apart = self.apart();
        let mut cut = None;
        let mut small_left = false;
        for id in candidates {
            let Some(work) = self.works.get(&id) else { continue };
            if let Some(shares) = self.held_shares(work) {
                cut = cut.or(Some((id, shares)));
                continue;
            }
            let members = self.members.values().filter(|m| m.takes_work());
            match place(&work.plan, members, &work.shunned, &apart, self.settings.cut_from) {
                Placement::Whole(share) => self.start(now, id, true, vec![*share]),
                Placement::Cut(shares) => cut = cut.or(Some((id, shares))),
                Placement::Later { whole } => small_left |= whole,
                // It waits for those who are left out, who are tried again after a time.
                Placement::Never(_) if !self.placement(&work.plan, &BTreeSet::new()).is_never() => {}
                Placement::Never(reason) => self.fail(now, id, &reason),
            }
        }
        if let Some((id, shares)) = cut
            && !small_left
        {
            self.start(now, id, false, shares);
        }
    }

    /// Where a table may go, when it has failed on nobody and these stand apart.
    pub(crate) fn placement(&self, plan: &TablePlan, apart: &BTreeSet<MemberId>) -> Placement {
        let members = self.members.values().filter(|m| m.takes_work());
        place(plan, members, &BTreeSet::new(), apart, self.settings.cut_from)
    }

    /// The shares of a table of which workers still have parts from before the coordinator began; `None` where nobody
    /// has any. What they have not is divided among all.
    fn held_shares(&self, work: &Work) -> Option<Vec<Share>> {
        let mut held: Vec<Share> = Vec::new();
        for (member, holding) in self.holdings_of(work) {
            let free = held.iter().all(|s| s.runs.end <= holding.runs.start || holding.runs.end <= s.runs.start);
            if free && holding.runs.end <= work.plan.run_cells.len() {
                let memory = work.plan.memory(work.plan.cells_of(&holding.runs));
                let complete = holding.complete;
                held.push(Share { complete, ..Share::fresh(Some(member), holding.runs.clone(), memory) });
            }
        }
        if held.is_empty() {
            return None;
        }
        held.sort_by_key(|s| s.runs.start);
        let mut next = 0;
        let mut gaps: Vec<Range<usize>> = Vec::new();
        for share in &held {
            if next < share.runs.start {
                gaps.push(next..share.runs.start);
            }
            next = share.runs.end;
        }
        if next < work.plan.run_cells.len() {
            gaps.push(next..work.plan.run_cells.len());
        }
        let lost = gaps.into_iter().map(|runs| {
            let memory = work.plan.memory(work.plan.cells_of(&runs));
            Share::fresh(None, runs, memory)
        });
        held.extend(lost);
        self.give_away(work, &mut held);
        Some(held)
    }

    /// Gives the next metric of some work to workers.
    pub(crate) fn start(&mut self, now: Duration, id: WorkId, alone: bool, shares: Vec<Share>) {
        let epoch = self.new_epoch();
        let Some(work) = self.works.get_mut(&id) else { return };
        let Some(metric) = work.next_metric() else { return };
        let task = Task { job: work.home, table: work.plan.table.clone(), metric, epoch };
        tracing::info!(table = %task.table, %metric, epoch, shares = shares.len(), "begun");
        self.tally.runs.inc();
        let earlier = work.spent.get(&metric).copied().unwrap_or_default();
        let mut run = Run::new(now, task, alone, shares);
        run.earlier = earlier;
        work.stage = Stage::Running(Box::new(run));
        self.assign(id);
    }

    /// Tells everybody who has a share of a run how the shares stand.
    pub(crate) fn assign(&mut self, id: WorkId) {
        let Some(work) = self.works.get(&id) else { return };
        let Some(run) = work.run().filter(|r| !r.is_stopped()) else { return };
        let who = |m: MemberId| self.members.get(&m).map(|m| (m.name.clone(), m.address.clone()));
        let assign = wire::Assign {
            task: Some((&run.task).into()),
            rules: work.rules.to_string(),
            shares: run.list(who),
            encode: work.next_encode().iter().map(ToString::to_string).collect(),
            alone: run.alone,
        };
        let (members, alone) = (run.members(), run.alone);
        let (table, rules) = (run.task.table.clone(), work.rules);
        for &id in &members {
            self.actions.push(Action::Tell(id, Tell::Assign(assign.clone())));
            // From now on it has of the table what its shares say, and nothing else.
            if let Some(member) = self.members.get_mut(&id).filter(|_| !alone) {
                member.holdings.retain(|h| h.task.table != table || h.rules != rules);
            }
        }
        self.count_memory(id);
    }

    /// Notes who holds how much of a run.
    pub(crate) fn count_memory(&mut self, id: WorkId) {
        let shares = self.works.get(&id).and_then(Work::run).map(|r| r.shares.as_slice()).unwrap_or_default();
        for member in self.members.values_mut() {
            let bytes = shares.iter().filter(|s| s.member == Some(member.id)).map(|s| s.memory);
            let (parts, bytes) = bytes.fold((0, 0u64), |(n, sum), b| (n + 1, sum.saturating_add(b)));
            if parts > 0 {
                member.parts.insert(id, bytes);
            } else {
                member.parts.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_with_too_little_memory_is_left_out_wherever_it_stands() {
        let plan = TablePlan::sample("KRK", vec![50, 50], 4000);
        let member = |id, memory| {
            let hello = wire::Hello { memory, ..wire::Hello::default() };
            Member::new(MemberId(id), id, &hello, Duration::ZERO)
        };
        let (small, large, other) = (member(1, 1000), member(2, 8000), member(3, 2500));
        let nobody = BTreeSet::new();
        let owners = |members: &[&Member]| match place_on(&plan, members, &nobody, 0) {
            Placement::Cut(shares) => shares.iter().filter_map(|share| share.member).collect(),
            _ => Vec::new(),
        };
        for members in [[&small, &large], [&large, &small]] {
            assert_eq!(owners(&members), [MemberId(2)]);
        }
        assert_eq!(owners(&[&small, &other, &large]), [MemberId(3), MemberId(2)]);
        assert!(matches!(place_on(&plan, &[&small, &other], &nobody, 0), Placement::Never(_)));
        // What is lacking is named: memory, or the scratch disk.
        let plan = TablePlan::sample("KRK", vec![50], 4000);
        let with_disk = |memory, scratch| {
            let hello = wire::Hello { memory, scratch, ..wire::Hello::default() };
            let member = Member::new(MemberId(1), 1, &hello, Duration::ZERO);
            too_large(&plan, &[&member], 4000)
        };
        let text = with_disk(1000, 2000);
        assert!(text.contains("has 1000 B and 2.0 KiB free on its scratch disk; make 2.9 KiB free"), "{text}");
        assert!(!with_disk(1000, 0).contains("scratch disk"), "{}", with_disk(1000, 0));
        let plan = TablePlan::sample("KRK", vec![50, 50], 4000);
        // Who stands apart has whole tables only.
        let apart = BTreeSet::from([MemberId(2)]);
        let alone = place_on(&plan, &[&large, &other], &apart, u64::MAX);
        assert!(matches!(alone, Placement::Whole(share) if share.member == Some(MemberId(2))));
        let alone = place_on(&plan, &[&large, &other], &apart, 0);
        assert!(matches!(alone, Placement::Whole(share) if share.member == Some(MemberId(2))));
        let small = [&member(2, 3500), &other];
        assert!(matches!(place_on(&plan, &small, &apart, 0), Placement::Never(_)));
        assert!(matches!(place_on(&plan, &small, &nobody, 0), Placement::Cut(_)));
    }
}
