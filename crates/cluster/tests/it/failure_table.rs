//! What survives what, row by row: a build that was disturbed leaves the bytes of one that was not, and nobody computes a
//! ply again whose labels somebody still has.
//!
//! | row | test |
//! |---|---|
//! | worker killed | `of_a_killed_worker_only_the_plies_since_its_checkpoint_are_computed_again`; one after the other: `failure.rs` |
//! | worker cut off, then back | `failure.rs`: `a_silent_worker_is_given_up`; `worker.rs`: words of older attempts; `returning.rs`: its share |
//! | worker not reached by others | `links.rs` |
//! | coordinator killed | `another_coordinator_goes_on_at_the_same_ply`, `one_that_stands_by_takes_over`, `a_job_has_taken_what_it_took_under_all_coordinators`; `returning.rs`: its workers |
//! | coordinator late | `a_coordinator_without_its_lease_writes_nothing`, `a_record_that_another_wrote_ends_a_reign` |
//! | store away | `a_store_that_is_away_is_waited_for`; `stores.rs`: failures now and then |
//! | store away for one coordinator | `workers_leave_a_coordinator_that_alone_has_lost_the_store` |
//! | wrong bytes | `a_damaged_or_deleted_shard_is_built_again`; `exchange.rs`, `worker.rs`: messages, checkpoints |
//! | memory too small | `jobs.rs`: `tables_go_only_where_they_fit` |
//! | told to stop | `replacing_all_workers_keeps_what_they_have_computed` |
//! | two jobs, one table | `jobs.rs`: `two_jobs_build_a_table_once` |

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::away::Away;
use crate::chief::{LIMIT, Worked, soon, work};
use crate::seat::{LEASE, Seat, Usurper};
use crate::town::{Town, files, settings};
use crate::toy::Toy;
use canju_cluster::{Client, CoordinatorSettings, Folders, Network, is_sure, is_well, wire};
use canju_store::{FolderStore, Key, Store};

/// 16 slices in 8 runs, without smaller tables.
pub const TABLE: &str = "T6";
pub const SLICES: usize = 16;
/// The ply at which it is disturbed.
const PLY: u16 = 5;

pub fn gated() -> Arc<Toy> {
    Arc::new(Toy { no_captures: true, hold: Some((TABLE, PLY)), ..Toy::default() })
}

/// What a build of a table that nothing disturbs leaves.
async fn undisturbed(game: Toy, table: &str) -> BTreeMap<String, Vec<u8>> {
    let store = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(game), store.path(), 1).await;
    assert_eq!(town.build(&[table], &["dtm"]).await.state(), wire::JobState::Done);
    files(store.path())
}

pub async fn plain() -> BTreeMap<String, Vec<u8>> {
    undisturbed(Toy { no_captures: true, ..Toy::default() }, TABLE).await
}

/// Waits until something is so.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(what, waiting).await;
}

pub async fn at_the_gate(game: &Toy, parts: u32) {
    until("the gate", async || game.waiting.load(Ordering::SeqCst) >= parts).await;
}

pub fn open(game: &Toy) {
    game.gate.store(true, Ordering::SeqCst);
}

/// The plies of slices that were computed more than once.
pub fn again(game: &Toy) -> BTreeSet<(u32, u16)> {
    let computed = game.computed.lock().unwrap();
    assert!(computed.len() > SLICES * usize::from(PLY), "nothing was computed");
    computed.iter().filter(|&(_, &times)| times > 1).map(|((_, slice, ply), _)| (*slice, *ply)).collect()
}

pub async fn end_of(client: &mut Client, job: &str) -> wire::Job {
    let mut last = None;
    soon("the end of the job", async {
        let mut watch = client.watch(job).await.unwrap();
        while let Some(picture) = watch.next().await.unwrap() {
            last = Some(picture);
        }
    })
    .await;
    last.unwrap()
}

pub fn for_two(store: &Path) -> CoordinatorSettings {
    let mut settings = settings(store);
    settings.conductor.min_workers = 2;
    settings
}

async fn two_workers(urls: &[&str], game: &Arc<Toy>) -> [Worked; 2] {
    [work(urls, "w0", game.clone(), |_| {}).await, work(urls, "w1", game.clone(), |_| {}).await]
}

pub async fn submit(client: &mut Client) -> String {
    client.submit(&[TABLE.to_owned()], &["dtm".to_owned()], "").await.unwrap().id
}

pub fn prepared(game: &Toy) -> u32 {
    game.prepared.lock().unwrap().values().sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_coordinator_goes_on_at_the_same_ply() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let mut first = Seat::take(game.clone(), for_two(store.path()));
    let _workers = two_workers(&[&first.url], &game).await;
    let job = submit(&mut first.client().await).await;
    at_the_gate(&game, 2).await;
    first.kill();
    open(&game);
    // Somewhere else on the same address, as an orchestrator starts it; only the store tells it what there is to do.
    let mut settings = for_two(store.path());
    settings.listen = first.url.trim_start_matches("http://").parse().unwrap();
    let second = Seat::take(game.clone(), settings);
    let end = end_of(&mut second.client().await, &job).await;
    assert_eq!((end.state(), end.done), (wire::JobState::Done, 1), "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    assert_eq!(again(&game), BTreeSet::new());
    assert_eq!(prepared(&game), 2, "the parts are those of before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_has_taken_what_it_took_under_all_coordinators() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let mut settings = for_two(store.path());
    settings.conductor.record = Duration::from_millis(20);
    let mut first = Seat::take(game.clone(), settings);
    let _workers = two_workers(&[&first.url], &game).await;
    let job = submit(&mut first.client().await).await;
    at_the_gate(&game, 2).await;
    let object = store.path().join(format!("jobs/{job}.json"));
    let written = || serde_json::from_slice::<serde_json::Value>(&std::fs::read(&object).ok()?).ok();
    let tells = |record: &serde_json::Value| {
        let times = [&record["seconds"], &record["at_work"][0]["seconds"]];
        times.iter().all(|seconds| seconds.as_f64().is_some_and(|seconds| seconds > 0.5))
    };
    until("a record of half a second", async || written().is_some_and(|record| tells(&record))).await;
    first.kill();
    // As if the table had been at work for long; a last word of the first coordinator may still be written.
    until("a record that stays", async || {
        let mut record = written().unwrap_or_default();
        if record["at_work"][0]["seconds"] == 1000.0 {
            return true;
        }
        record["at_work"][0]["seconds"] = 1000.0.into();
        std::fs::write(&object, record.to_string()).unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        false
    })
    .await;
    let mut settings = for_two(store.path());
    settings.listen = first.url.trim_start_matches("http://").parse().unwrap();
    let second = Seat::take(game.clone(), settings);
    let shown = second.client().await.jobs().await.unwrap().remove(0);
    assert!(shown.seconds > 0.5, "{shown:?}");
    open(&game);
    let end = end_of(&mut second.client().await, &job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert!(end.seconds > 0.5);
    // So has the table that was at work.
    let manifest = std::fs::read(store.path().join(format!("tables/plain/{TABLE}/manifest.json"))).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let seconds = manifest["metrics"]["dtm"]["build"]["wall_seconds"].as_f64();
    assert!(seconds.is_some_and(|seconds| seconds > 1000.0), "{seconds:?}");
    until("the record of its end", async || {
        let record = std::fs::read_to_string(&object).unwrap_or_default();
        record.contains("done") && !record.contains("at_work")
    })
    .await;
    assert_eq!(files(store.path()), plain().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_stands_by_takes_over() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let mut first = Seat::take(game.clone(), for_two(store.path()));
    let mut client = first.client().await;
    let second = Seat::take(game.clone(), for_two(store.path()));
    // It leads everybody to the one that is active.
    let mut by_way = second.client().await;
    let _workers = two_workers(&[&second.url, &first.url], &game).await;
    let job = submit(&mut by_way).await;
    at_the_gate(&game, 2).await;
    assert_eq!(client.status().await.unwrap().workers.len(), 2);
    first.kill();
    open(&game);
    let end = end_of(&mut second.client().await, &job).await;
    assert_eq!((end.state(), end.done), (wire::JobState::Done, 1), "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    assert_eq!(again(&game), BTreeSet::new());
    assert_eq!(prepared(&game), 2, "the parts are those of before");
}

/// All bytes below `jobs` and `tables`.
fn lasting(store: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![store.join("jobs"), store.join("tables")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                drop(found.insert(path.clone(), std::fs::read(path).unwrap()))
            }
        }
    }
    found
}

async fn reign(store: &dyn Store) -> u64 {
    let lease = store.get(&Key::new(LEASE).unwrap()).await.unwrap();
    serde_json::from_slice::<serde_json::Value>(&lease.bytes).unwrap()["reign"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_without_its_lease_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path()).unwrap();
    let game = gated();
    let seat = Seat::take(game.clone(), for_two(folder.path()));
    let mut client = seat.client().await;
    let _workers = two_workers(&[&seat.url], &game).await;
    let job = submit(&mut client).await;
    at_the_gate(&game, 2).await;
    let before = lasting(folder.path());
    let mut other = Usurper { store: &store, reign: None };
    until("the end of its reign", async || {
        // The other one shows that it lives, so that nobody takes its place.
        other.renew().await;
        client.status().await.is_err()
    })
    .await;
    // All that is missing for the table could be done now.
    open(&game);
    for _ in 0..50 {
        other.renew().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(lasting(folder.path()), before);
    // The other one is gone: now it may again.
    let end = end_of(&mut seat.client().await, &job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(reign(&store).await, 3);
    assert_eq!(files(folder.path()), plain().await);
    assert_eq!(again(&game), BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_another_wrote_ends_a_reign() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path()).unwrap();
    let game = gated();
    let seat = Seat::take(game.clone(), for_two(folder.path()));
    let mut client = seat.client().await;
    let _workers = two_workers(&[&seat.url], &game).await;
    let job = submit(&mut client).await;
    at_the_gate(&game, 2).await;
    let record = Key::new(&format!("jobs/{job}.json")).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&store.get(&record).await.unwrap().bytes).unwrap();
    assert_eq!(json["reign"], 1);
    json["reign"] = 7.into();
    store.put(&record, json.to_string().into()).await.unwrap();
    open(&game);
    // It finds out when it says that the job is done, and goes by what is written when it has the lease again.
    until("another reign", async || reign(&store).await == 2).await;
    let mut client = seat.client().await;
    until("the end of the job", async || {
        let jobs = client.jobs().await.unwrap_or_default();
        jobs.iter().any(|j| j.id == job && j.state() == wire::JobState::Done)
    })
    .await;
    assert_eq!(files(folder.path()), plain().await);
    assert_eq!(again(&game), BTreeSet::new());
}

/// How many plies of each share are in checkpoints.
fn checkpoints(store: &Path, job: &str) -> BTreeMap<u32, u16> {
    let folder = std::fs::read_dir(store.join("work").join(job).join(TABLE).join("dtm"));
    let mut plies = BTreeMap::new();
    for name in folder.into_iter().flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        // EPOCH-SHARE-FROM-TO, and files that are being written.
        let fields: Vec<&str> = name.split('-').collect();
        if let [_, share, _, to] = fields[..]
            && let (Ok(share), Ok(to)) = (share.parse::<u32>(), to.parse::<u16>())
        {
            plies.entry(share).and_modify(|plies| *plies = to.max(*plies)).or_insert(to);
        }
    }
    plies
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_killed_worker_only_the_plies_since_its_checkpoint_are_computed_again() {
    let store = tempfile::tempdir().unwrap();
    // The checkpoint that is due waits in the third ply until the part is free.
    let pause = Some((TABLE, 3, Duration::from_millis(500)));
    let game = Arc::new(Toy { no_captures: true, hold: Some((TABLE, PLY)), pause, ..Toy::default() });
    let mut settings = for_two(store.path());
    settings.checkpoint = Duration::from_millis(20);
    let town = Town::found(game.clone(), &Folders, settings).await;
    let mut hands = Vec::new();
    for name in ["w0", "w1"] {
        hands.push(town.hire(game.clone(), Arc::new(Folders), name, 0).await);
    }
    let job = town.submit(&[TABLE], &["dtm"]).await.unwrap().id;
    at_the_gate(&game, 2).await;
    until("checkpoints", async || checkpoints(store.path(), &job).len() == 2).await;
    let saved = checkpoints(store.path(), &job).into_values().min().unwrap();
    assert!(saved > 0);
    hands.remove(1).kill();
    until("the loss", async || town.client().await.status().await.unwrap().workers.len() == 1).await;
    open(&game);
    let end = town.end_of(&job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    // The thread of the killed part has ended its ply as well; of no other slice anything was computed again.
    let again = again(&game);
    let slices: BTreeSet<u32> = again.iter().map(|&(slice, _)| slice).collect();
    assert!(again.iter().all(|&(_, ply)| ply >= saved) && slices.len() <= SLICES / 2, "{saved} {again:?}");
    until("the sweep", async || checkpoints(store.path(), &job).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_arrives_late_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path()).unwrap();
    let game = gated();
    let mut settings = for_two(folder.path());
    settings.checkpoint = Duration::from_millis(20);
    let town = Town::found(game.clone(), &Folders, settings).await;
    let _workers = two_workers(&[&town.url], &game).await;
    let job = town.submit(&[TABLE], &["dtm"]).await.unwrap().id;
    at_the_gate(&game, 2).await;
    until("checkpoints", async || checkpoints(folder.path(), &job).len() == 2).await;
    let needed = checkpoints(folder.path(), &job);
    let late = async |name: &str| {
        let key = Key::new(name).unwrap();
        store.put(&key, vec![1].into()).await.unwrap();
        until("the sweep", async || store.get(&key).await.is_err()).await;
    };
    // Of a table that is not at work, and of another job; what is at work keeps its own.
    late(&format!("work/{job}/T2/dtm/1-0-0-4")).await;
    late("work/j99/T4/dtm/1-0-0-4").await;
    let left = checkpoints(folder.path(), &job);
    assert!(needed.iter().all(|(share, plies)| left.get(share) >= Some(plies)), "{needed:?} {left:?}");
    open(&game);
    assert_eq!(town.end_of(&job).await.state(), wire::JobState::Done);
    until("the sweep at the end", async || checkpoints(folder.path(), &job).is_empty()).await;
    late(&format!("work/{job}/{TABLE}/dtm/1-0-0-4")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replacing_all_workers_keeps_what_they_have_computed() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let town = Town::found(game.clone(), &Folders, for_two(store.path())).await;
    // They leave because nothing is left to them, not because it takes too long.
    let hire = async |name| work(&[&town.url], name, game.clone(), |s| s.drain = 20 * LIMIT).await;
    let mut old = [hire("w0").await, hire("w1").await];
    let job = town.submit(&[TABLE], &["dtm"]).await.unwrap().id;
    at_the_gate(&game, 2).await;
    let _new = [hire("w2").await, hire("w3").await];
    old.iter_mut().for_each(Worked::drain);
    until("draining", async || {
        let workers = town.client().await.status().await.unwrap().workers;
        workers.iter().filter(|w| w.draining).count() == 2 && workers.len() == 4
    })
    .await;
    open(&game);
    for worker in &mut old {
        soon("leaving", &mut worker.task).await.unwrap().unwrap();
    }
    let end = town.end_of(&job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    // Plies go on while the logs are written; what was there when the workers were told to go is not computed again.
    assert!(again(&game).iter().all(|&(_, ply)| ply >= PLY), "{:?}", again(&game));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_or_deleted_shard_is_built_again() {
    let whole = undisturbed(Toy::default(), "T4").await;
    for delete in [false, true] {
        let store = tempfile::tempdir().unwrap();
        let game = Arc::new(Toy { hold: Some(("T3", 2)), ..Toy::default() });
        let (town, _hands) = Town::with(game.clone(), store.path(), 2).await;
        let job = town.submit(&["T4"], &["dtm"]).await.unwrap().id;
        at_the_gate(&game, 2).await;
        // T4 is still to read it.
        let shard = store.path().join("tables/plain/T2/dtm/0000.shard");
        let mut bytes = std::fs::read(&shard).unwrap();
        if delete {
            std::fs::remove_file(&shard).unwrap();
        } else {
            bytes.iter_mut().for_each(|byte| *byte ^= 0x40);
            std::fs::write(&shard, bytes).unwrap();
        }
        open(&game);
        let end = town.end_of(&job).await;
        assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
        assert_eq!(files(store.path()), whole);
        // A table that was built twice is one table.
        let built: Vec<&str> = end.built.iter().map(|built| built.table.as_str()).collect();
        assert_eq!((end.total, end.done, end.present, built), (4, 4, 0, vec!["T1", "T2", "T3", "T4"]));
        assert_eq!(end.positions_done, end.positions);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_is_told_to_stop_records_what_its_jobs_have_taken() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let (town, _hands) = Town::with(game.clone(), store.path(), 2).await;
    let job = town.submit(&[TABLE], &["dtm"]).await.unwrap().id;
    at_the_gate(&game, 2).await;
    town.close().await;
    open(&game);
    let record = std::fs::read(store.path().join(format!("jobs/{job}.json"))).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    for seconds in [&record["seconds"], &record["at_work"][0]["seconds"]] {
        assert!(seconds.as_f64().is_some_and(|seconds| seconds > 0.0), "{record}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_leave_a_coordinator_that_alone_has_lost_the_store() {
    let store = tempfile::tempdir().unwrap();
    let game = gated();
    let away = Away::default();
    let first = Town::found(game.clone(), &away, for_two(store.path())).await;
    let _workers = two_workers(&[&first.url], &game).await;
    let job = submit(&mut first.client().await).await;
    at_the_gate(&game, 2).await;
    away.leave();
    open(&game);
    let second = Seat::take(game.clone(), for_two(store.path()));
    let network = Network::default();
    let is_ready = async |url: &str| is_well(&network, "the coordinator", url, "").await.is_ok_and(|ready| ready);
    // Until then it leads clients to the first one.
    until("the second reign", async || is_ready(&second.url).await).await;
    let end = end_of(&mut second.client().await, &job).await;
    assert_eq!((end.state(), end.done), (wire::JobState::Done, 1), "{}", end.error);
    assert_eq!(files(store.path()), plain().await);
    until("the first one to doubt", async || !is_ready(&first.url).await).await;
    let status = first.client().await.status().await.unwrap();
    assert!(status.active && status.lease_seconds > 0.4, "it says how old its picture is: {}", status.lease_seconds);
    let mut client = Client::connect_any(&network, &[first.url.clone(), second.url.clone()]).await.unwrap();
    let status = client.status().await.unwrap();
    assert!(is_sure(&status) && status.reign == 2, "the one that is sure of its lease is asked: {}", status.reign);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_is_waited_for() {
    let whole = undisturbed(Toy::default(), "T4").await;
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy { hold: Some(("T3", 2)), ..Toy::default() });
    let away = Away::default();
    let town = Town::found(game.clone(), &away, for_two(store.path())).await;
    let mut hands = Vec::new();
    for name in ["w0", "w1"] {
        hands.push(town.hire(game.clone(), Arc::new(away.clone()), name, 0).await);
    }
    let job = town.submit(&["T4"], &["dtm"]).await.unwrap().id;
    at_the_gate(&game, 2).await;
    away.leave();
    open(&game);
    // Workers need it for shards, the coordinator for its lease; both try again.
    until("failures", async || away.failures("tables/") >= 3 && away.failures("lease/") >= 3).await;
    let status = town.client().await.status().await.unwrap();
    assert_eq!((status.workers.len(), status.jobs[0].state()), (2, wire::JobState::Running));
    away.come_back();
    let end = town.end_of(&job).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(files(store.path()), whole);
    // It is the same reign: nobody could take the lease meanwhile.
    assert_eq!(reign(&FolderStore::open(store.path()).unwrap()).await, 1);
}
