//! A worker: it listens for other workers, attends a coordinator, and comes back to it when it was away.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use canju_retro::Game;

use crate::entry::{check_address, check_name};
use crate::exchange::{Inboxes, Post};
use crate::session::{End, Session};
use crate::{Buckets, ClusterError, Health, Listener, Network, Pool};

/// How a worker is set up.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// What people call it.
    pub name: String,
    /// The coordinator's URL.
    pub coordinator: String,
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
    /// Threads that compute.
    pub threads: usize,
    /// The first wait before the coordinator is tried again; later ones are longer.
    pub retry: Duration,
}

/// The longest wait between two tries to reach the coordinator.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

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
    /// Well while it attends a coordinator.
    pub(crate) health: Health,
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
    /// As [`Network::listen`] and [`Pool::new`]; [`ClusterError::Refused`] for an advertised address that is none.
    pub async fn bind(
        game: Arc<dyn Game>,
        buckets: Arc<dyn Buckets>,
        settings: WorkerSettings,
    ) -> Result<Self, ClusterError> {
        let advertised = settings.advertise.as_deref().map(|a| advertised(&settings.network, a)).transpose()?;
        check_name(&settings.name)?;
        let pool = Pool::new(settings.threads, &settings.name)?;
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
        let (inboxes, post) = (Inboxes::default(), Post::new(settings.network.clone()));
        Ok(Self {
            site: Site { game, buckets, settings, pool, inboxes, post, address, health: Health::default() },
            listener,
        })
    }

    /// The URL at which other workers reach it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.site.address
    }

    /// Works until `shutdown`, through any number of coordinators.
    ///
    /// # Errors
    /// When coming back would end the same way: the coordinator turned it away, or the store cannot be used.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ClusterError> {
        let Self { site, listener } = self;
        let address = site.address.clone();
        let server = site
            .settings
            .network
            .server()?
            .initial_stream_window_size(2 << 20)
            .initial_connection_window_size(8 << 20)
            .add_service(site.settings.network.guarded(site.inboxes.service()))
            .add_service(site.health.service())
            .serve_with_incoming(listener.incoming());
        let mut server = pin!(server);
        let mut shutdown = pin!(shutdown);
        let mut wait = site.settings.retry;
        loop {
            let session = Session::attend(&site, shutdown.as_mut());
            let end = tokio::select! {
                end = session => end,
                stopped = server.as_mut() => {
                    let source = std::io::Error::other(stopped.err().map_or_else(|| "it ended".into(), |e| e.to_string()));
                    return Err(ClusterError::Listen { address, source });
                }
            };
            site.health.set(false);
            match end {
                End::Shutdown => return Ok(()),
                End::Final(error) => return Err(error),
                End::Lost { reason, attended } => {
                    if attended {
                        wait = site.settings.retry;
                    }
                    // Many workers lose a coordinator at the same moment; they must not all come back at the same one.
                    let pause = wait.mul_f64(0.5 + fastrand::f64());
                    tracing::warn!(coordinator = %site.settings.coordinator, reason, pause_ms = pause.as_millis(),
                        "coordinator lost, trying again");
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = shutdown.as_mut() => return Ok(()),
                    }
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        }
    }
}
