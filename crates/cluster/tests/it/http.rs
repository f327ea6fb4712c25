//! The HTTP ports: who is shown what.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::town::settings;
use crate::toy::Toy;
use canju_cluster::{Coordinator, Folders, HttpSettings, Network, Security, Token, Worker, WorkerSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Asks for a path. Returns the status and the whole answer.
async fn get(port: &str, path: &str, headers: &str) -> (u16, String) {
    let address = port.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

fn at(listen: SocketAddr) -> HttpSettings {
    HttpSettings { listen, insecure_network: false }
}

/// A coordinator that is not at work yet.
async fn coordinator(store: &std::path::Path, token: Option<&str>) -> Coordinator {
    let mut settings = settings(store);
    if let Some(token) = token {
        settings.network = settings.network.secured(Security::of_token(Token::new(token, "a test").unwrap()));
    }
    Coordinator::bind(Arc::new(Toy::default()), &Folders, settings).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_asked_for_pages_and_not_for_probes() {
    let store = tempfile::tempdir().unwrap();
    let coordinator = coordinator(store.path(), Some("open-sesame-and-more")).await;
    let dashboard = coordinator.dashboard(&at(([127, 0, 0, 1], 0).into())).await.unwrap();
    let port = dashboard.url();
    tokio::spawn(dashboard.run(std::future::pending()));
    for path in ["/", "/v1/status", "/?token=open-sesame-and-mor", "/?token=", "/v1/status?token=open-sesame-and-more2"]
    {
        let (status, answer) = get(&port, path, "").await;
        assert_eq!(status, 401, "{path}: {answer}");
        assert!(answer.contains("?token=TOKEN") && !answer.contains("sesame"), "{answer}");
    }
    assert_eq!(get(&port, "/", "authorization: Bearer open-sesame-and-mor\r\n").await.0, 401);
    assert_eq!(get(&port, "/", "authorization: open-sesame-and-more\r\n").await.0, 401);
    assert_eq!(get(&port, "/", "authorization: Bearer open-sesame-and-more\r\n").await.0, 200);
    assert_eq!(get(&port, "/?token=open-sesame-and-more", "").await.0, 200);
    let (status, json) = get(&port, "/v1/status", "authorization: Bearer open-sesame-and-more\r\n").await;
    // It does not run, so that it is not active either.
    assert!(status == 200 && json.contains("\"active\":false"), "{json}");
    for path in ["/healthz", "/metrics"] {
        assert_eq!(get(&port, path, "").await.0, 200, "{path}");
    }
    // It has not begun.
    assert_eq!(get(&port, "/readyz", "").await.0, 503);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_sealed_and_nothing_can_be_changed() {
    let store = tempfile::tempdir().unwrap();
    let coordinator = coordinator(store.path(), None).await;
    let dashboard = coordinator.dashboard(&at(([127, 0, 0, 1], 0).into())).await.unwrap();
    let port = dashboard.url();
    tokio::spawn(dashboard.run(std::future::pending()));
    for path in ["/", "/v1/status", "/metrics", "/healthz", "/nothing", "/../etc/passwd"] {
        let (_, answer) = get(&port, path, "").await;
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        for seal in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "cache-control: no-store",
        ] {
            assert!(head.contains(seal), "{path} {seal}: {head}");
        }
        assert!(!head.contains("unsafe"), "{head}");
    }
    assert_eq!(get(&port, "/nothing", "").await.0, 404);
    let mut stream = TcpStream::connect(port.trim_start_matches("http://").trim_end_matches('/')).await.unwrap();
    stream
        .write_all(b"POST /v1/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_served_only_with_a_token() {
    let store = tempfile::tempdir().unwrap();
    let anywhere: SocketAddr = ([0, 0, 0, 0], 0).into();
    let open = coordinator(store.path(), None).await;
    let error = open.dashboard(&at(anywhere)).await.map(|_| ()).unwrap_err().line();
    assert!(error.contains("0.0.0.0:0") && error.contains("--insecure-network"), "{error}");
    let trusting = HttpSettings { insecure_network: true, ..at(anywhere) };
    open.dashboard(&trusting).await.map(|_| ()).unwrap();
    let guarded = coordinator(store.path(), Some("open-sesame-and-more")).await;
    guarded.dashboard(&at(anywhere)).await.map(|_| ()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_ready_while_it_attends() {
    let store = tempfile::tempdir().unwrap();
    let coordinator = coordinator(store.path(), None).await;
    let settings = WorkerSettings {
        name: "w1".into(),
        coordinators: vec![coordinator.url()],
        listen: ([127, 0, 0, 1], 0).into(),
        advertise: None,
        insecure_network: false,
        network: Network::default(),
        memory: 1 << 20,
        scratch: None,
        threads: 1,
        retry: std::time::Duration::from_millis(20),
        patience: std::time::Duration::from_secs(60),
        drain: std::time::Duration::ZERO,
    };
    let worker = Worker::bind(Arc::new(Toy::default()), Arc::new(Folders), settings).await.unwrap();
    let probe = worker.probe(&at(([127, 0, 0, 1], 0).into())).await.unwrap();
    let port = probe.url();
    tokio::spawn(probe.run(std::future::pending()));
    assert_eq!(get(&port, "/healthz", "").await.0, 200);
    assert_eq!(get(&port, "/readyz", "").await.0, 503);
    assert!(get(&port, "/metrics", "").await.1.contains("canju_memory_limit_bytes 1048576.0"));
    assert_eq!(get(&port, "/v1/status", "").await.0, 404);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(coordinator.run(async {
        let _ = stopped.await;
    }));
    tokio::spawn(worker.run(std::future::pending(), std::future::pending()));
    let become_ready = async |wanted: u16| {
        for _ in 0..2000 {
            if get(&port, "/readyz", "").await.0 == wanted {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("never {wanted}");
    };
    become_ready(200).await;
    drop(stop);
    serving.await.unwrap().unwrap();
    become_ready(503).await;
}
