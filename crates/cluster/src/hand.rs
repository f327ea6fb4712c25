//! The work on one share of a cut table: ply by ply, as the coordinator closes them.

use std::sync::Arc;

use canju_retro::{After, Part, StepCounts};
use rayon::prelude::*;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::assignment::{Assignment, Layout, Peer};
use crate::bench::Bench;
use crate::chunk::Letter;
use crate::exchange::Way;
use crate::held::Held;
use crate::inbox::Inbox;
use crate::saver::Saver;
use crate::usage::{Account, usage};
use crate::wire::report::Kind as Say;
use crate::{ClusterError, wire};

/// What the coordinator says to one part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Do a ply, and begin another phase before it unless that is the end.
    Step(u16, After),
    Encode,
}

/// One share at work in one attempt. Dropping the future of its work loses nothing of the part.
pub(crate) struct Hand {
    pub(crate) bench: Bench,
    pub(crate) assignment: Arc<Assignment>,
    pub(crate) number: u32,
    pub(crate) held: Arc<Held>,
    pub(crate) orders: mpsc::Receiver<Order>,
    /// The coordinator wants the part's log in the store.
    pub(crate) flush: Arc<Notify>,
}

/// What one ply came to.
struct Ply {
    counts: StepCounts,
    sent: Vec<wire::Traffic>,
    received: Vec<wire::Traffic>,
}

/// What a part exports, by the places of its readers in the layout.
type Exports = Vec<(usize, Vec<u8>)>;

impl Hand {
    /// Works until the coordinator has no more orders.
    pub(crate) async fn work(mut self) -> Result<(), ClusterError> {
        let account = Account::open();
        let task = self.assignment.task.clone();
        let (memory, complete) = {
            let share = self.assignment.share(self.number)?;
            (share.memory, share.complete)
        };
        self.bench.check_memory(&task.table, memory, "is expected to take")?;
        let layout = self.bench.layout(&self.assignment, self.number).await?;
        let layout = Arc::new(layout);
        let limits = layout.peers.iter().map(|p| (p.share, p.limit)).collect();
        let posted = self.bench.inboxes.put_up(Inbox::new(task.clone(), self.number, limits));
        let known = self.begin(&layout).await?;
        if self.held.facts().complete < complete {
            // Neighbours would not send what it lacks.
            return Err(ClusterError::Elsewhere(format!("the part has no longer the {complete} plies that it had")));
        }
        let memory = self.held.facts().memory;
        self.bench.check_memory(&task.table, memory, "takes")?;
        tracing::debug!(memory, known, cpu_seconds = account.seconds(), "prepared");
        let prepared =
            wire::Prepared { task: Some((&task).into()), share: self.number, memory, known: u32::from(known) };
        self.bench.reports.say(Say::Prepared(prepared)).await;
        let saver = Saver {
            bench: self.bench.clone(),
            held: Arc::clone(&self.held),
            task: task.clone(),
            share: self.number,
            flush: Arc::clone(&self.flush),
        };
        tokio::select! {
            biased;
            done = self.follow(&layout, &posted.inbox, complete, account) => done,
            error = saver.run() => Err(error),
        }
    }

    /// Brings the part to ply 0, with all that is known of its log. Returns the plies that are known.
    async fn begin(&self, layout: &Arc<Layout>) -> Result<u16, ClusterError> {
        let epoch = self.assignment.task.epoch;
        if self.held.facts().ready {
            let rewound = self.held.change(&self.bench.pool, epoch, |desk| {
                let part = desk.part_mut()?;
                part.rewind()?;
                Ok(part.known())
            });
            return rewound.await;
        }
        self.bench.restore(&self.held, layout, &self.assignment.task).await
    }

    async fn follow(
        &mut self,
        layout: &Arc<Layout>,
        inbox: &Inbox,
        complete: u16,
        account: Account,
    ) -> Result<(), ClusterError> {
        let task = wire::Task::from(&self.assignment.task);
        let (mut plies, mut labels, mut peak) = (0, 0, self.held.facts().memory);
        // Nothing is solved once the shards are written; the part waits with its log.
        let mut account = Some(account);
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Step(ply, turn) => {
                    let done = self.ply(ply, turn, layout, inbox, complete).await?;
                    let memory = self.held.facts().memory;
                    plies = u32::from(ply) + 1;
                    labels += done.counts.total();
                    peak = peak.max(memory);
                    // The box turns before the report goes out: as soon as the last report is there, others send on.
                    inbox.turn(ply + 1);
                    let [first_labels, second_labels] = done.counts.labels;
                    let plied = wire::Plied {
                        task: Some(task.clone()),
                        ply: u32::from(ply),
                        first_labels,
                        second_labels,
                        pending: done.counts.pending,
                        sent: done.sent,
                        received: done.received,
                        memory,
                        share: self.number,
                        after: done.counts.after.number(),
                    };
                    self.bench.reports.say(Say::Plied(plied)).await;
                }
                Order::Encode => {
                    let mut encoded = self.encode(layout).await?;
                    (encoded.plies, encoded.labels, encoded.memory) = (plies, labels, peak);
                    encoded.cpu_seconds = account.take().map_or(0.0, |account| account.seconds());
                    tracing::debug!(plies, shards = encoded.shards.len(), cpu_seconds = encoded.cpu_seconds, "encoded");
                    self.bench.reports.say(Say::Encoded(encoded)).await;
                }
            }
        }
        Ok(())
    }

    #[tracing::instrument(level = "debug", skip(self, layout, inbox, complete))]
    async fn ply(
        &self,
        ply: u16,
        turn: After,
        layout: &Arc<Layout>,
        inbox: &Inbox,
        complete: u16,
    ) -> Result<Ply, ClusterError> {
        let began = Instant::now();
        let (counts, exports) = self.step(ply, turn, layout).await?;
        let importing =
            async { if ply >= complete { self.import(&layout.peers, inbox).await } else { Ok(Vec::new()) } };
        let (sent, received) = tokio::try_join!(biased; self.send(ply, &layout.peers, exports), importing)?;
        {
            let mut facts = self.held.facts();
            facts.complete = facts.complete.max(ply.saturating_add(1));
        }
        tracing::debug!(labels = counts.total(), elapsed_ms = began.elapsed().as_millis(), "ply done");
        Ok(Ply { counts, sent, received })
    }

    async fn step(&self, ply: u16, turn: After, layout: &Arc<Layout>) -> Result<(StepCounts, Exports), ClusterError> {
        let layout = Arc::clone(layout);
        let step = self.held.change(&self.bench.pool, self.assignment.task.epoch, move |desk| {
            if turn != After::End {
                desk.part_mut()?.turn(turn)?;
            }
            let counts = desk.part_mut()?.step(ply)?;
            let part: &dyn Part = desk.part()?;
            let wanted: Vec<_> = layout.peers.iter().enumerate().filter(|(_, peer)| ply >= peer.complete).collect();
            let exports = wanted.into_par_iter().map(|(place, peer)| (place, part.export(&peer.slices))).collect();
            Ok((counts, exports))
        });
        step.await
    }

    async fn send(&self, ply: u16, peers: &[Peer], exports: Exports) -> Result<Vec<wire::Traffic>, ClusterError> {
        let mut sends = JoinSet::new();
        for (peer, message) in exports.into_iter().filter_map(|(place, m)| Some((peers.get(place)?.clone(), m))) {
            let (task, from) = (self.assignment.task.clone(), self.number);
            let letter = Letter { task, ply, from, to: peer.share, message: message.into() };
            let bench = self.bench.clone();
            sends.spawn(async move { bench.deliver(&peer, &letter).await });
        }
        let mut sent = Vec::new();
        while let Some(result) = sends.join_next().await {
            let result: Result<_, ClusterError> = result.map_err(|e| ClusterError::Panicked(e.to_string()))?;
            sent.push(result?);
        }
        sent.sort_by_key(|t| t.share);
        Ok(sent)
    }

    async fn import(&self, peers: &[Peer], inbox: &Inbox) -> Result<Vec<wire::Traffic>, ClusterError> {
        let mut traffic = Vec::new();
        for peer in peers {
            let received = inbox.take(peer.share).await;
            let bytes = if peer.address.is_some() { received.message.len() as u64 } else { 0 };
            traffic.push(wire::Traffic { share: peer.share, chunks: received.chunks, bytes });
            if received.message.is_empty() {
                continue;
            }
            let import = self.held.change(&self.bench.pool, self.assignment.task.epoch, move |desk| {
                Ok(desk.part_mut()?.import(&received.message)?)
            });
            import.await?;
        }
        Ok(traffic)
    }

    async fn encode(&self, layout: &Layout) -> Result<wire::Encoded, ClusterError> {
        let task = &self.assignment.task;
        let mut encoded = wire::Encoded {
            task: Some(task.into()),
            usage: Some(usage()),
            share: self.number,
            ..wire::Encoded::default()
        };
        // What is in the store already is known with its statistics.
        if !self.assignment.share(self.number)?.encoded {
            encoded.shards = self.bench.write_shards(&self.held, &self.assignment, layout).await?;
            let statistics = self.held.read(&self.bench.pool, task.epoch, |part| Ok(part.statistics()?)).await?;
            encoded.statistics = Some((&statistics).into());
            encoded.usage = Some(usage());
        }
        Ok(encoded)
    }
}

impl Bench {
    async fn deliver(&self, peer: &Peer, letter: &Letter) -> Result<wire::Traffic, ClusterError> {
        let way = peer.address.as_deref().map_or(Way::Here(&self.inboxes), Way::There);
        let complain = |cause: String| {
            let (task, worker) = (Some((&letter.task).into()), peer.member.0);
            self.reports.mention(Say::Unreached(wire::Unreached { task, worker, cause }));
        };
        let chunks = self.post.deliver(way, letter, complain).await.map_err(|error| match error {
            ClusterError::Unreachable { ref address, .. } => ClusterError::Elsewhere(format!(
                "the worker at {} could not send to worker {} at {address}: {}",
                self.address,
                peer.name,
                error.line()
            )),
            error => error,
        })?;
        let bytes = if peer.address.is_some() { letter.wire_bytes() } else { 0 };
        Ok(wire::Traffic { share: peer.share, chunks, bytes })
    }
}
