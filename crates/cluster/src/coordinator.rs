//! The coordinator as a process: it listens, waits for the lease, and reigns while it has it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use canju_retro::Game;
use tokio::sync::oneshot;

use crate::door::Door;
use crate::lease::{Holder, Lease};
use crate::office::{Office, ReignEnd};
use crate::wire::jobs_server::JobsServer;
use crate::wire::membership_server::MembershipServer;
use crate::{Bucket, Buckets, ClusterError, Health, LeaseTiming, Listener, Network, Pool, Settings};

/// How a coordinator is set up.
#[derive(Clone, Debug)]
pub struct CoordinatorSettings {
    /// Where it listens; port 0 for any.
    pub listen: SocketAddr,
    /// The URL at which workers and clients reach it, where that is not the listening address.
    pub advertise: Option<String>,
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
    /// How often the logs of parts go to the store.
    pub checkpoint: Duration,
    /// How the lease is held and taken.
    pub lease: LeaseTiming,
    /// How it behaves.
    pub conductor: Settings,
    /// The threads that plan.
    pub pool: Pool,
}

/// How long open streams may take to end when the coordinator stops.
const FAREWELL: Duration = Duration::from_millis(500);
/// The wait after a store that failed.
const AGAIN: Duration = Duration::from_secs(2);
/// How long a request may take until its answer begins.
const LONGEST_REQUEST: Duration = Duration::from_secs(300);
/// Bytes of a worker's report: the entries of its shards are the most.
const MAX_REPORT: usize = 16 << 20;
/// Bytes of what a client asks.
const MAX_REQUEST: usize = 1 << 20;

/// A coordinator that listens.
pub struct Coordinator {
    game: Arc<dyn Game>,
    bucket: Bucket,
    identity: String,
    pub(crate) settings: CoordinatorSettings,
    pub(crate) door: Arc<Door>,
    health: Health,
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
        Ok(Self { game, bucket, identity, settings, door: Arc::default(), health: Health::default(), listener })
    }

    /// The URL at which workers and clients reach it, from this machine.
    #[must_use]
    pub fn url(&self) -> String {
        self.settings.network.url(self.listener.address())
    }

    /// Serves until `shutdown`: stands by while another coordinator of the store has the lease, and takes its place
    /// when that one is gone.
    ///
    /// # Errors
    /// [`ClusterError::Listen`] when the server ends by itself; what the store says of the lease.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ClusterError> {
        let Self { game, bucket, identity, settings, door, health, listener } = self;
        let address = listener.address();
        tracing::info!(%address, store = %bucket.store.place(), "coordinator listens");
        let (stop, stopped) = oneshot::channel::<()>();
        let network = &settings.network;
        let membership = MembershipServer::from_arc(Arc::clone(&door)).max_decoding_message_size(MAX_REPORT);
        let jobs = JobsServer::from_arc(Arc::clone(&door)).max_decoding_message_size(MAX_REQUEST);
        let server = network
            .server()?
            .timeout(LONGEST_REQUEST)
            .add_service(network.guarded(membership))
            .add_service(network.guarded(jobs))
            .add_service(health.service())
            .serve_with_incoming_shutdown(listener.incoming(), async {
                let _ = stopped.await;
            });
        let mut server = tokio::spawn(server);
        let url = settings.advertise.as_deref().map_or_else(|| network.url(address), |given| network.url_of(given));
        let reigns = async {
            let mut reign = 0;
            tokio::pin!(shutdown);
            loop {
                let store = Arc::clone(&bucket.store);
                let watch = |holder: &Holder| door.stand_by(&holder.address);
                let lease = tokio::select! {
                    biased;
                    () = &mut shutdown => return Ok(()),
                    lease = Lease::take(store, Holder::here(&url), settings.lease, reign, watch) => lease,
                };
                let lease = match lease {
                    Ok(lease) => lease,
                    Err(ClusterError::Store(error)) if error.is_transient() => {
                        tracing::warn!(%error, "the lease cannot be asked for");
                        tokio::time::sleep(AGAIN).await;
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                reign = lease.reign();
                tracing::info!(reign, "this coordinator is active");
                let office = Office::new(Arc::clone(&game), bucket.clone(), settings.clone(), identity.clone(), reign);
                let end = office.reign(&door, &health, lease, &mut shutdown).await;
                office.dismiss();
                match end {
                    ReignEnd::Stopped(lease) => {
                        office.flush().await;
                        lease.release().await;
                        return Ok(());
                    }
                    ReignEnd::Deposed => {
                        tracing::warn!(reign, "another coordinator has the lease now, this one stands by")
                    }
                    ReignEnd::Failed(error) => {
                        tracing::error!(error = %error.line(), "the jobs cannot be taken up, trying again");
                        tokio::time::sleep(AGAIN).await;
                    }
                }
            }
        };
        let ended = tokio::select! {
            biased;
            ended = reigns => Ok(ended),
            ended = &mut server => Err(ended),
        };
        match ended {
            Ok(result) => {
                let _ = stop.send(());
                if tokio::time::timeout(FAREWELL, &mut server).await.is_err() {
                    server.abort();
                }
                result
            }
            Err(ended) => {
                let text = match ended {
                    Ok(Ok(())) => "it ended".to_owned(),
                    Ok(Err(e)) => e.to_string(),
                    Err(e) => e.to_string(),
                };
                let (address, source) = (address.to_string(), std::io::Error::other(text));
                Err(ClusterError::Listen { address, option: "--listen", source })
            }
        }
    }
}
