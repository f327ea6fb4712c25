//! What a web server offers can be read and nothing else; a server that does it wrong never gives wrong bytes.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use canju_store::{INDEX_KEY, Key, Location, MemoryStore, Store, StoreError, StoreOptions, index_of, open};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// How the server treats ranges.
#[derive(Clone, Copy, PartialEq)]
enum Ranges {
    Right,
    Ignored,
    /// It sends the range before the one that was asked for.
    Other,
    /// It says that it sends the range, and sends the bytes before it.
    Short,
}

/// What the server says to HEAD.
#[derive(Clone, Copy)]
enum Heads {
    Right,
    /// Its status alone.
    Status(u16),
}

/// A web server over a store; gives the URL of its folder.
async fn serve(files: Arc<MemoryStore>, ranges: Ranges, heads: Heads) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/some/folder", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let files = Arc::clone(&files);
            let service = service_fn(move |request| answer(Arc::clone(&files), ranges, heads, request));
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    url
}

async fn answer(
    files: Arc<MemoryStore>,
    ranges: Ranges,
    heads: Heads,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let status = |code| Ok(Response::builder().status(code).body(Full::default()).unwrap());
    if let (&Method::HEAD, Heads::Status(code)) = (request.method(), heads) {
        return status(code);
    }
    let Some(key) = request.uri().path().strip_prefix("/some/folder/") else { return status(404) };
    match key {
        "secret" => return status(403),
        "busy" => return status(503),
        _ => {}
    }
    let Ok(object) = files.get(&Key::new(key).unwrap()).await else { return status(404) };
    let bytes = object.bytes;
    if request.method() == Method::HEAD {
        let length = Response::builder().header("content-length", bytes.len());
        return Ok(length.body(Full::default()).unwrap());
    }
    let Some(range) = request.headers().get("range").filter(|_| ranges != Ranges::Ignored) else {
        return Ok(Response::new(bytes.into()));
    };
    let (first, last) = range.to_str().unwrap().strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let (mut first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    if first >= bytes.len() {
        let none = Response::builder().status(416).header("content-range", format!("bytes */{}", bytes.len()));
        return Ok(none.body(Full::default()).unwrap());
    }
    let mut end = bytes.len().min(last + 1);
    if ranges == Ranges::Other {
        (first, end) = (first - 1, end - 1);
    }
    let given = format!("bytes {first}-{}/{}", end - 1, bytes.len());
    if ranges == Ranges::Short {
        end -= 1;
    }
    let part = Response::builder().status(206).header("content-range", given);
    Ok(part.body(Full::new(bytes.slice(first..end))).unwrap())
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

async fn digits() -> Arc<MemoryStore> {
    let files = Arc::new(MemoryStore::new());
    files.put(&key("tables/plain/K/digits"), "0123456789".into()).await.unwrap();
    files
}

async fn opened(files: &Arc<MemoryStore>, ranges: Ranges) -> Arc<dyn Store> {
    opened_with(files, ranges, Heads::Right).await
}

async fn opened_with(files: &Arc<MemoryStore>, ranges: Ranges, heads: Heads) -> Arc<dyn Store> {
    let location: Location = serve(Arc::clone(files), ranges, heads).await.parse().unwrap();
    let options = StoreOptions { patience: std::time::Duration::ZERO, ..StoreOptions::default() };
    open(&location, &options).await.unwrap()
}

#[tokio::test]
async fn files_are_read_whole_and_in_parts() {
    let files = digits().await;
    for ranges in [Ranges::Right, Ranges::Ignored] {
        let store = opened(&files, ranges).await;
        let digits = key("tables/plain/K/digits");
        assert_eq!(&store.get(&digits).await.unwrap().bytes[..], b"0123456789");
        assert_eq!(store.head(&digits).await.unwrap().len, 10);
        assert_eq!(&store.get_range(&digits, 2..5).await.unwrap()[..], b"234");
        assert_eq!(&store.get_range(&digits, 0..10).await.unwrap()[..], b"0123456789");
        assert!(store.get_range(&digits, 10..10).await.unwrap().is_empty());
        for (start, end) in [(8, 11), (10, 11), (11, 11), (5, 4)] {
            let beyond = store.get_range(&digits, start..end).await;
            assert!(matches!(beyond, Err(StoreError::OutOfRange { len: 10, .. })), "{start}..{end}: {beyond:?}");
        }
        assert!(matches!(store.get(&key("none")).await, Err(StoreError::NotFound { .. })));
    }
}

#[tokio::test]
async fn servers_that_refuse_head_are_asked_for_the_first_byte() {
    let files = digits().await;
    files.put(&key("empty"), Bytes::new()).await.unwrap();
    for code in [405, 501, 204] {
        for ranges in [Ranges::Right, Ranges::Ignored] {
            let store = opened_with(&files, ranges, Heads::Status(code)).await;
            assert_eq!(store.head(&key("tables/plain/K/digits")).await.unwrap().len, 10);
            assert_eq!(store.head(&key("empty")).await.unwrap().len, 0);
            assert!(matches!(store.head(&key("none")).await, Err(StoreError::NotFound { .. })));
        }
    }
}

#[tokio::test]
async fn bytes_of_another_range_are_refused() {
    let files = digits().await;
    for ranges in [Ranges::Other, Ranges::Short] {
        let store = opened(&files, ranges).await;
        let wrong = store.get_range(&key("tables/plain/K/digits"), 2..5).await;
        assert!(matches!(wrong, Err(StoreError::Unavailable { .. })), "{wrong:?}");
    }
}

#[tokio::test]
async fn bytes_without_an_end_are_not_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let location: Location = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let len = stream.read(&mut head).await.unwrap();
                let asked = String::from_utf8_lossy(&head[..len]).to_lowercase();
                let line = match () {
                    () if asked.starts_with("head") => "200 OK\r\ncontent-length: 10",
                    () if asked.contains("range:") => "206 Partial\r\ncontent-range: bytes 2-4/10",
                    () => "200 OK",
                };
                let head = format!("HTTP/1.1 {line}\r\nconnection: close\r\n\r\n");
                stream.write_all(head.as_bytes()).await.unwrap();
                if asked.starts_with("head") {
                    return;
                }
                while stream.write_all(&[b'0'; 1 << 16]).await.is_ok() {}
            });
        }
    });
    let options = StoreOptions { patience: std::time::Duration::ZERO, ..StoreOptions::default() };
    let store = open(&location, &options).await.unwrap();
    for (refused, most) in [
        (store.get_range(&key("digits"), 2..5).await.err(), "more than 3 bytes"),
        (store.get(&key("digits")).await.err(), "more than 67108864 bytes"),
        (store.list("").await.err(), "more than 67108864 bytes"),
    ] {
        let StoreError::Denied { source: Some(told), .. } = refused.unwrap() else { panic!() };
        assert!(told.to_string().contains(most), "{told}");
    }
}

#[tokio::test]
async fn lists_come_from_an_index() {
    let files = digits().await;
    let store = opened(&files, Ranges::Right).await;
    let error = store.list("tables/").await.unwrap_err();
    assert!(error.to_string().contains("it has no index"), "{error}");
    files.put(&key("other"), "not a table".into()).await.unwrap();
    let listed = files.list("").await.unwrap();
    files.put(&key(INDEX_KEY), index_of(&listed).into()).await.unwrap();
    assert_eq!(store.list("").await.unwrap(), listed);
    assert_eq!(store.list("tables/").await.unwrap(), files.list("tables/plain/").await.unwrap());
    files.put(&key(INDEX_KEY), "<html>".into()).await.unwrap();
    assert!(matches!(store.list("").await, Err(StoreError::Denied { .. })));
}

#[tokio::test]
async fn nothing_is_written_and_refusals_are_told() {
    let files = digits().await;
    let store = opened(&files, Ranges::Right).await;
    let etag = store.get(&key("tables/plain/K/digits")).await.unwrap().etag;
    for refused in [
        store.put(&key("a"), Bytes::new()).await.err(),
        store.put_if_absent(&key("a"), Bytes::new()).await.err(),
        store.put_if_match(&key("a"), Bytes::new(), &etag).await.err(),
        store.delete(&key("tables/plain/K/digits")).await.err(),
    ] {
        assert!(refused.unwrap().to_string().contains("can only be read"));
    }
    let denied = store.get(&key("secret")).await.unwrap_err();
    assert!(denied.to_string().contains("access denied"), "{denied}");
    let busy = store.get(&key("busy")).await.unwrap_err();
    assert!(busy.is_transient(), "{busy}");
    let location: Location = serve(files, Ranges::Right, Heads::Right).await.parse().unwrap();
    let writing = open(&location, &StoreOptions { writable: true, ..StoreOptions::default() }).await.unwrap_err();
    assert!(writing.to_string().contains("can only be read"), "{writing}");
}
