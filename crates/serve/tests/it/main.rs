//! The server as its clients see it: over tables in memory, and over real connections.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod batch;
mod chessdb;
mod connections;
mod endgames;
mod ewn;
mod games;
mod http;
mod nonsense;
mod openapi;
mod positions;
mod sources;
mod trouble;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use canju_probe::Prober;
use canju_retro::{Metric, Rules};
use canju_serve::{Limits, Service, router};
use canju_table::{MemorySource, Source, TableSet};
use canju_tests::Workshop;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

/// Red mates in one.
const KRK: &str = "5k3/9/9/9/9/9/9/9/9/4K2R1 w";
/// Nobody wins.
const DRAWN: &str = "5k3/9/9/9/2b6/6N2/9/9/9/4K4 w";
/// Two soldiers, of which there is no table.
const MISSING: &str = "3k5/9/9/9/9/P1P6/9/9/9/4K4 w";

/// The files of KRKN and KNKB with all smaller tables, made once.
fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let (mut workshop, mut files) = (Workshop::new(), Vec::new());
        for name in ["KRKN", "KNKB"] {
            workshop.write(name, &[Metric::Dtm, Metric::Dtc], &mut |key, bytes| files.push((key, bytes)));
        }
        files
    })
}

/// A source with these files.
fn memory() -> MemorySource {
    let source = MemorySource::new();
    files().iter().for_each(|(key, bytes)| source.insert(key.clone(), bytes.clone()));
    source
}

fn limits() -> Limits {
    Limits { threads: 4, ..Limits::default() }
}

fn over(source: Arc<dyn Source>, limits: Limits) -> Router {
    router(Service::new(Arc::new(Prober::new(TableSet::open(source, Rules::Plain))), limits))
}

/// A server over tables of any rules.
fn under(tables: TableSet) -> Router {
    router(Service::new(Arc::new(Prober::new(tables)), limits()))
}

/// A server over whole tables.
fn server() -> Router {
    over(Arc::new(memory()), limits())
}

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The kind and the words of an error.
    fn error(&self) -> (u16, String, String) {
        let json = self.json();
        let word = |name: &str| json["error"][name].as_str().unwrap().to_owned();
        (self.status.as_u16(), word("kind"), word("message"))
    }
}

async fn send(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Answer { status: parts.status, headers: parts.headers, body }
}

async fn get(router: &Router, path: &str) -> Answer {
    send(router, Request::get(path).body(Body::empty()).unwrap()).await
}

async fn post(router: &Router, path: &str, body: impl Into<Body>) -> Answer {
    send(router, Request::post(path).body(body.into()).unwrap()).await
}

/// A path with a FEN as a browser writes it.
fn with_fen(path: &str, fen: &str) -> String {
    format!("{path}{}fen={}", if path.contains('?') { '&' } else { '?' }, fen.replace(' ', "%20"))
}

async fn ask(router: &Router, path: &str, fen: &str) -> Value {
    let answer = get(router, &with_fen(path, fen)).await;
    assert_eq!(answer.status, 200, "{path} {fen}: {}", answer.text());
    answer.json()
}
