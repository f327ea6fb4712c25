//! Workers that others cannot reach: they are found out early and named, and the cluster goes on without them.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use canju_cluster::wire::membership_client::MembershipClient;
use canju_cluster::*;
use canju_retro::{Metric, Rules, TableName};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::chief::{Answering, Worked, answering, soon, work};
use crate::pipes::Pipes;
use crate::pki::{Authority, TOKEN, network};
use crate::town::{Town, files, settings};
use crate::toy::Toy;

/// TCP, where nothing gets through to some ports.
#[derive(Clone, Default)]
struct Wall(Arc<Mutex<BTreeSet<u16>>>);

impl Wall {
    /// Lets nothing through.
    fn around_all() -> Self {
        Self(Arc::new(Mutex::new((0..=u16::MAX).collect())))
    }
}

#[async_trait]
impl Transport for Wall {
    async fn listen(&self, address: SocketAddr) -> io::Result<Box<dyn Listening>> {
        Ok(Box::new(TcpListener::bind(address).await?))
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Connection> {
        if self.0.lock().unwrap().contains(&port) {
            return Err(io::Error::new(io::ErrorKind::HostUnreachable, "a wall stands between"));
        }
        Ok(Box::new(TcpStream::connect((host, port)).await?))
    }
}

async fn status(town: &Town, network: &Network) -> wire::StatusReply {
    Client::connect_over(network, &town.url).await.unwrap().status().await.unwrap()
}

/// Waits until a status tells of a trouble.
async fn trouble(town: &Town, network: &Network) -> wire::StatusReply {
    soon("a trouble", async {
        loop {
            let status = status(town, network).await;
            if !status.troubles.is_empty() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
}

async fn member(town: &Town, name: &str, change: impl FnOnce(&mut WorkerSettings)) -> Worked {
    work(&[&town.url], name, Arc::new(Toy::default()), change).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_not_at_its_address_is_turned_away() {
    let (store, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let plain = Network::default();
    let _good = member(&town, "good", |_| {}).await;
    // Nobody listens there; something else does; a coordinator does; another worker does.
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let web = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = web.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = web.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await;
        }
    });
    let other = soon("the good one", async {
        loop {
            if let [worker] = &status(&town, &plain).await.workers[..] {
                return worker.address.clone();
            }
        }
    })
    .await;
    for (address, cause) in [
        (nobody.to_string(), "onnection refused"),
        (site.to_string(), "a web server answers there"),
        (town.url.clone(), "another server answers there, perhaps a coordinator"),
        (other, "another worker answers there"),
    ] {
        let bad = member(&town, "bad", |s| s.advertise = Some(address.clone())).await;
        let seen = soon("the trouble", async {
            loop {
                let seen = trouble(&town, &plain).await;
                if seen.troubles[0].contains(cause) {
                    return seen;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let words = ["worker bad is turned away", &address, "--advertise"];
        assert!(words.iter().all(|word| seen.troubles[0].contains(word)), "{:?}", seen.troubles);
        assert_eq!(seen.workers.len(), 1);
        assert!(!bad.task.is_finished(), "it tries again: the way to it may come to be");
    }
    // The others work without it; where its address is put right it is one of them, and nothing is told of it any more.
    assert_eq!(town.build(&["T3"], &["dtm"]).await.state(), wire::JobState::Done);
    let (lone, _hands) = Town::with(Arc::new(Toy::default()), alone.path(), 1).await;
    assert_eq!(lone.build(&["T3"], &["dtm"]).await.state(), wire::JobState::Done);
    assert_eq!(files(store.path()), files(alone.path()));
    let _again = member(&town, "bad", |_| {}).await;
    soon("the worker", async {
        loop {
            let seen = status(&town, &plain).await;
            if seen.workers.len() == 2 && seen.troubles.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_called_back_is_not_shown_the_token() {
    let store = tempfile::tempdir().unwrap();
    let with_token = Network::default().secured(Security::of_token(Token::new(TOKEN, "here").unwrap()));
    let mut settings = settings(store.path());
    settings.network = with_token.clone();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings.clone()).await;
    let who = Answering::default();
    let address = answering(&Network::default(), ([127, 0, 0, 1], 0).into(), who.clone()).await;
    let hello = wire::Hello { name: "w".into(), address, version: VERSION.into(), ..Default::default() };
    let hello = wire::Report { epoch: 0, kind: Some(wire::report::Kind::Hello(hello)) };
    let route = with_token.connect("the coordinator", &town.url).await.unwrap();
    let answer = MembershipClient::new(route).attend(tokio_stream::iter([hello])).await.unwrap();
    let welcome = soon("a welcome", answer.into_inner().message()).await.unwrap().unwrap().kind;
    assert!(matches!(welcome, Some(wire::command::Kind::Welcome(_))), "{welcome:?}");
    assert_eq!(*who.0.lock().unwrap(), [false]);
    town.close().await;
    // A coordinator that has forgotten the token of its workers is told so.
    settings.network = Network::default();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    let _worker = member(&town, "w", |s| s.network = with_token.clone()).await;
    let seen = trouble(&town, &Network::default()).await;
    assert!(seen.troubles[0].contains("it has a token and the coordinator has none"), "{:?}", seen.troubles);
    assert_eq!(seen.workers.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_name_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "own");
    authority.sign("member", |_| {});
    let other = |params: &mut rcgen::CertificateParams| {
        params.subject_alt_names = vec![rcgen::SanType::DnsName("elsewhere.example".try_into().unwrap())];
    };
    authority.sign("other", other);
    let own = network(authority.credentials("member", Some(TOKEN)));
    let mut settings = settings(&folder.path().join("store"));
    settings.network = own.clone();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings.clone()).await;
    let misnamed = network(authority.credentials("other", Some(TOKEN)));
    let _bad = member(&town, "bad", |s| s.network = misnamed.clone()).await;
    let seen = trouble(&town, &own).await;
    let words =
        ["worker bad is turned away", "not valid for name", "elsewhere.example", "the names in its certificate"];
    assert!(words.iter().all(|word| seen.troubles[0].contains(word)), "{:?}", seen.troubles);
    assert!(seen.workers.is_empty());
    town.close().await;

    // A coordinator that was not told whose certificates are good cannot know; workers know it themselves.
    let mut alone = authority.credentials("member", Some(TOKEN));
    alone.authority = None;
    settings.network = network(alone);
    settings.store = folder.path().join("another").display().to_string();
    let coordinator = Coordinator::bind(Arc::new(Toy::default()), &Folders, settings).await.unwrap();
    let url = coordinator.url();
    let reign = tokio::spawn(coordinator.run(std::future::pending()));
    let _good = work(&[&url], "good", Arc::new(Toy::default()), |s| s.network = own.clone()).await;
    soon("the worker", async {
        loop {
            if let Ok(mut client) = Client::connect_over(&own, &url).await
                && client.status().await.is_ok_and(|status| status.workers.len() == 1)
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    reign.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_only_the_coordinator_does_not_reach_is_taken_in() {
    let store = tempfile::tempdir().unwrap();
    let mut settings = settings(store.path());
    settings.network = Network::new(Arc::new(Wall::around_all()));
    settings.conductor.min_workers = 2;
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    let mut good = member(&town, "good", |_| {}).await;
    let _other = member(&town, "other", |_| {}).await;
    assert_eq!(town.build(&["T3"], &["dtm"]).await.state(), wire::JobState::Done);
    let seen = status(&town, &Network::default()).await;
    assert_eq!((seen.workers.len(), seen.troubles.len()), (2, 2));
    let words = ["the coordinator cannot reach worker good at http://", "a wall stands between", "--advertise"];
    let told = seen.troubles.iter().any(|trouble| words.iter().all(|word| trouble.contains(word)));
    assert!(told, "{:?}", seen.troubles);
    // It is told of as long as the worker is there.
    good.drain();
    soon("leaving", &mut good.task).await.unwrap().unwrap();
    soon("one trouble", async {
        while status(&town, &Network::default()).await.troubles.len() != 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Workers behind a wall that lets the coordinator through, of which `closed` cannot be reached by the others; that they
/// complain of after a sixth of their patience.
async fn behind(wall: &Wall, town: &Town, names: &[&str], closed: &str, (memory, patience): (u64, u64)) -> Vec<Worked> {
    let walled = Network::new(Arc::new(wall.clone()));
    let mut workers = Vec::new();
    for name in names {
        let change = |s: &mut WorkerSettings| {
            s.network = walled.clone();
            s.patience = Duration::from_secs(patience);
            s.memory = memory;
        };
        let game = Toy { no_captures: memory > 0, ..Toy::default() };
        workers.push(work(&[&town.url], name, Arc::new(game), change).await);
    }
    soon("all workers", async {
        loop {
            let all = status(town, &Network::default()).await.workers;
            if all.len() == names.len() {
                let port = |w: &wire::Worker| w.address.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
                wall.0.lock().unwrap().extend(all.iter().filter(|w| w.name == closed).map(port));
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    workers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_other_workers_cannot_reach_is_left_out() {
    let (store, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut settings = settings(store.path());
    settings.conductor.min_workers = 3;
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    let wall = Wall::default();
    let mut workers = behind(&wall, &town, &["w0", "w1", "w2"], "w1", (0, 6)).await;
    let job = town.build(&["T4"], &["dtm"]).await;
    assert_eq!(job.state(), wire::JobState::Done, "{}", job.error);
    // The largest table was built by the others.
    assert_eq!(job.built.last().map(|b| b.workers), Some(2));
    let seen = status(&town, &Network::default()).await;
    let [trouble] = &seen.troubles[..] else { panic!("{:?}", seen.troubles) };
    let words = ["worker w1 (http://", "is left out", "cannot send to it", "a wall stands between", "--advertise"];
    assert!(words.iter().all(|word| trouble.contains(word)), "{trouble}");
    let (lone, _hands) = Town::with(Arc::new(Toy::default()), alone.path(), 1).await;
    assert_eq!(lone.build(&["T4"], &["dtm"]).await.state(), wire::JobState::Done);
    assert_eq!(files(store.path()), files(alone.path()));
    // With nobody there who would have to reach it, it works again.
    for place in [2, 0] {
        let mut gone = workers.remove(place);
        gone.drain();
        soon("leaving", &mut gone.task).await.unwrap().unwrap();
    }
    soon("its return", async {
        while !status(&town, &Network::default()).await.troubles.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_without_a_worker_that_is_left_out_fails_and_names_it() {
    let store = tempfile::tempdir().unwrap();
    let game = Toy { no_captures: true, ..Toy::default() };
    let name = TableName::new("T4").unwrap();
    let plan = TablePlan::new(&game, name, &[Metric::Dtm], Rules::Plain, Present::default()).unwrap();
    let mut settings = settings(store.path());
    settings.conductor.min_workers = 2;
    let town = Town::found(Arc::new(game), &Folders, settings).await;
    let wall = Wall::default();
    let mut workers = behind(&wall, &town, &["w0", "w1"], "w1", (plan.memory_a_worker(2), 30)).await;
    let job = town.build(&["T4"], &["dtm"]).await;
    assert_eq!(job.state(), wire::JobState::Failed);
    let words = ["it does not fit", "worker w1 (http://", "w0 cannot send to it", "--advertise"];
    assert!(words.iter().all(|word| job.error.contains(word)), "{}", job.error);
    // It is left out now: what does not fit without it waits, and is built when it is reached again.
    let waits = town.submit(&["T4"], &["dtm"]).await.unwrap();
    wall.0.lock().unwrap().clear();
    let seen = status(&town, &Network::default()).await;
    assert_eq!((seen.jobs.len(), seen.troubles.len()), (1, 1));
    assert!(seen.jobs[0].state() == wire::JobState::Running && seen.jobs[0].running.is_empty());
    let mut again = workers.remove(1);
    again.drain();
    soon("leaving", &mut again.task).await.unwrap().unwrap();
    let game = Toy { no_captures: true, ..Toy::default() };
    let memory = plan.memory_a_worker(2);
    let _back = work(&[&town.url], "w1", Arc::new(game), |s| s.memory = memory).await;
    assert_eq!(town.end_of(&waits.id).await.state(), wire::JobState::Done);
}

/// Pipes of a worker to others, of which some take whatever is sent and give nothing back.
#[derive(Clone)]
struct Swallowing {
    pipes: Arc<Pipes>,
    silent: Arc<Mutex<BTreeSet<u16>>>,
    /// The other ends: they are open, and nobody reads there.
    ends: Arc<Mutex<Vec<DuplexStream>>>,
}

#[async_trait]
impl Transport for Swallowing {
    async fn listen(&self, address: SocketAddr) -> io::Result<Box<dyn Listening>> {
        self.pipes.listen(address).await
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Connection> {
        if !self.silent.lock().unwrap().contains(&port) {
            return self.pipes.connect(host, port).await;
        }
        let (near, far) = tokio::io::duplex(1 << 16);
        self.ends.lock().unwrap().push(far);
        Ok(Box::new(near))
    }
}

/// A cluster on pipes, with the times that clusters have: the clock is stopped, and goes on when nobody has anything to do.
struct Camp {
    town: Town,
    network: Network,
    silent: Vec<Arc<Mutex<BTreeSet<u16>>>>,
    _workers: Vec<Worked>,
}

const CAMP: u16 = 7430;
/// Seconds that somebody is left out first.
const FIRST: u64 = 90;

impl Camp {
    /// With so many workers; those that it is asked of hear nothing of each other.
    async fn pitch(store: &std::path::Path, workers: u16, is_silent: impl Fn(u16, u16) -> bool) -> Self {
        let (pipes, network) = Pipes::network();
        let mut settings = settings(store);
        settings.listen = ([127, 0, 0, 1], 7420).into();
        settings.network = network.clone();
        (settings.heartbeat, settings.lease, settings.pool) =
            (Duration::from_secs(2), LeaseTiming::default(), Pool::inline());
        let left_out = Duration::from_secs(FIRST);
        settings.conductor = Settings { cut_from: 0, min_workers: workers.into(), left_out, ..Settings::default() };
        let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
        let mut camp = Self { town, network, silent: Vec::new(), _workers: Vec::new() };
        for from in 0..workers {
            let silent = (0..workers).filter(|&to| to != from && is_silent(from, to)).map(|to| CAMP + to).collect();
            let silent = Arc::new(Mutex::new(silent));
            let transport = Swallowing { pipes: pipes.clone(), silent: silent.clone(), ends: Arc::default() };
            let change = |s: &mut WorkerSettings| {
                s.network = Network::new(Arc::new(transport));
                s.listen = ([127, 0, 0, 1], CAMP + from).into();
                (s.threads, s.patience) = (0, Duration::from_secs(120));
            };
            let worker = work(&[&camp.town.url], &format!("w{from}"), Arc::new(Toy::default()), change).await;
            camp._workers.push(worker);
            camp.silent.push(silent);
        }
        camp
    }

    /// Builds a table. Returns how many workers had a part of it in the end, and the seconds that it took.
    async fn build(&self, table: &str) -> (u32, u64) {
        let began = Instant::now();
        let mut client = Client::connect_over(&self.network, &self.town.url).await.unwrap();
        let id = client.submit(&[table.to_owned()], &["dtm".to_owned()], "").await.unwrap().id;
        let mut watch = client.watch(&id).await.unwrap();
        let mut last = None;
        while let Some(picture) = watch.next().await.unwrap() {
            last = Some(picture);
        }
        let job = last.unwrap();
        assert_eq!(job.state(), wire::JobState::Done, "{}", job.error);
        (job.built.last().unwrap().workers, began.elapsed().as_secs())
    }

    async fn troubles(&self) -> Vec<String> {
        status(&self.town, &self.network).await.troubles
    }

    /// Waits until nobody is left out. Returns how many seconds that took.
    async fn all_back(&self) -> u64 {
        let began = Instant::now();
        while !self.troubles().await.is_empty() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        began.elapsed().as_secs()
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_takes_connections_and_does_not_answer_is_left_out() {
    let (store, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let camp = Camp::pitch(store.path(), 3, |_, to| to == 1).await;
    let (workers, seconds) = camp.build("T4").await;
    // A connection that is silent is given up after 20 seconds: three times, before the part's patience is at its end.
    assert!(workers == 2 && seconds < 75, "{workers} workers, {seconds} s");
    let troubles = camp.troubles().await;
    assert!(troubles.len() == 1 && troubles[0].contains("worker w1 ("), "{troubles:?}");
    let lone = Camp::pitch(alone.path(), 1, |_, _| false).await;
    lone.build("T4").await;
    assert_eq!(files(store.path()), files(alone.path()));
}

#[tokio::test(start_paused = true)]
async fn of_two_halves_that_do_not_reach_each_other_one_goes_on() {
    let (store, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let camp = Camp::pitch(store.path(), 4, |from, to| (from < 2) != (to < 2)).await;
    assert_eq!(camp.build("T4").await.0, 2);
    let troubles = camp.troubles().await;
    let told = ["w2", "w3"].map(|name| troubles.iter().any(|t| t.contains(&format!("worker {name} ("))));
    assert!(troubles.len() == 2 && told == [true, true], "{troubles:?}");
    let lone = Camp::pitch(alone.path(), 1, |_, _| false).await;
    lone.build("T4").await;
    assert_eq!(files(store.path()), files(alone.path()));
}

#[tokio::test(start_paused = true)]
async fn who_was_left_out_is_tried_again_and_takes_its_share() {
    let store = tempfile::tempdir().unwrap();
    let camp = Camp::pitch(store.path(), 3, |_, to| to == 1).await;
    assert_eq!(camp.build("T3").await.0, 2);
    assert!(camp.troubles().await[0].contains("left out of tables that are cut for "));
    let seconds = camp.all_back().await;
    assert!((FIRST - 10..=FIRST + 1).contains(&seconds), "{seconds}");
    // Nothing has changed: then it is tried less often.
    assert_eq!(camp.build("T4").await.0, 2);
    for silent in &camp.silent {
        silent.lock().unwrap().clear();
    }
    let seconds = camp.all_back().await;
    assert!((2 * FIRST - 10..=2 * FIRST + 1).contains(&seconds), "{seconds}");
    assert_eq!(camp.build("T5").await.0, 3);
}
