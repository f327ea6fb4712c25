//! A coordinator's reign: the state of its cluster, and what is done about it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use canju_retro::{Game, Metric, Rules};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tonic::Status;

use crate::commit::{commit, present};
use crate::conductor::Damage;
use crate::door::Door;
use crate::entry::check_submit;
use crate::lease::{Lease, Renewal};
use crate::ledger::{Ledger, Unwritten};
use crate::plan::{Plan, TablePlan, closure, parse_metrics, parse_tables};
use crate::record::JobRecord;
use crate::reminder::Reminder;
use crate::sabotage::{Safeguard, is_gone};
use crate::usage::usage;
use crate::wire::command::Kind as Tell;
use crate::{Action, Bucket, ClusterError, Conductor, CoordinatorSettings, Health, JobId, MemberId, Pool, wire};

/// Workers that are called back at a time.
const CALLS: usize = 64;
/// How often silent workers are looked for.
const TICK: Duration = Duration::from_millis(250);
/// Times that a lease is held after which one that was not renewed makes its coordinator unready.
const UNSURE: u32 = 3;
/// What is still to be written when a coordinator stops has so long: a store that is away does not keep it from stopping.
const FLUSH: Duration = Duration::from_secs(3);

pub(crate) type Line = mpsc::Sender<Result<wire::Command, Status>>;

/// What all services of a coordinator share while it reigns.
pub(crate) struct Office {
    pub(crate) game: Arc<dyn Game>,
    pub(crate) bucket: Bucket,
    pub(crate) settings: CoordinatorSettings,
    pub(crate) pool: Pool,
    pub(crate) identity: String,
    pub(crate) reign: u64,
    /// Counts changes, to wake who watches.
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) ledger: Ledger,
    /// Who waits for a renewal of the lease, by ticket; and the last one that was there when a renewal began.
    tickets: AtomicU64,
    confirmed: watch::Sender<u64>,
    hurry: Notify,
    /// Rings when there may be checkpoints that nobody needs.
    pub(crate) untidy: Notify,
    /// One permit for each worker that may be called back at a time.
    pub(crate) calls: Semaphore,
    /// When the lease was renewed last, and what has kept it from being renewed since.
    renewed: Mutex<(Instant, Option<String>)>,
    unrenewed: Reminder,
    conductor: Mutex<Conductor>,
    lines: Mutex<BTreeMap<MemberId, Line>>,
    /// The reign is over: nothing more is written.
    over: AtomicBool,
    started: Instant,
}

/// How a reign ends.
pub(crate) enum ReignEnd {
    /// The coordinator is told to stop.
    Stopped(Lease),
    /// Another coordinator has the lease.
    Deposed,
    /// It could not begin.
    Failed(ClusterError),
}

impl Office {
    pub(crate) fn new(
        game: Arc<dyn Game>,
        bucket: Bucket,
        settings: CoordinatorSettings,
        identity: String,
        reign: u64,
    ) -> Arc<Self> {
        let mut conductor = Conductor::new(settings.conductor.clone(), reign);
        conductor.note_usage(usage());
        Arc::new(Self {
            game,
            pool: settings.pool.clone(),
            tickets: AtomicU64::new(0),
            confirmed: watch::Sender::new(0),
            hurry: Notify::new(),
            untidy: Notify::new(),
            calls: Semaphore::new(CALLS),
            renewed: Mutex::new((Instant::now(), None)),
            unrenewed: Reminder::default(),
            ledger: Ledger::new(Arc::clone(&bucket.store), reign),
            bucket,
            settings,
            identity,
            reign,
            changes: watch::Sender::new(0),
            conductor: Mutex::new(conductor),
            lines: Mutex::default(),
            over: AtomicBool::new(false),
            started: Instant::now(),
        })
    }

    /// Takes up the jobs of the coordinator before, opens the door, and serves until the lease or the coordinator ends.
    pub(crate) async fn reign<S: Future<Output = ()>>(
        self: &Arc<Self>,
        door: &Door,
        health: &Health,
        mut lease: Lease,
        shutdown: &mut Pin<&mut S>,
    ) -> ReignEnd {
        let crew = lease.crew().clone();
        // The lease is renewed from the beginning: there may be many jobs to plan.
        let end = {
            let renewals = self.renew(&mut lease);
            let life = async {
                if let Err(error) = self.take_up(crew).await {
                    return Some(ReignEnd::Failed(error));
                }
                door.open(self);
                tokio::select! {
                    biased;
                    () = self.ledger.keep() => Some(ReignEnd::Deposed),
                    () = self.tick(health) => None,
                    () = self.tidy() => None,
                }
            };
            tokio::select! {
                biased;
                () = shutdown.as_mut() => None,
                () = renewals => Some(ReignEnd::Deposed),
                end = life => end,
            }
        };
        health.set(false);
        door.close();
        self.over.store(true, Ordering::SeqCst);
        // Who watches a job is waked to see it: nothing changes any more.
        self.changes.send_modify(|n| *n += 1);
        self.confirmed.send_modify(|_| {});
        match end {
            None => ReignEnd::Stopped(lease),
            Some(ReignEnd::Failed(error)) => {
                // Another coordinator may fare better.
                lease.release().await;
                ReignEnd::Failed(error)
            }
            Some(end) => end,
        }
    }

    /// Renews the lease; ends when it is lost.
    async fn renew(&self, lease: &mut Lease) {
        let mut beat = interval(self.settings.lease.renew);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = beat.tick() => {}
                () = self.hurry.notified() => {}
            }
            let ticket = self.tickets.load(Ordering::SeqCst);
            match lease.renew(self.look(|conductor, _| conductor.crew())).await {
                Renewal::Kept => {
                    *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), None);
                    if self.unrenewed.end() {
                        tracing::info!("the lease is renewed again");
                    }
                    self.confirmed.send_replace(ticket);
                }
                Renewal::Lost if is_gone(Safeguard::Lease) => drop(self.confirmed.send_replace(ticket)),
                Renewal::Lost => return,
                Renewal::Unknown(error) => {
                    if let Some(times) = self.unrenewed.due() {
                        tracing::warn!(%error, times, "the lease could not be renewed, trying again");
                    }
                    let error = crate::causes(&error);
                    self.renewed.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(error);
                }
            }
        }
    }

    /// Waits until the lease was renewed after now: what was written before is seen by whoever has it next.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] when the lease is lost.
    pub(crate) async fn confirm(&self) -> Result<(), ClusterError> {
        let ticket = self.tickets.fetch_add(1, Ordering::SeqCst) + 1;
        self.hurry.notify_one();
        let mut confirmed = self.confirmed.subscribe();
        let found = confirmed.wait_for(|done| *done >= ticket || self.is_over()).await;
        if found.is_ok_and(|done| *done >= ticket) { Ok(()) } else { Err(taken_over()) }
    }

    /// Reads what an earlier coordinator has left: its jobs go on.
    async fn take_up(self: &Arc<Self>, crew: BTreeSet<String>) -> Result<(), ClusterError> {
        let records = self.ledger.read().await?;
        let mut plans = Vec::new();
        for record in &records {
            let plan = if record.is_over() { None } else { Some(self.plan_again(record).await) };
            if let Some(Err(ClusterError::Store(error))) = plan {
                return Err(error.into());
            }
            plans.push(plan);
        }
        self.with(|conductor, now| {
            if plans.iter().any(Option::is_some) {
                conductor.settle(now, crew);
            }
            for (record, plan) in records.iter().zip(plans) {
                let remembered = match plan {
                    None => conductor.remember(now, record, None),
                    Some(Ok((plan, commits))) => {
                        conductor.resume(now, record, plan, commits);
                        Ok(())
                    }
                    Some(Err(error)) => conductor.remember(now, record, Some(error.line())),
                };
                if let Err(error) = remembered {
                    tracing::error!(job = %JobId(record.id), error = %error.line(), "a job is left out");
                }
            }
        });
        Ok(())
    }

    async fn plan_again(&self, record: &JobRecord) -> Result<(Plan, u64), ClusterError> {
        let request = wire::SubmitRequest {
            tables: record.tables.clone(),
            metrics: record.metrics.clone(),
            rules: record.rules.clone(),
        };
        self.plan(request).await
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// False when the lease was not renewed for so long that another coordinator may well have it.
    fn is_sure(&self) -> bool {
        self.unsure_for() < self.settings.lease.hold * UNSURE
    }

    /// How long ago the lease was renewed last.
    pub(crate) fn unsure_for(&self) -> Duration {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner).0.elapsed()
    }

    /// What keeps the lease from being renewed. One failure may pass, and of a store that is away is told elsewhere.
    pub(crate) fn lease_trouble(&self) -> Option<String> {
        if self.unsure_for() < self.settings.lease.hold || self.bucket.store.trouble().is_some() {
            return None;
        }
        let what = self.renewed.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        what.map(|what| {
            format!("the lease cannot be renewed: {what}: see that the store has room and lets the coordinator write")
        })
    }

    async fn tick(self: &Arc<Self>, health: &Health) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            health.set(self.is_sure());
            self.with(|conductor, now| {
                conductor.note_usage(usage());
                conductor.tick(now);
            });
        }
    }

    /// Looks at the state.
    pub(crate) fn look<T>(&self, view: impl FnOnce(&Conductor, Duration) -> T) -> T {
        view(&self.conductor.lock().unwrap_or_else(PoisonError::into_inner), self.now())
    }

    /// Changes the state and does what follows. What follows goes out in the order of the
    /// changes: the lines are filled while the state is held, and filling them does not wait.
    pub(crate) fn with<T>(self: &Arc<Self>, change: impl FnOnce(&mut Conductor, Duration) -> T) -> T {
        let mut conductor = self.conductor.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        let result = change(&mut conductor, now);
        loop {
            let actions = conductor.take_actions();
            if actions.is_empty() {
                break;
            }
            for action in actions {
                if let Some(deaf) = self.act(action) {
                    conductor.leave(now, deaf, "it does not take its commands");
                }
            }
        }
        drop(conductor);
        self.changes.send_modify(|n| *n += 1);
        result
    }

    /// Does one thing. Returns a worker that cannot be told anything.
    fn act(self: &Arc<Self>, action: Action) -> Option<MemberId> {
        if self.is_over() {
            return None;
        }
        match action {
            Action::Tell(member, kind) => {
                let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                let line = lines.get(&member)?;
                return line.try_send(Ok(wire::Command { kind: Some(kind) })).is_err().then_some(member);
            }
            Action::Expel(member, reason) => self.hang_up(member, goodbye(reason)),
            Action::Record(record) => self.ledger.note(*record),
            Action::Commit(work) => {
                let office = Arc::clone(self);
                tokio::spawn(async move { office.commit(&work).await });
            }
            Action::Sweep => self.untidy.notify_one(),
            Action::Replan(damage) => {
                let office = Arc::clone(self);
                tokio::spawn(async move {
                    let plan = office.replan(&damage).await.map_err(|e| e.line());
                    office.with(|conductor, now| conductor.repair(now, &damage, plan));
                });
            }
        }
        None
    }

    async fn commit(self: Arc<Self>, work: &crate::Commit) {
        let writing = {
            let (office, work) = (Arc::clone(&self), work.clone());
            tokio::spawn(async move {
                commit(&office.game, &office.bucket, &office.pool, office.settings.index, &work).await
            })
        };
        // A panic must not leave the job without an end.
        let built = writing.await.unwrap_or_else(|e| Err(ClusterError::Panicked(e.to_string())));
        let built = built.map_err(|e| e.line());
        self.with(|conductor, now| {
            conductor.note_usage(usage());
            conductor.committed(now, work.work, built);
        });
    }

    /// Plans a damaged table anew.
    async fn replan(&self, damage: &Damage) -> Result<TablePlan, ClusterError> {
        let Damage { table, metric, rules, .. } = damage.clone();
        let found =
            present(self.bucket.store.as_ref(), rules, self.settings.index, std::slice::from_ref(&table)).await?;
        let mut present = found.get(&table).cloned().unwrap_or_default();
        present.metrics.remove(&metric);
        let distance = match metric {
            Metric::Wdl => present.metrics.iter().copied().find(|&m| m != Metric::Wdl).unwrap_or(Metric::Dtm),
            distance => distance,
        };
        let game = Arc::clone(&self.game);
        self.pool.run(move || TablePlan::new(game.as_ref(), table, &[distance], rules, present)).await?
    }

    /// A plan, and how many commits there were before the store was read for it.
    pub(crate) async fn plan(&self, request: wire::SubmitRequest) -> Result<(Plan, u64), ClusterError> {
        check_submit(&request)?;
        let metrics = parse_metrics(&request.metrics)?;
        let rules: Rules = if request.rules.is_empty() { Default::default() } else { request.rules.parse()? };
        let game = Arc::clone(&self.game);
        // Indices and shapes of large tables take a moment.
        let names = move || -> Result<_, ClusterError> {
            let asked = parse_tables(game.as_ref(), &request.tables)?;
            let tables = closure(game.as_ref(), &asked)?;
            Ok((asked, tables))
        };
        let (asked, tables) = self.pool.run(names).await??;
        let commits = self.look(|conductor, _| conductor.commits());
        let present = present(self.bucket.store.as_ref(), rules, self.settings.index, &tables).await?;
        let game = Arc::clone(&self.game);
        let plan = self.pool.run(move || Plan::new(game.as_ref(), asked, &metrics, rules, &present)).await??;
        Ok((plan, commits))
    }

    /// Writes a job's record now: from then on the job survives the coordinator.
    pub(crate) async fn write_record(&self, record: &JobRecord) -> Result<(), ClusterError> {
        self.ledger.write(record).await.map_err(refused)
    }

    /// Writes what is new of a job's record now.
    pub(crate) async fn settle_record(&self, id: JobId) -> Result<(), ClusterError> {
        self.ledger.settle(id.0).await.map_err(refused)
    }

    /// Writes what is still to be written, and how long the jobs at work have taken until now; what cannot be is told.
    pub(crate) async fn flush(&self) {
        for record in self.look(|conductor, now| conductor.records_at_work(now)) {
            self.ledger.note(record);
        }
        let told = match timeout(FLUSH, self.ledger.flush()).await {
            Ok(flushed) => flushed.map_err(|error| refused(error).line()),
            Err(late) => Err(late.to_string()),
        };
        if let Err(error) = told {
            tracing::error!(error, "not all records of jobs are written: some jobs go on from older ones");
        }
    }

    pub(crate) fn pick_up(&self, member: MemberId, line: Line) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).insert(member, line);
    }

    /// Says goodbye to a worker and ends its stream.
    pub(crate) fn hang_up(&self, member: MemberId, goodbye: wire::Goodbye) {
        let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(&member);
        if let Some(line) = line {
            let _ = line.try_send(Ok(wire::Command { kind: Some(Tell::Goodbye(goodbye)) }));
        }
    }

    /// Says goodbye to everybody.
    pub(crate) fn dismiss(&self) {
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        for line in lines.into_values() {
            let goodbye = goodbye("the coordinator stops".into());
            let _ = line.try_send(Ok(wire::Command { kind: Some(Tell::Goodbye(goodbye)) }));
        }
    }
}

fn refused(unwritten: Unwritten) -> ClusterError {
    match unwritten {
        Unwritten::Failed(error) => error,
        Unwritten::Fenced => taken_over(),
    }
}

fn taken_over() -> ClusterError {
    ClusterError::Refused("another coordinator has taken over this store meanwhile: ask again".into())
}

/// The end of a membership after which joining anew helps.
pub(crate) fn goodbye(reason: String) -> wire::Goodbye {
    wire::Goodbye { reason, rejoin: true, coordinator: String::new() }
}
