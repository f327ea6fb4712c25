//! The coordinator as a process: it listens, keeps the streams of its workers, and does what the
//! [`Conductor`] decides.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use canju_retro::Game;
use tokio::sync::{mpsc, oneshot, watch};
use tonic::Status;

use crate::commit::commit;
use crate::usage::usage;
use crate::wire::command::Kind as Tell;
use crate::wire::jobs_server::JobsServer;
use crate::wire::membership_server::MembershipServer;
use crate::{Action, Bucket, Buckets, ClusterError, Conductor, Health, Listener, MemberId, Network, Settings, wire};

/// How a coordinator is set up.
#[derive(Clone, Debug)]
pub struct CoordinatorSettings {
    /// Where it listens; port 0 for any.
    pub listen: SocketAddr,
    /// Allows listening where other machines can reach it.
    pub insecure_network: bool,
    /// How it is reached.
    pub network: Network,
    /// The store, as its workers open it.
    pub store: String,
    /// The version of the game's index, for the manifests.
    pub index: u32,
    /// How often workers say that they live.
    pub heartbeat: Duration,
    /// How it behaves.
    pub conductor: Settings,
}

/// How often silent workers are looked for.
const TICK: Duration = Duration::from_millis(250);
/// How long open streams may take to end when the coordinator stops.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long a request may take until its answer begins.
const LONGEST_REQUEST: Duration = Duration::from_secs(300);
/// Bytes of a worker's report: the entries of its shards are the most.
const MAX_REPORT: usize = 16 << 20;
/// Bytes of what a client asks.
const MAX_REQUEST: usize = 1 << 20;

pub(crate) type Line = mpsc::Sender<Result<wire::Command, Status>>;

/// What all services of a coordinator share.
pub(crate) struct Office {
    pub(crate) game: Arc<dyn Game>,
    pub(crate) bucket: Bucket,
    pub(crate) settings: CoordinatorSettings,
    pub(crate) identity: String,
    pub(crate) health: Health,
    /// Counts changes, to wake who watches.
    pub(crate) changes: watch::Sender<u64>,
    conductor: Mutex<Conductor>,
    lines: Mutex<HashMap<MemberId, Line>>,
    started: Instant,
}

/// A coordinator that listens.
pub struct Coordinator {
    pub(crate) office: Arc<Office>,
    listener: Listener,
}

impl Coordinator {
    /// Opens the store and starts listening.
    ///
    /// # Errors
    /// When the store cannot be used or the address cannot be had.
    pub async fn bind(
        game: Arc<dyn Game>,
        buckets: &dyn Buckets,
        settings: CoordinatorSettings,
    ) -> Result<Self, ClusterError> {
        let listener = settings.network.listen(settings.listen, settings.insecure_network).await?;
        let bucket = buckets.open(&settings.store).await?;
        let identity = bucket.identity(fastrand::u64(..)).await?;
        bucket.check(&identity, "coordinator").await?;
        let mut conductor = Conductor::new(settings.conductor.clone());
        conductor.note_usage(usage());
        let office = Office {
            game,
            bucket,
            settings,
            identity,
            health: Health::default(),
            changes: watch::Sender::new(0),
            conductor: Mutex::new(conductor),
            lines: Mutex::default(),
            started: Instant::now(),
        };
        Ok(Self { office: Arc::new(office), listener })
    }

    /// The URL at which workers and clients reach it, from this machine.
    #[must_use]
    pub fn url(&self) -> String {
        self.office.settings.network.url(self.listener.address())
    }

    /// Serves until `shutdown`.
    ///
    /// # Errors
    /// [`ClusterError::Listen`] when the server ends by itself.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ClusterError> {
        let Self { office, listener } = self;
        let address = listener.address();
        tracing::info!(%address, store = %office.bucket.store.place(), "coordinator listens");
        let (stop, stopped) = oneshot::channel::<()>();
        let network = &office.settings.network;
        let membership = MembershipServer::from_arc(Arc::clone(&office));
        let membership = membership.max_decoding_message_size(MAX_REPORT);
        let jobs = JobsServer::from_arc(Arc::clone(&office)).max_decoding_message_size(MAX_REQUEST);
        office.health.set(true);
        let server = network
            .server()?
            .timeout(LONGEST_REQUEST)
            .add_service(network.guarded(membership))
            .add_service(network.guarded(jobs))
            .add_service(office.health.service())
            .serve_with_incoming_shutdown(listener.incoming(), async {
                let _ = stopped.await;
            });
        let mut server = tokio::spawn(server);
        let ticker = tokio::spawn(Arc::clone(&office).tick());
        let ended = tokio::select! {
            () = shutdown => None,
            ended = &mut server => Some(ended),
        };
        ticker.abort();
        if let Some(ended) = ended {
            let text = match ended {
                Ok(Ok(())) => "it ended".to_owned(),
                Ok(Err(e)) => e.to_string(),
                Err(e) => e.to_string(),
            };
            return Err(ClusterError::Listen { address: address.to_string(), source: std::io::Error::other(text) });
        }
        office.dismiss();
        let _ = stop.send(());
        if tokio::time::timeout(FAREWELL, &mut server).await.is_err() {
            server.abort();
        }
        Ok(())
    }
}

impl Office {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    async fn tick(self: Arc<Self>) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tick.tick().await;
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
        match action {
            Action::Tell(member, kind) => {
                let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                let line = lines.get(&member)?;
                line.try_send(Ok(wire::Command { kind: Some(kind) })).is_err().then_some(member)
            }
            Action::Expel(member, reason) => {
                self.hang_up(member, wire::Goodbye { reason, rejoin: true });
                None
            }
            Action::Commit(work) => {
                let office = Arc::clone(self);
                tokio::spawn(async move {
                    let id = work.work;
                    let writing = {
                        let office = Arc::clone(&office);
                        tokio::spawn(
                            async move { commit(&office.game, &office.bucket, office.settings.index, &work).await },
                        )
                    };
                    // A panic must not leave the job without an end.
                    let built = writing.await.unwrap_or_else(|e| Err(ClusterError::Panicked(e.to_string())));
                    let built = built.map_err(|e| e.line());
                    office.with(|conductor, now| {
                        conductor.note_usage(usage());
                        conductor.committed(now, id, built);
                    });
                });
                None
            }
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

    fn dismiss(&self) {
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        for line in lines.into_values() {
            let goodbye = wire::Goodbye { reason: "the coordinator stops".into(), rejoin: true };
            let _ = line.try_send(Ok(wire::Command { kind: Some(Tell::Goodbye(goodbye)) }));
        }
    }
}
