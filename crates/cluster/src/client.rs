//! What clients do with a coordinator.

use std::error::Error;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tonic::{Code, Response, Status, Streaming};

use crate::door::ACTIVE;
use crate::picture::is_sure;
use crate::seek::{ALONE, Heard, Standing, best, seek};
use crate::wire::jobs_client::JobsClient;
use crate::{ClusterError, Network, Route, wire};

/// Bytes of an answer: the list of all jobs is the longest.
const MAX_REPLY: usize = 64 << 20;

/// A connection to the active coordinator of a cluster.
#[derive(Clone, Debug)]
pub struct Client {
    network: Network,
    /// Where coordinators may be.
    urls: Vec<String>,
    jobs: JobsClient<Route>,
    url: String,
}

/// Coordinators that may send a client on to the next one.
const DETOURS: usize = 3;
/// How long a coordinator that waits for its lease is asked again.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

impl Client {
    /// Connects to a coordinator.
    ///
    /// # Errors
    /// [`ClusterError::Unreachable`] when nobody answers there, [`ClusterError::Refused`] for what is no URL.
    pub async fn connect(url: &str) -> Result<Self, ClusterError> {
        Self::connect_over(&Network::default(), url).await
    }

    /// Connects to a coordinator over this network.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_over(network: &Network, url: &str) -> Result<Self, ClusterError> {
        Self::connect_any(network, &[url.to_owned()]).await
    }

    /// Connects over this network to the active one of these coordinators; where none is sure that it is, to one that
    /// answers, and one that is given alone is taken as it is. One that hangs does not hold up the others.
    ///
    /// # Errors
    /// As [`Client::connect`], of the first one.
    pub async fn connect_any(network: &Network, urls: &[String]) -> Result<Self, ClusterError> {
        if let [url] = urls {
            return Self::at(network, urls, url).await;
        }
        let look = |url: String| async move {
            let client = Self::at(network, urls, &url).await?;
            let (standing, named) = client.standing().await?;
            // The active one need not be among those that were given; it may hang like any other.
            if let Some(named) = named.filter(|named| !urls.contains(named))
                && let Ok(Ok(found)) = timeout(ALONE, Self::named(network, urls, &named)).await
                && found.0 > standing
            {
                return Ok(found);
            }
            Ok((standing, client))
        };
        seek(urls, look).await.or_else(best)
    }

    async fn at(network: &Network, urls: &[String], url: &str) -> Result<Self, ClusterError> {
        let route = network.connect("the coordinator", url).await?;
        Ok(Self { network: network.clone(), urls: urls.to_vec(), jobs: jobs_over(route), url: url.to_owned() })
    }

    async fn named(network: &Network, urls: &[String], url: &str) -> Heard<Self> {
        let client = Self::at(network, urls, url).await?;
        Ok((client.standing().await?.0, client))
    }

    /// What the coordinator says of itself, and which other one it calls active.
    async fn standing(&self) -> Result<(Standing, Option<String>), ClusterError> {
        let status = match self.jobs.clone().status(wire::StatusRequest {}).await {
            Ok(status) if is_sure(status.get_ref()) => return Ok((Standing::Active, None)),
            Ok(_) => return Ok((Standing::Unsure, None)),
            Err(status) => status,
        };
        match status.metadata().get(ACTIVE) {
            Some(active) => {
                let named = active.to_str().ok().filter(|url| !url.is_empty());
                Ok((Standing::Standby, named.map(str::to_owned)))
            }
            None => Err(self.error(status).await),
        }
    }

    /// Connects again, to whichever coordinator answers now.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn reconnect(&mut self) -> Result<(), ClusterError> {
        *self = Self::connect_any(&self.network.clone(), &self.urls.clone()).await?;
        Ok(())
    }

    /// Asks; where a coordinator stands by, the one that it names, and where one is away, whichever of all that were given
    /// answers now.
    async fn ask<T, F: Future<Output = Result<Response<T>, Status>>>(
        &mut self,
        question: impl Fn(JobsClient<Route>) -> F,
    ) -> Result<T, ClusterError> {
        let mut detours = 0;
        let began = Instant::now();
        let mut others = self.urls.len() > 1;
        loop {
            let status = match question(self.jobs.clone()).await {
                Ok(answer) => return Ok(answer.into_inner()),
                Err(status) => status,
            };
            match status.metadata().get(ACTIVE).and_then(|url| url.to_str().ok()) {
                // It has only just begun, or there is nobody it could name.
                Some("") if began.elapsed() < PATIENCE => sleep(PAUSE).await,
                Some(active) if !active.is_empty() && detours < DETOURS => {
                    detours += 1;
                    self.jobs = jobs_over(self.network.connect("the coordinator", active).await?);
                    self.url = active.to_owned();
                }
                // One that was halted takes connections and says nothing. What is submitted twice is built once.
                None if others && is_away(&status) => {
                    others = false;
                    self.reconnect().await?;
                }
                _ => return Err(self.error(status).await),
            }
        }
    }

    async fn error(&self, status: Status) -> ClusterError {
        let error = match status.code() {
            _ if is_away(&status) => unreachable(&self.url, self.network.told(&status)),
            // What a coordinator itself says of its standing is better than that it cannot be reached.
            Code::Unavailable => ClusterError::Remote(status.message().to_owned()),
            // The connection broke, or no gRPC is spoken there.
            Code::Internal if status.source().is_some() => unreachable(&self.url, self.network.told(&status)),
            Code::Unimplemented => {
                ClusterError::Refused(format!("{} is another server than a coordinator, perhaps a worker", self.url))
            }
            _ => status.into(),
        };
        self.network.explain(error).await
    }

    /// Asks for tables, by names as users write them.
    ///
    /// # Errors
    /// What the coordinator answers.
    pub async fn submit(
        &mut self,
        tables: &[String],
        metrics: &[String],
        rules: &str,
    ) -> Result<wire::Job, ClusterError> {
        let (tables, metrics) = (tables.to_vec(), metrics.to_vec());
        let request = wire::SubmitRequest { tables, metrics, rules: rules.to_owned() };
        let reply = self
            .ask(|mut jobs| {
                let request = request.clone();
                async move { jobs.submit(request).await }
            })
            .await?;
        reply.job.ok_or_else(|| ClusterError::Protocol("an answer without its job".into()))
    }

    /// All jobs, oldest first.
    ///
    /// # Errors
    /// [`ClusterError::Unreachable`].
    pub async fn jobs(&mut self) -> Result<Vec<wire::Job>, ClusterError> {
        Ok(self.ask(|mut jobs| async move { jobs.list(wire::ListRequest {}).await }).await?.jobs)
    }

    /// Workers and open jobs.
    ///
    /// # Errors
    /// [`ClusterError::Unreachable`].
    pub async fn status(&mut self) -> Result<wire::StatusReply, ClusterError> {
        self.ask(|mut jobs| async move { jobs.status(wire::StatusRequest {}).await }).await
    }

    /// Follows a job.
    ///
    /// # Errors
    /// What the coordinator answers.
    pub async fn watch(&mut self, job: &str) -> Result<Watch, ClusterError> {
        let request = wire::WatchRequest { job: job.to_owned() };
        let pictures = self
            .ask(|mut jobs| {
                let request = request.clone();
                async move { jobs.watch(request).await }
            })
            .await?;
        Ok(Watch { pictures, url: self.url.clone() })
    }

    /// Ends a job.
    ///
    /// # Errors
    /// What the coordinator answers.
    pub async fn cancel(&mut self, job: &str) -> Result<wire::Job, ClusterError> {
        let request = wire::CancelRequest { job: job.to_owned() };
        self.ask(|mut jobs| {
            let request = request.clone();
            async move { jobs.cancel(request).await }
        })
        .await
    }
}

/// A job as it goes on.
#[derive(Debug)]
pub struct Watch {
    pictures: Streaming<wire::Job>,
    url: String,
}

impl Watch {
    /// The job at its next change; `None` behind the last one.
    ///
    /// # Errors
    /// [`ClusterError::Unreachable`] when the coordinator is gone.
    pub async fn next(&mut self) -> Result<Option<wire::Job>, ClusterError> {
        self.pictures.message().await.map_err(|e| unreachable(&self.url, e.message().to_owned()))
    }
}

/// True when this is not what a coordinator said, but that it said nothing.
fn is_away(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => status.source().is_some(),
        code => matches!(code, Code::Unknown | Code::Cancelled),
    }
}

fn jobs_over(route: Route) -> JobsClient<Route> {
    JobsClient::new(route).max_decoding_message_size(MAX_REPLY)
}

fn unreachable(url: &str, cause: String) -> ClusterError {
    ClusterError::unreachable("the coordinator", url, cause)
}
