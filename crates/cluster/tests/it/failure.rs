//! What goes wrong ends jobs with an error that names it, leaves nothing that looks finished, and does
//! not stand in the way of a second try.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use crate::chief::{Answering, answering, soon};
use crate::hindered::{Access, Hindered};
use crate::town::{Town, files, settings};
use crate::toy::Toy;
use async_trait::async_trait;
use canju_cluster::{Bucket, Buckets, ClusterError, Folders, Network, VERSION, wire};
use canju_store::StoreError;

/// Folders that are full after so many writes.
#[derive(Clone)]
struct FailingFolders {
    writes: Arc<AtomicI64>,
    /// Another try, or another worker, may fare better.
    transient: bool,
}

const SMALL: &str = "the small store";

impl FailingFolders {
    fn spend(&self, access: Access, key: &str) -> Result<(), StoreError> {
        // The lease is renewed by time: only what belongs to tables is counted.
        if access != Access::Write || !key.starts_with("tables/") || self.writes.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        let (what, place) = (key.to_owned(), SMALL.into());
        if self.transient {
            return Err(StoreError::Unavailable { what, place, source: std::io::ErrorKind::TimedOut.into() });
        }
        Err(StoreError::Full { what, place, source: std::io::ErrorKind::StorageFull.into() })
    }
}

/// Folders in which no records of jobs are written while the switch is on.
#[derive(Clone)]
struct Unwritable(Arc<AtomicBool>);

#[async_trait]
impl Buckets for Unwritable {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let Bucket { store, source } = Folders.open(location).await?;
        let is_on = Arc::clone(&self.0);
        let store = Hindered::new(store, SMALL, move |access, key| {
            if access != Access::Write || !key.starts_with("jobs/") || !is_on.load(Ordering::SeqCst) {
                return Ok(());
            }
            let source = std::io::Error::other("no records today");
            Err(StoreError::Unavailable { what: key.to_owned(), place: SMALL.into(), source })
        });
        Ok(Bucket { store, source })
    }
}

#[async_trait]
impl Buckets for FailingFolders {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let Bucket { store, source } = Folders.open(location).await?;
        let how = self.clone();
        let store = Hindered::new(store, SMALL, move |access, key| how.spend(access, key));
        Ok(Bucket { store, source })
    }
}

fn manifests(store: &Path) -> usize {
    files(store).keys().filter(|name| name.ends_with("manifest.json")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_fails_the_job_and_a_second_try_goes_on() {
    let whole = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(Toy::default()), whole.path(), 2).await;
    assert_eq!(town.build(&["T4"], &["dtm"]).await.state(), wire::JobState::Done);

    let store = tempfile::tempdir().unwrap();
    let mut builds = 0;
    // A few more writes each time: failures fall on shards and on manifests.
    for writes in (0..).step_by(3) {
        let left = Arc::new(AtomicI64::new(writes));
        let buckets = FailingFolders { writes: left, transient: false };
        let mut settings = settings(store.path());
        settings.conductor.min_workers = 2;
        let game: Arc<Toy> = Arc::default();
        let town = Town::found(game.clone(), &buckets, settings).await;
        let mut hands = Vec::new();
        for name in ["a", "b"] {
            hands.push(town.hire(game.clone(), Arc::new(buckets.clone()), name, 0).await);
        }
        let before = manifests(store.path());
        let job = town.build(&["T4"], &["dtm"]).await;
        assert_eq!(job.present as usize, before, "what is committed is not built again");
        builds += 1;
        if job.state() == wire::JobState::Done {
            break;
        }
        assert_eq!(job.state(), wire::JobState::Failed);
        assert!(job.error.contains("no room left") && job.error.contains("could not be built"), "{}", job.error);
        assert!(manifests(store.path()) < 4);
        // The next one must not find the lease taken, and send who asks to this one.
        town.close().await;
    }
    assert!(builds > 2);
    assert_eq!(files(store.path()), files(whole.path()));
}

/// Waits until so many parts stand at the gate.
async fn at_the_gate(game: &Toy, parts: u32) {
    while game.waiting.load(Ordering::SeqCst) < parts {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn held(ply: u16) -> Arc<Toy> {
    Arc::new(Toy { hold: Some(("T3", ply)), ..Toy::default() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_dies_is_replaced_by_the_others() {
    let store = tempfile::tempdir().unwrap();
    let game = held(4);
    let (town, mut hands) = Town::with(game.clone(), store.path(), 3).await;
    let job = town.submit(&["T3"], &["dtm"]).await.unwrap();
    at_the_gate(&game, 3).await;
    hands.remove(1).kill();
    game.gate.store(true, Ordering::SeqCst);
    let end = tokio::time::timeout(Duration::from_secs(20), town.end_of(&job.id)).await.unwrap();
    assert_eq!((end.state(), end.done), (wire::JobState::Done, 3), "{}", end.error);
    assert_eq!(files(store.path()), undisturbed(&["T3"]).await);
    // A new worker takes the place.
    let _hand = town.hire(game.clone(), Arc::new(Folders), "w3", 0).await;
    while town.client().await.status().await.unwrap().workers.len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let end = town.build(&["T4"], &["dtm"]).await;
    assert_eq!((end.state(), end.present, end.done), (wire::JobState::Done, 3, 1), "{}", end.error);
}

/// What a build that nothing disturbs leaves.
async fn undisturbed(tables: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let store = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(Toy::default()), store.path(), 1).await;
    assert_eq!(town.build(tables, &["dtm"]).await.state(), wire::JobState::Done);
    files(store.path())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_leaves_gives_its_part_to_another() {
    let store = tempfile::tempdir().unwrap();
    let game = held(2);
    let (town, mut hands) = Town::with(game.clone(), store.path(), 2).await;
    let job = town.submit(&["T3"], &["dtm"]).await.unwrap();
    at_the_gate(&game, 2).await;
    game.gate.store(true, Ordering::SeqCst);
    hands.remove(0).leave().await;
    let end = town.end_of(&job.id).await;
    assert_eq!((end.state(), end.done), (wire::JobState::Done, 3), "{}", end.error);
    assert_eq!(files(store.path()), undisturbed(&["T3"]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_and_panics_of_a_part_are_named() {
    for (toy, words) in [
        (Toy { fail: Some(("T2", 3)), ..Toy::default() }, "a test wants it so"),
        (Toy { panic: Some(("T2", 3)), ..Toy::default() }, "a test wants a panic"),
        (Toy { panic: Some(("T1", 1)), ..Toy::default() }, "a test wants a panic"),
    ] {
        let store = tempfile::tempdir().unwrap();
        let (town, _hands) = Town::with(Arc::new(toy), store.path(), 2).await;
        let job = town.build(&["T3"], &["dtm"]).await;
        assert_eq!(job.state(), wire::JobState::Failed);
        assert!(job.error.contains(words) && job.error.contains("worker w"), "{}", job.error);
        let status = town.client().await.status().await.unwrap();
        assert!(status.workers.iter().all(|w| w.tables.is_empty()));
    }
}

/// A worker that joins, takes work, and says nothing more.
struct Mute {
    line: tokio::sync::mpsc::Sender<wire::Report>,
    commands: tonic::Streaming<wire::Command>,
    epoch: u64,
}

impl Mute {
    async fn join(town: &Town) -> Self {
        let mut client = wire::membership_client::MembershipClient::connect(town.url.clone()).await.unwrap();
        let (line, reports) = tokio::sync::mpsc::channel(4);
        let address = answering(&Network::default(), ([127, 0, 0, 1], 0).into(), Answering::default()).await;
        let (name, version) = ("mute".into(), VERSION.into());
        let hello = wire::Hello { name, address, version, ..wire::Hello::default() };
        line.send(wire::Report { epoch: 0, kind: Some(wire::report::Kind::Hello(hello)) }).await.unwrap();
        let reports = tokio_stream::wrappers::ReceiverStream::new(reports);
        let mut commands = client.attend(reports).await.unwrap().into_inner();
        let first = commands.message().await.unwrap().unwrap().kind;
        let Some(wire::command::Kind::Welcome(welcome)) = first else { panic!("{first:?}") };
        let mute = Self { line, commands, epoch: welcome.epoch };
        mute.say_ready().await;
        mute
    }

    async fn say(&self, kind: wire::report::Kind) {
        let _ = self.line.send(wire::Report { epoch: self.epoch, kind: Some(kind) }).await;
    }

    async fn say_ready(&self) {
        self.say(wire::report::Kind::Ready(wire::Ready {})).await;
    }

    /// Waits until it is given work.
    async fn assigned(&mut self) -> wire::Task {
        loop {
            let command = self.commands.message().await.unwrap().unwrap();
            if let Some(wire::command::Kind::Assign(assign)) = command.kind {
                return assign.task.unwrap();
            }
        }
    }

    async fn say_failed(&self, task: &wire::Task, cause: &str, remedy: wire::Remedy) {
        let (task, cause) = (Some(task.clone()), cause.to_owned());
        let failed = wire::Failed { task, cause, remedy: remedy.into(), ..wire::Failed::default() };
        self.say(wire::report::Kind::Failed(failed)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_ends_one_worker_after_the_other_fails() {
    let store = tempfile::tempdir().unwrap();
    let mut settings = settings(store.path());
    settings.conductor.losses = 3;
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    let job = town.submit(&["T1"], &["dtm"]).await.unwrap();
    for lost in 0..=3 {
        let mut mute = Mute::join(&town).await;
        // It dies when it is given the table.
        mute.assigned().await;
        let jobs = town.client().await.jobs().await.unwrap();
        assert_eq!(jobs[0].state(), wire::JobState::Running, "after {lost} losses");
    }
    let end = town.end_of(&job.id).await;
    assert!(end.state() == wire::JobState::Failed && end.error.contains("without a ply between them"), "{end:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_an_older_attempt_count_for_nothing() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let mut mute = Mute::join(&town).await;
    let job = town.submit(&["T1"], &["dtm"]).await.unwrap();
    let first = soon("the first attempt", mute.assigned()).await;
    mute.say_failed(&first, "another may fare better", wire::Remedy::Elsewhere).await;
    let second = soon("the second attempt", mute.assigned()).await;
    assert!(second.epoch > first.epoch);
    // Heard one after the other: the first of them that counts ends the job.
    mute.say_failed(&first, "too late", wire::Remedy::Unspecified).await;
    mute.say_failed(&second, "in time", wire::Remedy::Unspecified).await;
    let end = town.end_of(&job.id).await;
    assert!(end.state() == wire::JobState::Failed && end.error.contains("in time"), "{end:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_another_membership_end_this_one() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let mut mute = Mute::join(&town).await;
    mute.epoch -= 1;
    mute.say_ready().await;
    let goodbye = soon("its end", async {
        loop {
            let command = mute.commands.message().await.unwrap().unwrap();
            if let Some(wire::command::Kind::Goodbye(goodbye)) = command.kind {
                return goodbye;
            }
        }
    })
    .await;
    assert!(goodbye.rejoin && goodbye.reason.contains("no longer a member at epoch"), "{goodbye:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_on_which_a_table_fails_is_shunned() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    // It comes first and is the first in every order, and can write no shards.
    let sick = Arc::new(FailingFolders { writes: Arc::new(AtomicI64::new(0)), transient: true });
    let _sick = town.hire(Arc::new(Toy::default()), sick, "w0", 0).await;
    let _well = town.hire(Arc::new(Toy::default()), Arc::new(Folders), "w1", 0).await;
    let end = town.build(&["T3"], &["dtm"]).await;
    assert_eq!((end.state(), end.done), (wire::JobState::Done, 3), "{}", end.error);
    assert_eq!(files(store.path()), undisturbed(&["T3"]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_not_said_to_be_cancelled_before_that_lasts() {
    let store = tempfile::tempdir().unwrap();
    let game = held(2);
    let unwritten = Arc::new(AtomicBool::new(false));
    let town = Town::found(game.clone(), &Unwritable(Arc::clone(&unwritten)), settings(store.path())).await;
    let _hand = town.hire(game.clone(), Arc::new(Folders), "w0", 0).await;
    let job = town.submit(&["T3"], &["dtm"]).await.unwrap();
    at_the_gate(&game, 1).await;
    unwritten.store(true, Ordering::SeqCst);
    let refused = town.client().await.cancel(&job.id).await.unwrap_err().line();
    assert!(refused.contains("no records today"), "{refused}");
    unwritten.store(false, Ordering::SeqCst);
    assert_eq!(town.client().await.cancel(&job.id).await.unwrap().state(), wire::JobState::Cancelled);
    let record = std::fs::read_to_string(store.path().join(format!("jobs/{}.json", job.id))).unwrap();
    assert!(record.contains("cancelled"), "{record}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_worker_is_given_up() {
    let store = tempfile::tempdir().unwrap();
    let mut settings = settings(store.path());
    settings.conductor.patience = Duration::from_millis(600);
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    let mut mute = Mute::join(&town).await;
    let job = town.submit(&["T1"], &["dtm"]).await.unwrap();
    // Somebody else comes, and gets the work when the mute one is given up.
    let _hand = town.hire(Arc::new(Toy::default()), Arc::new(Folders), "w", 0).await;
    let end = town.end_of(&job.id).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    while let Ok(Some(command)) = mute.commands.message().await {
        if let Some(wire::command::Kind::Goodbye(goodbye)) = command.kind {
            assert!(goodbye.rejoin);
        }
    }
    // A word of the old membership is worth nothing now.
    mute.say_ready().await;
    let workers = town.client().await.status().await.unwrap().workers;
    assert_eq!(workers.iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), ["w"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_survives_its_coordinator() {
    let store = tempfile::tempdir().unwrap();
    let game: Arc<Toy> = Arc::default();
    let first = Town::found(game.clone(), &Folders, settings(store.path())).await;
    let address = first.url.trim_start_matches("http://").parse().unwrap();
    let _hand = first.hire(game.clone(), Arc::new(Folders), "w", 0).await;
    assert_eq!(first.build(&["T2"], &["dtm"]).await.state(), wire::JobState::Done);
    first.close().await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut again = settings(store.path());
    again.listen = address;
    let second = Town::found(game, &Folders, again).await;
    let job = second.build(&["T3"], &["dtm"]).await;
    assert_eq!((job.state(), job.present, job.done), (wire::JobState::Done, 2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_another_store_is_turned_away() {
    /// Opens another folder than it is told.
    struct Elsewhere(tempfile::TempDir);
    #[async_trait]
    impl Buckets for Elsewhere {
        async fn open(&self, _: &str) -> Result<Bucket, ClusterError> {
            Folders.open(&self.0.path().display().to_string()).await
        }
    }
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let elsewhere = Arc::new(Elsewhere(tempfile::tempdir().unwrap()));
    let hand = town.hire(Arc::new(Toy::default()), elsewhere, "lost", 0).await;
    let error = hand.task.await.unwrap().unwrap_err().line();
    assert!(error.contains("is not the coordinator's store"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn shards_that_a_manifest_lists_are_not_written_over() {
    let whole = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(Toy::default()), whole.path(), 1).await;
    assert_eq!(town.build(&["T3"], &["dtm"]).await.state(), wire::JobState::Done);
    let store = tempfile::tempdir().unwrap();
    let shard = "tables/plain/T3/dtm/0000.shard";
    std::fs::create_dir_all(store.path().join("tables/plain/T3/dtm")).unwrap();
    std::fs::write(store.path().join(shard), "what a failed attempt has left").unwrap();
    let game = held(2);
    let (town, _hands) = Town::with(game.clone(), store.path(), 1).await;
    let job = town.submit(&["T3"], &["dtm"]).await.unwrap();
    at_the_gate(&game, 1).await;
    // Another process finishes the table meanwhile.
    let manifest = "tables/plain/T3/manifest.json";
    std::fs::copy(whole.path().join(manifest), store.path().join(manifest)).unwrap();
    game.gate.store(true, Ordering::SeqCst);
    // What stands there is not what the manifest lists, and what is built is.
    let end = town.end_of(&job.id).await;
    assert_eq!(end.state(), wire::JobState::Done, "{}", end.error);
    assert_eq!(files(store.path()), files(whole.path()));

    // A manifest that lists other bytes is of other software, or damaged itself: a user must decide.
    std::fs::remove_dir_all(store.path().join("tables/plain/T3")).unwrap();
    std::fs::create_dir_all(store.path().join("tables/plain/T3/dtm")).unwrap();
    std::fs::write(store.path().join(shard), "what other software has left").unwrap();
    game.gate.store(false, Ordering::SeqCst);
    game.waiting.store(0, Ordering::SeqCst);
    let job = town.submit(&["T3"], &["dtm"]).await.unwrap();
    at_the_gate(&game, 1).await;
    let listed = std::fs::read_to_string(whole.path().join(manifest)).unwrap();
    let hash = blake3::hash(&std::fs::read(whole.path().join(shard)).unwrap()).to_hex().to_string();
    assert!(listed.contains(&hash));
    let listed = listed.replace(&hash, &"0".repeat(64));
    std::fs::write(store.path().join(manifest), listed).unwrap();
    game.gate.store(true, Ordering::SeqCst);
    let end = town.end_of(&job.id).await;
    assert_eq!(end.state(), wire::JobState::Failed);
    assert!(end.error.contains(shard) && end.error.contains("lists it"), "{}", end.error);
}
