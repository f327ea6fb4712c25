//! From a place, as a user writes it, to a prober.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use canju_retro::Rules;
use canju_table::{DEFAULT_CACHE, FolderSource, Source, TableSet};

use crate::{Distances, ProbeError, Prober};

/// How tables are opened.
///
/// ```
/// use canju_probe::{Distances, OpenOptions};
///
/// let options = OpenOptions { cache: 64 << 20, distances: Distances::None, ..OpenOptions::default() };
/// # assert_eq!(options.rules, canju_retro::Rules::Plain);
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The rules that the tables hold for.
    pub rules: Rules,
    /// Bytes of decoded blocks that are kept, for all threads together.
    pub cache: u64,
    /// Which distances are answered with. Those that are not asked for are not read.
    pub distances: Distances,
    /// The S3 server's URL; else `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, else Amazon's.
    pub s3_endpoint: Option<String>,
    /// The bucket's region; else as the AWS tools find it.
    pub s3_region: Option<String>,
    /// How long a network that fails is borne with: somebody waits for the answer.
    pub patience: Duration,
}

impl Default for OpenOptions {
    /// Plain rules, [`DEFAULT_CACHE`] bytes, all distances, 30 seconds.
    fn default() -> Self {
        Self {
            rules: Rules::Plain,
            cache: DEFAULT_CACHE,
            distances: Distances::All,
            s3_endpoint: None,
            s3_region: None,
            patience: Duration::from_secs(30),
        }
    }
}

impl Prober {
    /// A prober on the tables of a place: a folder's path, or, with the cargo feature `network`, `s3://bucket/prefix`,
    /// `http://…` or `https://…`. The folder may be the store itself or the `tables` in it. Reads no table yet.
    ///
    /// Over a network the tables are read by ranges, by threads that belong to the prober; it may be opened, asked and
    /// dropped on any thread, those of an async runtime too, though these then wait.
    ///
    /// # Errors
    /// [`ProbeError::NoFolder`], [`ProbeError::NoNetwork`], and [`ProbeError::Open`] with what the network says.
    pub fn open(place: &str, options: &OpenOptions) -> Result<Self, ProbeError> {
        let source = source(place, options)?;
        let tables = TableSet::with_cache(source, options.rules, options.cache);
        Ok(Self::new(tables).with_distances(options.distances))
    }
}

fn source(place: &str, options: &OpenOptions) -> Result<Arc<dyn Source>, ProbeError> {
    if place.contains("://") {
        return remote(place, options);
    }
    if !Path::new(place).is_dir() {
        return Err(ProbeError::NoFolder { path: place.to_owned() });
    }
    Ok(Arc::new(FolderSource::new(place)))
}

#[cfg(feature = "network")]
fn remote(place: &str, options: &OpenOptions) -> Result<Arc<dyn Source>, ProbeError> {
    crate::network::reach(place, options).map_err(ProbeError::Open)
}

#[cfg(not(feature = "network"))]
fn remote(place: &str, _: &OpenOptions) -> Result<Arc<dyn Source>, ProbeError> {
    Err(ProbeError::NoNetwork { place: place.to_owned() })
}
