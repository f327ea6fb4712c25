//! What a coordinator shows of a cluster at work.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::hindered::{Access, Hindered};
use crate::town::{Town, settings};
use crate::toy::Toy;
use async_trait::async_trait;
use canju_cluster::wire::{self, Standing};
use canju_cluster::{Bucket, Buckets, ClusterError, Folders};
use canju_store::StoreError;

/// The status when it is as wanted.
async fn status(town: &Town, wanted: impl Fn(&wire::StatusReply) -> bool) -> wire::StatusReply {
    let mut client = town.client().await;
    for _ in 0..2000 {
        let status = client.status().await.unwrap();
        if wanted(&status) {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {:#?}", client.status().await.unwrap());
}

fn standings(job: &wire::Job) -> Vec<(&str, Standing)> {
    job.tables_state.iter().map(|t| (t.table.as_str(), t.state())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_of_one_name_are_told_apart() {
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy::default());
    let town = Town::found(game.clone(), &Folders, settings(store.path())).await;
    let mut hands = Vec::new();
    for (wanted, name) in [(1, "w"), (2, "w"), (3, "w")] {
        hands.push(town.hire(game.clone(), Arc::new(Folders), name, 0).await);
        status(&town, |s| s.workers.len() == wanted).await;
    }
    let names = |s: &wire::StatusReply| s.workers.iter().map(|w| w.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&status(&town, |s| s.workers.iter().all(|w| w.ready)).await), ["w", "w-2", "w-3"]);
    // A name is free again when its worker is gone.
    hands.remove(1).leave().await;
    status(&town, |s| s.workers.len() == 2).await;
    hands.push(town.hire(game, Arc::new(Folders), "w", 0).await);
    assert_eq!(names(&status(&town, |s| s.workers.len() == 3).await), ["w", "w-3", "w-2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_closure_shows_where_each_table_stands() {
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy { hold: Some(("T3", 3)), ..Toy::default() });
    let (town, _hands) = Town::with(game.clone(), store.path(), 2).await;
    town.build(&["T1"], &["dtm"]).await;
    let job = town.submit(&["T4"], &["dtm"]).await.unwrap();
    let at_gate = |s: &wire::StatusReply| s.jobs[0].running.first().is_some_and(|r| r.table == "T3" && r.ply == 3);
    let shown = status(&town, at_gate).await;
    let all =
        [("T1", Standing::Present), ("T2", Standing::Committed), ("T3", Standing::Running), ("T4", Standing::Waiting)];
    assert_eq!(standings(&shown.jobs[0]), all);
    let states = &shown.jobs[0].tables_state;
    assert_eq!(states[3].smaller, ["T2", "T3"]);
    assert_eq!((states[2].metric.as_str(), states[2].stage.as_str(), states[2].ply), ("dtm", "plies", 3));
    let running = &shown.jobs[0].running[0];
    assert_eq!(running.frontier.iter().sum::<u64>(), running.labels);
    assert!(running.labels > 0);
    assert_eq!(running.frontier_stride, 2);
    // Nobody is late where nobody has reported.
    assert_eq!(running.late, Vec::<String>::new());
    assert!(shown.active && shown.uptime_seconds > 0.0 && shown.store_trouble.is_empty());
    assert_eq!(shown.version, canju_cluster::VERSION);
    assert_eq!((shown.ended.len(), shown.ended[0].done), (1, 1));
    // What was sent has arrived.
    let sum = |bytes: fn(&wire::Worker) -> u64| shown.workers.iter().map(bytes).sum::<u64>();
    assert!(sum(|w| w.bytes_sent) > 0);
    assert!(sum(|w| w.bytes_received) > 0);
    assert!(shown.workers.iter().all(|w| w.ready && !w.draining && w.host == "127.0.0.1" && w.seen_seconds < 60.0));

    game.gate.store(true, Ordering::SeqCst);
    assert_eq!(town.end_of(&job.id).await.state(), wire::JobState::Done);
    let over = status(&town, |s| s.ended.len() == 2).await;
    assert_eq!(over.ended[0].id, job.id);
    assert!(over.jobs.is_empty());
}

/// Folders on a disk that has no room while the switch is on.
struct Disk(Arc<AtomicBool>);

#[async_trait]
impl Buckets for Disk {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let Bucket { store, source } = Folders.open(location).await?;
        let is_full = Arc::clone(&self.0);
        let store = Hindered::new(store, "a small disk", move |access, key| {
            if access != Access::Write || !is_full.load(Ordering::SeqCst) {
                return Ok(());
            }
            let source = io::ErrorKind::StorageFull.into();
            Err(StoreError::Full { what: format!("to write {key}"), place: "a small disk".into(), source })
        });
        Ok(Bucket { store, source })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_without_room_for_the_lease_is_told_of() {
    let store = tempfile::tempdir().unwrap();
    let is_full = Arc::new(AtomicBool::new(false));
    let town = Town::found(Arc::new(Toy::default()), &Disk(Arc::clone(&is_full)), settings(store.path())).await;
    is_full.store(true, Ordering::SeqCst);
    let told = status(&town, |s| !s.troubles.is_empty()).await;
    let words = ["the lease cannot be renewed", "a small disk", "lease/coordinator", "see that the store has room"];
    assert!(words.iter().all(|word| told.troubles[0].contains(word)), "{:?}", told.troubles);
    is_full.store(false, Ordering::SeqCst);
    status(&town, |s| s.troubles.is_empty()).await;
}
