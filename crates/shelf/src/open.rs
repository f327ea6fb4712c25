//! From a location to the tables there.

use std::path::Path;
use std::sync::Arc;

use canju_store::{Location, StoreError, StoreOptions};
use canju_table::{FolderSource, Source};
use tokio::runtime::Handle;

use crate::{Cache, StoreSource, WaitingSource};

/// The finished tables at a location, for reading. Those of a local folder are read where they are; others through
/// tasks of `runtime`, and through the cache if there is one.
///
/// # Errors
/// What the store says at opening; see [`canju_store::open`].
pub async fn open(
    location: &Location,
    options: &StoreOptions,
    runtime: Handle,
    cache: Option<Arc<Cache>>,
) -> Result<Arc<dyn Source>, StoreError> {
    if let Location::Folder(path) = location {
        return Ok(Arc::new(FolderSource::new(path)));
    }
    let store = canju_store::open(location, options).await?;
    let source = StoreSource::new(store, runtime);
    Ok(match cache {
        Some(cache) => Arc::new(source.with_cache(cache)),
        None => Arc::new(source),
    })
}

/// The tables of a folder that is a store, whatever its name: below `tables` in it, which is made. Where the folder goes
/// away it is waited for.
#[must_use]
pub fn source_of_folder(path: &Path) -> WaitingSource {
    // The source looks for this folder once, now; without it a folder that is itself called
    // `tables` would be taken for the inner one.
    let tables = path.join("tables");
    let _ = std::fs::create_dir(&tables);
    WaitingSource::new(FolderSource::new(path), tables)
}
