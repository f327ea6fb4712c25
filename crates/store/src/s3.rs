//! Objects in a bucket of an S3-compatible server.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStream;
use bytes::{Bytes, BytesMut};

use crate::s3_error::{Failure, sort};
use crate::{ETag, Key, Object, ObjectInfo, Store, StoreError, StoreOptions, s3_client, s3_parts};

/// How long the next bytes of an answer may keep a reader waiting.
const STALL: Duration = Duration::from_secs(30);

/// Objects in a bucket of an S3-compatible server. The keys of the store lie below one prefix of the bucket.
///
/// Requests are not repeated here: [`Retrying`](crate::Retrying) does that. Large objects go up in parts,
/// and are there when the last request for them is answered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct S3Store {
    pub(crate) client: Client,
    pub(crate) bucket: String,
    prefix: String,
    place: String,
    /// Objects of more bytes go up in parts.
    pub(crate) parts_above: u64,
}

/// When an object may be written.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Always,
    Absent,
    Match(ETag),
}

impl Condition {
    pub(crate) fn if_none_match(&self) -> Option<String> {
        matches!(self, Self::Absent).then(|| "*".to_owned())
    }

    pub(crate) fn if_match(&self) -> Option<String> {
        match self {
            // Without the quotes of HTTP: radosgw compares the header as it comes, and the others take both.
            Self::Match(etag) => Some(etag.as_str().to_owned()),
            _ => None,
        }
    }
}

impl S3Store {
    /// A store of the objects below `prefix` (empty for all) in a bucket. Finds credentials, but sends nothing
    /// to the server: see [`open`](crate::open) for a store that is known to work.
    ///
    /// # Errors
    /// [`StoreError::Denied`] when there are no credentials, no region, or the endpoint is no URL.
    pub async fn new(bucket: &str, prefix: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        let slash = if prefix.is_empty() { "" } else { "/" };
        let named = format!("the bucket s3://{bucket}{slash}{prefix}");
        let (client, endpoint) = s3_client::connect(&named, options).await?;
        let place = endpoint.map_or(named.clone(), |at| format!("{named} at {at}"));
        Ok(Self {
            client,
            bucket: bucket.to_owned(),
            prefix: format!("{prefix}{slash}"),
            place,
            parts_above: options.parts_above,
        })
    }

    /// The key's name in the bucket.
    pub(crate) fn name(&self, key: &Key) -> String {
        format!("{}{key}", self.prefix)
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// An error of a request that has no condition and no range.
    fn plain(&self, failure: Failure, key: &Key, what: &str) -> StoreError {
        match failure {
            Failure::Absent => StoreError::NotFound { key: key.clone(), place: self.place.clone() },
            Failure::Error(error) => error,
            Failure::Condition | Failure::Range => self.odd(what, "it answers with a condition that was not asked for"),
        }
    }

    /// An answer that the protocol does not have.
    pub(crate) fn odd(&self, what: &str, told: &str) -> StoreError {
        let source = std::io::Error::other(told.to_owned());
        StoreError::Unavailable { what: what.to_owned(), place: self.place.clone(), source }
    }

    async fn body(&self, what: &str, answer: GetObjectOutput) -> Result<Bytes, StoreError> {
        let expected = answer.content_length.and_then(|n| u64::try_from(n).ok());
        let mut body = answer.body;
        let mut bytes = BytesMut::new();
        loop {
            let next = tokio::time::timeout(STALL, body.next()).await;
            match next.map_err(|_| self.odd(what, "the answer stopped in the middle"))? {
                None => break,
                Some(Ok(more)) => bytes.extend_from_slice(&more),
                Some(Err(e)) => return Err(crate::transport::sort(&e, false, what.to_owned(), self.place.clone())),
            }
        }
        match expected {
            Some(len) if len != bytes.len() as u64 => {
                Err(self.odd(what, &format!("{} of {len} bytes arrived", bytes.len())))
            }
            _ => Ok(bytes.freeze()),
        }
    }

    async fn write(&self, key: &Key, bytes: Bytes, condition: &Condition) -> Result<ETag, StoreError> {
        let what = format!("to write {key}");
        let written = if bytes.len() as u64 > self.parts_above {
            s3_parts::put(self, key, &what, bytes, condition).await
        } else {
            self.put_whole(key, &what, bytes, condition).await
        };
        let failure = match written {
            Ok(etag) => return Ok(etag),
            Err(failure) => failure,
        };
        let place = || self.place.clone();
        Err(match (failure, condition) {
            (Failure::Error(error), _) => error,
            (Failure::Condition, Condition::Absent) => StoreError::AlreadyExists { key: key.clone(), place: place() },
            // Servers differ in what they say where there is no object to match.
            (Failure::Condition, Condition::Match(_)) => match self.head(key).await {
                Ok(_) => StoreError::Changed { key: key.clone(), place: place() },
                Err(error) => error,
            },
            (Failure::Absent, Condition::Match(_)) => StoreError::NotFound { key: key.clone(), place: place() },
            _ => self.odd(&what, "it answers with a condition that was not asked for"),
        })
    }

    async fn put_whole(&self, key: &Key, what: &str, bytes: Bytes, condition: &Condition) -> Result<ETag, Failure> {
        let request = self.client.put_object().bucket(&self.bucket).key(self.name(key));
        let request = request.set_if_none_match(condition.if_none_match()).set_if_match(condition.if_match());
        let answer = request.body(ByteStream::from(bytes)).send().await.map_err(|e| sort(e, what, &self.place))?;
        self.etag(answer.e_tag, what).map_err(Failure::Error)
    }

    /// The tag of an answer, without the quotes of HTTP.
    pub(crate) fn etag(&self, text: Option<String>, what: &str) -> Result<ETag, StoreError> {
        match text {
            Some(text) if !text.is_empty() => Ok(ETag::new(text.trim_matches('"'))),
            _ => Err(self.odd(what, "the answer has no ETag")),
        }
    }
}

#[async_trait]
impl Store for S3Store {
    fn place(&self) -> String {
        self.place.clone()
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        let what = format!("to read {key}");
        let request = self.client.get_object().bucket(&self.bucket).key(self.name(key));
        let mut answer = request.send().await.map_err(|e| self.plain(sort(e, &what, &self.place), key, &what))?;
        let etag = self.etag(answer.e_tag.take(), &what)?;
        Ok(Object { bytes: self.body(&what, answer).await?, etag })
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        let what = format!("to read {key}");
        let Range { start, end } = range;
        let beyond = |len| StoreError::OutOfRange { key: key.clone(), place: self.place.clone(), len, start, end };
        if start >= end {
            // HTTP has no empty range.
            let len = self.head(key).await?.len;
            return if start == end && end <= len { Ok(Bytes::new()) } else { Err(beyond(len)) };
        }
        // Servers count in 63 bits.
        let last = (end - 1).min(i64::MAX as u64 - 1);
        let request = self.client.get_object().bucket(&self.bucket).key(self.name(key));
        let answer = match request.range(format!("bytes={start}-{last}")).send().await {
            Ok(answer) => answer,
            Err(e) => match sort(e, &what, &self.place) {
                Failure::Range => return Err(beyond(self.head(key).await?.len)),
                other => return Err(self.plain(other, key, &what)),
            },
        };
        let given = answer.content_range.as_deref().map(crate::range::parse);
        match given {
            // All of the object, then.
            None => {
                let bytes = self.body(&what, answer).await?;
                crate::range::cut(&bytes, start..end).ok_or_else(|| beyond(bytes.len() as u64))
            }
            Some(Some(given)) if given.start == start => {
                if given.end < end.min(given.len) || given.end > end {
                    return Err(self.odd(&what, "it sends another range than was asked for"));
                }
                if end > given.len {
                    return Err(beyond(given.len));
                }
                let bytes = self.body(&what, answer).await?;
                if bytes.len() as u64 == end - start {
                    Ok(bytes)
                } else {
                    Err(self.odd(&what, "it sends fewer bytes than it says"))
                }
            }
            Some(_) => Err(self.odd(&what, "it sends another range than was asked for")),
        }
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        let what = format!("to read {key}");
        let request = self.client.head_object().bucket(&self.bucket).key(self.name(key));
        let answer = request.send().await.map_err(|e| self.plain(sort(e, &what, &self.place), key, &what))?;
        match answer.content_length.and_then(|n| u64::try_from(n).ok()) {
            Some(len) => Ok(ObjectInfo { key: key.clone(), len }),
            None => Err(self.odd(&what, "the answer has no length")),
        }
    }

    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.write(key, bytes, &Condition::Always).await
    }

    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.write(key, bytes, &Condition::Absent).await
    }

    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        self.write(key, bytes, &Condition::Match(expected.clone())).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let what = format!("to delete {key}");
        let request = self.client.delete_object().bucket(&self.bucket).key(self.name(key));
        match request.send().await.map_err(|e| sort(e, &what, &self.place)) {
            Ok(_) | Err(Failure::Absent) => Ok(()),
            Err(failure) => Err(self.plain(failure, key, &what)),
        }
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        let what = "to be listed";
        let mut found = Vec::new();
        let mut more = None;
        loop {
            let request = self.client.list_objects_v2().bucket(&self.bucket);
            let request = request.prefix(format!("{}{prefix}", self.prefix)).set_continuation_token(more.clone());
            let page = match request.send().await.map_err(|e| sort(e, what, &self.place)) {
                Ok(page) => page,
                Err(Failure::Error(error)) => return Err(error),
                Err(_) => return Err(self.odd(what, "it answers as if for one object")),
            };
            for object in page.contents() {
                // What others keep there under names that are no keys is none of the store's objects.
                let key = object.key().and_then(|k| k.strip_prefix(&self.prefix)).and_then(|k| Key::new(k).ok());
                let len = object.size().and_then(|n| u64::try_from(n).ok());
                if let (Some(key), Some(len)) = (key, len) {
                    found.push(ObjectInfo { key, len });
                }
            }
            match page.next_continuation_token {
                Some(next) if page.is_truncated == Some(true) && more.as_ref() != Some(&next) => more = Some(next),
                _ if page.is_truncated == Some(true) => {
                    return Err(self.odd(what, "a part of the list does not say where the next begins"));
                }
                _ => break,
            }
        }
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }
}
