//! Whether a store honours the conditions of writes, found out before anything depends on it.

use crate::{Key, Store, StoreError};

/// Each condition is tried twice: a server may honour one by chance of where the request went.
const TIMES: usize = 2;

/// Tries conditional writes on an object of a random name, which is removed again.
///
/// # Errors
/// [`StoreError::Denied`] when the store does not honour them; what the store says.
pub(crate) async fn check(store: &dyn Store) -> Result<(), StoreError> {
    let key = key(&format!("opening/{:016x}", fastrand::u64(..)))?;
    let tried = trial(store, &key).await;
    // Removed also after a failure; that failure is what is told.
    let removed = store.delete(&key).await;
    tried.and(removed)
}

async fn trial(store: &dyn Store, key: &Key) -> Result<(), StoreError> {
    let first = store.put_if_absent(key, "first".into()).await?;
    for _ in 0..TIMES {
        match store.put_if_absent(key, "second".into()).await {
            Err(StoreError::AlreadyExists { .. }) => {}
            Ok(_) => return Err(broken(store, "it wrote over an object that was to be written only if absent")),
            Err(error) => return Err(error),
        }
    }
    let second = store.put_if_match(key, "second".into(), &first).await?;
    if second == first {
        return Err(broken(store, "two contents have the same ETag"));
    }
    for wrong in std::iter::repeat_n(&first, TIMES) {
        match store.put_if_match(key, "third".into(), wrong).await {
            Err(StoreError::Changed { .. }) => {}
            Ok(_) => return Err(broken(store, "it wrote over an object that was not the one to be replaced")),
            Err(error) => return Err(error),
        }
    }
    let found = store.get(key).await?;
    if found.bytes != "second" || found.etag != second {
        return Err(broken(store, "a refused write has changed an object, or its ETag is not that of its write"));
    }
    Ok(())
}

fn broken(store: &dyn Store, told: &str) -> StoreError {
    StoreError::Denied {
        what: "to be opened for writing".to_owned(),
        place: store.place(),
        remedy: "it does not honour conditional writes (If-None-Match, If-Match), and leases need them so that no two coordinators write at once; use a server or a version that does, or a folder",
        source: Some(std::io::Error::other(told.to_owned())),
    }
}

/// A key that this crate made itself.
pub(crate) fn key(text: &str) -> Result<Key, StoreError> {
    Key::new(text).map_err(|e| StoreError::Denied {
        what: format!("the key {text}"),
        place: "this version".to_owned(),
        remedy: "report this",
        source: Some(std::io::Error::other(e)),
    })
}
