//! Strangers: each gets nothing, and a build that runs meanwhile finishes with the same bytes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::chief::{Answering, answering};
use crate::pipes::Pipes;
use crate::pki::{Authority, TOKEN, network};
use crate::town::{Town, files, hire_over, settings};
use crate::toy::Toy;
use canju_cluster::wire::exchange_client::ExchangeClient;
use canju_cluster::wire::membership_client::MembershipClient;
use canju_cluster::wire::{command::Kind as Told, report::Kind as Say};
use canju_cluster::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

fn hello(name: &str, address: &str) -> wire::Report {
    let (name, address, version) = (name.to_owned(), address.to_owned(), VERSION.to_owned());
    let hello = wire::Hello { name, address, threads: 1, version, ..Default::default() };
    wire::Report { epoch: 0, kind: Some(Say::Hello(hello)) }
}

fn chunk(payload: usize) -> wire::Chunk {
    let task = wire::Task { job: "j1".into(), table: "T3".into(), metric: "dtm".into(), epoch: 7 };
    wire::Chunk { task: Some(task), payload: vec![0; payload].into(), ..Default::default() }
}

/// What a stranger gets from every service of the coordinator and of a worker: never anything but this error.
async fn ask_everything(network: &Network, coordinator: &str, worker: &str) -> Vec<String> {
    let mut errors = Vec::new();
    match Client::connect_over(network, coordinator).await {
        Err(error) => errors.push(error.line()),
        Ok(mut client) => {
            errors.push(client.jobs().await.unwrap_err().line());
            errors.push(client.status().await.unwrap_err().line());
            errors.push(client.submit(&["T2".into()], &["dtm".into()], "").await.unwrap_err().line());
            errors.push(client.cancel("j1").await.unwrap_err().line());
            errors.push(client.watch("j1").await.unwrap_err().line());
        }
    }
    if let Ok(route) = network.connect("a", coordinator).await {
        let reports = tokio_stream::iter([hello("stranger", "http://127.0.0.1:1")]);
        let answer = MembershipClient::new(route).attend(reports).await;
        errors.push(answer.unwrap_err().message().to_owned());
    }
    if let Ok(route) = network.connect("a", worker).await {
        let answer = ExchangeClient::new(route).send(tokio_stream::iter([chunk(9)])).await;
        errors.push(answer.unwrap_err().message().to_owned());
    }
    errors
}

/// Sends some bytes and nothing more. Returns what came back until the other side closed the connection.
async fn send_raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = Vec::new();
    if stream.write_all(bytes).await.is_ok() {
        let end = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut answer)).await;
        let _ = end.expect("a connection that says nothing useful is closed");
    }
    answer
}

fn address_of(url: &str) -> SocketAddr {
    url.split_once("://").unwrap().1.parse().unwrap()
}

/// Bytes that are no beginning of TLS or HTTP/2, and some that are and do not go on.
fn garbage() -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(3);
    let mut list: Vec<Vec<u8>> = (0..6).map(|i| (0..10usize.pow(i)).map(|_| random.u8(..)).collect()).collect();
    list.push(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec());
    list.push(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec());
    list.push(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x01\x05\0\0\0\x01".to_vec());
    list.push(b"\x16\x03\x01\xff\xff\x01".to_vec());
    list.push(Vec::new());
    list
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_get_nothing_and_a_build_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    let (town, _hands) = Town::with(Arc::new(Toy::default()), &plain, 2).await;
    assert_eq!(town.build(&["T4"], &["dtm", "dtc"]).await.state(), wire::JobState::Done);
    let expected = files(&plain);
    // Encryption is not offered where it is not configured.
    let (own, other) = (Authority::new(folder.path(), "own"), Authority::new(folder.path(), "other"));
    for authority in [&own, &other] {
        authority.sign("member", |_| {});
    }
    let member = network(own.credentials("member", Some(TOKEN)));
    let error = Client::connect_over(&member, &town.url.replace("http:", "https:")).await.unwrap_err();
    assert!(matches!(error, ClusterError::Unreachable { .. }), "{error:?}");
    for bytes in garbage().iter().filter(|b| !b.starts_with(b"PRI") && b.len() > 24) {
        send_raw(address_of(&town.url), bytes).await;
    }
    town.close().await;

    // A cluster with certificates on both sides and a token, held in the middle of a build.
    let toy = Arc::new(Toy { hold: Some(("T4", 2)), ..Toy::default() });
    let secret = folder.path().join("secret");
    let mut settings = settings(&secret);
    settings.network = member.clone();
    settings.conductor.min_workers = 2;
    let town = Town::found(Arc::clone(&toy) as _, &Folders, settings).await;
    assert!(town.url.starts_with("https://127.0.0.1:"));
    let mut hands = Vec::new();
    for name in ["w0", "w1"] {
        hands.push(hire_over(&member, &town.url, Arc::clone(&toy) as _, Arc::new(Folders), name, 0).await);
    }
    let mut client = Client::connect_over(&member, &town.url).await.unwrap();
    let job = client.submit(&["T4".into()], &["dtm".into(), "dtc".into()], "").await.unwrap();
    while toy.waiting.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let worker = client.status().await.unwrap().workers[0].address.clone();

    // Who has a certificate and no token, or another one.
    for token in [None, Some("a-token-of-somebody-else")] {
        let errors = ask_everything(&network(own.credentials("member", token)), &town.url, &worker).await;
        assert!(errors.len() == 7 && errors.iter().all(|e| e.contains("--token-file")), "{errors:?}");
    }
    // Who has no certificate, or that of another authority; who would not know whom they speak with.
    let trusting = |credentials: Credentials| Credentials { authority: Some(own.file("ca.pem")), ..credentials };
    let mut bare = own.credentials("member", Some(TOKEN));
    (bare.certificate, bare.key) = (None, None);
    let foreign = trusting(other.credentials("member", Some(TOKEN)));
    let mut misled = own.credentials("member", Some(TOKEN));
    misled.authority = Some(other.file("ca.pem"));
    for (stranger, word) in [(bare, ""), (foreign, ""), (misled, "UnknownIssuer")] {
        let errors = ask_everything(&network(stranger), &town.url, &worker).await;
        assert!(!errors.is_empty() && errors.iter().all(|e| e.contains(word)), "{word}: {errors:?}");
    }
    // Who speaks in plain text, and who speaks nonsense; who has certificates is not talked out of them.
    let clear = Network::default().secured(Security::of_token(Token::new(TOKEN, "here").unwrap()));
    let in_clear = |url: &str| url.replace("https:", "http:");
    let errors = ask_everything(&clear, &in_clear(&town.url), &in_clear(&worker)).await;
    assert!(!errors.is_empty());
    let error = Client::connect_over(&member, &in_clear(&town.url)).await.unwrap_err().line();
    assert!(error.contains("is not encrypted"), "{error}");
    let mut raw = Vec::new();
    for bytes in garbage() {
        for url in [&town.url, &worker] {
            let (address, bytes) = (address_of(url), bytes.clone());
            raw.push(tokio::spawn(async move { send_raw(address, &bytes).await }));
        }
    }
    for answer in raw {
        let answer = answer.await.unwrap();
        // At most an alert of TLS.
        assert!(answer.len() < 20, "{answer:?}");
    }
    // Members that say strange things.
    let route = member.connect("a", &town.url).await.unwrap();
    for (name, address) in [
        ("", "https://127.0.0.1:1"),
        ("a\u{1b}[2Jb", "https://127.0.0.1:1"),
        (&*"n".repeat(100_000), "https://127.0.0.1:1"),
        ("w", "file:///etc/passwd"),
        ("w", "https://127.0.0.1"),
        ("w", &format!("https://{}:1", "h".repeat(100_000))),
    ] {
        let reports = tokio_stream::iter([hello(name, address)]);
        let mut commands = MembershipClient::new(route.clone()).attend(reports).await.unwrap().into_inner();
        match commands.message().await.unwrap().unwrap().kind.unwrap() {
            Told::Goodbye(goodbye) => assert!(!goodbye.rejoin && goodbye.reason.len() < 500, "{goodbye:?}"),
            other => panic!("{other:?}"),
        }
    }
    for tables in [vec!["K".repeat(2 << 20)], vec!["K".repeat(1000)], vec![String::new(); 20_000]] {
        let error = client.submit(&tables, &["dtm".into()], "").await.unwrap_err().line();
        assert!(error.len() < 500, "{error}");
    }
    let answer = ExchangeClient::new(member.connect("a", &worker).await.unwrap());
    let status = answer.clone().send(tokio_stream::iter([chunk(4 << 20)])).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status}");
    let status = answer.clone().send(tokio_stream::iter([chunk(9)])).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");

    assert_eq!(client.status().await.unwrap().workers.len(), 2);
    toy.gate.store(true, Ordering::SeqCst);
    let mut watch = client.watch(&job.id).await.unwrap();
    let mut last = job;
    while let Some(picture) = watch.next().await.unwrap() {
        last = picture;
    }
    assert_eq!((last.state(), last.error.as_str()), (wire::JobState::Done, ""));
    assert!(!expected.is_empty());
    assert_eq!(files(&secret), expected);
    town.close().await;
}

/// A coordinator on pipes, at a stopped clock.
async fn on_pipes(folder: &std::path::Path) -> (Arc<Pipes>, Network, Town) {
    let (pipes, network) = Pipes::network();
    let mut settings = settings(folder);
    settings.listen = ([127, 0, 0, 1], 7420).into();
    settings.network = network.clone();
    settings.conductor.patience = Duration::from_secs(3600);
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    (pipes, network, town)
}

#[tokio::test]
async fn connections_that_say_nothing_take_no_place_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let (pipes, network, _town) = on_pipes(folder.path()).await;
    tokio::time::pause();
    // A member has come before.
    let mut member = Client::connect_over(&network, "http://c:7420").await.unwrap();
    member.jobs().await.unwrap();
    let mut silent: Vec<_> = (0..400).map(|_| pipes.dial(7420).unwrap()).collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut open = 0;
    for stream in &mut silent {
        // Those that found no place are closed at once.
        let read = tokio::time::timeout(Duration::ZERO, stream.read_to_end(&mut Vec::new())).await;
        open += usize::from(read.is_err());
    }
    assert_eq!(open, 256);
    assert!(Client::connect_over(&network, "http://c:7420").await.unwrap().jobs().await.is_err());
    member.jobs().await.unwrap();
    // The others have ten seconds; some say something that is nothing, byte by byte.
    let drip = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for byte in drip.iter().take(9) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        for stream in silent.iter_mut().take(100) {
            let _ = stream.write_all(&[*byte]).await;
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for mut stream in silent {
        let read = tokio::time::timeout(Duration::from_millis(100), stream.read_to_end(&mut Vec::new())).await;
        assert!(read.is_ok(), "a silent connection is still open");
    }
    Client::connect_over(&network, "http://c:7420").await.unwrap().jobs().await.unwrap();
    member.jobs().await.unwrap();
}

#[tokio::test]
async fn who_does_not_say_hello_is_sent_away() {
    let folder = tempfile::tempdir().unwrap();
    let (_pipes, network, _town) = on_pipes(folder.path()).await;
    tokio::time::pause();
    let route = network.connect("a", "http://c:7420").await.unwrap();
    let begun = tokio::time::Instant::now();
    let status = MembershipClient::new(route).attend(tokio_stream::pending()).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(begun.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn there_is_room_for_so_many_workers_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (_pipes, network, _town) = on_pipes(folder.path()).await;
    let mut lines = Vec::new();
    let address = answering(&network, ([127, 0, 0, 1], 7430).into(), Answering::default()).await;
    for i in 0..1001 {
        // No connection carries more than 256 requests.
        if i % 200 == 0 {
            lines.push((network.connect("a", "http://c:7420").await.unwrap(), Vec::new()));
        }
        let (route, streams) = lines.last_mut().unwrap();
        let (sender, reports) = tokio::sync::mpsc::channel(1);
        sender.send(hello(&format!("w{i}"), &address)).await.unwrap();
        let reports = tokio_stream::wrappers::ReceiverStream::new(reports);
        match MembershipClient::new(route.clone()).attend(reports).await {
            Ok(commands) => streams.push((commands, sender)),
            Err(status) => {
                assert_eq!((i, status.code()), (1000, Code::ResourceExhausted));
                return;
            }
        }
    }
    panic!("1001 workers");
}

#[tokio::test]
async fn a_message_that_does_not_go_on_is_given_up() {
    let (_pipes, network) = Pipes::network();
    let inboxes = Inboxes::default();
    let listener = network.listen(([127, 0, 0, 1], 7421).into(), false).await.unwrap();
    let server = network.server().unwrap().add_service(network.guarded(inboxes.service()));
    tokio::spawn(server.serve_with_incoming(listener.incoming()));
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let route = network.connect("a", "http://w:7421").await.unwrap();
    let status = ExchangeClient::new(route).send(tokio_stream::pending()).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(begun.elapsed().as_secs(), 30);
}

#[tokio::test]
async fn health_is_told_to_everybody() {
    let (_pipes, network) = Pipes::network();
    let network = network.secured(Security::of_token(Token::new(TOKEN, "here").unwrap()));
    let health = Health::default();
    let listener = network.listen(([127, 0, 0, 1], 7421).into(), false).await.unwrap();
    let server = network.server().unwrap().add_service(health.service());
    tokio::spawn(server.serve_with_incoming(listener.incoming()));
    let url = "http://w:7421";
    let stranger = network.clone().secured(Security::default());
    let well = async |service| is_well(&stranger, "it", url, service).await.unwrap();
    assert!(!well("").await && well(LIVE).await && !well("other").await);
    health.set(true);
    assert!(well("").await && well(LIVE).await);
    health.set(false);
    assert!(!well("").await);
    assert!(is_well(&stranger, "it", "http://w:1", "").await.is_err());
}
