//! Objects by key: the one place where anything lasts.
//!
//! A [`Store`] keeps byte strings under [`Key`]s. Every write is whole or not at all, also when the
//! process is killed within it, and the conditional writes ([`Store::put_if_absent`],
//! [`Store::put_if_match`]) hold between all processes that use the same store. [`FolderStore`]
//! keeps the objects as files of a folder, [`MemoryStore`] in memory, for tests.
//!
//! This crate knows nothing of tables, jobs or workers; below it are only the file system and tokio.
//!
//! ```
//! use canju_store::{Key, MemoryStore, Store, StoreError};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();
//! let lease = Key::new("lease/coordinator")?;
//! let first = store.put_if_absent(&lease, "epoch 1".into()).await?;
//!
//! // Who comes second is told so, and takes over only from what it has seen.
//! let second = store.put_if_absent(&lease, "epoch 2".into()).await;
//! assert!(matches!(second, Err(StoreError::AlreadyExists { .. })));
//! store.put_if_match(&lease, "epoch 2".into(), &first).await?;
//! assert!(matches!(store.put_if_match(&lease, "epoch 3".into(), &first).await, Err(StoreError::Changed { .. })));
//! # Ok(())
//! # }
//! ```

#[doc(hidden)]
pub mod conformance;
mod error;
mod folder;
mod key;
mod memory;
mod scratch;
mod store;

pub use error::StoreError;
pub use folder::FolderStore;
pub use key::{Key, KeyError};
pub use memory::MemoryStore;
pub use store::{ETag, Object, ObjectInfo, Store};
