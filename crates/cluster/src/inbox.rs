//! What a part has received of the ply at work. Pieces may come late, twice and in any order.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use crate::chunk::{MAX_PAYLOAD, checksum};
use crate::sabotage::{Safeguard, is_gone};
use crate::{Task, wire};

/// Why a piece is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It belongs to another attempt, table, job or share.
    #[error("not for this part: {0}")]
    NotMine(String),
    /// The sender has no slices that this part reads.
    #[error("share {0} has nothing that this part reads")]
    Stranger(u32),
    /// It is of a ply that nobody may have begun.
    #[error("ply {ply} came while ply {open} is at work")]
    Ahead {
        /// What came.
        ply: u32,
        /// What is at work.
        open: u16,
    },
    /// Its bytes are not those that were sent.
    #[error("a chunk was damaged on the way: its checksum is wrong")]
    Damaged,
    /// It is larger than a chunk may be, or makes the message larger than it can be.
    #[error("{0} bytes are more than are taken")]
    TooLarge(usize),
    /// It contradicts a piece that is held.
    #[error("chunk {0} contradicts what is held")]
    Contradiction(u32),
}

/// A complete message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// What the sender's part exported.
    pub message: Vec<u8>,
    /// In how many pieces it came.
    pub chunks: u32,
}

/// What the sender of a piece learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It was missing.
    New,
    /// It was held already, or its ply is over.
    Repeated,
}

#[derive(Debug, Default)]
struct Pieces {
    held: BTreeMap<u32, (Bytes, u64)>,
    bytes: usize,
    total: Option<u32>,
    /// The message was handed over.
    taken: bool,
}

#[derive(Debug)]
struct State {
    ply: u16,
    senders: BTreeMap<u32, Pieces>,
}

/// The letter-box of one part.
#[derive(Debug)]
pub struct Inbox {
    task: Task,
    me: u32,
    /// The longest message that each sender can have.
    limits: BTreeMap<u32, usize>,
    state: Mutex<State>,
    /// Counts complete messages, to wake who waits for them.
    complete: watch::Sender<u64>,
}

impl Inbox {
    /// An empty box of share `me`, at ply 0, for messages of these shares, each with the longest message that
    /// it can have.
    #[must_use]
    pub fn new(task: Task, me: u32, limits: BTreeMap<u32, usize>) -> Self {
        let senders = limits.keys().map(|&m| (m, Pieces::default())).collect();
        let state = Mutex::new(State { ply: 0, senders });
        Self { task, me, limits, state, complete: watch::Sender::new(0) }
    }

    /// The attempt and the share that it belongs to.
    pub(crate) const fn place(&self) -> (u64, u32) {
        (self.task.epoch, self.me)
    }

    /// The shares whose messages are taken.
    pub fn senders(&self) -> impl Iterator<Item = u32> + '_ {
        self.limits.keys().copied()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a piece. Taking it again changes nothing.
    ///
    /// # Errors
    /// A [`Refusal`]; nothing has changed then.
    pub fn accept(&self, chunk: wire::Chunk) -> Result<Accepted, Refusal> {
        let from = self.check(&chunk)?;
        let limit = self.limits.get(&from).copied().ok_or(Refusal::Stranger(chunk.from))?;
        let mut state = self.lock();
        if chunk.ply < u32::from(state.ply) {
            return Ok(Accepted::Repeated);
        }
        if chunk.ply > u32::from(state.ply) {
            return Err(Refusal::Ahead { ply: chunk.ply, open: state.ply });
        }
        let pieces = state.senders.entry(from).or_default();
        let accepted = pieces.add(chunk, limit)?;
        if pieces.is_complete() && accepted == Accepted::New {
            drop(state);
            self.complete.send_modify(|n| *n += 1);
        }
        Ok(accepted)
    }

    fn check(&self, chunk: &wire::Chunk) -> Result<u32, Refusal> {
        if chunk.payload.len() > MAX_PAYLOAD {
            return Err(Refusal::TooLarge(chunk.payload.len()));
        }
        if chunk.checksum != checksum(chunk) {
            return Err(Refusal::Damaged);
        }
        let task = Task::try_from(chunk.task.clone()).map_err(|e| Refusal::NotMine(e.line()))?;
        if task != self.task && !is_gone(Safeguard::Epochs) {
            return Err(Refusal::NotMine(format!("it is of {task}, at work is {}", self.task)));
        }
        if chunk.to != self.me {
            return Err(Refusal::NotMine(format!("it is for share {}, this is share {}", chunk.to, self.me)));
        }
        Ok(chunk.from)
    }

    /// Waits for the whole message of a sender, and takes it out.
    pub async fn take(&self, from: u32) -> Received {
        let mut complete = self.complete.subscribe();
        loop {
            complete.mark_unchanged();
            if let Some(received) = self.lock().senders.get_mut(&from).and_then(Pieces::take) {
                return received;
            }
            if is_gone(Safeguard::Waiting) {
                return Received { message: Vec::new(), chunks: 0 };
            }
            // The sender lives as long as the box.
            let _ = complete.changed().await;
        }
    }

    /// Opens the box for the next ply, empty. What still comes of the last one is known and changes nothing.
    pub fn turn(&self, ply: u16) {
        let mut state = self.lock();
        state.ply = ply;
        for pieces in state.senders.values_mut() {
            *pieces = Pieces::default();
        }
    }
}

impl Pieces {
    fn is_complete(&self) -> bool {
        self.total == Some(self.held.len() as u32)
    }

    fn add(&mut self, chunk: wire::Chunk, limit: usize) -> Result<Accepted, Refusal> {
        if self.taken {
            return Ok(Accepted::Repeated);
        }
        let number = chunk.sequence;
        if let Some((_, known)) = self.held.get(&number) {
            return if *known == chunk.checksum { Ok(Accepted::Repeated) } else { Err(Refusal::Contradiction(number)) };
        }
        let beyond = self.total.is_some_and(|total| number >= total);
        let ends_early = chunk.last && self.held.keys().next_back().is_some_and(|&k| k > number);
        // Only the last piece may be short: otherwise empty pieces would fill the box without end.
        let short = !chunk.last && chunk.payload.len() != MAX_PAYLOAD;
        if beyond || ends_early || short || (chunk.last && self.total.is_some()) {
            return Err(Refusal::Contradiction(number));
        }
        let bytes = self.bytes + chunk.payload.len();
        if bytes > limit || number as usize > limit.div_ceil(MAX_PAYLOAD) {
            return Err(Refusal::TooLarge(bytes));
        }
        self.bytes = bytes;
        if chunk.last {
            self.total = Some(number + 1);
        }
        self.held.insert(number, (chunk.payload, chunk.checksum));
        Ok(Accepted::New)
    }

    fn take(&mut self) -> Option<Received> {
        if self.taken || !self.is_complete() {
            return None;
        }
        let mut message = Vec::with_capacity(self.bytes);
        let chunks = self.held.len() as u32;
        for (payload, _) in std::mem::take(&mut self.held).into_values() {
            message.extend_from_slice(&payload);
        }
        self.taken = true;
        Some(Received { message, chunks })
    }
}
