//! What HTTP asks of every answer.

use axum::body::Body;
use axum::http::{Method, Request};

use canju_retro::Metric;
use canju_tests::Workshop;

use crate::{Answer, KRK, MISSING, get, send, server, under, with_fen};

async fn with(method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(&server(), request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again() {
    for path in [
        &with_fen("/v1/probe", KRK),
        &with_fen("/v1/moves", KRK),
        &with_fen("/v1/line", KRK),
        "/v1/endgames",
        "/v1/endgames/KRK",
        "/v1/info",
        "/openapi.json",
        "/",
    ] {
        let first = with(Method::GET, path, &[]).await;
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\"") && tag.len() == 36, "{path}: {tag}");
        for given in [tag.to_owned(), format!("\"other\", {}", &tag[2..]), "*".to_owned()] {
            let again = with(Method::GET, path, &[("if-none-match", &given)]).await;
            assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
            assert_eq!((again.header("etag"), again.header("cache-control")), (tag, first.header("cache-control")));
        }
        assert_eq!(with(Method::GET, path, &[("if-none-match", "\"other\"")]).await.status, 200, "{path}");
    }
    assert_ne!(
        get(&server(), &with_fen("/v1/probe", KRK)).await.header("etag"),
        get(&server(), &with_fen("/v1/probe", MISSING)).await.header("etag")
    );
}

#[tokio::test]
async fn only_what_is_known_may_be_kept() {
    assert_eq!(get(&server(), &with_fen("/v1/probe", KRK)).await.header("cache-control"), "public, max-age=300");
    for path in [
        &with_fen("/v1/probe", MISSING),
        &with_fen("/v1/moves", MISSING),
        &with_fen("/v1/line", MISSING),
        "/v1/endgames",
    ] {
        assert_eq!(get(&server(), path).await.header("cache-control"), "no-cache", "{path}");
    }
}

/// A distance that the table lacks may be added to it.
#[tokio::test]
async fn what_may_get_another_distance_is_not_kept() {
    let server = under(Workshop::new().tables(&["KRKN"], &[Metric::Dtm]));
    for (path, fen, keep) in [
        ("/v1/probe", KRK, "no-cache"),
        ("/v1/moves", KRK, "no-cache"),
        ("/v1/line", KRK, "no-cache"),
        // A draw has no distance that could come.
        ("/v1/probe", "5k3/9/9/9/9/9/9/9/9/4K4 w", "public, max-age=300"),
        ("/v1/moves", "5k3/9/9/9/9/9/9/9/9/4K4 w", "public, max-age=300"),
    ] {
        assert_eq!(get(&server, &with_fen(path, fen)).await.header("cache-control"), keep, "{path} {fen}");
    }
    for path in ["/v1/moves", "/v1/line"] {
        assert_eq!(get(&self::server(), &with_fen(path, KRK)).await.header("cache-control"), "public, max-age=300");
    }
}

#[tokio::test]
async fn heads_have_no_body() {
    for path in [&with_fen("/v1/probe", KRK), "/", "/healthz", "/openapi.json"] {
        let head = with(Method::HEAD, path, &[]).await;
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("etag"), get(&server(), path).await.header("etag"));
    }
}

#[tokio::test]
async fn other_methods_are_told_which_there_are() {
    for (method, path, allowed) in [
        (Method::POST, "/v1/moves", &["GET", "HEAD"][..]),
        (Method::PUT, "/v1/probe", &["GET", "HEAD", "POST"]),
        (Method::DELETE, "/", &["GET", "HEAD"]),
    ] {
        let answer = with(method, path, &[]).await;
        assert_eq!((answer.error().0, answer.error().1.as_str()), (405, "method"), "{path}");
        let mut told: Vec<&str> = answer.header("allow").split(',').map(str::trim).collect();
        told.sort_unstable();
        assert_eq!(told, allowed, "{path}");
    }
}

#[tokio::test]
async fn nothing_is_nowhere() {
    for path in ["/v1", "/v2/probe", "/index.php", "/v1/endgames/"] {
        let (status, kind, message) = get(&server(), path).await.error();
        assert_eq!((status, kind.as_str()), (404, "path"), "{path}");
        assert!(message.contains(path), "{message}");
    }
}

#[tokio::test]
async fn other_pages_may_ask() {
    let asked = [
        ("origin", "https://example.org"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type"),
    ];
    let preflight = with(Method::OPTIONS, "/v1/probe", &asked).await;
    assert_eq!(preflight.status, 200);
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    assert!(preflight.header("access-control-allow-methods").contains("POST"));
    assert!(preflight.header("access-control-allow-headers").contains("content-type"));
    assert_eq!(preflight.header("access-control-max-age"), "86400");
    for path in [&with_fen("/v1/probe", KRK), "/v1/probe", "/nowhere"] {
        let answer = with(Method::GET, path, &[("origin", "https://example.org")]).await;
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        assert!(answer.header("access-control-expose-headers").contains("etag"), "{path}");
    }
}

#[tokio::test]
async fn long_answers_are_compressed_for_who_can_read_them() {
    let path = with_fen("/v1/moves", KRK);
    let plain = get(&server(), &path).await;
    let small = with(Method::GET, &path, &[("accept-encoding", "gzip")]).await;
    assert_eq!((small.header("content-encoding"), plain.header("content-encoding")), ("gzip", ""));
    assert!(small.body.len() * 3 < plain.body.len(), "{} {}", small.body.len(), plain.body.len());
    assert_eq!(small.header("etag"), plain.header("etag"));
    assert!(small.header("vary").contains("accept-encoding"));
}

#[tokio::test]
async fn answers_are_sealed() {
    for path in ["/", "/v1/info", "/v1/probe", "/nowhere"] {
        let answer = get(&server(), path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
    }
    let page = get(&server(), "/").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").contains("connect-src 'self'"));
    assert!(!page.header("content-security-policy").contains("unsafe"));
}
