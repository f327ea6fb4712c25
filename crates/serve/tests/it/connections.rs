//! Real connections: slow clients, a port that is taken, and the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use canju_serve::{Limits, ServeError, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::sources::Gated;
use crate::{KRK, limits, memory, over, with_fen};

/// A server over some tables: where it listens, how to end it, and its end.
async fn start(
    source: Arc<dyn canju_table::Source>,
    limits: Limits,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let server = Server::bind(([127, 0, 0, 1], 0).into(), limits.clone()).await.unwrap();
    let (address, (stop, stopped)) = (server.address(), oneshot::channel());
    let router = over(source, limits);
    let task = tokio::spawn(server.run(router, async {
        let _ = stopped.await;
    }));
    (address, stop, task)
}

/// Sends bytes and reads until the server closes.
async fn talk(address: SocketAddr, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Who is cut off may see that as an error.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

fn asking(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: canju\r\nconnection: close\r\n\r\n")
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_so() {
    let taken = Server::bind(([127, 0, 0, 1], 0).into(), limits()).await.unwrap();
    let Err(error) = Server::bind(taken.address(), limits()).await else { panic!("bound twice") };
    assert!(matches!(error, ServeError::InUse { address } if address == taken.address()));
    assert!(error.to_string().contains("is in use by another program"), "{error}");
    let foreign = Server::bind(([192, 0, 2, 1], 0).into(), limits()).await;
    assert!(matches!(foreign, Err(ServeError::Listen { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_answered_and_kept() {
    let (address, stop, task) = start(Arc::new(memory()), limits()).await;
    let path = with_fen("/v1/probe", KRK);
    let twice = format!("GET {path} HTTP/1.1\r\nhost: canju\r\n\r\n{}", asking("/healthz"));
    let answer = talk(address, &twice).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.contains("\"outcome\":\"win\"") && answer.ends_with("ok\n"),
        "{answer}"
    );
    assert!(talk(address, "nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    stop.send(()).unwrap();
    task.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_given_up() {
    let short = Duration::from_millis(50);
    let (address, _stop, _task) = start(Arc::new(memory()), Limits { head: short, timeout: short, ..limits() }).await;
    // Half a head, and nothing at all: both are closed.
    for begun in ["GET /healthz HT", ""] {
        assert!(!talk(address, begun).await.contains("200"), "{begun}");
    }
    let body =
        talk(address, "POST /v1/probe HTTP/1.1\r\nhost: canju\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{")
            .await;
    assert!(body.starts_with("HTTP/1.1 408") && body.contains("\"kind\":\"slow\""), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let (address, _stop, _task) = start(Arc::new(memory()), limits()).await;
    let head = "POST /v1/probe HTTP/1.1\r\nhost: canju\r\ncontent-length: 99999999\r\nconnection: close\r\n\r\n";
    assert!(talk(address, head).await.starts_with("HTTP/1.1 413"));
    // One without a length is cut off.
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let chunked = format!(
        "POST /v1/probe HTTP/1.1\r\nhost: canju\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n{}",
        chunk.repeat(40)
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let mut answer = [0; 12];
    let (_, read) = tokio::join!(writing.write_all(chunked.as_bytes()), reading.read_exact(&mut answer));
    assert_eq!((read.unwrap(), &answer[..]), (12, &b"HTTP/1.1 413"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_is_finished_at_the_end() {
    let source = Gated::new();
    let (address, stop, task) = start(Arc::clone(&source) as _, limits()).await;
    let path = with_fen("/v1/probe", KRK);
    let asked = tokio::spawn(async move { talk(address, &asking(&path)).await });
    source.waiting(1).await;
    stop.send(()).unwrap();
    // Nobody new is let in, and the one who is in gets an answer.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!task.is_finished());
    source.let_go();
    assert!(asked.await.unwrap().contains("\"outcome\":\"win\""));
    task.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_takes_too_long_does_not_hold_up_the_end() {
    let source = Gated::new();
    let (address, stop, task) =
        start(Arc::clone(&source) as _, Limits { grace: Duration::from_millis(20), ..limits() }).await;
    let path = with_fen("/v1/probe", KRK);
    let _asked = tokio::spawn(async move { talk(address, &asking(&path)).await });
    source.waiting(1).await;
    stop.send(()).unwrap();
    task.await.unwrap();
    source.let_go();
}
