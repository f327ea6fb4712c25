//! Objects by key: the one place where anything lasts.
//!
//! A [`Store`] keeps byte strings under [`Key`]s. Every write is whole or not at all, also when the
//! process is killed within it, and the conditional writes ([`Store::put_if_absent`],
//! [`Store::put_if_match`]) hold between all processes that use the same store. [`FolderStore`]
//! keeps the objects as files of a folder, [`S3Store`] in a bucket, [`MemoryStore`] in memory, for tests;
//! [`HttpStore`] reads what a web server offers. [`open`] takes a [`Location`] as a user writes it, and
//! puts [`Retrying`] around its store, so that a passing failure costs time and nothing else.
//!
//! This crate knows nothing of tables, jobs or workers; below it are the file system, the network and tokio.
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

mod conditions;
#[doc(hidden)]
pub mod conformance;
mod durable;
mod error;
mod folder;
mod http;
mod index;
mod key;
mod location;
mod memory;
mod open;
mod options;
mod range;
mod retry;
mod roots;
mod s3;
mod s3_client;
mod s3_error;
mod s3_parts;
mod scratch;
mod store;
mod transport;

pub use durable::{create_durably, sync_folder};
pub use error::StoreError;
pub use folder::FolderStore;
pub use http::HttpStore;
pub use index::{INDEX_KEY, index_of};
pub use key::{Key, KeyError};
pub use location::{Location, LocationError};
pub use memory::MemoryStore;
pub use open::open;
pub use options::{AccessKeys, StoreOptions};
pub use retry::{Retrying, Trouble};
pub use s3::S3Store;
pub use store::{ETag, Object, ObjectInfo, Store};
