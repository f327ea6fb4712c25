//! The way of messages from worker to worker: the service that takes them, and the post that sends them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tonic::{Code, Request, Response, Status, Streaming};

use crate::chunk::{Letter, MAX_WIRE};
use crate::inbox::{Accepted, Inbox, Refusal};
use crate::wire::exchange_client::ExchangeClient;
use crate::wire::exchange_server::{Exchange, ExchangeServer};
use crate::{ClusterError, MemberId, Network, Route, wire};

/// How often a message is sent before the part fails: by then the coordinator has seen whether the peer lives.
const ATTEMPTS: u32 = 8;

/// How long the next chunk of a message may take.
const STALLED: Duration = Duration::from_secs(30);

/// Connections to other workers that are kept.
const CONNECTIONS: usize = 1000;

/// The letter-boxes of all parts that a worker holds, by their epochs.
#[derive(Clone, Debug, Default)]
pub struct Inboxes(Arc<Mutex<HashMap<u64, Arc<Inbox>>>>);

/// A part's letter-box in its worker's set, taken away when this is dropped.
#[derive(Debug)]
pub struct Posted {
    inboxes: Inboxes,
    epoch: u64,
    /// The box.
    pub inbox: Arc<Inbox>,
}

impl Inboxes {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<u64, Arc<Inbox>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts up the letter-box of an attempt.
    #[must_use]
    pub fn put_up(&self, epoch: u64, inbox: Inbox) -> Posted {
        let inbox = Arc::new(inbox);
        self.with(|boxes| boxes.insert(epoch, Arc::clone(&inbox)));
        Posted { inboxes: self.clone(), epoch, inbox }
    }

    /// The service that takes messages into these boxes.
    #[must_use]
    pub fn service(&self) -> ExchangeServer<impl Exchange> {
        ExchangeServer::new(Taker(self.clone())).max_decoding_message_size(MAX_WIRE).max_encoding_message_size(MAX_WIRE)
    }

    fn accept(&self, chunk: wire::Chunk) -> Result<Accepted, Refusal> {
        let epoch = chunk.task.as_ref().map_or(0, |t| t.epoch);
        match self.with(|boxes| boxes.get(&epoch).cloned()) {
            Some(inbox) => inbox.accept(chunk),
            None => Err(Refusal::NotMine(format!("nothing of epoch {epoch} is at work here"))),
        }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        self.inboxes.with(|boxes| boxes.remove(&self.epoch));
    }
}

struct Taker(Inboxes);

#[tonic::async_trait]
impl Exchange for Taker {
    async fn send(
        self: Arc<Self>,
        request: Request<Streaming<wire::Chunk>>,
    ) -> Result<Response<wire::Receipt>, Status> {
        let mut chunks = request.into_inner();
        let mut receipt = wire::Receipt::default();
        // A chunk is asked for when the one before is in its box: the sender goes no faster than that.
        loop {
            let next = tokio::time::timeout(STALLED, chunks.message()).await;
            let next = next.map_err(|_| Status::deadline_exceeded("the rest of the message did not come"))?;
            let Some(chunk) = next? else { break };
            match self.0.accept(chunk)? {
                Accepted::New => {}
                Accepted::Repeated => receipt.repeated += 1,
            }
            receipt.held += 1;
        }
        Ok(Response::new(receipt))
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            Refusal::NotMine(_) | Refusal::Ahead { .. } => Self::failed_precondition(text),
            Refusal::Stranger(_) => Self::permission_denied(text),
            Refusal::Damaged => Self::data_loss(text),
            Refusal::TooLarge(_) => Self::resource_exhausted(text),
            Refusal::Contradiction(_) => Self::invalid_argument(text),
        }
    }
}

/// Sends messages to other workers, over one connection to each.
#[derive(Clone, Debug, Default)]
pub struct Post {
    network: Network,
    channels: Arc<Mutex<HashMap<String, Route>>>,
}

impl Post {
    /// A post without connections yet.
    #[must_use]
    pub fn new(network: Network) -> Self {
        Self { network, channels: Arc::default() }
    }

    /// Sends a message until all of it is acknowledged. Returns its chunks.
    ///
    /// # Errors
    /// [`ClusterError::Remote`] when the reader refuses it, [`ClusterError::Unreachable`] when it does not answer.
    pub async fn send(&self, address: &str, letter: &Letter) -> Result<u32, ClusterError> {
        let channel = self.channel(address)?;
        let mut wait = Duration::from_millis(20);
        for attempt in 1.. {
            let pieces = letter.clone();
            let chunks = (0..letter.chunks()).map(move |number| pieces.chunk(number));
            let mut client = ExchangeClient::new(channel.clone());
            let status = match client.send(tokio_stream::iter(chunks)).await {
                Ok(receipt) if receipt.get_ref().held == letter.chunks() => return Ok(letter.chunks()),
                Ok(_) => Status::data_loss("chunks were lost on the way"),
                Err(status) => status,
            };
            let worth_it = matches!(
                status.code(),
                Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DataLoss | Code::DeadlineExceeded
            );
            if !worth_it {
                return Err(refused(letter.to, address, &status));
            }
            if attempt >= ATTEMPTS {
                return Err(ClusterError::Unreachable {
                    what: "another worker",
                    address: address.to_owned(),
                    source: Box::new(status),
                });
            }
            tracing::debug!(peer = %letter.to, ply = letter.ply, attempt, status = %status.message(), "send again");
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(2));
        }
        Err(ClusterError::CalledOff)
    }

    fn channel(&self, address: &str) -> Result<Route, ClusterError> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(address) {
            return Ok(channel.clone());
        }
        let channel = self.network.connect_lazy("another worker", address)?;
        if channels.len() >= CONNECTIONS {
            // Most of them lead to workers that are gone; the others are made again when they are needed.
            channels.clear();
        }
        channels.insert(address.to_owned(), channel.clone());
        Ok(channel)
    }
}

fn refused(to: MemberId, address: &str, status: &Status) -> ClusterError {
    ClusterError::Remote(format!("worker {to} ({address}) refused what was sent to it: {}", status.message()))
}
