//! Workers that lose their coordinator, their neighbours or their lives, against a coordinator that follows a script.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::away::Away;
use crate::chief::{Attempt, Chief, Guest, Worked, share, soon, work, work_with};
use crate::failing::FailingFolders;
use crate::town::files;
use crate::toy::Toy;
use bytes::Bytes;
use canju_cluster::wire::command::Kind as Tell;
use canju_cluster::wire::report::Kind as Say;
use canju_cluster::*;
use tempfile::TempDir;

/// 16 slices in 8 runs.
const TABLE: &str = "T6";
const RUNS: u32 = 8;

/// No captures: nothing else must be in the store.
fn toy() -> Arc<Toy> {
    Arc::new(Toy { no_captures: true, ..Toy::default() })
}

/// The shards, as one worker makes them by itself, and the number of plies.
async fn expected() -> (BTreeMap<String, Vec<u8>>, u32) {
    let store = tempfile::tempdir().unwrap();
    let mut chief = Chief::open(store.path()).await;
    let _worker = work(&[&chief.url], "alone", toy(), |_| {}).await;
    let mut guest = chief.admit(1, 1).await;
    let task = wire::Task { job: "j1".into(), table: TABLE.into(), metric: "dtm".into(), epoch: 1 };
    let attempt = Attempt { task, shares: vec![share(&guest, 0..RUNS, 0)] };
    guest.tell(Tell::Assign(attempt.order(true))).await;
    assert!(matches!(guest.hear().await, Say::Prepared(_)));
    let Say::Encoded(encoded) = guest.hear().await else { panic!("not encoded") };
    assert_eq!(encoded.shards.len(), 2 * RUNS as usize);
    (files(store.path()), encoded.plies)
}

/// A store, a coordinator and so many workers that have joined.
struct Scene {
    store: TempDir,
    game: Arc<Toy>,
    chief: Chief,
    workers: Vec<Worked>,
    guests: Vec<Guest>,
}

impl Scene {
    async fn new(workers: u64) -> Self {
        Self::with(workers, |_| {}).await
    }

    async fn with(workers: u64, change: impl Fn(&mut WorkerSettings)) -> Self {
        let store = tempfile::tempdir().unwrap();
        let chief = Chief::open(store.path()).await;
        let mut scene = Self { store, game: toy(), chief, workers: Vec::new(), guests: Vec::new() };
        for id in 1..=workers {
            scene.hire(id, &change).await;
        }
        scene
    }

    async fn hire(&mut self, id: u64, change: &dyn Fn(&mut WorkerSettings)) {
        let worker = work(&[&self.chief.url], &format!("w{id}"), self.game.clone(), |s| change(s)).await;
        self.workers.push(worker);
        let guest = self.chief.admit(id, 1).await;
        self.guests.push(guest);
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files(self.store.path())
    }

    fn prepared(&self) -> u32 {
        self.game.prepared.lock().unwrap().values().sum()
    }

    /// How often each ply of each slice was computed, at most and in all.
    fn computed(&self) -> (u32, u32) {
        let computed = self.game.computed.lock().unwrap();
        (computed.values().copied().max().unwrap_or(0), computed.values().sum())
    }
}

fn halves(a: &Guest, b: &Guest, complete: [u32; 2]) -> Vec<wire::Share> {
    vec![share(a, 0..3, complete[0]), share(b, 3..RUNS, complete[1])]
}

fn checkpoints(store: &Path) -> Vec<std::path::PathBuf> {
    let folder = store.join("work/j1").join(TABLE).join("dtm");
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_of_one_worker_and_of_others_make_the_same_table() {
    let (whole, plies) = expected().await;
    assert!(plies > 8, "{plies} plies are too few for these tests");
    let mut scene = Scene::new(2).await;
    let [a, b] = &mut scene.guests[..] else { panic!() };
    let shares = vec![share(a, 0..2, 0), share(a, 2..4, 0), share(b, 4..RUNS, 0)];
    let attempt = Attempt::assign(TABLE, 1, shares, &[a, b]).await;
    assert_eq!(attempt.prepared(&mut [a, b]).await, [0, 0, 0]);
    let reports = attempt.ply(0, &mut [a, b]).await;
    let traffic = |list: &[wire::Traffic]| list.iter().map(|t| (t.share, t.chunks, t.bytes > 0)).collect::<Vec<_>>();
    // What stays in the worker is counted, but no bytes are sent.
    assert_eq!(traffic(&reports[1].sent), [(0, 1, false), (2, 1, true)]);
    assert_eq!(traffic(&reports[0].received), [(1, 1, false)]);
    assert_eq!(attempt.finish(1, &mut [a, b]).await, plies);
    assert_eq!(scene.files(), whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_coordinator_and_a_lost_part_cost_one_replay() {
    let (whole, plies) = expected().await;
    let mut scene = Scene::new(2).await;
    {
        let [a, b] = &mut scene.guests[..] else { panic!() };
        let attempt = Attempt::assign(TABLE, 1, halves(a, b, [0, 0]), &[a, b]).await;
        attempt.prepared(&mut [a, b]).await;
        for ply in 0..4 {
            attempt.ply(ply, &mut [a, b]).await;
        }
    }
    scene.guests.clear();
    // Both come back with what they have.
    for _ in 0..2 {
        let mut guest = scene.chief.guest().await;
        let id = if guest.hello.name == "w1" { 11 } else { 12 };
        let [holding] = &guest.hello.holdings[..] else { panic!("{:?}", guest.hello) };
        assert_eq!((holding.complete, holding.rules.as_str()), (4, "plain"));
        assert_eq!(holding.task.as_ref().unwrap().epoch, 1);
        assert_eq!(holding.runs, if id == 11 { vec![0, 1, 2] } else { vec![3, 4, 5, 6, 7] });
        assert_eq!(guest.hello.reign, 1);
        scene.chief.welcome(&guest, id, 2).await;
        guest.id = id;
        assert!(matches!(guest.hear().await, Say::Ready(_)));
        scene.guests.push(guest);
    }
    scene.guests.sort_by_key(|g| g.id);
    // The second one's part goes to a third worker, which has nothing of it.
    let third = work(&[&scene.chief.url], "w3", scene.game.clone(), |_| {}).await;
    scene.workers.push(third);
    let mut c = scene.chief.admit(13, 2).await;
    let [a, b] = &mut scene.guests[..] else { panic!() };
    let old = Attempt {
        task: wire::Task { epoch: 1, job: "j1".into(), table: TABLE.into(), metric: "dtm".into() },
        shares: vec![],
    };
    old.drop_at(b).await;
    let attempt = Attempt::assign(TABLE, 5, halves(a, &c, [4, 0]), &[a, &mut c]).await;
    assert_eq!(attempt.prepared(&mut [a, &mut c]).await, [4, 0]);
    for ply in 0..6 {
        let reports = attempt.ply(ply, &mut [a, &mut c]).await;
        // Who has the ply is sent nothing; who lacks it is sent it again.
        assert_eq!(reports[0].received.len(), usize::from(ply >= 4));
        assert_eq!(reports[1].received.len(), 1);
    }
    assert_eq!(attempt.finish(6, &mut [a, &mut c]).await, plies);
    assert_eq!(scene.files(), whole);
    assert_eq!(scene.prepared(), 3);
    // The four plies of the lost part were computed twice, and nothing else.
    let slices = 16;
    assert_eq!(scene.computed(), (2, slices * plies + (slices - 6) * 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assignment_in_the_middle_of_a_ply_is_obeyed_at_once() {
    let (whole, plies) = expected().await;
    let mut scene = Scene::new(2).await;
    let [a, b] = &mut scene.guests[..] else { panic!() };
    let first = Attempt::assign(TABLE, 1, halves(a, b, [0, 0]), &[a, b]).await;
    first.prepared(&mut [a, b]).await;
    for ply in 0..3 {
        first.ply(ply, &mut [a, b]).await;
    }
    // The first one steps, and waits for the second, which is not told to.
    a.tell(first.step(3)).await;
    let second = Attempt::assign(TABLE, 2, halves(a, b, [3, 3]), &[a, b]).await;
    let known = second.prepared(&mut [a, b]).await;
    assert!((3..=4).contains(&known[0]) && known[1] == 3, "{known:?}");
    // Late words of the first attempt, true or false, change nothing.
    let task = Task { epoch: 1, ..Task::try_from(Some(second.task.clone())).unwrap() };
    for ply in [2, 3] {
        let letter = Letter { task: task.clone(), ply, from: 1, to: 0, message: Bytes::from_static(b"late") };
        let post = Post::default().with_patience(Duration::ZERO);
        let error = post.send(&a.address(), &letter).await.unwrap_err().line();
        assert!(error.contains("share 0 of epoch 1 is not at work here"), "{error}");
    }
    a.tell(first.step(3)).await;
    first.drop_at(a).await;
    assert_eq!(second.finish(0, &mut [a, b]).await, plies);
    assert_eq!(scene.files(), whole);
    assert_eq!(scene.computed(), (1, 16 * plies));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_assignment_is_ignored_and_shares_in_the_store_are_not_made_again() {
    let (whole, plies) = expected().await;
    let mut scene = Scene::new(2).await;
    let [a, b] = &mut scene.guests[..] else { panic!() };
    let first = Attempt::assign(TABLE, 3, halves(a, b, [0, 0]), &[a, b]).await;
    first.prepared(&mut [a, b]).await;
    assert_eq!(first.finish(0, &mut [a, b]).await, plies);
    let done = files(scene.store.path());
    assert_eq!(done, whole);
    let late = Attempt { task: wire::Task { epoch: 2, ..first.task.clone() }, shares: halves(a, b, [0, 0]) };
    a.tell(Tell::Assign(late.order(false))).await;
    // All again, with the parts as they are: nothing is computed, and only what is missing is written.
    let mut shares = halves(a, b, [plies, plies]);
    shares[0].encoded = true;
    let again = Attempt::assign(TABLE, 4, shares, &[a, b]).await;
    assert_eq!(again.prepared(&mut [a, b]).await, [plies, plies]);
    assert_eq!(again.finish(0, &mut [a, b]).await, plies);
    assert_eq!(scene.computed(), (1, 16 * plies));
    assert_eq!(scene.prepared(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_gone_is_not_taken_for_one_that_is_there() {
    let mut scene = Scene::new(1).await;
    let [a] = &mut scene.guests[..] else { panic!() };
    let _attempt = Attempt::assign(TABLE, 1, vec![share(a, 0..RUNS, 5)], &[a]).await;
    let failed = a.hear_failed().await;
    assert_eq!(failed.remedy(), wire::Remedy::Elsewhere);
    assert!(failed.cause.contains("5 plies"), "{}", failed.cause);
}

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_serve_parts_that_are_cut_otherwise() {
    let (whole, plies) = expected().await;
    let mut scene = Scene::new(2).await;
    {
        let [a, b] = &mut scene.guests[..] else { panic!() };
        let attempt = Attempt::assign(TABLE, 1, halves(a, b, [0, 0]), &[a, b]).await;
        attempt.prepared(&mut [a, b]).await;
        for ply in 0..6 {
            attempt.ply(ply, &mut [a, b]).await;
            // The second one's log comes in two pieces.
            if ply == 2 {
                attempt.checkpoint_at(b).await;
                assert_eq!(b.hear_checkpointed().await.plies, 3);
            }
        }
        for guest in [&mut *a, &mut *b] {
            attempt.checkpoint_at(guest).await;
            let said = guest.hear_checkpointed().await;
            assert_eq!(said.plies, 6);
            assert!(said.bytes > 0);
            // Nothing is new: it says so and writes nothing.
            attempt.checkpoint_at(guest).await;
            let said = guest.hear_checkpointed().await;
            assert_eq!((said.plies, said.bytes), (6, 0));
        }
    }
    assert_eq!(checkpoints(scene.store.path()).len(), 3);
    let before = scene.computed().1;
    scene.guests.clear();
    scene.workers.clear();
    scene.hire(3, &|_| {}).await;
    let [c] = &mut scene.guests[..] else { panic!() };
    let shares = vec![share(c, 0..2, 0), share(c, 2..6, 0), share(c, 6..RUNS, 0)];
    let attempt = Attempt::assign(TABLE, 9, shares, &[c]).await;
    assert_eq!(attempt.prepared(&mut [c]).await, [6, 6, 6]);
    assert_eq!(attempt.finish(0, &mut [c]).await, plies);
    assert_eq!(scene.files(), whole);
    assert_eq!(scene.computed().1 - before, 16 * (plies - 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_and_foreign_checkpoints_are_left_out() {
    let (whole, plies) = expected().await;
    let mut scene = Scene::new(2).await;
    {
        let [a, b] = &mut scene.guests[..] else { panic!() };
        let attempt = Attempt::assign(TABLE, 1, halves(a, b, [0, 0]), &[a, b]).await;
        attempt.prepared(&mut [a, b]).await;
        for ply in 0..6 {
            attempt.ply(ply, &mut [a, b]).await;
            if ply == 2 || ply == 5 {
                for guest in [&mut *a, &mut *b] {
                    attempt.checkpoint_at(guest).await;
                    guest.hear_checkpointed().await;
                }
            }
        }
    }
    let files = checkpoints(scene.store.path());
    let names: Vec<_> = files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["1-0-0-3", "1-0-3-6", "1-1-0-3", "1-1-3-6"]);
    // The second piece of the second half is damaged; others are no checkpoints, or of other plies.
    let mut damaged = std::fs::read(&files[3]).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    std::fs::write(&files[3], damaged).unwrap();
    let folder = files[0].parent().unwrap();
    std::fs::write(folder.join("0-0-0-9"), "nothing of the kind").unwrap();
    std::fs::copy(&files[0], folder.join("0-1-0-8")).unwrap();
    scene.guests.clear();
    scene.workers.clear();
    scene.hire(3, &|_| {}).await;
    let [c] = &mut scene.guests[..] else { panic!() };
    let attempt = Attempt::assign(TABLE, 9, halves(c, c, [0, 0]), &[c]).await;
    assert_eq!(attempt.prepared(&mut [c]).await, [6, 3]);
    assert_eq!(attempt.finish(0, &mut [c]).await, plies);
    assert_eq!(scene.files(), whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_drains_hands_over_what_it_has() {
    let (whole, plies) = expected().await;
    let mut scene = Scene::new(2).await;
    let [a, b] = &mut scene.guests[..] else { panic!() };
    let first = Attempt::assign(TABLE, 1, halves(a, b, [0, 0]), &[a, b]).await;
    first.prepared(&mut [a, b]).await;
    for ply in 0..3 {
        first.ply(ply, &mut [a, b]).await;
    }
    scene.workers[1].drain();
    assert!(matches!(b.hear().await, Say::Draining(_)));
    // It goes on with what it is told.
    first.ply(3, &mut [a, b]).await;
    first.checkpoint_at(b).await;
    assert_eq!(b.hear_checkpointed().await.plies, 4);
    let second = Attempt::assign(TABLE, 2, halves(a, a, [4, 0]), &[a]).await;
    first.drop_at(b).await;
    assert!(matches!(b.hear().await, Say::Leaving(_)));
    soon("leaving", &mut scene.workers[1].task).await.unwrap().unwrap();
    assert_eq!(second.prepared(&mut [a]).await, [4, 4]);
    assert_eq!(second.finish(0, &mut [a]).await, plies);
    assert_eq!(scene.files(), whole);
    assert_eq!(scene.computed(), (1, 16 * plies));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_drains_leaves_when_nobody_takes_its_parts() {
    let mut scene = Scene::with(2, |settings| settings.drain = Duration::from_millis(50)).await;
    let [a, b] = &mut scene.guests[..] else { panic!() };
    let attempt = Attempt::assign(TABLE, 1, halves(a, b, [0, 0]), &[a, b]).await;
    attempt.prepared(&mut [a, b]).await;
    scene.workers[0].drain();
    assert!(matches!(a.hear().await, Say::Draining(_)));
    assert!(matches!(a.hear().await, Say::Leaving(_)));
    soon("leaving", &mut scene.workers[0].task).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_reach_a_neighbour_names_both() {
    let mut scene = Scene::with(1, |settings| settings.patience = Duration::from_millis(200)).await;
    let [a] = &mut scene.guests[..] else { panic!() };
    let nobody =
        wire::Share { worker: 99, name: "gone".into(), address: "http://127.0.0.1:9".into(), ..share(a, 3..RUNS, 0) };
    let attempt = Attempt::assign(TABLE, 1, vec![share(a, 0..3, 0), nobody], &[a]).await;
    attempt.prepared(&mut [a]).await;
    a.tell(attempt.step(0)).await;
    let failed = a.hear_failed().await;
    assert_eq!(failed.remedy(), wire::Remedy::Elsewhere);
    for words in [a.address().as_str(), "http://127.0.0.1:9", "gone"] {
        assert!(failed.cause.contains(words), "{}", failed.cause);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn panics_and_errors_of_a_part_have_their_remedies() {
    let cases = [
        (Toy { panic: Some((TABLE, 2)), no_captures: true, ..Toy::default() }, wire::Remedy::Elsewhere, ""),
        (Toy { fail: Some((TABLE, 2)), no_captures: true, ..Toy::default() }, wire::Remedy::Unspecified, ""),
        // The smaller tables are not there.
        (Toy::default(), wire::Remedy::Rebuild, "T4"),
    ];
    for (game, remedy, table) in cases {
        let store = tempfile::tempdir().unwrap();
        let mut chief = Chief::open(store.path()).await;
        let _worker = work(&[&chief.url], "w", Arc::new(game), |_| {}).await;
        let mut a = chief.admit(1, 1).await;
        let attempt = Attempt::assign(TABLE, 1, vec![share(&a, 0..RUNS, 0)], &[&mut a]).await;
        for ply in 0..3 {
            a.tell(attempt.step(ply)).await;
        }
        let failed = a.hear_failed().await;
        assert_eq!((failed.remedy(), failed.table.is_empty()), (remedy, table.is_empty()), "{}", failed.cause);
        // The part is not kept: it is fresh when it is asked for again.
        drop(a);
        assert!(chief.guest().await.hello.holdings.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_whose_reign_is_over_is_not_attended() {
    let store = tempfile::tempdir().unwrap();
    let mut chief = Chief::open(store.path()).await;
    let mut other = Chief::open(store.path()).await;
    let _worker = work(&[&chief.url, &other.url], "w", toy(), |_| {}).await;
    drop(chief.admit(1, 5).await);
    let mut guest = chief.guest().await;
    assert_eq!(guest.hello.reign, 5);
    chief.welcome(&guest, 2, 4).await;
    assert!(guest.hear_or_end().await.is_none(), "it has taken the welcome");
    // The next one on the list knows where to go.
    let guest = other.guest().await;
    let goodbye = wire::Goodbye { reason: "standing by".into(), rejoin: true, coordinator: chief.url.clone() };
    guest.tell(Tell::Goodbye(goodbye)).await;
    chief.admit(3, 6).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_only_delays_checkpoints() {
    let (whole, plies) = expected().await;
    let store = tempfile::tempdir().unwrap();
    let mut chief = Chief::open(store.path()).await;
    chief.checkpoint_millis = 20;
    let broken = Arc::new(AtomicBool::new(true));
    let buckets = FailingFolders { prefix: "work/", broken: Arc::clone(&broken), failures: Arc::default() };
    let _worker = work_with(&[&chief.url], "w", toy(), Arc::new(buckets.clone()), |_| {}).await;
    let mut a = chief.admit(1, 1).await;
    let attempt = Attempt::assign(TABLE, 1, vec![share(&a, 0..RUNS, 0)], &[&mut a]).await;
    attempt.prepared(&mut [&mut a]).await;
    // No checkpoint is reported while the store fails: `ply` would not take it.
    for ply in 0..3 {
        attempt.ply(ply, &mut [&mut a]).await;
    }
    attempt.checkpoint_at(&a).await;
    let failures = buckets.failures.load(Ordering::SeqCst);
    soon("another try", async {
        while buckets.failures.load(Ordering::SeqCst) < failures + 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    broken.store(false, Ordering::SeqCst);
    assert_eq!(a.hear_checkpointed().await.plies, 3);
    broken.store(true, Ordering::SeqCst);
    assert_eq!(attempt.finish(3, &mut [&mut a]).await, plies);
    assert_eq!(files(store.path()), whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_are_kept_while_the_log_is_still_to_be_read() {
    let (expected, _) = expected().await;
    let store = tempfile::tempdir().unwrap();
    let (mut chief, game, away) = (Chief::open(store.path()).await, toy(), Away::default());
    let _worker = work_with(&[&chief.url], "w1", game.clone(), Arc::new(away.clone()), |_| {}).await;
    let mut guest = chief.admit(1, 1).await;
    away.leave();
    let all = |guest: &Guest| vec![share(guest, 0..RUNS, 0)];
    Attempt::assign(TABLE, 1, all(&guest), &[&mut guest]).await;
    soon("the look for checkpoints", async {
        while away.failures("work/") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    // Another attempt begins meanwhile.
    let attempt = Attempt::assign(TABLE, 2, all(&guest), &[&mut guest]).await;
    away.come_back();
    attempt.prepared(&mut [&mut guest]).await;
    assert_eq!(game.prepared.lock().unwrap().values().sum::<u32>(), 1);
    attempt.finish(0, &mut [&mut guest]).await;
    assert_eq!(files(store.path()), expected);
}
