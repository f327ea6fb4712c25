//! How a store is to be opened.

use std::fmt;
use std::time::Duration;

/// How a store is to be opened. Each kind of store takes what concerns it.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The S3 server's URL; else `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, else Amazon's.
    pub endpoint: Option<String>,
    /// The bucket's region; else as the AWS tools find it, else `us-east-1` where there is an endpoint.
    pub region: Option<String>,
    /// S3 credentials; else the usual chain of the AWS tools.
    pub keys: Option<AccessKeys>,
    /// How long a call that fails for a passing reason is tried again.
    pub patience: Duration,
    /// How long one attempt may take; for an object of length L a second for each started MiB is added.
    pub timeout: Duration,
    /// How many calls may be under way at once; others wait their turn.
    pub at_once: usize,
    /// Whether it will be written. A store that does not honour conditional writes is then refused.
    pub writable: bool,
    /// Objects of more bytes go up to S3 in parts of at most 16 MiB. Amazon's takes none below 5 MiB.
    pub parts_above: u64,
    /// Makes the pauses between attempts the same in every run; else they are random.
    pub seed: Option<u64>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            endpoint: None,
            region: None,
            keys: None,
            patience: Duration::from_secs(600),
            timeout: Duration::from_secs(60),
            at_once: 32,
            writable: false,
            parts_above: 64 << 20,
            seed: None,
        }
    }
}

/// An S3 access key with its secret. Neither is ever printed.
#[derive(Clone)]
pub struct AccessKeys {
    /// The key's id.
    pub id: String,
    /// Its secret.
    pub secret: String,
}

impl fmt::Debug for AccessKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKeys(…)")
    }
}
