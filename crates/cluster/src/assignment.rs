//! An assignment as a worker understands it: its own slices, and who reads them.

use std::collections::BTreeSet;

use canju_retro::{Game, Metric, PartSpec, Rules, Shape};

use crate::{ClusterError, MemberId, Task, wire};

/// What the coordinator asks for.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) task: Task,
    pub(crate) rules: Rules,
    pub(crate) owners: Vec<Owner>,
    pub(crate) encode: Vec<Metric>,
    pub(crate) memory: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) member: MemberId,
    pub(crate) address: String,
    pub(crate) runs: Vec<u32>,
}

impl TryFrom<wire::Assign> for Assignment {
    type Error = ClusterError;

    fn try_from(assign: wire::Assign) -> Result<Self, ClusterError> {
        let owners = assign.owners.into_iter();
        Ok(Self {
            task: assign.task.try_into()?,
            rules: assign.rules.parse()?,
            owners: owners.map(|o| Owner { member: MemberId(o.worker), address: o.address, runs: o.runs }).collect(),
            encode: assign.encode.iter().map(|m| m.parse()).collect::<Result<_, _>>()?,
            memory: assign.memory,
        })
    }
}

/// Another worker with slices that are neighbours of own ones.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) member: MemberId,
    pub(crate) address: String,
    /// All its slices, ascending.
    pub(crate) slices: Vec<u32>,
    /// The longest message that it can have for this part.
    pub(crate) limit: usize,
}

/// What one worker does of a table.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) shape: Shape,
    pub(crate) runs: Vec<u32>,
    pub(crate) spec: PartSpec,
    pub(crate) peers: Vec<Peer>,
}

/// What a message may take beside one byte for each cell that it can speak of.
const SLACK: usize = 1 << 20;

impl Layout {
    /// Lays out the share of worker `me`.
    pub(crate) fn new(game: &dyn Game, assignment: &Assignment, me: MemberId) -> Result<Self, ClusterError> {
        let shape = game.shape(&assignment.task.table)?;
        let mine = assignment.owners.iter().find(|o| o.member == me);
        let runs = mine.map(|o| o.runs.clone()).unwrap_or_default();
        let slices = slices_of(&shape, &runs)?;
        if slices.is_empty() {
            return Err(ClusterError::Protocol("an assignment without slices".into()));
        }
        let own: BTreeSet<u32> = slices.iter().copied().collect();
        let mut peers = Vec::new();
        for owner in assignment.owners.iter().filter(|o| o.member != me) {
            let theirs = slices_of(&shape, &owner.runs)?;
            // Who reads is read: the same slices tell whether messages go to a peer and come from it.
            let seen = theirs.iter().filter_map(|&s| shape.slices.get(s as usize));
            let seen = seen.filter(|s| s.neighbours.iter().any(|n| own.contains(n)));
            let cells: usize = seen.map(|s| s.cells as usize).sum();
            if cells > 0 {
                let (member, address) = (owner.member, owner.address.clone());
                peers.push(Peer { member, address, slices: theirs, limit: SLACK + 2 * cells });
            }
        }
        let Assignment { task, rules, .. } = assignment;
        let spec = PartSpec { table: task.table.clone(), metric: task.metric, rules: *rules, slices };
        Ok(Self { shape, runs, spec, peers })
    }
}

fn slices_of(shape: &Shape, runs: &[u32]) -> Result<Vec<u32>, ClusterError> {
    let mut slices = Vec::new();
    for &run in runs {
        let run = shape.runs.get(run as usize);
        slices.extend(run.ok_or_else(|| ClusterError::Protocol("a run that the table does not have".into()))?.clone());
    }
    if slices.is_sorted() { Ok(slices) } else { Err(ClusterError::Protocol("runs that are not in order".into())) }
}
