//! How much one request may ask, and how much is done at a time.

use std::time::Duration;

/// The bounds of a server. The defaults are what `canju serve` takes unless told otherwise.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a FEN.
    pub fen: usize,
    /// Bytes of a request's body.
    pub body: usize,
    /// Bodies that come in at a time; more are told to come again.
    pub bodies: usize,
    /// Positions of a batch.
    pub batch: usize,
    /// Positions of a batch that asks for moves.
    pub batch_with_moves: usize,
    /// Plies of a line.
    pub line: usize,
    /// Requests that are worked on or wait for it; more are told to come again.
    pub requests: usize,
    /// Threads that ask the tables.
    pub threads: usize,
    /// How long an answer, and the body of a question, may take.
    pub timeout: Duration,
    /// How long what is known of the tables is held true: the list of them, and what a table lacks.
    pub fresh: Duration,
    /// Connections at a time; more wait to be taken.
    pub connections: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head: Duration,
    /// How long a client may take no byte of an answer.
    pub stall: Duration,
    /// How long answers may take to be finished when the server is told to end.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            fen: 200,
            body: 2 << 20,
            bodies: 128,
            batch: 1000,
            batch_with_moves: 100,
            line: 10_000,
            requests: 1024,
            // More than processors: a thread may wait for a disk or a network.
            threads: (4 * processors).max(8),
            timeout: Duration::from_secs(30),
            fresh: Duration::from_secs(5),
            connections: 1024,
            head: Duration::from_secs(15),
            stall: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}
