//! Messages between workers: repeated, out of order, of another attempt, damaged, too large, lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canju_cluster::wire::exchange_client::ExchangeClient;
use canju_cluster::*;
use canju_retro::{Metric, TableName};
use tonic::Code;
use tonic::transport::Server;

const ME: u32 = 2;
const PEER: u32 = 1;

fn task(epoch: u64) -> Task {
    Task { job: JobId(1), table: TableName::new("T3").unwrap(), metric: Metric::Dtm, epoch }
}

fn letter(ply: u16, len: usize) -> Letter {
    let message = (0..len).map(|i| (i * i / 7 + usize::from(ply)) as u8).collect::<Vec<_>>();
    Letter { task: task(7), ply, from: PEER, to: ME, message: Bytes::from(message) }
}

fn inbox() -> Inbox {
    Inbox::new(task(7), ME, BTreeMap::from([(PEER, 8 * MAX_PAYLOAD)]))
}

fn chunks(letter: &Letter) -> Vec<wire::Chunk> {
    (0..letter.chunks()).map(|i| letter.chunk(i)).collect()
}

#[tokio::test]
async fn pieces_in_any_order_and_twice_make_one_message() {
    for len in [0, 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 3 * MAX_PAYLOAD + 5] {
        let (letter, inbox) = (letter(0, len), inbox());
        let pieces = chunks(&letter);
        assert!(pieces.iter().all(|c| c.payload.len() <= MAX_PAYLOAD));
        for piece in pieces.iter().rev() {
            assert_eq!(inbox.accept(piece.clone()), Ok(Accepted::New));
            assert_eq!(inbox.accept(piece.clone()), Ok(Accepted::Repeated));
        }
        let received = inbox.take(PEER).await;
        assert_eq!((received.message, received.chunks), (letter.message.to_vec(), letter.chunks()));
        // The message is handed over once: what comes again changes nothing.
        for piece in pieces {
            assert_eq!(inbox.accept(piece), Ok(Accepted::Repeated));
        }
        assert!(tokio::time::timeout(Duration::from_millis(20), inbox.take(PEER)).await.is_err());
    }
}

#[tokio::test]
async fn plies_follow_each_other() {
    let inbox = inbox();
    assert_eq!(inbox.accept(letter(1, 9).chunk(0)), Err(Refusal::Ahead { ply: 1, open: 0 }));
    inbox.accept(letter(0, 9).chunk(0)).unwrap();
    inbox.take(PEER).await;
    inbox.turn(1);
    assert_eq!(inbox.accept(letter(0, 9).chunk(0)), Ok(Accepted::Repeated));
    assert_eq!(inbox.accept(letter(1, 9).chunk(0)), Ok(Accepted::New));
    assert_eq!(inbox.take(PEER).await.message, letter(1, 9).message);
}

#[test]
fn what_is_not_for_this_part_is_refused() {
    let inbox = inbox();
    let not_mine = |change: &dyn Fn(&mut Letter)| {
        let mut letter = letter(0, 9);
        change(&mut letter);
        inbox.accept(letter.chunk(0)).unwrap_err()
    };
    assert!(matches!(not_mine(&|l| l.task.epoch = 6), Refusal::NotMine(_)));
    assert!(matches!(not_mine(&|l| l.task.job = JobId(2)), Refusal::NotMine(_)));
    assert!(matches!(not_mine(&|l| l.task.metric = Metric::Dtc), Refusal::NotMine(_)));
    assert!(matches!(not_mine(&|l| l.to = 5), Refusal::NotMine(_)));
    assert_eq!(not_mine(&|l| l.from = 5), Refusal::Stranger(5));
}

#[test]
fn damage_is_seen_wherever_it_is() {
    let inbox = inbox();
    let damages: [&dyn Fn(&mut wire::Chunk); 7] = [
        &|c| c.payload = c.payload.iter().map(|b| b ^ 1).collect(),
        &|c| c.payload = c.payload.slice(1..),
        &|c| c.checksum ^= 1,
        &|c| c.sequence += 1,
        &|c| c.last = !c.last,
        &|c| c.ply += 1,
        &|c| c.from += 1,
    ];
    for damage in damages {
        let mut chunk = letter(0, 100).chunk(0);
        damage(&mut chunk);
        assert_eq!(inbox.accept(chunk), Err(Refusal::Damaged));
    }
    assert_eq!(inbox.accept(letter(0, 100).chunk(0)), Ok(Accepted::New));
}

#[test]
fn a_box_takes_no_more_than_a_message_can_have() {
    let inbox = inbox();
    let long = letter(0, 9 * MAX_PAYLOAD);
    let refused = chunks(&long).into_iter().map(|c| inbox.accept(c)).filter(Result::is_err).count();
    assert_eq!(refused, 1);
    assert!(matches!(inbox.accept(letter(0, 60 * MAX_PAYLOAD).chunk(50)), Err(Refusal::TooLarge(_))));
    // Two messages that are not the same cannot be mixed.
    let inbox = self::inbox();
    inbox.accept(letter(0, 2 * MAX_PAYLOAD).chunk(0)).unwrap();
    let mut other = letter(0, 2 * MAX_PAYLOAD);
    other.message = Bytes::from(vec![1; 2 * MAX_PAYLOAD]);
    assert_eq!(inbox.accept(other.chunk(0)), Err(Refusal::Contradiction(0)));
    inbox.accept(letter(0, 2 * MAX_PAYLOAD).chunk(1)).unwrap();
    assert_eq!(inbox.accept(letter(0, 3 * MAX_PAYLOAD).chunk(2)), Err(Refusal::Contradiction(2)));
}

struct Served {
    url: String,
    posted: Posted,
}

async fn serve(inbox: Inbox) -> Served {
    let inboxes = Inboxes::default();
    let posted = inboxes.put_up(inbox);
    let listener = Network::default().listen(([127, 0, 0, 1], 0).into(), false).await.unwrap();
    let url = format!("http://{}", listener.address());
    let server = Server::builder().add_service(inboxes.service());
    tokio::spawn(server.serve_with_incoming(listener.incoming()));
    Served { url, posted }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_post_delivers_and_a_second_delivery_changes_nothing() {
    let served = serve(inbox()).await;
    let post = Post::default();
    let long = letter(0, 3 * MAX_PAYLOAD + 77);
    for _ in 0..3 {
        assert_eq!(post.send(&served.url, &long).await.unwrap(), 4);
    }
    assert_eq!(served.posted.inbox.take(PEER).await.message, long.message);
    assert_eq!(post.send(&served.url, &long).await.unwrap(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_refuses_with_the_reason() {
    let served = serve(inbox()).await;
    // Who is not there yet may come, so that the sender asks again; here for no time at all.
    let post = Post::default().with_patience(Duration::ZERO);
    let mut stale = letter(0, 9);
    stale.task.epoch = 6;
    let error = post.send(&served.url, &stale).await.unwrap_err().line();
    assert!(error.contains("share 2 of epoch 6 is not at work here"), "{error}");
    let error = post.send(&served.url, &letter(3, 9)).await.unwrap_err().line();
    assert!(error.contains("ply 3 came while ply 0 is at work"), "{error}");

    let mut client = ExchangeClient::connect(served.url.clone()).await.unwrap();
    let mut code = async |chunk: wire::Chunk| client.send(tokio_stream::iter([chunk])).await.unwrap_err().code();
    let mut damaged = letter(0, 9).chunk(0);
    damaged.checksum += 1;
    assert_eq!(code(damaged).await, Code::DataLoss);
    let mut large = letter(0, 9).chunk(0);
    large.payload = Bytes::from(vec![0; MAX_PAYLOAD + 1]);
    assert_eq!(code(large.clone()).await, Code::ResourceExhausted);
    large.payload = Bytes::from(vec![0; 4 * MAX_PAYLOAD]);
    assert_eq!(code(large).await, Code::OutOfRange);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_late_is_reached() {
    let listener = Network::default().listen(([127, 0, 0, 1], 0).into(), false).await.unwrap();
    let address = listener.address();
    drop(listener);
    let sending = tokio::spawn(async move {
        let post = Post::default();
        post.send(&format!("http://{address}"), &letter(0, 9)).await
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    let inboxes = Inboxes::default();
    let posted = inboxes.put_up(inbox());
    let listener = Network::default().listen(address, false).await.unwrap();
    tokio::spawn(Server::builder().add_service(inboxes.service()).serve_with_incoming(listener.incoming()));
    assert_eq!(sending.await.unwrap().unwrap(), 1);
    let posted: Arc<Inbox> = Arc::clone(&posted.inbox);
    assert_eq!(posted.take(PEER).await.message, letter(0, 9).message);
}
