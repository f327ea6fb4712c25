//! A worker: it listens for other workers, attends a coordinator, and comes back when it was away.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use canju_retro::Game;
use tokio::time::Instant;

use crate::callback::Presence;
use crate::entry::{check_address, check_name};
use crate::exchange::{Inboxes, Post};
use crate::held::Holdings;
use crate::seek::{best, seek_well};
use crate::session::{End, Session};
use crate::wire::callback_server::CallbackServer;
use crate::{Buckets, ClusterError, Health, Listener, Network, Pool};

/// How a worker is set up.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// What people call it.
    pub name: String,
    /// The URLs of coordinators, one of which is active.
    pub coordinators: Vec<String>,
    /// Where other workers' messages are taken; port 0 for any.
    pub listen: SocketAddr,
    /// The URL at which other workers reach it, where that is not the listening address.
    pub advertise: Option<String>,
    /// Allows listening where other machines can reach it.
    pub insecure_network: bool,
    /// How it reaches others and is reached.
    pub network: Network,
    /// Bytes that its parts may take; 0 for no bound.
    pub memory: u64,
    /// A folder on a disk for what parts do not need at the moment.
    pub scratch: Option<PathBuf>,
    /// Threads that compute; 0 to compute on those that wait, as simulations do.
    pub threads: usize,
    /// The first wait before a coordinator is tried again; later ones are longer.
    pub retry: Duration,
    /// How long a message to another worker is tried before its part fails.
    pub patience: Duration,
    /// How long it waits, when it is told to stop, for others to take its parts over.
    pub drain: Duration,
}

/// The longest wait between two tries to reach a coordinator.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long parts are kept while there is no coordinator to ask for them.
const HOLD: Duration = Duration::from_secs(600);

/// The orders to stop: to drain first, or to leave at once.
pub(crate) struct Signals<D, S> {
    pub(crate) drain: Pin<Box<D>>,
    pub(crate) stop: Pin<Box<S>>,
    /// The first has come.
    pub(crate) draining: bool,
}

impl<D: Future<Output = ()>, S: Future<Output = ()>> Signals<D, S> {
    /// Either of them. Only to be waited for while nothing is at work.
    pub(crate) async fn any(&mut self) {
        if self.draining {
            return;
        }
        tokio::select! {
            biased;
            () = self.stop.as_mut() => {}
            () = self.drain.as_mut() => {}
        }
        self.draining = true;
    }
}

/// The URL of an advertised address, which other workers must be able to call.
fn advertised(network: &Network, address: &str) -> Result<String, ClusterError> {
    let address = address.trim();
    let scheme = if network.serves_tls() { "https" } else { "http" };
    let url = if address.contains("://") { address.to_owned() } else { format!("{scheme}://{address}") };
    if check_address(&url).is_ok() && url.starts_with(&format!("{scheme}:")) {
        Ok(url)
    } else {
        Err(ClusterError::Refused(format!("{address:?} is no address: write --advertise HOST:PORT")))
    }
}

/// What a worker has, whichever coordinator it attends.
pub(crate) struct Site {
    pub(crate) game: Arc<dyn Game>,
    pub(crate) buckets: Arc<dyn Buckets>,
    pub(crate) settings: WorkerSettings,
    pub(crate) pool: Pool,
    pub(crate) inboxes: Inboxes,
    pub(crate) post: Post,
    pub(crate) address: String,
    /// Parts that outlive a membership.
    pub(crate) holdings: Holdings,
    /// The largest reign that was attended.
    pub(crate) reign: AtomicU64,
    /// By what it is known when it is called at its address.
    pub(crate) mark: u64,
    /// Well while it attends a coordinator.
    pub(crate) health: Health,
}

impl Site {
    /// Bytes of scratch disk that parts may take.
    pub(crate) fn scratch(&self) -> u64 {
        self.settings.scratch.as_deref().and_then(crate::usage::free_space).unwrap_or(0)
    }
}

/// A worker that listens and is ready to attend its coordinator.
pub struct Worker {
    pub(crate) site: Site,
    listener: Listener,
}

impl Worker {
    /// Starts listening and starts the threads.
    ///
    /// # Errors
    /// As [`Network::listen`] and [`Pool::new`]; [`ClusterError::Refused`] for an address or URL that is none.
    pub async fn bind(
        game: Arc<dyn Game>,
        buckets: Arc<dyn Buckets>,
        settings: WorkerSettings,
    ) -> Result<Self, ClusterError> {
        if settings.coordinators.is_empty() {
            return Err(ClusterError::Refused("the worker has no coordinator: give it --coordinator URL".into()));
        }
        settings.coordinators.iter().try_for_each(|url| check_address(url))?;
        let advertised = settings.advertise.as_deref().map(|a| advertised(&settings.network, a)).transpose()?;
        check_name(&settings.name)?;
        let pool = match settings.threads {
            0 => Pool::inline(),
            threads => Pool::new(threads, &settings.name)?,
        };
        let listener = settings.network.listen(settings.listen, settings.insecure_network).await?;
        let local = listener.address();
        let address = match advertised {
            Some(address) => address,
            None if local.ip().is_unspecified() => {
                return Err(ClusterError::Refused(format!(
                    "other workers cannot reach this one at {local}: give --advertise HOST:{}",
                    local.port()
                )));
            }
            None => settings.network.url(local),
        };
        let post = Post::new(settings.network.clone()).with_patience(settings.patience);
        let site = Site {
            game,
            buckets,
            settings,
            pool,
            inboxes: Inboxes::default(),
            post,
            address,
            holdings: Holdings::default(),
            reign: AtomicU64::new(0),
            mark: fastrand::u64(1..),
            health: Health::default(),
        };
        Ok(Self { site, listener })
    }

    /// The URL at which other workers reach it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.site.address
    }

    /// Where it listens, which may be another address than others reach it at.
    #[must_use]
    pub fn listens(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Works until it is told to stop, through any number of coordinators. `drain` lets it hand over what it
    /// has first, within the time of its settings; `stop` lets it leave at once.
    ///
    /// # Errors
    /// When coming back would end the same way: the coordinator turned it away, or the store cannot be used.
    pub async fn run(
        self,
        drain: impl Future<Output = ()>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let Self { site, listener } = self;
        let address = site.address.clone();
        let server = site
            .settings
            .network
            .server()?
            .initial_stream_window_size(2 << 20)
            .initial_connection_window_size(8 << 20)
            .add_service(site.settings.network.guarded(site.inboxes.service()))
            // Anybody may ask, as for health: with few bytes.
            .add_service(
                CallbackServer::new(Presence::new(site.mark, &site.settings.network)).max_decoding_message_size(1024),
            )
            .add_service(site.health.service())
            .serve_with_incoming(listener.incoming());
        let mut server = pin!(server);
        let signals = Signals { drain: Box::pin(drain), stop: Box::pin(stop), draining: false };
        let mut working = pin!(attend_all(&site, signals));
        tokio::select! {
            biased;
            done = working.as_mut() => done,
            stopped = server.as_mut() => {
                let source = std::io::Error::other(stopped.err().map_or_else(|| "it ended".into(), |e| e.to_string()));
                Err(ClusterError::Listen { address, option: "--listen", source })
            }
        }
    }
}

/// The coordinator to attend: of several the one that is active, where none is one that answers.
async fn choose(network: &Network, urls: &[String]) -> Result<String, ClusterError> {
    match urls {
        [url] => Ok(url.clone()),
        _ => seek_well(network, "the coordinator", urls, "").await.or_else(|heard| {
            let wrong: Vec<String> =
                heard.iter().filter_map(|one| one.as_ref().err()).map(ClusterError::line).collect();
            let found = best(heard)?;
            // One that stands by is attended, though the active one may be among those.
            wrong.iter().for_each(|error| tracing::info!(%error, "another coordinator is not reached"));
            Ok(found)
        }),
    }
}

/// Attends one coordinator after the other.
async fn attend_all<D, S>(site: &Site, mut signals: Signals<D, S>) -> Result<(), ClusterError>
where
    D: Future<Output = ()>,
    S: Future<Output = ()>,
{
    let mut urls: VecDeque<String> = site.settings.coordinators.iter().cloned().collect();
    let mut wait = site.settings.retry;
    let mut away: Option<Instant> = None;
    let mut hint: Option<String> = None;
    loop {
        let hinted = hint.is_some();
        let mut order: Vec<String> = hint.take().into_iter().collect();
        order.extend(urls.iter().filter(|url| !order.contains(url)).cloned().collect::<Vec<_>>());
        let sought = tokio::select! {
            biased;
            () = signals.any() => return Ok(()),
            sought = choose(&site.settings.network, &order) => sought,
        };
        let (url, end) = match sought {
            Ok(url) => {
                let end = Session::attend(site, &url, &mut signals).await;
                (url, end)
            }
            Err(error) => (order.join(","), End::lost(error.line())),
        };
        site.health.set(false);
        let (reason, attended, told, toward) = match end {
            End::Shutdown => return Ok(()),
            End::Final(error) => return Err(error),
            End::Lost { reason, attended, told, toward } => (reason, attended, told, toward),
        };
        if signals.draining {
            return Ok(());
        }
        if attended {
            wait = site.settings.retry;
            away = None;
        } else if !hinted {
            urls.rotate_left(1);
        }
        let since = *away.get_or_insert_with(Instant::now);
        if since.elapsed() >= HOLD && !site.holdings.is_empty() {
            tracing::warn!("no coordinator for {} minutes: the parts are given up", HOLD.as_secs() / 60);
            site.holdings.retain(|_| false);
        }
        // Many workers lose a coordinator at the same moment; they must not all come back at the same one.
        let pause = wait.mul_f64(0.5 + fastrand::f64());
        let pause_ms = pause.as_millis();
        if attended {
            tracing::warn!(coordinator = %url, reason, pause_ms, "coordinator lost, trying again");
        } else if told {
            // It stands by, or waits for its lease: at the start of a cluster that is as it should be.
            tracing::info!(coordinator = %url, reason, pause_ms, "not taken in yet, trying again");
        } else {
            tracing::warn!(coordinator = %url, reason, pause_ms, "no coordinator attended, trying again");
        }
        tokio::select! {
            biased;
            () = signals.any() => return Ok(()),
            () = tokio::time::sleep(pause) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
        // Two that point at each other must not be asked for ever.
        hint = toward.filter(|_| !hinted);
    }
}
