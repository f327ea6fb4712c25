//! A small S3 server in this process, which can be told to fail in the ways that real ones do.

#![allow(clippy::unwrap_used, dead_code, reason = "a test may stop; each test file uses some of it")]

mod objects;

use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use canju_store::{AccessKeys, StoreOptions};
use http_body_util::{BodyExt, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_stream::Iter;

use objects::Objects;

/// The access key that the server knows.
pub const KEY_ID: &str = "AKIDEXAMPLEOFTESTS";
/// Its secret, which the server does not check.
pub const SECRET: &str = "hush-hush-hush";

/// How a request goes wrong.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An error answer; nothing is done.
    Answer(u16, &'static str),
    /// It is done, but the connection ends before the answer.
    LostAnswer,
    /// No answer, ever; nothing is done.
    Hang,
    /// Half of the answer's body, then the connection ends.
    HalfBody,
    /// Done without looking at conditions.
    NoConditions,
    /// All of the object instead of a range.
    NoRanges,
}

/// Which requests go wrong, and how often.
struct Rule {
    method: &'static str,
    within: &'static str,
    fault: Fault,
    /// So many of them go well first.
    well: u64,
    left: u64,
}

#[derive(Default)]
struct State {
    objects: Objects,
    rules: Vec<Rule>,
    asked: Vec<String>,
}

/// The server. It ends with the runtime.
pub struct FakeS3 {
    endpoint: String,
    state: Arc<Mutex<State>>,
}

pub(crate) type Part = Iter<std::vec::IntoIter<Result<Frame<Bytes>, io::Error>>>;
type Answer = Response<Either<Full<Bytes>, StreamBody<Part>>>;

impl FakeS3 {
    /// Starts a server with one bucket, `xq`.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let state = Arc::clone(&shared);
                let service = service_fn(move |request| answer(Arc::clone(&state), request));
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { endpoint, state }
    }

    /// The options that reach it, with little patience.
    pub fn options(&self) -> StoreOptions {
        StoreOptions {
            endpoint: Some(self.endpoint.clone()),
            keys: Some(AccessKeys { id: KEY_ID.into(), secret: SECRET.into() }),
            seed: Some(1),
            ..StoreOptions::default()
        }
    }

    /// Lets the next `times` requests of a method go wrong whose path and query contain `within`.
    pub fn fail(&self, method: &'static str, within: &'static str, fault: Fault, times: u64) {
        self.fail_after(method, within, 0, fault, times);
    }

    /// The same after `well` of these requests went well.
    pub fn fail_after(&self, method: &'static str, within: &'static str, well: u64, fault: Fault, times: u64) {
        self.state.lock().unwrap().rules.push(Rule { method, within, fault, well, left: times });
    }

    /// Ends all that goes wrong.
    pub fn heal(&self) {
        self.state.lock().unwrap().rules.clear();
    }

    /// The requests that came since the last call, as `PUT /xq/key?query`.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }

    /// The names of all objects.
    pub fn names(&self) -> Vec<String> {
        self.state.lock().unwrap().objects.names()
    }

    /// How many uploads are neither completed nor aborted.
    pub fn uploads(&self) -> usize {
        self.state.lock().unwrap().objects.uploads()
    }

    /// Lists in pages of so many objects.
    pub fn page(&self, len: usize) {
        self.state.lock().unwrap().objects.page = len;
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Request<Incoming>) -> Result<Answer, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let fault = {
        let mut state = state.lock().unwrap();
        let asked = format!("{} {}", head.method, head.uri.path_and_query().unwrap());
        let rule = state.rules.iter_mut().find(|r| r.left > 0 && head.method == r.method && asked.contains(r.within));
        let fault = rule.and_then(|rule| {
            if rule.well > 0 {
                rule.well -= 1;
                return None;
            }
            rule.left -= 1;
            Some(rule.fault.clone())
        });
        state.asked.push(asked);
        fault
    };
    let known = head.headers.get("authorization").is_some_and(|a| a.to_str().unwrap().contains(KEY_ID));
    let work = |conditions, ranges| state.lock().unwrap().objects.answer(&head, &body, conditions, ranges);
    let whole = |response: Response<Bytes>| Ok(response.map(|bytes| Either::Left(Full::new(bytes))));
    match fault {
        _ if !known => whole(objects::error(403, "InvalidAccessKeyId", &head)),
        None => whole(work(true, true)),
        Some(Fault::Answer(status, code)) => whole(objects::error(status, code, &head)),
        Some(Fault::NoConditions) => whole(work(false, true)),
        Some(Fault::NoRanges) => whole(work(true, false)),
        Some(Fault::LostAnswer) => {
            work(true, true);
            Err(io::Error::other("the connection ends"))
        }
        Some(Fault::Hang) => std::future::pending().await,
        Some(Fault::HalfBody) => Ok(work(true, true).map(half)),
    }
}

fn half(bytes: Bytes) -> Either<Full<Bytes>, StreamBody<Part>> {
    let half = bytes.slice(..bytes.len() / 2);
    let parts = vec![Ok(Frame::data(half)), Err(io::Error::other("the connection ends"))];
    Either::Right(StreamBody::new(tokio_stream::iter(parts)))
}
