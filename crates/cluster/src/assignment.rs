//! An assignment as a worker understands it: its own shares, and who reads them.

use std::collections::BTreeSet;
use std::sync::Arc;

use canju_retro::{Game, Metric, PartSpec, Rules, Shape};
use tokio::sync::OnceCell;

use crate::{ClusterError, MemberId, Pool, Task, wire};

/// What the coordinator asks for.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) task: Task,
    pub(crate) rules: Rules,
    /// All shares, by number.
    pub(crate) shares: Vec<Share>,
    pub(crate) encode: Vec<Metric>,
    /// The receiver has it all and runs it by itself.
    pub(crate) alone: bool,
    /// The shape of a large table takes a moment: it is made once for all own shares.
    shape: OnceCell<Arc<Shape>>,
}

/// A share of a table.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) member: MemberId,
    /// What people call the worker.
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) runs: Vec<u32>,
    /// Plies that it has complete: it takes the messages of this ply and later ones.
    pub(crate) complete: u16,
    pub(crate) encoded: bool,
    /// Bytes that the part is expected to take.
    pub(crate) memory: u64,
}

impl TryFrom<wire::Assign> for Assignment {
    type Error = ClusterError;

    fn try_from(assign: wire::Assign) -> Result<Self, ClusterError> {
        Ok(Self {
            task: assign.task.try_into()?,
            rules: assign.rules.parse()?,
            shares: assign.shares.into_iter().map(Share::try_from).collect::<Result<_, _>>()?,
            encode: assign.encode.iter().map(|m| m.parse()).collect::<Result<_, _>>()?,
            alone: assign.alone,
            shape: OnceCell::new(),
        })
    }
}

impl TryFrom<wire::Share> for Share {
    type Error = ClusterError;

    fn try_from(share: wire::Share) -> Result<Self, ClusterError> {
        let wire::Share { worker, name, address, runs, complete, encoded, memory } = share;
        let complete = complete.try_into().map_err(|_| ClusterError::Protocol("a ply beyond 65535".into()))?;
        Ok(Self { member: MemberId(worker), name, address, runs, complete, encoded, memory })
    }
}

impl Assignment {
    /// The numbers of the shares of a worker.
    pub(crate) fn of(&self, me: MemberId) -> impl Iterator<Item = (u32, &Share)> {
        let numbered = self.shares.iter().enumerate().map(|(number, share)| (number as u32, share));
        numbered.filter(move |(_, share)| share.member == me)
    }

    /// A share by its number.
    pub(crate) fn share(&self, number: u32) -> Result<&Share, ClusterError> {
        let share = self.shares.get(number as usize);
        share.ok_or_else(|| ClusterError::Protocol(format!("{} has no share {number}", self.task)))
    }

    /// What a share is to the others.
    pub(crate) async fn layout(
        self: &Arc<Self>,
        game: &Arc<dyn Game>,
        pool: &Pool,
        number: u32,
    ) -> Result<Layout, ClusterError> {
        let shape = self.shape.get_or_try_init(|| async {
            let (game, table) = (Arc::clone(game), self.task.table.clone());
            Ok::<_, ClusterError>(Arc::new(pool.run(move || game.shape(&table)).await??))
        });
        let (shape, assignment) = (Arc::clone(shape.await?), Arc::clone(self));
        pool.run(move || Layout::new(shape, &assignment, number)).await?
    }
}

/// Another share with slices that are neighbours of own ones.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) share: u32,
    /// Its worker.
    pub(crate) member: MemberId,
    /// What people call its worker.
    pub(crate) name: String,
    /// Where its worker is; `None` for this one.
    pub(crate) address: Option<String>,
    /// All its slices, ascending.
    pub(crate) slices: Vec<u32>,
    /// Plies of which it needs nothing.
    pub(crate) complete: u16,
    /// The longest message that it can have for this part.
    pub(crate) limit: usize,
}

/// What one part does of a table.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) shape: Arc<Shape>,
    pub(crate) runs: Vec<u32>,
    pub(crate) spec: PartSpec,
    pub(crate) peers: Vec<Peer>,
}

/// What a message may take beside what it says of cells.
const SLACK: usize = 1 << 20;

/// The longest message about so many cells of `all` for each side to move: a byte for each, or the values themselves as the
/// parts hold them, where a game's messages are those.
fn limit(shape: &Shape, all: u64, cells: u64) -> usize {
    let held = u128::from(shape.set_bytes) * u128::from(cells) / u128::from(all.max(1));
    SLACK.saturating_add(usize::try_from(held.max(2 * u128::from(cells))).unwrap_or(usize::MAX))
}

impl Layout {
    fn new(shape: Arc<Shape>, assignment: &Assignment, number: u32) -> Result<Self, ClusterError> {
        let mine = assignment.share(number)?;
        let slices = slices_of(&shape, &mine.runs)?;
        if slices.is_empty() {
            return Err(ClusterError::Protocol("a share without slices".into()));
        }
        let own: BTreeSet<u32> = slices.iter().copied().collect();
        let all = shape.slices.iter().map(|s| u64::from(s.cells)).sum();
        let mut peers = Vec::new();
        for (share, other) in assignment.shares.iter().enumerate().filter(|(n, _)| *n != number as usize) {
            let theirs = slices_of(&shape, &other.runs)?;
            // Who reads is read: the same slices tell whether messages go to a peer and come from it.
            let seen = theirs.iter().filter_map(|&s| shape.slices.get(s as usize));
            let seen = seen.filter(|s| s.neighbours.iter().any(|n| own.contains(n)));
            let cells: u64 = seen.map(|s| u64::from(s.cells)).sum();
            if cells > 0 {
                peers.push(Peer {
                    share: share as u32,
                    member: other.member,
                    name: other.name.clone(),
                    address: (other.member != mine.member).then(|| other.address.clone()),
                    slices: theirs,
                    complete: other.complete,
                    limit: limit(&shape, all, cells),
                });
            }
        }
        let Assignment { task, rules, .. } = assignment;
        let (table, metric, rules) = (task.table.clone(), task.metric, *rules);
        let spec = PartSpec { table, metric, rules, slices, room: None };
        Ok(Self { shape, runs: mine.runs.clone(), spec, peers })
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

#[cfg(test)]
mod tests {
    use canju_retro::SliceShape;

    use super::*;

    /// Six slices in a row, two to a run.
    fn shape() -> Arc<Shape> {
        let around = |s: u32| [s.checked_sub(1), (s < 5).then_some(s + 1)].into_iter().flatten().collect();
        let slices = (0..6).map(|s| SliceShape { cells: 10, neighbours: around(s) }).collect();
        Arc::new(Shape { slices, runs: vec![0..2, 2..4, 4..6], row: 1, positions: 120, indexed: 120, set_bytes: 60 })
    }

    fn share(worker: u64, runs: &[u32], complete: u32) -> wire::Share {
        let address = format!("http://w{worker}");
        wire::Share { worker, address, runs: runs.to_vec(), complete, ..wire::Share::default() }
    }

    fn assignment(shares: Vec<wire::Share>) -> Assignment {
        let task = wire::Task { job: "j1".into(), table: "T4".into(), metric: "dtm".into(), epoch: 9 };
        let assign = wire::Assign { task: Some(task), rules: "plain".into(), shares, ..wire::Assign::default() };
        assign.try_into().unwrap()
    }

    #[test]
    fn peers_are_the_shares_next_to_it_wherever_they_are() {
        let assignment = assignment(vec![share(1, &[0], 0), share(2, &[1], 5), share(2, &[2], 3)]);
        let peers = |number| Layout::new(shape(), &assignment, number).unwrap().peers;
        let seen = |number| peers(number).into_iter().map(|p| (p.share, p.address, p.complete)).collect::<Vec<_>>();
        assert_eq!(seen(0), [(1, Some("http://w2".into()), 5)]);
        assert_eq!(seen(1), [(0, Some("http://w1".into()), 0), (2, None, 3)]);
        assert_eq!(seen(2), [(1, None, 5)]);
        // Only the slice at the edge is read.
        assert_eq!(peers(2)[0].limit, SLACK + 2 * 10);
        assert_eq!(assignment.of(MemberId(2)).map(|(number, _)| number).collect::<Vec<_>>(), [1, 2]);
    }

    /// Sixteen bytes a cell, as chances of both sides are.
    #[test]
    fn a_message_may_be_as_long_as_what_the_parts_hold() {
        let shape = Shape { set_bytes: 16 * 60, ..shape().as_ref().clone() };
        assert_eq!(limit(&shape, 60, 10), SLACK + 160);
    }

    #[test]
    fn shares_that_do_not_fit_the_table_are_refused() {
        for runs in [&[][..], &[3], &[1, 0]] {
            assert!(Layout::new(shape(), &assignment(vec![share(1, runs, 0)]), 0).is_err());
        }
        assert!(Layout::new(shape(), &assignment(vec![share(1, &[0], 0)]), 1).is_err());
        assert!(Share::try_from(share(1, &[0], 70_000)).is_err());
    }
}
