//! What a worker solves a part with: the plies, alone or in step with others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use canju_retro::{Game, Part, StepCounts};
use rayon::prelude::*;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::assignment::{Assignment, Layout, Peer};
use crate::chunk::Letter;
use crate::exchange::{Inboxes, Post};
use crate::inbox::Inbox;
use crate::usage::{Account, usage};
use crate::wire::report::Kind as Say;
use crate::{Bucket, ClusterError, MemberId, Pool, Task, bytes_in_words, wire};

/// How often a part that runs by itself tells how far it is.
const PROGRESS: Duration = Duration::from_millis(200);

/// What the coordinator says to one part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Step(u16),
    Encode,
}

/// The way of reports to the coordinator.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    pub(crate) epoch: u64,
    pub(crate) line: mpsc::Sender<wire::Report>,
}

impl Reports {
    /// Says something; waits while the line is busy. Nobody may listen any more: then the session ends anyway.
    pub(crate) async fn say(&self, kind: Say) {
        let _ = self.line.send(wire::Report { epoch: self.epoch, kind: Some(kind) }).await;
    }

    /// Says something unless the line is busy.
    fn mention(&self, kind: Say) {
        let _ = self.line.try_send(wire::Report { epoch: self.epoch, kind: Some(kind) });
    }
}

/// What a part is solved with.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) game: Arc<dyn Game>,
    pub(crate) bucket: Bucket,
    pub(crate) pool: Pool,
    pub(crate) inboxes: Inboxes,
    pub(crate) post: Post,
    pub(crate) me: MemberId,
    /// Bytes that a part may take; 0 for no bound.
    pub(crate) memory: u64,
    pub(crate) reports: Reports,
}

fn progress(task: &wire::Task, ply: u16, labels: u64, encoding: bool) -> Say {
    Say::Progress(wire::Progress { task: Some(task.clone()), ply: u32::from(ply), labels, encoding })
}

/// Tells work on the pool to stop when nobody waits for it any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A part that has run all its plies.
pub(crate) struct Done {
    pub(crate) part: Arc<dyn Part>,
    plies: u32,
    labels: u64,
    peak: u64,
}

impl Bench {
    /// Solves a part and writes its shards.
    pub(crate) async fn solve(
        &self,
        assignment: Assignment,
        orders: mpsc::Receiver<Order>,
    ) -> Result<wire::Encoded, ClusterError> {
        let account = Account::open();
        self.check_memory(assignment.memory, "is expected to take")?;
        let task = assignment.task.clone();
        let assignment = Arc::new(assignment);
        let layout = {
            let (game, assignment, me) = (Arc::clone(&self.game), Arc::clone(&assignment), self.me);
            Arc::new(self.pool.run(move || Layout::new(game.as_ref(), &assignment, me)).await??)
        };
        let limits = layout.peers.iter().map(|p| (p.member, p.limit)).collect();
        let posted = self.inboxes.put_up(task.epoch, Inbox::new(task.clone(), self.me, limits));
        let part = {
            let (game, layout) = (Arc::clone(&self.game), Arc::clone(&layout));
            let tables = self.bucket.tables(assignment.rules);
            let prepare = move || -> Result<_, ClusterError> {
                let mut part = game.part(&layout.spec, tables)?;
                part.prepare()?;
                Ok(part)
            };
            self.pool.run(prepare).await??
        };
        let memory = part.memory();
        self.check_memory(memory, "takes")?;
        tracing::debug!(%task, memory, cpu_seconds = account.seconds(), "prepared");
        self.reports.say(Say::Prepared(wire::Prepared { task: Some((&task).into()), memory })).await;
        let done = if assignment.owners.len() == 1 {
            self.alone(part, &task).await?
        } else {
            self.in_step(part, &task, &layout, &posted.inbox, orders).await?
        };
        drop(posted);
        tracing::debug!(%task, plies = done.plies, cpu_seconds = account.seconds(), "labelled");
        let shards = self.write_shards(&done.part, &assignment, &layout).await?;
        tracing::debug!(%task, shards = shards.len(), cpu_seconds = account.seconds(), "encoded");
        let part = Arc::clone(&done.part);
        let statistics = self.pool.run(move || part.statistics()).await??;
        Ok(wire::Encoded {
            task: Some((&task).into()),
            shards,
            statistics: Some((&statistics).into()),
            plies: done.plies,
            labels: done.labels,
            memory: done.peak,
            usage: Some(usage()),
            cpu_seconds: account.seconds(),
        })
    }

    fn check_memory(&self, bytes: u64, what: &str) -> Result<(), ClusterError> {
        if self.memory == 0 || bytes <= self.memory {
            return Ok(());
        }
        let (need, have) = (bytes_in_words(bytes), bytes_in_words(self.memory));
        let text =
            format!("the part {what} {need} of memory and this worker has {have}: add workers, or raise --memory");
        Err(ClusterError::Refused(text))
    }

    /// All plies at one go: nobody else has a part.
    async fn alone(&self, mut part: Box<dyn Part>, task: &Task) -> Result<Done, ClusterError> {
        let stop = Stop(Arc::default());
        let (stopped, reports, task) = (Arc::clone(&stop.0), self.reports.clone(), wire::Task::from(task));
        let plies = move || -> Result<Done, ClusterError> {
            let (mut ply, mut idle, mut labels, mut peak) = (0u16, 0, 0, part.memory());
            let mut told = Instant::now();
            // Wins stand at odd plies and losses at even ones: two idle plies running are needed to know the end.
            while idle < 2 {
                if stopped.load(Ordering::Relaxed) {
                    return Err(ClusterError::CalledOff);
                }
                let counts = part.step(ply)?;
                labels += counts.total();
                peak = peak.max(part.memory());
                idle = if counts.total() == 0 && !counts.pending { idle + 1 } else { 0 };
                ply = ply.checked_add(1).ok_or_else(|| ClusterError::Refused("more than 65535 plies".into()))?;
                if told.elapsed() >= PROGRESS {
                    told = Instant::now();
                    reports.mention(progress(&task, ply, labels, false));
                }
            }
            reports.mention(progress(&task, ply, labels, true));
            Ok(Done { part: Arc::from(part), plies: u32::from(ply), labels, peak })
        };
        let done = self.pool.run(plies).await?;
        drop(stop);
        done
    }

    /// Ply by ply as the coordinator closes them.
    async fn in_step(
        &self,
        mut part: Box<dyn Part>,
        task: &Task,
        layout: &Arc<Layout>,
        inbox: &Inbox,
        mut orders: mpsc::Receiver<Order>,
    ) -> Result<Done, ClusterError> {
        let (mut plies, mut labels, mut peak) = (0, 0, part.memory());
        while let Some(order) = orders.recv().await {
            let ply = match order {
                Order::Step(ply) => ply,
                Order::Encode => return Ok(Done { part: Arc::from(part), plies, labels, peak }),
            };
            let (stepped, counts, exports) = self.step(part, ply, layout).await?;
            let sending = self.send(task, ply, &layout.peers, exports);
            let (sent, (imported, received)) = tokio::try_join!(sending, self.import(stepped, &layout.peers, inbox))?;
            part = imported;
            plies = u32::from(ply) + 1;
            labels += counts.total();
            peak = peak.max(part.memory());
            // The box turns before the report goes out: as soon as the last report is there, others send on.
            inbox.turn(ply + 1);
            let [first_labels, second_labels] = counts.labels;
            let (task, pending, memory) = (Some(task.into()), counts.pending, part.memory());
            let ply = u32::from(ply);
            let plied = wire::Plied { task, ply, first_labels, second_labels, pending, sent, received, memory };
            self.reports.say(Say::Plied(plied)).await;
        }
        Err(ClusterError::CalledOff)
    }

    async fn step(
        &self,
        mut part: Box<dyn Part>,
        ply: u16,
        layout: &Arc<Layout>,
    ) -> Result<(Box<dyn Part>, StepCounts, Vec<Vec<u8>>), ClusterError> {
        let layout = Arc::clone(layout);
        let step = move || -> Result<_, ClusterError> {
            let counts = part.step(ply)?;
            let exports = layout.peers.par_iter().map(|peer| part.export(&peer.slices)).collect();
            Ok((part, counts, exports))
        };
        self.pool.run(step).await?
    }

    async fn send(
        &self,
        task: &Task,
        ply: u16,
        peers: &[Peer],
        exports: Vec<Vec<u8>>,
    ) -> Result<Vec<wire::Traffic>, ClusterError> {
        let mut sends = JoinSet::new();
        for (peer, message) in peers.iter().zip(exports) {
            let (post, address) = (self.post.clone(), peer.address.clone());
            let letter = Letter { task: task.clone(), ply, from: self.me, to: peer.member, message: message.into() };
            sends.spawn(async move {
                let chunks = post.send(&address, &letter).await?;
                Ok(wire::Traffic { peer: letter.to.0, chunks, bytes: letter.wire_bytes() })
            });
        }
        let mut sent = Vec::new();
        while let Some(result) = sends.join_next().await {
            let result: Result<_, ClusterError> = result.map_err(|e| ClusterError::Panicked(e.to_string()))?;
            sent.push(result?);
        }
        sent.sort_by_key(|t| t.peer);
        Ok(sent)
    }

    async fn import(
        &self,
        mut part: Box<dyn Part>,
        peers: &[Peer],
        inbox: &Inbox,
    ) -> Result<(Box<dyn Part>, Vec<wire::Traffic>), ClusterError> {
        let mut traffic = Vec::new();
        for peer in peers {
            let received = inbox.take(peer.member).await;
            let bytes = received.message.len() as u64;
            traffic.push(wire::Traffic { peer: peer.member.0, chunks: received.chunks, bytes });
            if received.message.is_empty() {
                continue;
            }
            let import = move || -> Result<_, ClusterError> {
                part.import(&received.message)?;
                Ok(part)
            };
            part = self.pool.run(import).await??;
        }
        Ok((part, traffic))
    }
}
