//! The seam: what every store does.

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Key, StoreError, Trouble};

/// Tells two contents of an object apart. Compare it, hand it back, read nothing into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ETag(String);

impl ETag {
    /// A tag as a store's server spelled it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The tag of a content in stores that make their own: its BLAKE3 in hexadecimal.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// The tag as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A whole object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its content.
    pub bytes: Bytes,
    /// The content's tag.
    pub etag: ETag,
}

/// What a listing tells of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its name.
    pub key: Key,
    /// Its length in bytes.
    pub len: u64,
}

/// Objects by key. All methods may be called from many tasks and processes at once.
///
/// A reader sees an object whole, as it was before a write or as it is after it. No key may be a folder
/// of another (`a` beside `a/b`): folders and memory deny the second write; a bucket would take it, but
/// could not be copied into a folder then.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug {
    /// Where the objects are, in a user's words.
    fn place(&self) -> String;

    /// What is wrong with the store right now, where calls are being repeated for it: something to show to a user.
    fn trouble(&self) -> Option<Trouble> {
        None
    }

    /// A whole object.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Denied`], [`StoreError::Unavailable`], [`StoreError::Unreachable`].
    async fn get(&self, key: &Key) -> Result<Object, StoreError>;

    /// Some bytes of an object.
    ///
    /// # Errors
    /// As [`get`](Store::get); [`StoreError::OutOfRange`] unless all of them are there.
    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError>;

    /// How long an object is, without reading it.
    ///
    /// # Errors
    /// As [`get`](Store::get).
    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError>;

    /// Writes an object, over an older one if there is one. The bytes are durable on return.
    ///
    /// # Errors
    /// [`StoreError::Full`], [`StoreError::Denied`], [`StoreError::Unavailable`]; the object is then as it was.
    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError>;

    /// Writes an object that is not there yet. Of many who try, exactly one succeeds.
    ///
    /// # Errors
    /// As [`put`](Store::put); [`StoreError::AlreadyExists`].
    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError>;

    /// Replaces an object if its content is still the one with this tag. Of many who try, exactly one succeeds.
    ///
    /// # Errors
    /// As [`put`](Store::put); [`StoreError::Changed`], or [`StoreError::NotFound`] where there is none.
    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError>;

    /// Removes an object. Removing what is not there is no error.
    ///
    /// # Errors
    /// [`StoreError::Denied`], [`StoreError::Unavailable`].
    async fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// All objects whose keys begin with `prefix` (any text, often ending in `/`), in ascending order.
    ///
    /// # Errors
    /// [`StoreError::Denied`], [`StoreError::Unavailable`].
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError>;
}
