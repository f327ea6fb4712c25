//! Finished tables of any store, ready to be read.
//!
//! [`canju_table::Source`] is asked by threads that compute and may wait; a [`Store`](canju_store::Store) is asked by
//! async tasks. A [`StoreSource`] stands between them. It reads shards by ranges, or, with a [`Cache`], keeps them
//! as files of a folder, where every shard is checked against the BLAKE3 of the manifest before it is used.
//! [`open`] gives the source of a location, which for a local folder is the folder itself.

mod bridge;
mod cache;
mod open;
mod remote;
mod source;
mod waiting;

pub use cache::{Cache, CacheSettings};
pub use open::{open, source_of_folder};
pub use source::StoreSource;
pub use waiting::WaitingSource;
