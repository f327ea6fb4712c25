//! A shard that stays in the store and is read by ranges.

use std::io;
use std::sync::Arc;

use canju_store::{Key, Store};
use canju_table::ReadAt;
use tokio::runtime::Handle;

use crate::bridge::wait;

/// An object of a store whose length is known.
pub(crate) struct Remote {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) runtime: Handle,
    pub(crate) key: Key,
    pub(crate) len: u64,
}

impl ReadAt for Remote {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        let (store, key) = (Arc::clone(&self.store), self.key.clone());
        let bytes = wait(&self.runtime, async move { store.get_range(&key, offset..end).await })?;
        if bytes.len() != buf.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buf.copy_from_slice(&bytes);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len)
    }
}
