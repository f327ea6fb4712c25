//! The way of messages from worker to worker: the service that takes them, and the post that sends them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::chunk::{Letter, MAX_WIRE};
use crate::inbox::{Accepted, Inbox, Refusal};
use crate::network::KEEPALIVE;
use crate::sabotage::{Safeguard, is_gone};
use crate::wire::exchange_client::ExchangeClient;
use crate::wire::exchange_server::{Exchange, ExchangeServer};
use crate::{ClusterError, Network, Route, wire};

/// How long a message is sent again before the part fails: by then the coordinator has seen whether the peer
/// lives, and has given its shares to others.
const PATIENCE: Duration = Duration::from_secs(120);

/// The longest wait before a message is sent again.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The longest time from one try that reaches nobody to the end of the next one: where connections come to be and nothing is
/// answered, only the questions whether the other end lives end a try.
pub(crate) const LONGEST_TRY: Duration = KEEPALIVE.saturating_add(LONGEST_WAIT).saturating_mul(2);

/// How long the next chunk of a message may take.
const STALLED: Duration = Duration::from_secs(30);

/// The part of its patience after which a sender tells the coordinator that nobody answers: 20 seconds. By default workers
/// that are lost are given up before.
const COMPLAINT: u32 = 6;

/// Connections to other workers that are kept.
const CONNECTIONS: usize = 1000;

/// The letter-boxes of all parts that a worker holds, by the epochs and the numbers of their shares.
#[derive(Clone, Debug, Default)]
pub struct Inboxes(Arc<Mutex<Boxes>>);

type Boxes = BTreeMap<(u64, u32), Arc<Inbox>>;

/// A part's letter-box in its worker's set, taken away when this is dropped.
#[derive(Debug)]
pub struct Posted {
    inboxes: Inboxes,
    /// The box.
    pub inbox: Arc<Inbox>,
}

impl Inboxes {
    fn with<T>(&self, work: impl FnOnce(&mut Boxes) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts up the letter-box of a share in an attempt.
    #[must_use]
    pub fn put_up(&self, inbox: Inbox) -> Posted {
        let inbox = Arc::new(inbox);
        self.with(|boxes| boxes.insert(inbox.place(), Arc::clone(&inbox)));
        Posted { inboxes: self.clone(), inbox }
    }

    /// Takes a message of a share of the same worker. Returns its chunks.
    ///
    /// # Errors
    /// As [`Inbox::accept`].
    pub fn deliver(&self, letter: &Letter) -> Result<u32, Refusal> {
        for number in 0..letter.chunks() {
            self.accept(letter.chunk(number))?;
        }
        Ok(letter.chunks())
    }

    /// The service that takes messages into these boxes.
    #[must_use]
    pub fn service(&self) -> ExchangeServer<impl Exchange> {
        ExchangeServer::new(Taker(self.clone())).max_decoding_message_size(MAX_WIRE).max_encoding_message_size(MAX_WIRE)
    }

    fn accept(&self, chunk: wire::Chunk) -> Result<Accepted, Refusal> {
        let epoch = chunk.task.as_ref().map_or(0, |t| t.epoch);
        let find = |boxes: &mut Boxes| {
            if is_gone(Safeguard::Epochs) {
                return boxes.values().rfind(|inbox| inbox.place().1 == chunk.to).cloned();
            }
            boxes.get(&(epoch, chunk.to)).cloned()
        };
        match self.with(find) {
            Some(inbox) => inbox.accept(chunk),
            None => Err(Refusal::NotMine(format!("share {} of epoch {epoch} is not at work here", chunk.to))),
        }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        let place = self.inbox.place();
        self.inboxes.with(|boxes| {
            if boxes.get(&place).is_some_and(|there| Arc::ptr_eq(there, &self.inbox)) {
                boxes.remove(&place);
            }
        });
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

/// True for the words of a worker that did not take a message, or not in time: it was reached.
fn is_answer(status: &Status) -> bool {
    use Code::{DataLoss, DeadlineExceeded, FailedPrecondition, PermissionDenied};
    matches!(status.code(), FailedPrecondition | PermissionDenied | DataLoss | DeadlineExceeded)
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
#[derive(Clone, Debug)]
pub struct Post {
    network: Network,
    channels: Arc<Mutex<BTreeMap<String, Route>>>,
    patience: Duration,
}

impl Default for Post {
    fn default() -> Self {
        Self::new(Network::default())
    }
}

/// Where a message goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way<'a> {
    /// To a share of the same worker.
    Here(&'a Inboxes),
    /// To a worker with this URL.
    There(&'a str),
}

impl Post {
    /// A post without connections yet.
    #[must_use]
    pub fn new(network: Network) -> Self {
        Self { network, channels: Arc::default(), patience: PATIENCE }
    }

    /// The same post, which sends a message again for so long.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends a message until all of it is acknowledged. Returns its chunks.
    ///
    /// A reader that does not answer or does not know of the share is asked again: the coordinator
    /// knows more, and either gives the share to somebody or calls the sender off.
    ///
    /// # Errors
    /// [`ClusterError::Remote`] when the message contradicts what the reader holds or can hold,
    /// [`ClusterError::Unreachable`] when it was not taken for so long.
    pub async fn send(&self, address: &str, letter: &Letter) -> Result<u32, ClusterError> {
        self.deliver(Way::There(address), letter, |_| {}).await
    }

    /// As [`Post::send`], also to shares of the same worker. Complains of each try that reaches nobody, once that goes on
    /// for some time.
    pub(crate) async fn deliver(
        &self,
        way: Way<'_>,
        letter: &Letter,
        complain: impl Fn(String),
    ) -> Result<u32, ClusterError> {
        let began = Instant::now();
        // Since when tries have reached nobody, one after the other.
        let mut silent: Option<Instant> = None;
        let mut wait = Duration::from_millis(20);
        let address = match way {
            Way::Here(_) => "this worker",
            Way::There(address) => address,
        };
        loop {
            let status = match self.attempt(way, letter).await? {
                Ok(held) if held == letter.chunks() => return Ok(held),
                Ok(_) => Status::data_loss("chunks were lost on the way"),
                Err(status) => status,
            };
            if matches!(status.code(), Code::ResourceExhausted | Code::InvalidArgument | Code::OutOfRange) {
                return Err(ClusterError::Remote(format!(
                    "share {} ({address}) refused what was sent to it: {}",
                    letter.to,
                    status.message()
                )));
            }
            if began.elapsed() >= self.patience {
                return Err(ClusterError::unreachable("another worker", address, status));
            }
            if is_answer(&status) {
                silent = None;
            } else if silent.get_or_insert_with(Instant::now).elapsed() >= self.patience / COMPLAINT {
                complain(self.network.told(&status));
            }
            tracing::debug!(to = letter.to, ply = letter.ply, address, status = %status.message(), "send again");
            // Many parts lose a reader at the same moment; they must not all come back at the same one.
            tokio::time::sleep(wait.mul_f64(0.5 + fastrand::f64())).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn attempt(&self, way: Way<'_>, letter: &Letter) -> Result<Result<u32, Status>, ClusterError> {
        Ok(match way {
            Way::Here(inboxes) => inboxes.deliver(letter).map_err(Status::from),
            Way::There(address) => {
                let mut client = ExchangeClient::new(self.channel(address)?);
                let pieces = letter.clone();
                let chunks = (0..letter.chunks()).map(move |number| pieces.chunk(number));
                client.send(tokio_stream::iter(chunks)).await.map(|receipt| receipt.get_ref().held)
            }
        })
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
