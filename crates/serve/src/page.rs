//! The pages for people.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::reply::{Keep, tagged};

/// What a page is sent as.
struct Page {
    body: Bytes,
    /// A page loads nothing from elsewhere, and its own parts are named by their hashes: whatever else got into it would
    /// not run.
    policy: Option<HeaderValue>,
}

impl Page {
    /// A page with the style and the script that all have in common put in.
    fn new(source: &str) -> Self {
        let page = source.replacen("/* common.css */", include_str!("../page/common.css"), 1).replacen(
            "// common.js",
            include_str!("../page/common.js"),
            1,
        );
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            hashes(&page, "script"),
            hashes(&page, "style")
        );
        Self { body: page.into(), policy: HeaderValue::try_from(policy).ok() }
    }

    fn send(&self, headers: &HeaderMap) -> Response {
        let mut response = tagged(headers, Keep::Passing, "text/html; charset=utf-8", self.body.clone());
        if let Some(policy) = &self.policy {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        }
        response
    }
}

static EXPLORER: LazyLock<Page> = LazyLock::new(|| Page::new(include_str!("../page/explorer.html")));
static EWN: LazyLock<Page> = LazyLock::new(|| Page::new(include_str!("../page/ewn.html")));

/// Endgames of xiangqi.
pub(crate) async fn explorer(headers: HeaderMap) -> Response {
    EXPLORER.send(&headers)
}

/// EinStein würfelt nicht!
pub(crate) async fn ewn(headers: HeaderMap) -> Response {
    EWN.send(&headers)
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
    fn the_pages_load_nothing_from_elsewhere() {
        for page in [&*EXPLORER, &*EWN] {
            let text = std::str::from_utf8(&page.body).unwrap_or_default();
            for word in
                [" src=\"http", " href=\"http", "@import", "url(http", "style=\"", " onclick=", "eval(", "common."]
            {
                assert!(!text.contains(word), "{word}");
            }
            assert!(text.starts_with("<!doctype html>"));
            assert!(page.policy.is_some());
        }
    }
}
