//! What begins when, and where it goes: whole to one worker, or cut over all of them.

use std::cmp::Reverse;
use std::time::Duration;

use crate::assign::share_out;
use crate::member::Member;
use crate::plan::TablePlan;
use crate::wire::command::Kind as Tell;
use crate::work::{Owner, Run, Stage, Work};
use crate::{Action, Conductor, Task, WorkId, bytes_in_words, wire};

/// Where a table goes.
#[derive(Debug)]
pub(crate) enum Placement {
    /// To this worker, whole.
    Whole(Owner),
    /// To these workers, each its share.
    Cut(Vec<Owner>),
    /// To nobody yet: those that it fits have no room now.
    Later {
        /// It will go whole.
        whole: bool,
    },
    /// To nobody ever; the text tells why, with numbers.
    Never(String),
}

/// Places a table on workers that are ready.
pub(crate) fn place<'a>(plan: &TablePlan, members: impl Iterator<Item = &'a Member>, cut_from: u64) -> Placement {
    let members: Vec<&Member> = members.collect();
    let need = plan.memory(plan.cells());
    let fits_whole = members.iter().any(|m| m.could_hold(need));
    let can_cut = members.len() > 1 && plan.run_cells.len() > 1;
    if can_cut && (plan.cells() >= cut_from || !fits_whole) {
        cut(plan, &members)
    } else if fits_whole {
        whole(plan, &members, need)
    } else {
        Placement::Never(too_large(plan, &members, need))
    }
}

fn whole(plan: &TablePlan, members: &[&Member], need: u64) -> Placement {
    let free = members.iter().filter(|m| m.has_slot() && m.has_room(need));
    match free.min_by_key(|m| (m.parts.len(), m.id)) {
        Some(m) => Placement::Whole(Owner { member: m.id, runs: 0..plan.run_cells.len(), memory: need }),
        None => Placement::Later { whole: true },
    }
}

fn cut(plan: &TablePlan, members: &[&Member]) -> Placement {
    let shares = share_out(&plan.run_cells, members.len());
    let owners: Vec<Owner> = shares
        .into_iter()
        .zip(members)
        .map(|(runs, m)| {
            let cells = plan.run_cells.get(runs.clone()).unwrap_or_default().iter().sum();
            Owner { member: m.id, runs, memory: plan.memory(cells) }
        })
        .collect();
    let pairs = || owners.iter().zip(members);
    if let Some((owner, _)) = pairs().find(|(o, m)| !m.could_hold(o.memory)) {
        return Placement::Never(too_large(plan, members, owner.memory));
    }
    if pairs().all(|(o, m)| m.has_room(o.memory)) { Placement::Cut(owners) } else { Placement::Later { whole: false } }
}

fn too_large(plan: &TablePlan, members: &[&Member], need: u64) -> String {
    let largest = members.iter().map(|m| m.memory).max().unwrap_or(0);
    format!(
        "it does not fit: a share takes {} on each of {} worker(s), the largest of which has {}; {}",
        bytes_in_words(need),
        members.len(),
        bytes_in_words(largest),
        plan.remedy(largest),
    )
}

impl Conductor {
    /// Begins what can begin: small tables wherever there is a slot, the largest first; then, when no
    /// small one is left to begin, one that is cut over all workers. While that runs nothing else is
    /// begun, because each of its plies ends with the slowest worker.
    pub(crate) fn schedule(&mut self, now: Duration) {
        let ready = self.members.values().filter(|m| m.ready).count();
        if ready == 0 || ready < self.settings.min_workers {
            return;
        }
        if self.works.values().filter_map(Work::run).any(|r| !r.is_whole()) {
            return;
        }
        let mut candidates: Vec<WorkId> = self.works.iter().filter(|(_, w)| w.is_ready()).map(|(&id, _)| id).collect();
        candidates.sort_by_key(|id| (Reverse(self.works.get(id).map_or(0, |w| w.plan.cells())), *id));
        let mut cut = None;
        let mut small_left = false;
        for id in candidates {
            let Some(work) = self.works.get(&id) else { continue };
            match place(&work.plan, self.members.values().filter(|m| m.ready), self.settings.cut_from) {
                Placement::Whole(owner) => self.start(now, id, vec![owner]),
                Placement::Cut(owners) => cut = cut.or(Some((id, owners))),
                Placement::Later { whole } => small_left |= whole,
                Placement::Never(reason) => self.fail(now, id, &reason),
            }
        }
        if let Some((id, owners)) = cut
            && !small_left
        {
            self.start(now, id, owners);
        }
    }

    /// Gives the next metric of some work to its owners.
    pub(crate) fn start(&mut self, now: Duration, id: WorkId, owners: Vec<Owner>) {
        let epoch = self.new_epoch();
        let Some(work) = self.works.get_mut(&id) else { return };
        let (Some(metric), Some(&job)) = (work.next_metric(), work.jobs.first()) else { return };
        let task = Task { job, table: work.plan.table.clone(), metric, epoch };
        let encode: Vec<String> = work.next_encode().iter().map(ToString::to_string).collect();
        tracing::info!(table = %task.table, %metric, epoch, workers = owners.len(), "begun");
        let list: Vec<wire::Owner> = owners
            .iter()
            .filter_map(|o| {
                let member = self.members.get(&o.member)?;
                Some(wire::Owner {
                    worker: member.id.0,
                    name: member.name.clone(),
                    address: member.address.clone(),
                    runs: (o.runs.start as u32..o.runs.end as u32).collect(),
                })
            })
            .collect();
        for owner in &owners {
            if let Some(member) = self.members.get_mut(&owner.member) {
                member.parts.insert(id, owner.memory);
            }
            let assign = wire::Assign {
                task: Some((&task).into()),
                rules: work.rules.to_string(),
                owners: list.clone(),
                encode: encode.clone(),
                memory: owner.memory,
            };
            self.actions.push(Action::Tell(owner.member, Tell::Assign(assign)));
        }
        self.tally.runs.inc();
        work.stage = Stage::Running(Box::new(Run::new(now, task, owners)));
    }
}
