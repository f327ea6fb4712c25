//! What clients do with a coordinator.

use tonic::{Code, Status, Streaming};

use crate::wire::jobs_client::JobsClient;
use crate::{ClusterError, Network, Route, wire};

/// Bytes of an answer: the list of all jobs is the longest.
const MAX_REPLY: usize = 64 << 20;

/// A connection to a coordinator.
#[derive(Clone, Debug)]
pub struct Client {
    jobs: JobsClient<Route>,
    url: String,
    network: Network,
}

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
        let channel = network.connect("the coordinator", url).await?;
        Ok(Self {
            jobs: JobsClient::new(channel).max_decoding_message_size(MAX_REPLY),
            url: url.to_owned(),
            network: network.clone(),
        })
    }

    fn error(&self, status: Status) -> ClusterError {
        match status.code() {
            Code::Unavailable | Code::Unknown | Code::Cancelled => unreachable(&self.url, self.network.told(&status)),
            _ => status.into(),
        }
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
        let reply = self.jobs.submit(request).await.map_err(|s| self.error(s))?;
        reply.into_inner().job.ok_or_else(|| ClusterError::Protocol("an answer without its job".into()))
    }

    /// All jobs, oldest first.
    ///
    /// # Errors
    /// [`ClusterError::Unreachable`].
    pub async fn jobs(&mut self) -> Result<Vec<wire::Job>, ClusterError> {
        let reply = self.jobs.list(wire::ListRequest {}).await.map_err(|s| self.error(s))?;
        Ok(reply.into_inner().jobs)
    }

    /// Workers and open jobs.
    ///
    /// # Errors
    /// [`ClusterError::Unreachable`].
    pub async fn status(&mut self) -> Result<wire::StatusReply, ClusterError> {
        Ok(self.jobs.status(wire::StatusRequest {}).await.map_err(|s| self.error(s))?.into_inner())
    }

    /// Follows a job.
    ///
    /// # Errors
    /// What the coordinator answers.
    pub async fn watch(&mut self, job: &str) -> Result<Watch, ClusterError> {
        let request = wire::WatchRequest { job: job.to_owned() };
        let pictures = self.jobs.watch(request).await.map_err(|s| self.error(s))?.into_inner();
        Ok(Watch { pictures, url: self.url.clone() })
    }

    /// Ends a job.
    ///
    /// # Errors
    /// What the coordinator answers.
    pub async fn cancel(&mut self, job: &str) -> Result<wire::Job, ClusterError> {
        let request = wire::CancelRequest { job: job.to_owned() };
        Ok(self.jobs.cancel(request).await.map_err(|s| self.error(s))?.into_inner())
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

fn unreachable(url: &str, cause: String) -> ClusterError {
    ClusterError::Unreachable { what: "the coordinator", address: url.to_owned(), source: cause.into() }
}
