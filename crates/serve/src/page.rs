//! The explorer page.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::reply::{Keep, tagged};

const PAGE: &str = include_str!("../page/explorer.html");

/// The page loads nothing from elsewhere, and its own parts are named by their hashes: whatever else got into it would
/// not run.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hashes(PAGE, "script"),
        hashes(PAGE, "style")
    );
    HeaderValue::try_from(policy).ok()
});

pub(crate) async fn page(headers: HeaderMap) -> Response {
    let body = Bytes::from_static(PAGE.as_bytes());
    let mut response = tagged(&headers, Keep::Passing, "text/html; charset=utf-8", body);
    if let Some(policy) = &*POLICY {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    }
    response
}

/// The hashes of all elements of that name, as a policy wants them.
fn hashes(page: &str, element: &str) -> String {
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let (mut rest, mut hashes) = (page, Vec::new());
    // An element goes on to its end, whatever else its text begins.
    while let Some((attributes, after)) = rest.split_once(&open).and_then(|(_, rest)| rest.split_once('>')) {
        let Some((content, after)) = after.split_once(&close) else { break };
        // What is only data does not run.
        if !attributes.contains("type=\"application/json\"") {
            hashes.push(format!("'sha256-{}'", STANDARD.encode(Sha256::digest(content.as_bytes()))));
        }
        rest = after;
    }
    if hashes.is_empty() { "'none'".to_owned() } else { hashes.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_and_style_is_named() {
        let page = "<style>a</style><script type=\"module\">b</script><script type=\"application/json\">c</script><script>d</script>";
        assert_eq!(hashes(page, "style"), "'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='");
        assert_eq!(hashes(page, "script").split(' ').count(), 2);
        let nested = "<script>\"<script>\" + x</script>";
        assert_eq!(hashes(nested, "script"), hashes("<script >\"<script>\" + x</script>", "script"));
        assert_eq!(hashes(nested, "script").split(' ').count(), 1);
        assert_eq!(hashes("", "script"), "'none'");
    }

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        for word in [" src=\"http", " href=\"http", "@import", "url(http", "style=\"", " onclick=", "eval("] {
            assert!(!PAGE.contains(word), "{word}");
        }
        assert!(PAGE.starts_with("<!doctype html>") || PAGE.starts_with("<!DOCTYPE html>"));
        assert!(POLICY.is_some());
    }
}
