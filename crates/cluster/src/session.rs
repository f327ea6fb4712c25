//! One membership of a worker: from Hello to the end of the stream.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::assignment::Assignment;
use crate::bench::{Bench, Order, Reports};
use crate::usage::usage;
use crate::wire::membership_client::MembershipClient;
use crate::wire::{command::Kind as Told, report::Kind as Say};
use crate::worker::Site;
use crate::{ClusterError, MemberId, Task, VERSION, wire};

/// Reports that may wait for the network.
const LINE: usize = 256;
/// Bytes of a command: the list of all parts is the most.
const MAX_COMMAND: usize = 16 << 20;
/// Orders that may wait for a part: it is never told two things before it has answered.
const ORDERS: usize = 4;

/// How a membership ends.
pub(crate) enum End {
    /// The worker was told to stop.
    Shutdown,
    /// Coming back may help.
    Lost {
        reason: String,
        /// There was a membership.
        attended: bool,
    },
    /// Coming back would end the same way.
    Final(ClusterError),
}

/// A part at work.
struct Running {
    task: Task,
    orders: mpsc::Sender<Order>,
    work: AbortHandle,
}

/// A membership.
pub(crate) struct Session {
    bench: Bench,
    commands: Streaming<wire::Command>,
    heartbeat: Duration,
    parts: HashMap<u64, Running>,
    /// Ends every part when the session ends.
    work: JoinSet<Result<wire::Encoded, ClusterError>>,
    epochs: HashMap<Id, u64>,
}

fn lost(reason: impl Into<String>) -> End {
    End::Lost { reason: reason.into(), attended: false }
}

/// Why the coordinator does not let the worker in.
fn refused(site: &Site, status: &Status) -> End {
    match status.code() {
        Code::Unauthenticated => End::Final(ClusterError::Remote(status.message().to_owned())),
        _ => lost(site.settings.network.told(status)),
    }
}

impl Session {
    /// Joins, works, and tells how it ended.
    pub(crate) async fn attend<S: Future<Output = ()>>(site: &Site, mut shutdown: Pin<&mut S>) -> End {
        let joined = tokio::select! {
            () = shutdown.as_mut() => return End::Shutdown,
            joined = Self::join(site) => joined,
        };
        match joined {
            Ok(session) => {
                site.health.set(true);
                session.work(shutdown).await
            }
            Err(end) => end,
        }
    }

    async fn join(site: &Site) -> Result<Self, End> {
        let url = &site.settings.coordinator;
        let channel = match site.settings.network.connect("the coordinator", url).await {
            Ok(channel) => channel,
            Err(error @ ClusterError::Refused(_)) => return Err(End::Final(error)),
            Err(error) => return Err(lost(error.line())),
        };
        let (line, reports) = mpsc::channel(LINE);
        let hello = wire::Hello {
            name: site.settings.name.clone(),
            address: site.address.clone(),
            memory: site.settings.memory,
            threads: site.pool.threads() as u32,
            usage: Some(usage()),
            version: VERSION.to_owned(),
        };
        let mut reports_out = Reports { epoch: 0, line };
        reports_out.say(Say::Hello(hello)).await;
        let mut client = MembershipClient::new(channel).max_decoding_message_size(MAX_COMMAND);
        let answer = client.attend(ReceiverStream::new(reports)).await;
        let mut commands = answer.map_err(|s| refused(site, &s))?.into_inner();
        let first = commands.message().await.map_err(|s| refused(site, &s))?;
        let welcome = match first.and_then(|c| c.kind) {
            Some(Told::Welcome(welcome)) => welcome,
            Some(Told::Goodbye(goodbye)) => return Err(farewell(goodbye, false)),
            _ => return Err(lost("the coordinator did not answer")),
        };
        reports_out.epoch = welcome.epoch;
        let bucket = match Self::open_bucket(site, &welcome).await {
            Ok(bucket) => bucket,
            Err(error) => {
                let reason = format!("it cannot use the store: {}", error.line());
                reports_out.say(Say::Leaving(wire::Leaving { reason })).await;
                return Err(End::Final(error));
            }
        };
        reports_out.say(Say::Ready(wire::Ready {})).await;
        tracing::info!(coordinator = %url, worker = welcome.worker, epoch = welcome.epoch, "joined");
        let bench = Bench {
            game: Arc::clone(&site.game),
            bucket,
            pool: site.pool.clone(),
            inboxes: site.inboxes.clone(),
            post: site.post.clone(),
            me: MemberId(welcome.worker),
            memory: site.settings.memory,
            reports: reports_out,
        };
        let heartbeat = Duration::from_millis(welcome.heartbeat_millis.clamp(50, 60_000));
        Ok(Self { bench, commands, heartbeat, parts: HashMap::new(), work: JoinSet::new(), epochs: HashMap::new() })
    }

    async fn open_bucket(site: &Site, welcome: &wire::Welcome) -> Result<crate::Bucket, ClusterError> {
        let bucket = site.buckets.open(&welcome.store).await?;
        bucket.check(&welcome.store_id, &format!("worker-{}", welcome.worker)).await?;
        Ok(bucket)
    }

    async fn work<S: Future<Output = ()>>(mut self, mut shutdown: Pin<&mut S>) -> End {
        let mut beat = interval(self.heartbeat);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = |reason: String| End::Lost { reason, attended: true };
        loop {
            tokio::select! {
                () = shutdown.as_mut() => {
                    let reason = "it was told to stop".into();
                    self.bench.reports.say(Say::Leaving(wire::Leaving { reason })).await;
                    // The stream must live until the word is out; the coordinator ends it then.
                    let _ = tokio::time::timeout(Duration::from_secs(1), async {
                        while let Ok(Some(_)) = self.commands.message().await {}
                    }).await;
                    return End::Shutdown;
                }
                _ = beat.tick() => {
                    self.bench.reports.say(Say::Heartbeat(wire::Heartbeat { usage: Some(usage()) })).await;
                }
                command = self.commands.message() => match command {
                    Err(status) => return end(status.message().to_owned()),
                    Ok(None) => return end("the coordinator closed the stream".into()),
                    Ok(Some(wire::Command { kind: Some(Told::Goodbye(goodbye)) })) => return farewell(goodbye, true),
                    Ok(Some(command)) => if let Err(error) = self.obey(command).await {
                        return end(error.line());
                    },
                },
                Some(done) = self.work.join_next_with_id() => self.finished(done).await,
            }
        }
    }

    async fn obey(&mut self, command: wire::Command) -> Result<(), ClusterError> {
        match command.kind {
            Some(Told::Assign(assign)) => self.begin(assign.try_into()?),
            Some(Told::Step(step)) => {
                let ply = u16::try_from(step.ply).map_err(|_| ClusterError::Protocol("a ply beyond 65535".into()))?;
                self.order(&step.task.try_into()?, Order::Step(ply)).await;
            }
            Some(Told::Encode(encode)) => self.order(&encode.task.try_into()?, Order::Encode).await,
            Some(Told::Drop(drop)) => {
                let task = Task::try_from(drop.task)?;
                if let Some(running) = self.parts.remove(&task.epoch) {
                    tracing::info!(%task, "called off");
                    running.work.abort();
                }
            }
            Some(Told::Welcome(_) | Told::Goodbye(_)) | None => {
                return Err(ClusterError::Protocol("a command out of place".into()));
            }
        }
        Ok(())
    }

    fn begin(&mut self, assignment: Assignment) {
        let (orders, received) = mpsc::channel(ORDERS);
        let task = assignment.task.clone();
        tracing::debug!(%task, owners = assignment.owners.len(), "part begins");
        let bench = self.bench.clone();
        let work = self.work.spawn(async move { bench.solve(assignment, received).await });
        self.epochs.insert(work.id(), task.epoch);
        self.parts.insert(task.epoch, Running { task, orders, work });
    }

    /// Hands an order to its part. A part that is gone has said why, or was called off.
    async fn order(&mut self, task: &Task, order: Order) {
        let Some(running) = self.parts.get(&task.epoch).filter(|r| r.task == *task) else { return };
        let Err(mpsc::error::TrySendError::Full(_)) = running.orders.try_send(order) else { return };
        // Without it the part would wait for ever, and all others with it.
        running.work.abort();
        self.parts.remove(&task.epoch);
        let error = ClusterError::Protocol(format!("{order:?} came before {ORDERS} orders were done"));
        self.fail(task, &error).await;
    }

    async fn fail(&self, task: &Task, error: &ClusterError) {
        let cause = error.line();
        tracing::warn!(%task, cause, "part failed");
        self.bench.reports.say(Say::Failed(wire::Failed { task: Some(task.into()), cause })).await;
    }

    /// A part has ended: its shards are in the store, or it tells why not.
    async fn finished(&mut self, done: Result<(Id, Result<wire::Encoded, ClusterError>), tokio::task::JoinError>) {
        let (id, result) = match done {
            Ok((id, result)) => (id, result),
            Err(e) if e.is_cancelled() => (e.id(), Err(ClusterError::CalledOff)),
            Err(e) => (e.id(), Err(ClusterError::Panicked(e.to_string()))),
        };
        let Some(running) = self.epochs.remove(&id).and_then(|epoch| self.parts.remove(&epoch)) else { return };
        match result {
            Ok(encoded) => self.bench.reports.say(Say::Encoded(encoded)).await,
            Err(error) => self.fail(&running.task, &error).await,
        }
    }
}

fn farewell(goodbye: wire::Goodbye, attended: bool) -> End {
    if goodbye.rejoin {
        End::Lost { reason: goodbye.reason, attended }
    } else {
        End::Final(ClusterError::Refused(format!("the coordinator turned this worker away: {}", goodbye.reason)))
    }
}
