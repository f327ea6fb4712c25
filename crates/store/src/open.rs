//! From a location to a store that is known to work.

use std::sync::Arc;
use std::time::Duration;

use crate::{FolderStore, HttpStore, Location, Retrying, S3Store, Store, StoreError, StoreOptions, conditions};

/// How long opening bears with a store that does not answer: a wrong address must be told soon, and
/// a server that is started together with us must be waited for.
const OPENING: Duration = Duration::from_secs(30);

/// Opens a store, with retries around it, and makes sure that it works: that a folder can be read, or
/// written; that a bucket is there, may be listed, and honours conditional writes if it is to be written.
///
/// # Errors
/// Whatever keeps the store from working, with what to do about it. Passing failures are borne with for
/// 30 seconds, or the patience of `options` if that is less.
pub async fn open(location: &Location, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    let store: Arc<dyn Store> = match location {
        Location::Folder(path) => {
            let (path, writable) = (path.clone(), options.writable);
            let open = move || if writable { FolderStore::open(path) } else { FolderStore::open_read_only(path) };
            match tokio::task::spawn_blocking(open).await {
                Ok(opened) => return Ok(Arc::new(Retrying::new(Arc::new(opened?), options))),
                Err(stopped) => {
                    return Err(StoreError::Unavailable {
                        what: "to be opened".to_owned(),
                        place: location.to_string(),
                        source: std::io::Error::other(stopped),
                    });
                }
            }
        }
        Location::S3 { bucket, prefix } => Arc::new(S3Store::new(bucket, prefix, options).await?),
        Location::Http(url) => Arc::new(HttpStore::new(url.clone(), options)?),
    };
    let opening = StoreOptions { patience: options.patience.min(OPENING), ..options.clone() };
    let first = Retrying::new(Arc::clone(&store), &opening);
    match location {
        Location::Http(_) if options.writable => {
            return Err(StoreError::Denied {
                what: "to be opened for writing".to_owned(),
                place: store.place(),
                remedy: "a web server can only be read; give a folder or s3://BUCKET/PREFIX",
                source: None,
            });
        }
        // Any answer will do: there need be no index to read tables by name.
        Location::Http(_) => match first.head(&crate::index::key_of_index()?).await {
            Ok(_) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        },
        // Nothing has such a name; who may list it is told from who may not.
        _ => drop(first.list("opening/").await?),
    }
    if options.writable {
        conditions::check(&first).await?;
    }
    Ok(Arc::new(Retrying::new(store, options)))
}
