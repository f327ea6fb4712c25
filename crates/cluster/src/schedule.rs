//! Where a table goes: whole to one worker, or cut over all of them.

use crate::assign::share_out;
use crate::bytes_in_words;
use crate::member::Member;
use crate::plan::TablePlan;
use crate::work::Owner;

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
