//! One membership of a worker: from Hello to the end of the stream.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};
use tracing::{Instrument, info_span};

use crate::assignment::Assignment;
use crate::bench::{Bench, Reports, failure};
use crate::hand::{Hand, Order};
use crate::held::{HeldKey, Holdings};
use crate::lease::successor;
use crate::usage::usage;
use crate::wire::membership_client::MembershipClient;
use crate::wire::{command::Kind as Told, report::Kind as Say};
use crate::worker::{Signals, Site};
use crate::{ClusterError, MemberId, Task, VERSION, wire};
use canju_retro::After;

/// Reports that may wait for the network.
const LINE: usize = 256;
/// Bytes of a command: the list of all parts is the most.
const MAX_COMMAND: usize = 16 << 20;
/// Orders that may wait for a part: it is never told two things before it has answered.
const ORDERS: usize = 4;
/// Heartbeats between two looks at the lease.
const LOOKS: u32 = 15;
/// How often logs go to the store when the coordinator does not say.
const CHECKPOINTS: Duration = Duration::from_secs(60);

/// How a membership ends.
pub(crate) enum End {
    /// The worker was told to stop.
    Shutdown,
    /// Coming back may help.
    Lost {
        reason: String,
        /// There was a membership.
        attended: bool,
        /// A coordinator said so itself.
        told: bool,
        /// Where the active coordinator is, if somebody knew.
        toward: Option<String>,
    },
    /// Coming back would end the same way.
    Final(ClusterError),
}

impl End {
    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self::Lost { reason: reason.into(), attended: false, told: false, toward: None }
    }

    fn farewell(goodbye: wire::Goodbye, attended: bool) -> Self {
        if goodbye.rejoin {
            let toward = Some(goodbye.coordinator).filter(|url| !url.is_empty());
            Self::Lost { reason: goodbye.reason, attended, told: true, toward }
        } else {
            let text = format!("the coordinator turned this worker away: {}", goodbye.reason);
            Self::Final(ClusterError::Refused(text))
        }
    }
}

/// A part at work.
struct Running {
    task: Task,
    /// The part, where it outlives the membership.
    held: Option<HeldKey>,
    orders: mpsc::Sender<Order>,
    /// Rings when its log is wanted in the store.
    flush: Arc<Notify>,
    work: AbortHandle,
}

/// The attempt and the number of a share.
type Place = (u64, u32);

/// A membership.
pub(crate) struct Session {
    bench: Bench,
    commands: Streaming<wire::Command>,
    heartbeat: Duration,
    reign: u64,
    drain: Duration,
    holdings: Holdings,
    parts: BTreeMap<Place, Running>,
    /// Ends the work on every part when the session ends.
    work: JoinSet<Result<(), ClusterError>>,
    /// Only looked up: its order is nobody's.
    places: HashMap<Id, Place>,
}

/// Why the coordinator does not let the worker in.
async fn refused(site: &Site, url: &str, status: &Status) -> End {
    let network = &site.settings.network;
    match status.code() {
        Code::Unauthenticated => End::Final(ClusterError::Remote(status.message().to_owned())),
        Code::Unimplemented => End::lost("it is another server than a coordinator, perhaps a worker"),
        // Nobody there says so: the connection broke, or something else is spoken.
        Code::Unknown | Code::Unavailable | Code::Internal | Code::Cancelled => {
            let error = ClusterError::unreachable("the coordinator", url, network.told(status));
            End::lost(network.explain(error).await.line())
        }
        _ => End::lost(network.told(status)),
    }
}

impl Session {
    /// Joins, works, and tells how it ended.
    pub(crate) async fn attend<D, S>(site: &Site, url: &str, signals: &mut Signals<D, S>) -> End
    where
        D: Future<Output = ()>,
        S: Future<Output = ()>,
    {
        let joined = tokio::select! {
            biased;
            () = signals.any() => return End::Shutdown,
            joined = Self::join(site, url) => joined,
        };
        match joined {
            Ok(session) => {
                site.health.set(true);
                session.work(signals).await
            }
            Err(end) => end,
        }
    }

    async fn join(site: &Site, url: &str) -> Result<Self, End> {
        let connected = site.settings.network.connect("the coordinator", url).await;
        let channel = connected.map_err(|e| End::lost(e.line()))?;
        let (line, reports) = mpsc::channel(LINE);
        let attended = site.reign.load(Ordering::Relaxed);
        let hello = wire::Hello {
            name: site.settings.name.clone(),
            address: site.address.clone(),
            memory: site.settings.memory,
            threads: site.pool.threads() as u32,
            usage: Some(usage()),
            version: VERSION.to_owned(),
            holdings: site.holdings.list(),
            scratch: site.scratch(),
            reign: attended,
            mark: site.mark,
        };
        let mut reports_out = Reports { epoch: 0, line };
        reports_out.say(Say::Hello(hello)).await;
        let mut client = MembershipClient::new(channel).max_decoding_message_size(MAX_COMMAND);
        let answer = client.attend(ReceiverStream::new(reports)).await;
        let mut commands = match answer {
            Ok(answer) => answer.into_inner(),
            Err(status) => return Err(refused(site, url, &status).await),
        };
        let first = match commands.message().await {
            Ok(first) => first,
            Err(status) => return Err(refused(site, url, &status).await),
        };
        let welcome = match first.and_then(|c| c.kind) {
            Some(Told::Welcome(welcome)) => welcome,
            Some(Told::Goodbye(goodbye)) => return Err(End::farewell(goodbye, false)),
            _ => return Err(End::lost("the coordinator did not answer")),
        };
        if welcome.reign < attended {
            // It does not know yet that another one has taken over.
            return Err(End::lost(format!("its reign {} is over: {attended} was attended since", welcome.reign)));
        }
        reports_out.epoch = welcome.epoch;
        let bucket = match Self::open_bucket(site, &welcome).await {
            Ok(bucket) => bucket,
            Err(error) => {
                let reason = format!("it cannot use the store: {}", error.line());
                reports_out.say(Say::Leaving(wire::Leaving { reason: reason.clone() })).await;
                let passes = matches!(&error, ClusterError::Store(e) if e.is_transient());
                return Err(if passes { End::lost(reason) } else { End::Final(error) });
            }
        };
        site.reign.store(welcome.reign, Ordering::Relaxed);
        reports_out.say(Say::Ready(wire::Ready {})).await;
        tracing::info!(coordinator = %url, worker = welcome.worker, epoch = welcome.epoch, "joined");
        let bench = Bench {
            game: Arc::clone(&site.game),
            bucket,
            pool: site.pool.clone(),
            inboxes: site.inboxes.clone(),
            post: site.post.clone(),
            me: MemberId(welcome.worker),
            address: site.address.clone(),
            memory: site.settings.memory,
            scratch: site.settings.scratch.clone().map(|folder| (folder, site.scratch())),
            checkpoints: match welcome.checkpoint_millis {
                0 => CHECKPOINTS,
                millis => Duration::from_millis(millis.clamp(10, 86_400_000)),
            },
            reports: reports_out,
        };
        Ok(Self {
            bench,
            commands,
            heartbeat: Duration::from_millis(welcome.heartbeat_millis.clamp(50, 60_000)),
            reign: welcome.reign,
            drain: site.settings.drain,
            holdings: site.holdings.clone(),
            parts: BTreeMap::new(),
            work: JoinSet::new(),
            places: HashMap::new(),
        })
    }

    async fn open_bucket(site: &Site, welcome: &wire::Welcome) -> Result<crate::Bucket, ClusterError> {
        let bucket = site.buckets.open(&welcome.store).await?;
        bucket.check(&welcome.store_id, &format!("worker-{}", welcome.worker)).await?;
        Ok(bucket)
    }

    async fn work<D, S>(mut self, signals: &mut Signals<D, S>) -> End
    where
        D: Future<Output = ()>,
        S: Future<Output = ()>,
    {
        let mut beat = interval(self.heartbeat);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = |reason: String| End::Lost { reason, attended: true, told: false, toward: None };
        let mut until = Instant::now();
        let (store, reign, pause) = (Arc::clone(&self.bench.bucket.store), self.reign, self.heartbeat * LOOKS);
        let mut deposed = pin!(async move {
            loop {
                sleep(pause).await;
                if let Some(active) = successor(store.as_ref(), reign).await {
                    return active;
                }
            }
        });
        loop {
            let draining = signals.draining;
            if draining && self.parts.is_empty() && self.holdings.is_empty() {
                return self.leave().await;
            }
            tokio::select! {
                biased;
                () = signals.stop.as_mut() => return self.leave().await,
                () = sleep_until(until), if draining => {
                    tracing::warn!("told to stop, and its parts were not taken over in time");
                    return self.leave().await;
                }
                () = signals.drain.as_mut(), if !draining => {
                    signals.draining = true;
                    until = Instant::now() + self.drain;
                    tracing::info!(parts = self.parts.len(), "draining");
                    let reason = "it was told to stop".into();
                    self.bench.reports.say(Say::Draining(wire::Draining { reason })).await;
                }
                active = deposed.as_mut() => {
                    let reason = "another coordinator has the lease by now".into();
                    return End::Lost { reason, attended: true, told: false, toward: Some(active) };
                }
                _ = beat.tick() => {
                    self.bench.reports.say(Say::Heartbeat(wire::Heartbeat { usage: Some(usage()) })).await;
                }
                Some(done) = self.work.join_next_with_id() => self.finished(done).await,
                command = self.commands.message() => match command {
                    Err(status) => return end(status.message().to_owned()),
                    Ok(None) => return end("the coordinator closed the stream".into()),
                    Ok(Some(wire::Command { kind: Some(Told::Goodbye(goodbye)) })) => {
                        return End::farewell(goodbye, true);
                    }
                    Ok(Some(command)) => if let Err(error) = self.obey(command).await {
                        return end(error.line());
                    },
                },
            }
        }
    }

    async fn leave(mut self) -> End {
        let reason = "it was told to stop".into();
        self.bench.reports.say(Say::Leaving(wire::Leaving { reason })).await;
        // The stream must live until the word is out; the coordinator ends it then.
        let _ = tokio::time::timeout(Duration::from_secs(1), async {
            while let Ok(Some(_)) = self.commands.message().await {}
        })
        .await;
        End::Shutdown
    }

    async fn obey(&mut self, command: wire::Command) -> Result<(), ClusterError> {
        match command.kind {
            Some(Told::Assign(assign)) => self.begin(assign.try_into()?),
            Some(Told::Step(step)) => {
                let ply = u16::try_from(step.ply).map_err(|_| ClusterError::Protocol("a ply beyond 65535".into()))?;
                let turn = After::from_number(step.turn)
                    .ok_or_else(|| ClusterError::Protocol(format!("a turn by the number {}", step.turn)))?;
                self.order(&step.task.try_into()?, Order::Step(ply, turn)).await;
            }
            Some(Told::Encode(encode)) => self.order(&encode.task.try_into()?, Order::Encode).await,
            Some(Told::Checkpoint(checkpoint)) => {
                let task = Task::try_from(checkpoint.task)?;
                for running in self.parts.values().filter(|r| r.task == task) {
                    running.flush.notify_one();
                }
            }
            Some(Told::Drop(drop)) => {
                let task = Task::try_from(drop.task)?;
                if drop.solved {
                    tracing::debug!(%task, "solved, its parts are let go");
                } else {
                    tracing::info!(%task, "called off");
                }
                self.end(|running| running.task == task);
                self.holdings.retain(|held| held.facts().task != task);
            }
            Some(Told::Welcome(_) | Told::Goodbye(_)) | None => {
                return Err(ClusterError::Protocol("a command out of place".into()));
            }
        }
        Ok(())
    }

    /// Ends the work on some parts at once. What is on the pool runs to its end.
    fn end(&mut self, which: impl Fn(&Running) -> bool) {
        self.parts.retain(|_, running| {
            let ends = which(running);
            if ends {
                running.work.abort();
            }
            !ends
        });
    }

    fn begin(&mut self, assignment: Assignment) {
        let (task, rules) = (assignment.task.clone(), assignment.rules);
        let assignment = Arc::new(assignment);
        tracing::debug!(%task, shares = assignment.shares.len(), alone = assignment.alone, "assigned");
        if assignment.alone {
            for (number, _) in assignment.of(self.bench.me) {
                let (orders, _) = mpsc::channel(1);
                let work = self.bench.clone().alone(Arc::clone(&assignment), number);
                self.start(&task, number, None, orders, Arc::default(), work);
            }
            return;
        }
        if self.holdings.epoch_of(&task.table, rules).is_some_and(|epoch| epoch >= task.epoch) {
            tracing::warn!(%task, "an assignment came late and is ignored");
            return;
        }
        let key = |runs: &[u32]| HeldKey { table: task.table.clone(), rules, metric: task.metric, runs: runs.to_vec() };
        let own: Vec<(u32, HeldKey, u64)> = {
            let own = assignment.of(self.bench.me);
            own.map(|(number, share)| (number, key(&share.runs), share.memory)).collect()
        };
        let wanted = |held: &HeldKey| own.iter().any(|(_, key, _)| key == held);
        // Of a table only one attempt at one metric is at work at a time.
        let of_it = |held: &HeldKey| held.table == task.table && held.rules == rules;
        self.end(|running| running.held.as_ref().is_some_and(of_it));
        self.holdings.retain(|held| !of_it(&held.key) || wanted(&held.key));
        if self.bench.memory > 0 {
            let fresh = own.iter().filter(|(_, key, _)| !self.holdings.has(key)).map(|(_, _, memory)| memory).sum();
            let at_work: Vec<_> = self.parts.values().filter_map(|r| r.held.clone()).collect();
            let is_idle = |key: &HeldKey| !wanted(key) && !at_work.contains(key);
            self.holdings.make_room(fresh, self.bench.memory, is_idle);
        }
        for (number, key, _) in own {
            let (orders, received) = mpsc::channel(ORDERS);
            let flush = Arc::new(Notify::new());
            let hand = Hand {
                bench: self.bench.clone(),
                assignment: Arc::clone(&assignment),
                number,
                held: self.holdings.claim(key.clone(), &task),
                orders: received,
                flush: Arc::clone(&flush),
            };
            self.start(&task, number, Some(key), orders, flush, hand.work());
        }
    }

    fn start(
        &mut self,
        task: &Task,
        number: u32,
        held: Option<HeldKey>,
        orders: mpsc::Sender<Order>,
        flush: Arc<Notify>,
        work: impl Future<Output = Result<(), ClusterError>> + Send + 'static,
    ) {
        let Task { job, table, metric, epoch } = task;
        let span = info_span!("part", %job, %table, %metric, epoch, share = number);
        let work = self.work.spawn(work.instrument(span));
        self.places.insert(work.id(), (*epoch, number));
        self.parts.insert((*epoch, number), Running { task: task.clone(), held, orders, flush, work });
    }

    /// Hands an order to all parts of a task. A part that is gone has said why, or was called off.
    async fn order(&mut self, task: &Task, order: Order) {
        let mut full = None;
        for (place, running) in self.parts.iter().filter(|(_, r)| r.task == *task) {
            if let Err(mpsc::error::TrySendError::Full(_)) = running.orders.try_send(order) {
                full = Some(*place);
            }
        }
        let Some(running) = full.and_then(|place| self.parts.remove(&place)) else { return };
        // Without it the part would wait for ever, and all others with it.
        running.work.abort();
        let error = ClusterError::Protocol(format!("{order:?} came before {ORDERS} orders were done"));
        self.fail(running, &error).await;
    }

    async fn fail(&self, running: Running, error: &ClusterError) {
        let Running { task, held, .. } = running;
        tracing::warn!(%task, cause = error.line(), "part failed");
        if let Some(key) = held {
            self.holdings.retain(|held| held.key != key);
        }
        self.bench.reports.say(Say::Failed(failure(&task, error))).await;
    }

    /// The work on a part has ended: the table is solved, or it tells why not.
    async fn finished(&mut self, done: Result<(Id, Result<(), ClusterError>), tokio::task::JoinError>) {
        let (id, result) = match done {
            Ok((id, result)) => (id, result),
            Err(e) if e.is_cancelled() => (e.id(), Err(ClusterError::CalledOff)),
            Err(e) => (e.id(), Err(ClusterError::Panicked(e.to_string()))),
        };
        let Some(running) = self.places.remove(&id).and_then(|place| self.parts.remove(&place)) else { return };
        if let Err(error) = result {
            self.fail(running, &error).await;
        }
    }
}
