//! Plays a scenario: coordinators, workers and a client on simulated hosts, and what goes wrong among them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use canju_cluster::{
    Client, ClusterError, Coordinator, CoordinatorSettings, LeaseTiming, Network, Pool, Settings, Worker,
    WorkerSettings, wire,
};
use canju_retro::Game;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use turmoil::Sim;

use crate::scenario::{Event, Scenario, coordinator, worker};
use crate::toy::Toy;
use crate::wires::Wires;
use crate::world::{Opener, World};

const COORDINATOR: u16 = 7420;
const WORKER: u16 = 7430;
/// How long the job may take once all is well again.
const PROGRESS: Duration = Duration::from_secs(240);
const USER: &str = "user";
const GHOST: &str = "ghost";

/// How a scenario ended.
#[derive(Clone, Debug)]
pub struct Ending {
    pub job: wire::Job,
    /// How long it took there.
    pub took: Duration,
}

/// What must not be.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "printed")]
pub enum Wrong {
    /// Something happened that must never happen.
    Violation(String),
    /// The job failed with this error.
    Failed(String),
    /// The job is not over long after all was well again.
    Stuck,
}

#[derive(Clone)]
struct Stage {
    world: Arc<World>,
    wires: Wires,
    scenario: Arc<Scenario>,
    drains: Arc<BTreeMap<String, Notify>>,
    replays: Arc<Mutex<Vec<usize>>>,
    rings: Arc<Notify>,
    /// Hosts whose process has ended by itself.
    ended: Arc<Mutex<Vec<String>>>,
    ending: Arc<Mutex<Option<Ending>>>,
    game: Arc<dyn Game>,
}

/// Plays it to its end.
///
/// # Errors
/// What happened that must not happen.
pub fn play(scenario: &Scenario, world: &Arc<World>) -> Result<Ending, Wrong> {
    fastrand::seed(scenario.seed);
    let stage = Stage {
        world: Arc::clone(world),
        wires: Wires::default(),
        scenario: Arc::new(scenario.clone()),
        drains: Arc::new((0..scenario.workers).map(|n| (worker(n), Notify::new())).collect()),
        replays: Arc::default(),
        rings: Arc::default(),
        ended: Arc::default(),
        ending: Arc::default(),
        game: Arc::new(Toy::default()),
    };
    world.set_weather(|weather| {
        weather.delay = scenario.store_delay.clone();
        (weather.fails, weather.lost) = (scenario.store_fails, scenario.store_lost);
    });
    let limit = Duration::from_millis(scenario.healed) + PROGRESS;
    let mut sim = turmoil::Builder::new()
        .rng_seed(scenario.seed)
        .tick_duration(Duration::from_millis(20))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(scenario.latency))
        .simulation_duration(limit + Duration::from_secs(60))
        .tcp_capacity(4096)
        .build();
    for number in 0..scenario.coordinators {
        let stage = stage.clone();
        sim.host(coordinator(number), move || stage.clone().coordinate(number));
    }
    for number in 0..scenario.workers {
        let stage = stage.clone();
        sim.host(worker(number), move || stage.clone().labour(number));
    }
    {
        let stage = stage.clone();
        sim.host(GHOST, move || stage.clone().haunt());
    }
    sim.client(USER, stage.clone().ask());
    let mut down = BTreeSet::new();
    let mut events = scenario.events.iter().peekable();
    let mut again = Vec::new();
    let mut healed = false;
    loop {
        while let Some((_, event)) = events.next_if(|(at, _)| Duration::from_millis(*at) <= sim.elapsed()) {
            tracing::info!(at_ms = sim.elapsed().as_millis(), ?event, "event");
            stage.happen(&mut sim, event, &mut down);
        }
        if !healed && Duration::from_millis(scenario.healed) <= sim.elapsed() {
            healed = true;
            stage.heal(&mut sim, &mut down);
        }
        // A process that ends takes all its connections with it, and is started again a second later.
        for host in std::mem::take(&mut *stage.ended.lock().unwrap()) {
            sim.crash(host.as_str());
            again.push((sim.elapsed() + Duration::from_secs(1), host));
        }
        while let Some((_, host)) = again.pop_if(|(at, _)| *at <= sim.elapsed()) {
            if !down.contains(&host) {
                sim.bounce(host.as_str());
            }
        }
        let over = sim.step().map_err(|e| Wrong::Violation(format!("a host failed: {e}")))?;
        if let Some(violation) = world.violation() {
            return Err(Wrong::Violation(violation));
        }
        if over {
            break;
        }
        if sim.elapsed() > limit {
            return Err(Wrong::Stuck);
        }
    }
    let ending = stage
        .ending
        .lock()
        .unwrap()
        .clone()
        .ok_or_else(|| Wrong::Violation("the client ended without its job".into()))?;
    match ending.job.state() {
        wire::JobState::Done => {
            world.check_done();
            world.violation().map_or(Ok(ending), |violation| Err(Wrong::Violation(violation)))
        }
        _ => Err(Wrong::Failed(ending.job.error)),
    }
}

impl Stage {
    fn happen(&self, sim: &mut Sim<'_>, event: &Event, down: &mut BTreeSet<String>) {
        match event {
            Event::Crash { host, silent } => {
                if !down.insert(host.clone()) {
                    return;
                }
                if *silent {
                    // Nobody hears that its connections end.
                    self.others(host, |other| sim.partition(host.as_str(), other));
                }
                sim.crash(host.as_str());
                if *silent {
                    self.others(host, |other| sim.repair(host.as_str(), other));
                }
            }
            Event::Start(host) => {
                if down.remove(host) {
                    sim.bounce(host.as_str());
                }
            }
            Event::Cut(a, b) => sim.partition_oneway(a.as_str(), b.as_str()),
            Event::Mend(a, b) => sim.repair_oneway(a.as_str(), b.as_str()),
            Event::Hold(a, b) => sim.hold(a.as_str(), b.as_str()),
            Event::Release(a, b) => sim.release(a.as_str(), b.as_str()),
            Event::StoreAway(None) => self.world.set_weather(|w| w.away = true),
            Event::StoreBack(None) => self.world.set_weather(|w| w.away = false),
            Event::StoreAway(Some(host)) => self.world.set_weather(|w| w.away_for.extend([host.clone()])),
            Event::StoreBack(Some(host)) => self.world.set_weather(|w| w.away_for.retain(|h| h != host)),
            Event::Drain(host) => self.drains[host].notify_one(),
            Event::Replay(which) => {
                self.replays.lock().unwrap().push(*which);
                self.rings.notify_one();
            }
            Event::Damage(pick) => self.world.damage(*pick),
            Event::Blot(pick) => self.world.blot(*pick),
            Event::Litter(pick) => self.world.litter(*pick),
        }
    }

    fn hosts(&self) -> Vec<String> {
        let scenario = &self.scenario;
        (0..scenario.coordinators).map(coordinator).chain((0..scenario.workers).map(worker)).collect()
    }

    fn others(&self, host: &str, mut each: impl FnMut(&str)) {
        for other in self.hosts().iter().map(String::as_str).chain([USER, GHOST]).filter(|other| *other != host) {
            each(other);
        }
    }

    fn heal(&self, sim: &mut Sim<'_>, down: &mut BTreeSet<String>) {
        for host in std::mem::take(down) {
            sim.bounce(host.as_str());
        }
        for host in self.hosts() {
            self.others(&host, |other| {
                sim.repair(host.as_str(), other);
                sim.release(host.as_str(), other);
            });
        }
        self.world.set_weather(|weather| {
            weather.away = false;
            weather.away_for.clear();
            (weather.fails, weather.lost) = (0, 0);
        });
    }

    fn urls(&self) -> Vec<String> {
        (0..self.scenario.coordinators).map(|n| format!("http://{}:{COORDINATOR}", coordinator(n))).collect()
    }

    fn network(&self) -> Network {
        self.wires.network()
    }

    fn opener(&self, host: &str) -> Opener {
        Opener { world: Arc::clone(&self.world), host: host.to_owned() }
    }

    async fn coordinate(self, number: usize) -> turmoil::Result {
        let host = coordinator(number);
        {
            let settings = CoordinatorSettings {
                listen: ([0, 0, 0, 0], COORDINATOR).into(),
                advertise: Some(format!("http://{host}:{COORDINATOR}")),
                insecure_network: true,
                network: self.network(),
                store: "the simulation".into(),
                index: 1,
                heartbeat: Duration::from_millis(500),
                checkpoint: Duration::from_millis(300),
                lease: LeaseTiming { renew: Duration::from_millis(500), hold: Duration::from_secs(3) },
                conductor: Settings {
                    patience: Duration::from_secs(4),
                    cut_from: self.scenario.cut_from,
                    min_workers: 1,
                    split_from: 600,
                    losses: 1000,
                    repairs: 100,
                    left_out: Duration::from_secs(20),
                    record: Duration::from_secs(2),
                },
                pool: Pool::inline(),
            };
            let ended = match Coordinator::bind(Arc::clone(&self.game), &self.opener(&host), settings).await {
                Ok(coordinator) => coordinator.run(std::future::pending()).await,
                Err(error) => Err(error),
            };
            self.end(&host, ended).await
        }
    }

    async fn labour(self, number: usize) -> turmoil::Result {
        let host = worker(number);
        {
            let settings = WorkerSettings {
                name: host.clone(),
                coordinators: self.urls(),
                listen: ([0, 0, 0, 0], WORKER).into(),
                advertise: Some(format!("{host}:{WORKER}")),
                insecure_network: true,
                network: self.network(),
                memory: 0,
                scratch: None,
                threads: 0,
                retry: Duration::from_millis(200),
                patience: Duration::from_secs(30),
                drain: Duration::from_secs(5),
            };
            let ended = match Worker::bind(Arc::clone(&self.game), Arc::new(self.opener(&host)), settings).await {
                Ok(worker) => worker.run(self.drains[&host].notified(), std::future::pending()).await,
                Err(error) => Err(error),
            };
            self.end(&host, ended).await
        }
    }

    /// A process has ended. Nothing that the simulation does is a reason to give up for good.
    async fn end(&self, host: &str, ended: Result<(), ClusterError>) -> turmoil::Result {
        match ended {
            Err(ClusterError::Store(error)) if error.is_transient() => {}
            Err(error) => self.world.accuse(format!("{host} gave up: {}", error.line())),
            Ok(()) => tracing::info!(host, "process ended"),
        }
        self.ended.lock().unwrap().push(host.to_owned());
        std::future::pending().await
    }

    /// Sends again what somebody has sent.
    async fn haunt(self) -> turmoil::Result {
        loop {
            self.rings.notified().await;
            for which in std::mem::take(&mut *self.replays.lock().unwrap()) {
                let tapes = self.wires.tapes();
                let Some(tape) = tapes.get(which % tapes.len().max(1)).cloned() else { continue };
                tokio::spawn(async move {
                    let connected = turmoil::net::TcpStream::connect((tape.host.as_str(), tape.port));
                    let Ok(Ok(mut stream)) = timeout(Duration::from_secs(1), connected).await else { return };
                    let _ = stream.write_all(&tape.bytes()).await;
                    let _ = timeout(Duration::from_secs(3), stream.read_to_end(&mut Vec::new())).await;
                });
            }
        }
    }

    /// A user who wants tables, and asks again until it hears that they are there.
    async fn ask(self) -> turmoil::Result {
        let began = tokio::time::Instant::now();
        let network = self.network();
        let (urls, scenario) = (self.urls(), Arc::clone(&self.scenario));
        let patience = Duration::from_secs(10);
        let id = loop {
            let submit = async {
                let mut client = Client::connect_any(&network, &urls).await?;
                client.submit(&scenario.tables, &scenario.metrics, "").await
            };
            match timeout(patience, submit).await {
                Ok(Ok(job)) => break job.id,
                Ok(Err(error)) => tracing::info!(error = error.line(), "not submitted"),
                Err(_) => tracing::info!("no answer"),
            }
            sleep(Duration::from_millis(300)).await;
        };
        let (mut at, mut unknown) = (0, 0);
        loop {
            sleep(Duration::from_millis(500)).await;
            at += 1;
            let mut urls = urls.clone();
            let places = urls.len();
            urls.rotate_left(at % places);
            let jobs = async { Client::connect_any(&network, &urls).await?.jobs().await };
            let jobs = match timeout(patience, jobs).await {
                Ok(Ok(jobs)) => jobs,
                Ok(Err(error)) => {
                    tracing::info!(error = error.line(), "not told");
                    continue;
                }
                Err(_) => continue,
            };
            let Some(job) = jobs.into_iter().find(|job| job.id == id) else {
                // One that was deposed tells what it knows until it hears of it; the other one must know the job.
                unknown += 1;
                if unknown > 10 {
                    self.world.accuse(format!("job {id} was taken and is not known any more"));
                    return Ok(());
                }
                continue;
            };
            unknown = 0;
            let over = [wire::JobState::Done, wire::JobState::Failed, wire::JobState::Cancelled];
            if over.contains(&job.state()) {
                *self.ending.lock().unwrap() = Some(Ending { job, took: began.elapsed() });
                return Ok(());
            }
        }
    }
}
