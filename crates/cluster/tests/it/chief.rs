//! A coordinator that does what a test's script says, and workers that attend it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use canju_cluster::wire::callback_server::{Callback, CallbackServer};
use canju_cluster::wire::command::Kind as Tell;
use canju_cluster::wire::membership_server::{Membership, MembershipServer};
use canju_cluster::wire::report::Kind as Say;
use canju_cluster::*;
use canju_retro::Game;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

/// The longest that anything may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Waits, but not for ever.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what} takes too long"))
}

/// Somebody who answers when a worker without a mark is called back. Notes of each call whether it shows a token.
#[derive(Clone, Default)]
pub struct Answering(pub Arc<Mutex<Vec<bool>>>);

#[tonic::async_trait]
impl Callback for Answering {
    async fn who(self: Arc<Self>, request: Request<wire::WhoRequest>) -> Result<Response<wire::WhoReply>, Status> {
        let shown = request.metadata().contains_key("authorization");
        self.0.lock().unwrap().push(shown);
        Ok(Response::new(wire::WhoReply::default()))
    }
}

/// The address of somebody who answers so, and does nothing else.
pub async fn answering(network: &Network, listen: SocketAddr, who: Answering) -> String {
    let listener = network.listen(listen, false).await.unwrap();
    let url = network.url(listener.address());
    let service = CallbackServer::new(who);
    tokio::spawn(Server::builder().add_service(service).serve_with_incoming(listener.incoming()));
    url
}

struct Hall(mpsc::Sender<Guest>);

#[tonic::async_trait]
impl Membership for Hall {
    type AttendStream = Pin<Box<dyn tokio_stream::Stream<Item = Result<wire::Command, Status>> + Send>>;

    async fn attend(
        self: Arc<Self>,
        request: Request<Streaming<wire::Report>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let mut reports = request.into_inner();
        let Some(Say::Hello(hello)) = reports.message().await?.and_then(|r| r.kind) else {
            return Err(Status::invalid_argument("no hello"));
        };
        let (line, commands) = mpsc::channel(64);
        let guest = Guest { hello, line, reports, id: 0 };
        self.0.send(guest).await.map_err(|_| Status::unavailable("closed"))?;
        Ok(Response::new(Box::pin(ReceiverStream::new(commands))))
    }
}

/// A coordinator without a mind of its own.
pub struct Chief {
    pub url: String,
    pub store: String,
    store_id: String,
    pub checkpoint_millis: u64,
    joins: mpsc::Receiver<Guest>,
    server: JoinHandle<()>,
}

impl Drop for Chief {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A worker that has said Hello.
pub struct Guest {
    pub hello: wire::Hello,
    line: mpsc::Sender<Result<wire::Command, Status>>,
    reports: Streaming<wire::Report>,
    pub id: u64,
}

impl Chief {
    pub async fn open(store: &Path) -> Self {
        let bucket = Folders.open(&store.display().to_string()).await.unwrap();
        let store_id = bucket.identity(7).await.unwrap();
        let listener = Network::default().listen(([127, 0, 0, 1], 0).into(), false).await.unwrap();
        let url = format!("http://{}", listener.address());
        let (sender, joins) = mpsc::channel(16);
        let server = Server::builder().add_service(MembershipServer::new(Hall(sender)));
        let server = tokio::spawn(async move {
            let _ = server.serve_with_incoming(listener.incoming()).await;
        });
        Self { url, store: store.display().to_string(), store_id, checkpoint_millis: 3_600_000, joins, server }
    }

    /// The next worker that says Hello.
    pub async fn guest(&mut self) -> Guest {
        soon("a worker's hello", self.joins.recv()).await.unwrap()
    }

    /// The next worker, as a member with this number.
    pub async fn admit(&mut self, id: u64, reign: u64) -> Guest {
        let mut guest = self.guest().await;
        self.welcome(&guest, id, reign).await;
        guest.id = id;
        assert!(matches!(guest.hear().await, Say::Ready(_)));
        guest
    }

    pub async fn welcome(&self, guest: &Guest, id: u64, reign: u64) {
        let welcome = wire::Welcome {
            worker: id,
            epoch: 1000 + id,
            store: self.store.clone(),
            store_id: self.store_id.clone(),
            heartbeat_millis: 50,
            reign,
            checkpoint_millis: self.checkpoint_millis,
        };
        guest.tell(Tell::Welcome(welcome)).await;
    }
}

impl Guest {
    pub async fn tell(&self, kind: Tell) {
        self.line.send(Ok(wire::Command { kind: Some(kind) })).await.unwrap();
    }

    /// What it says next, beside that it lives; `None` when it has closed the stream.
    pub async fn hear_or_end(&mut self) -> Option<Say> {
        loop {
            match soon("a report", self.reports.message()).await.ok()??.kind.unwrap() {
                Say::Heartbeat(_) | Say::Progress(_) => {}
                said => return Some(said),
            }
        }
    }

    pub async fn hear(&mut self) -> Say {
        self.hear_or_end().await.expect("the stream has ended")
    }

    /// Its next report of a failure.
    pub async fn hear_failed(&mut self) -> wire::Failed {
        loop {
            if let Say::Failed(failed) = self.hear().await {
                return failed;
            }
        }
    }

    /// Its next report of a checkpoint.
    pub async fn hear_checkpointed(&mut self) -> wire::Checkpointed {
        match self.hear().await {
            Say::Checkpointed(checkpointed) => checkpointed,
            other => panic!("{other:?}"),
        }
    }

    pub fn address(&self) -> String {
        self.hello.address.clone()
    }
}

/// A share of a script's assignment: who has it, its runs, and what it has complete.
pub fn share(guest: &Guest, runs: std::ops::Range<u32>, complete: u32) -> wire::Share {
    wire::Share {
        worker: guest.id,
        name: guest.hello.name.clone(),
        address: guest.address(),
        runs: runs.collect(),
        complete,
        ..wire::Share::default()
    }
}

/// One attempt at one table.
pub struct Attempt {
    pub task: wire::Task,
    pub shares: Vec<wire::Share>,
}

impl Attempt {
    /// Gives out the shares of a cut table.
    pub async fn assign(table: &str, epoch: u64, shares: Vec<wire::Share>, guests: &[&mut Guest]) -> Self {
        let task = wire::Task { job: "j1".into(), table: table.into(), metric: "dtm".into(), epoch };
        let attempt = Self { task, shares };
        for guest in guests {
            guest.tell(Tell::Assign(attempt.order(false))).await;
        }
        attempt
    }

    pub fn order(&self, alone: bool) -> wire::Assign {
        wire::Assign {
            task: Some(self.task.clone()),
            rules: "plain".into(),
            shares: self.shares.clone(),
            encode: vec!["dtm".into(), "wdl".into()],
            alone,
        }
    }

    fn shares_of(&self, guest: &Guest) -> usize {
        self.shares.iter().filter(|s| s.worker == guest.id).count()
    }

    /// Waits until all are prepared. Returns the plies that each share knows.
    pub async fn prepared(&self, guests: &mut [&mut Guest]) -> Vec<u32> {
        let mut known = vec![u32::MAX; self.shares.len()];
        for guest in guests {
            for _ in 0..self.shares_of(guest) {
                match guest.hear().await {
                    Say::Prepared(said) => {
                        assert_eq!(said.task.as_ref(), Some(&self.task));
                        known[said.share as usize] = said.known;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        known
    }

    pub fn step(&self, ply: u32) -> Tell {
        Tell::Step(wire::Step { task: Some(self.task.clone()), ply, turn: 0 })
    }

    /// One ply of all. Returns what was reported, by share, after a look at the books.
    pub async fn ply(&self, ply: u32, guests: &mut [&mut Guest]) -> Vec<wire::Plied> {
        for guest in guests.iter() {
            guest.tell(self.step(ply)).await;
        }
        let mut reports = BTreeMap::new();
        for guest in guests {
            for _ in 0..self.shares_of(guest) {
                match guest.hear().await {
                    Say::Plied(said) => {
                        assert_eq!((said.task.as_ref(), said.ply), (Some(&self.task), ply));
                        reports.insert(said.share, said);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        let chunks = |from: &dyn Fn(&wire::Plied) -> Vec<wire::Traffic>, swap: bool| {
            let mut all: Vec<_> = Vec::new();
            for report in reports.values() {
                let one = from(report).into_iter();
                all.extend(one.map(|t| {
                    let way = if swap { (t.share, report.share) } else { (report.share, t.share) };
                    (way, t.chunks)
                }));
            }
            all.sort_unstable();
            all
        };
        assert_eq!(chunks(&|r| r.sent.clone(), false), chunks(&|r| r.received.clone(), true));
        reports.into_values().collect()
    }

    /// Plies from `from` to the end, and the shards. Returns how many plies there were.
    pub async fn finish(&self, from: u32, guests: &mut [&mut Guest]) -> u32 {
        let mut idle = 0;
        let mut ply = from;
        while idle < 2 {
            let reports = self.ply(ply, guests).await;
            let busy = reports.iter().any(|r| r.first_labels + r.second_labels > 0 || r.pending);
            idle = if busy { 0 } else { idle + 1 };
            ply += 1;
        }
        for guest in guests.iter() {
            guest.tell(Tell::Encode(wire::Encode { task: Some(self.task.clone()) })).await;
        }
        for guest in guests {
            for _ in 0..self.shares_of(guest) {
                match guest.hear().await {
                    Say::Encoded(said) => {
                        let share = &self.shares[said.share as usize];
                        let shards = if share.encoded { 0 } else { 2 * share.runs.len() };
                        assert_eq!(said.shards.len(), shards);
                        assert_eq!(said.statistics.is_some(), !share.encoded);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        ply
    }

    pub async fn drop_at(&self, guest: &Guest) {
        guest.tell(Tell::Drop(wire::Drop { task: Some(self.task.clone()), solved: false })).await;
    }

    pub async fn checkpoint_at(&self, guest: &Guest) {
        guest.tell(Tell::Checkpoint(wire::Checkpoint { task: Some(self.task.clone()) })).await;
    }
}

/// A worker at work.
pub struct Worked {
    pub task: JoinHandle<Result<(), ClusterError>>,
    drain: Option<oneshot::Sender<()>>,
}

impl Worked {
    pub fn drain(&mut self) {
        drop(self.drain.take());
    }
}

impl Drop for Worked {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub async fn work(urls: &[&str], name: &str, game: Arc<dyn Game>, change: impl FnOnce(&mut WorkerSettings)) -> Worked {
    work_with(urls, name, game, Arc::new(Folders), change).await
}

pub async fn work_with(
    urls: &[&str],
    name: &str,
    game: Arc<dyn Game>,
    buckets: Arc<dyn Buckets>,
    change: impl FnOnce(&mut WorkerSettings),
) -> Worked {
    let mut settings = WorkerSettings {
        name: name.to_owned(),
        coordinators: urls.iter().map(|&url| url.to_owned()).collect(),
        listen: ([127, 0, 0, 1], 0).into(),
        advertise: None,
        insecure_network: false,
        network: Network::default(),
        memory: 0,
        scratch: None,
        threads: 2,
        retry: Duration::from_millis(10),
        patience: LIMIT,
        drain: LIMIT,
    };
    change(&mut settings);
    let worker = Worker::bind(game, buckets, settings).await.unwrap();
    let (drain, drained) = oneshot::channel::<()>();
    let drained = async {
        let _ = drained.await;
    };
    let task = tokio::spawn(worker.run(drained, std::future::pending()));
    Worked { task, drain: Some(drain) }
}
