//! Answers in JSON, with what caches need to know.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;

use crate::failure::Failure;

/// How long an answer may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is a fact about the game; a while, as a damaged table may have been replaced.
    Known,
    /// It changes when tables come: ask whether it is still so.
    Passing,
}

impl Keep {
    const fn header(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Known => "public, max-age=300",
            Self::Passing => "no-cache",
        })
    }
}

/// An answer in JSON with an ETag, or 304 where the client has it already.
pub(crate) fn json<T: Serialize>(asked: &HeaderMap, keep: Keep, answer: &T) -> Response {
    match serde_json::to_vec(answer) {
        Ok(body) => tagged(asked, keep, "application/json", body.into()),
        Err(error) => {
            tracing::error!(%error, "an answer could not be written");
            Failure::internal().into_response()
        }
    }
}

/// A body with an ETag of its content, or 304 where the client has it already.
pub(crate) fn tagged(asked: &HeaderMap, keep: Keep, kind: &'static str, body: Bytes) -> Response {
    // Weak, as the same content may be sent compressed or not.
    let tag = format!("W/\"{}\"", &blake3::hash(&body).to_hex()[..32]);
    let same = asked.get_all(header::IF_NONE_MATCH).iter().any(|given| matches(given, &tag));
    let mut response = if same {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from(body)).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, keep.header());
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// True where one of the tags is this one, weak or strong alike.
fn matches(given: &HeaderValue, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    given.to_str().is_ok_and(|given| given.split(',').any(|one| one.trim() == "*" || bare(one) == bare(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        let matches = |given: &'static str| matches(&HeaderValue::from_static(given), "W/\"ab\"");
        assert!(["W/\"ab\"", "\"ab\"", "\"x\", W/\"ab\"", "*"].into_iter().all(matches));
        assert!(!["\"abc\"", "ab", "", "W/\"a\""].into_iter().any(matches));
    }
}
