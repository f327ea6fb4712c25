//! Workers that lose their way to the coordinator and come back with what they have.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use canju_cluster::*;
use canju_retro::{Metric, Rules, TableName};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::chief::{LIMIT, work};
use crate::failure_table::{
    SLICES, TABLE, again, at_the_gate, end_of, for_two, gated, open, plain, prepared, submit, until,
};
use crate::seat::Seat;
use crate::town::{Town, files};

/// A way to a coordinator that can be closed.
struct Way {
    url: String,
    is_open: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Way {
    async fn to(coordinator: &str) -> Self {
        let target: SocketAddr = coordinator.trim_start_matches("http://").parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (is_open, connections) = (Arc::new(AtomicBool::new(true)), Arc::<Mutex<Vec<_>>>::default());
        let (is_passed, list) = (Arc::clone(&is_open), Arc::clone(&connections));
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                if !is_passed.load(Ordering::SeqCst) {
                    continue;
                }
                let carry = async move {
                    if let Ok(mut far) = TcpStream::connect(target).await {
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                };
                list.lock().unwrap().push(tokio::spawn(carry).abort_handle());
            }
        });
        Self { url, is_open, connections }
    }

    fn close(&self) {
        self.is_open.store(false, Ordering::SeqCst);
        self.connections.lock().unwrap().drain(..).for_each(|connection| connection.abort());
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }
}

async fn names(client: &mut Client) -> Vec<String> {
    let workers = client.status().await.map(|status| status.workers).unwrap_or_default();
    workers.into_iter().filter(|w| w.ready).map(|w| w.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_that_nobody_could_take_goes_back_to_who_has_it() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let plan =
        TablePlan::new(game.as_ref(), TableName::new(TABLE).unwrap(), &[Metric::Dtm], Rules::Plain, Present::default());
    // Each has room for one half.
    let memory = plan.unwrap().memory_a_worker(2);
    let town = Town::found(game.clone(), &Folders, for_two(store.path())).await;
    let mut client = town.client().await;
    let way = Way::to(&town.url).await;
    let _w0 = work(&[&way.url], "w0", game.clone(), |s| s.memory = memory).await;
    until("the first", async || names(&mut client).await == ["w0"]).await;
    let w1 = work(&[&town.url], "w1", game.clone(), |s| s.memory = memory).await;
    let job = submit(&mut client).await;
    at_the_gate(&game, 2).await;
    way.close();
    until("the loss", async || names(&mut client).await == ["w1"]).await;
    // Somebody else comes for the other half, and would be the first to be given any.
    drop(w1);
    let _w2 = work(&[&town.url], "w2", game.clone(), |s| s.memory = memory).await;
    until("another", async || names(&mut client).await == ["w2"]).await;
    way.open();
    until("the return", async || names(&mut client).await == ["w2", "w0"]).await;
    open(&game);
    let end = end_of(&mut client, &job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    let slices: BTreeSet<u32> = again(&game).into_iter().map(|(slice, _)| slice).collect();
    assert!(slices.len() <= SLICES / 2, "{slices:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_workers_of_the_coordinator_before_are_waited_for() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let mut first = Seat::take(game.clone(), for_two(store.path()));
    let way = Way::to(&first.url).await;
    let _w0 = work(&[&first.url], "w0", game.clone(), |_| {}).await;
    let _w1 = work(&[&way.url], "w1", game.clone(), |_| {}).await;
    let mut client = first.client().await;
    let job = submit(&mut client).await;
    at_the_gate(&game, 2).await;
    // What a coordinator knows of its workers is in the next beat of its lease.
    let lease = store.path().join("lease/coordinator");
    until("the crew in the lease", async || {
        let written = std::fs::read_to_string(&lease).unwrap_or_default();
        written.contains("w0") && written.contains("w1")
    })
    .await;
    way.close();
    first.kill();
    open(&game);
    let mut settings = for_two(store.path());
    settings.listen = first.url.trim_start_matches("http://").parse().unwrap();
    // One is enough to begin, and would take everything.
    (settings.conductor.min_workers, settings.conductor.patience) = (1, LIMIT);
    let second = Seat::take(game.clone(), settings);
    let mut client = second.client().await;
    until("one of them", async || names(&mut client).await == ["w0"]).await;
    way.open();
    let end = end_of(&mut client, &job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    assert_eq!(again(&game), BTreeSet::new());
    assert_eq!(prepared(&game), 2, "the parts are those of before");
}
