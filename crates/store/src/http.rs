//! Objects that a web server offers as files, to be read only.

use std::io;
use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, RANGE};
use reqwest::{Client, Response, StatusCode, Url};

use crate::range::{cut, len_of_none, parse};
use crate::{ETag, INDEX_KEY, Key, Object, ObjectInfo, Store, StoreError, StoreOptions, index, roots, transport};

const CONNECT: Duration = Duration::from_secs(10);
/// A server that ignores ranges sends whole files; longer ones are not read for a part of them.
const LONGEST: u64 = 1 << 30;
/// What is asked for whole is a manifest or an index.
const WHOLE: u64 = 64 << 20;

/// Objects that a web server offers as files below a URL. They can be read, and listed where the server has
/// an index at [`INDEX_KEY`]; nothing can be written.
#[derive(Clone, Debug)]
pub struct HttpStore {
    client: Client,
    base: Url,
}

impl HttpStore {
    /// A store of the files below `base`, which ends with `/`. Sends nothing yet.
    ///
    /// # Errors
    /// [`StoreError::Denied`] when no client can be made.
    pub fn new(base: Url, options: &StoreOptions) -> Result<Self, StoreError> {
        let denied = |source: io::Error| StoreError::Denied {
            what: "to be opened".to_owned(),
            place: format!("the server {base}"),
            remedy: "TLS cannot be set up; check the certificates of this machine",
            source: Some(source),
        };
        let tls = roots::config().map_err(|e| denied(io::Error::other(e)))?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("canju/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(options.timeout)
            .build()
            .map_err(|e| denied(io::Error::other(transport::chain(&e))))?;
        Ok(Self { client, base })
    }

    async fn send(&self, key: &Key, range: Option<Range<u64>>, head: bool) -> Result<Response, StoreError> {
        let what = format!("to read {key}");
        // Keys are safe relative paths, and need no escapes.
        let url = self.base.join(key.as_str()).map_err(|e| self.refused(&what, "the key makes no URL", e))?;
        let request = if head { self.client.head(url) } else { self.client.get(url) };
        // The bytes of the file are wanted, not of a compressed form of it.
        let request = request.header(ACCEPT_ENCODING, "identity");
        let request = match range {
            Some(range) => request.header(RANGE, format!("bytes={}-{}", range.start, range.end - 1)),
            None => request,
        };
        request.send().await.map_err(|e| self.broken(&e, &what))
    }

    async fn ask(&self, key: &Key, range: Option<Range<u64>>) -> Result<Response, StoreError> {
        let answer = self.send(key, range, false).await?;
        self.accept(key, answer)
    }

    /// An answer that has what was asked for, or says how far it goes.
    fn accept(&self, key: &Key, answer: Response) -> Result<Response, StoreError> {
        let (what, status) = (format!("to read {key}"), answer.status());
        let told = io::Error::other(format!("status {status}"));
        match status {
            _ if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE => Ok(answer),
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                Err(StoreError::NotFound { key: key.clone(), place: self.place() })
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS | StatusCode::TOO_EARLY => {
                Err(StoreError::Unavailable { what, place: self.place(), source: told })
            }
            _ if status.is_server_error() => Err(StoreError::Unavailable { what, place: self.place(), source: told }),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(self.refused(&what, "access denied; only what anybody may read can be read this way", told))
            }
            _ => Err(self.refused(&what, "the request is not accepted; check the address", told)),
        }
    }

    /// The body, of at most so many bytes: a server can send without an end.
    async fn body(&self, what: &str, mut answer: Response, most: u64) -> Result<Bytes, StoreError> {
        let expected = length(&answer);
        let too_long = || {
            let remedy = "it sends more than a file of tables has; check the address";
            self.refused(what, remedy, format!("more than {most} bytes were sent"))
        };
        if expected.is_some_and(|len| len > most) {
            return Err(too_long());
        }
        let mut bytes = BytesMut::new();
        while let Some(more) = answer.chunk().await.map_err(|e| self.broken(&e, what))? {
            bytes.extend_from_slice(&more);
            if bytes.len() as u64 > most {
                return Err(too_long());
            }
        }
        match expected {
            Some(len) if len != bytes.len() as u64 => {
                Err(self.odd(what, &format!("{} of {len} bytes arrived", bytes.len())))
            }
            _ => Ok(bytes.freeze()),
        }
    }

    fn broken(&self, error: &reqwest::Error, what: &str) -> StoreError {
        transport::sort(error, error.is_timeout(), what.to_owned(), self.place())
    }

    /// An answer that cannot be right.
    fn odd(&self, what: &str, told: &str) -> StoreError {
        let source = io::Error::other(told.to_owned());
        StoreError::Unavailable { what: what.to_owned(), place: self.place(), source }
    }

    fn refused(
        &self,
        what: &str,
        remedy: &'static str,
        told: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> StoreError {
        StoreError::Denied { what: what.to_owned(), place: self.place(), remedy, source: Some(io::Error::other(told)) }
    }

    fn read_only(&self, what: String) -> StoreError {
        let remedy = "a web server can only be read; give a folder or s3://BUCKET/PREFIX";
        StoreError::Denied { what, place: self.place(), remedy, source: None }
    }
}

fn length(answer: &Response) -> Option<u64> {
    answer.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn given(answer: &Response) -> Option<&str> {
    answer.headers().get(CONTENT_RANGE)?.to_str().ok()
}

#[async_trait]
impl Store for HttpStore {
    fn place(&self) -> String {
        format!("the server {}", self.base)
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        let answer = self.ask(key, None).await?;
        let given = answer.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(ETag::new);
        let bytes = self.body(&format!("to read {key}"), answer, WHOLE).await?;
        Ok(Object { etag: given.unwrap_or_else(|| ETag::of(&bytes)), bytes })
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        let what = format!("to read {key}");
        let Range { start, end } = range;
        let beyond = |len| StoreError::OutOfRange { key: key.clone(), place: self.place(), len, start, end };
        if start >= end {
            // HTTP has no empty range.
            let len = self.head(key).await?.len;
            return if start == end && end <= len { Ok(Bytes::new()) } else { Err(beyond(len)) };
        }
        let answer = self.ask(key, Some(range)).await?;
        let header = given(&answer);
        match answer.status() {
            StatusCode::RANGE_NOT_SATISFIABLE => match header.and_then(len_of_none) {
                Some(len) => Err(beyond(len)),
                None => Err(beyond(self.head(key).await?.len)),
            },
            StatusCode::PARTIAL_CONTENT => {
                let given = header.and_then(parse).filter(|g| g.start == start && g.end == end.min(g.len));
                let given = given.ok_or_else(|| self.odd(&what, "it sends another range than was asked for"))?;
                if end > given.len {
                    return Err(beyond(given.len));
                }
                let bytes = self.body(&what, answer, end - start).await?;
                if bytes.len() as u64 == end - start {
                    Ok(bytes)
                } else {
                    Err(self.odd(&what, "it sends other bytes than it says"))
                }
            }
            // The whole file: this server knows no ranges.
            StatusCode::OK => {
                if length(&answer).is_none_or(|len| len > LONGEST) {
                    let remedy = "it sends no parts of files; use a server that answers Range, or copy the tables";
                    return Err(self.refused(&what, remedy, "the whole file was sent"));
                }
                let bytes = self.body(&what, answer, LONGEST).await?;
                cut(&bytes, start..end).ok_or_else(|| beyond(bytes.len() as u64))
            }
            status => Err(self.odd(&what, &format!("status {status}"))),
        }
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        let answer = self.send(key, None, true).await?;
        let is_known = !matches!(answer.status(), StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED);
        let mut len = if is_known { length(&self.accept(key, answer)?) } else { None };
        if len.is_none() {
            // There are servers that know no HEAD, or tell no length there: what they send of the file tells it as well.
            let answer = self.ask(key, Some(0..1)).await?;
            len = match answer.status() {
                StatusCode::PARTIAL_CONTENT => given(&answer).and_then(parse).map(|given| given.len),
                StatusCode::RANGE_NOT_SATISFIABLE => given(&answer).and_then(len_of_none),
                _ => length(&answer),
            };
        }
        let len = len.ok_or_else(|| self.odd(&format!("to read {key}"), "the answer has no length"))?;
        Ok(ObjectInfo { key: key.clone(), len })
    }

    async fn put(&self, key: &Key, _: Bytes) -> Result<ETag, StoreError> {
        Err(self.read_only(format!("to write {key}")))
    }

    async fn put_if_absent(&self, key: &Key, _: Bytes) -> Result<ETag, StoreError> {
        Err(self.read_only(format!("to write {key}")))
    }

    async fn put_if_match(&self, key: &Key, _: Bytes, _: &ETag) -> Result<ETag, StoreError> {
        Err(self.read_only(format!("to write {key}")))
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        Err(self.read_only(format!("to delete {key}")))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        let told = match self.get(&index::key_of_index()?).await {
            Ok(object) => match index::read(&object.bytes) {
                Ok(objects) => return Ok(objects.into_iter().filter(|o| o.key.as_str().starts_with(prefix)).collect()),
                Err(e) => e.to_string(),
            },
            Err(StoreError::NotFound { .. }) => format!("{INDEX_KEY} is not there"),
            Err(error) => return Err(error),
        };
        Err(self.refused(
            "to be listed",
            "it has no index of its tables; give the URL above the folder `tables`, or have an index written there",
            told,
        ))
    }
}
