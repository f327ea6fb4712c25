//! A message between workers, cut into pieces that are small, numbered and checked.

use bytes::Bytes;
use prost::Message;

use crate::{Task, wire};

/// The longest payload of a piece, in bytes.
pub const MAX_PAYLOAD: usize = 512 * 1024;

/// The longest message of the exchange on the wire: a payload and its header.
pub(crate) const MAX_WIRE: usize = MAX_PAYLOAD + 1024;

/// A message of one ply, with its addresses.
#[derive(Clone, Debug)]
pub struct Letter {
    /// What is solved.
    pub task: Task,
    /// Which ply.
    pub ply: u16,
    /// The number of the share that sends.
    pub from: u32,
    /// The number of the share that receives.
    pub to: u32,
    /// What the part exported.
    pub message: Bytes,
}

impl Letter {
    /// How many pieces the message takes; an empty one takes one.
    #[must_use]
    pub fn chunks(&self) -> u32 {
        self.message.len().div_ceil(MAX_PAYLOAD).max(1) as u32
    }

    /// Bytes of all pieces with their headers, before they are framed.
    #[must_use]
    pub fn wire_bytes(&self) -> u64 {
        let header = wire::Chunk { payload: Bytes::new(), ..self.chunk(0) };
        self.message.len() as u64 + u64::from(self.chunks()) * header.encoded_len() as u64
    }

    /// The piece with this number.
    #[must_use]
    pub fn chunk(&self, sequence: u32) -> wire::Chunk {
        let start = (sequence as usize * MAX_PAYLOAD).min(self.message.len());
        let end = (start + MAX_PAYLOAD).min(self.message.len());
        let mut chunk = wire::Chunk {
            task: Some((&self.task).into()),
            ply: u32::from(self.ply),
            from: self.from,
            to: self.to,
            sequence,
            last: sequence + 1 == self.chunks(),
            payload: self.message.slice(start..end),
            checksum: 0,
        };
        chunk.checksum = checksum(&chunk);
        chunk
    }
}

/// The checksum that a piece must carry: over everything else in it.
pub(crate) fn checksum(chunk: &wire::Chunk) -> u64 {
    let mut hasher = blake3::Hasher::new();
    if let Some(task) = &chunk.task {
        for text in [&task.job, &task.table, &task.metric] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.update(&task.epoch.to_le_bytes());
    }
    hasher.update(&chunk.ply.to_le_bytes());
    hasher.update(&chunk.from.to_le_bytes());
    hasher.update(&chunk.to.to_le_bytes());
    hasher.update(&chunk.sequence.to_le_bytes());
    hasher.update(&[u8::from(chunk.last)]);
    hasher.update(&chunk.payload);
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
