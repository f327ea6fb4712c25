//! The HTTP port of a worker: probes and metrics.

use std::sync::Arc;

use axum::Router;

use crate::http::{Answers, HttpPort, HttpSettings};
use crate::{ClusterError, Health, Worker, metrics};

/// The HTTP port of a worker, open and not yet served.
pub struct Probe {
    port: HttpPort,
    state: State,
}

#[derive(Clone)]
struct State {
    health: Health,
    memory: u64,
    threads: usize,
}

impl Worker {
    /// Opens an HTTP port for probes and metrics.
    ///
    /// # Errors
    /// As [`crate::Coordinator::dashboard`].
    pub async fn probe(&self, settings: &HttpSettings) -> Result<Probe, ClusterError> {
        let site = &self.site;
        let port = HttpPort::open(&site.settings.network, settings).await?;
        let (health, memory, threads) = (site.health.clone(), site.settings.memory, site.pool.threads());
        Ok(Probe { port, state: State { health, memory, threads } })
    }
}

impl Probe {
    /// Where it is asked.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.port.address())
    }

    /// Serves until `shutdown`.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        tokio::select! {
            () = self.port.serve(Arc::new(self.state), Router::new()) => {}
            () = shutdown => {}
        }
    }
}

impl Answers for State {
    fn is_ready(&self) -> bool {
        self.health.is_ready()
    }

    fn metrics(&self) -> String {
        metrics::worker(self.is_ready(), self.memory, self.threads)
    }
}
