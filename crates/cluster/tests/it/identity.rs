//! The bytes of tables do not depend on how many workers and processes made them.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::town::{Town, files, hire, settings};
use crate::toy::Toy;
use canju_cluster::{Folders, wire};
use canju_retro::*;
use canju_table::{FolderSource, TableSet};

async fn build(store: &Path, workers: usize, tables: &[&str], metrics: &[&str]) -> wire::Job {
    let (town, hands) = Town::with(Arc::new(Toy::default()), store, workers).await;
    let job = town.build(tables, metrics).await;
    assert_eq!(job.state(), wire::JobState::Done, "{}", job.error);
    for hand in hands {
        hand.leave().await;
    }
    town.close().await;
    job
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_workers_makes_the_same_bytes() {
    let alone = tempfile::tempdir().unwrap();
    let job = build(alone.path(), 1, &["t5"], &["dtm", "dtc"]).await;
    assert_eq!((job.total, job.done, job.built.len(), job.bytes_sent), (5, 5, 10, 0));
    let plies = |job: &wire::Job| job.built.iter().map(|b| b.plies).collect::<Vec<_>>();
    let alone_plies = plies(&job);
    for workers in 2..=4 {
        let store = tempfile::tempdir().unwrap();
        let job = build(store.path(), workers, &["t5"], &["dtm", "dtc"]).await;
        assert!(job.bytes_sent > 0);
        assert_eq!(plies(&job), alone_plies, "{workers} workers");
        assert!(job.built.iter().any(|b| b.workers == workers as u32));
        assert_eq!(files(store.path()), files(alone.path()), "{workers} workers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_are_those_of_the_solver() {
    let store = tempfile::tempdir().unwrap();
    build(store.path(), 3, &["T4"], &["dtc", "dtm"]).await;
    let game = Toy::default();
    let built = TableSet::open(Arc::new(FolderSource::new(store.path())), Rules::Plain);
    for metric in [Metric::Dtm, Metric::Dtc] {
        let tables = Arc::new(MemoryTables::new());
        let mut decided = 0;
        for name in ["T1", "T2", "T3", "T4"] {
            let table = game.table(name).unwrap();
            let solved = solve(&game, &table, metric, Rules::Plain, tables.clone()).unwrap();
            tables.insert(&game, &table, metric, &solved).unwrap();
            decided += solved.labels;
            for (slice, shape) in game.shape(&table).unwrap().slices.iter().enumerate() {
                for side in Side::BOTH {
                    for metric in [metric, Metric::Wdl] {
                        let codes = tables.slice(&table, metric, side, slice as u32).unwrap();
                        for index in 0..shape.cells {
                            let cell = Cell { slice: slice as u32, index, side };
                            let code = built.code(&table, metric, cell).unwrap();
                            assert_eq!(Some(code), codes.get(index as usize), "{table} {metric} {cell:?}");
                        }
                    }
                }
            }
            built.verify_shards(&table).unwrap();
            let manifest = built.manifest(&table).unwrap();
            let longest = manifest.metrics[&metric].longest.w.win.as_ref().unwrap();
            assert!(longest.fen.starts_with(name) && longest.plies % 2 == 1);
        }
        assert!(decided > 1000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_is_not_built_again() {
    let store = tempfile::tempdir().unwrap();
    build(store.path(), 2, &["T3"], &["dtm"]).await;
    let before = files(store.path());
    let again = build(store.path(), 1, &["T3", "T2"], &["dtm"]).await;
    assert_eq!((again.total, again.present), (0, 3));
    assert_eq!(files(store.path()), before);
    // More of a table joins its manifest; the result is that of building all at once.
    let more = build(store.path(), 2, &["T3"], &["dtm,dtc".split(',').nth(1).unwrap()]).await;
    assert_eq!((more.total, more.done), (3, 3));
    let at_once = tempfile::tempdir().unwrap();
    build(at_once.path(), 3, &["T3"], &["dtm", "dtc"]).await;
    assert_eq!(files(store.path()), files(at_once.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn conversion_alone_brings_wins_draws_and_losses() {
    let store = tempfile::tempdir().unwrap();
    build(store.path(), 2, &["T3"], &["dtc"]).await;
    let both = tempfile::tempdir().unwrap();
    build(both.path(), 2, &["T3"], &["dtm", "dtc"]).await;
    let all = files(both.path());
    for (name, bytes) in files(store.path()).iter().filter(|(name, _)| name.ends_with(".shard")) {
        assert_eq!(all.get(name), Some(bytes), "{name}");
    }
    assert!(store.path().join("tables/plain/T3/wdl/0000.shard").exists());
    assert!(!store.path().join("tables/plain/T3/dtm").exists());
}

const URL: &str = "CANJU_TEST_COORDINATOR";

/// Not a test: what this program is when `processes` starts it again as a worker.
#[test]
fn worker_process() {
    let Ok(url) = std::env::var(URL) else { return };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let hand =
            hire(&url, Arc::new(Toy::default()), Arc::new(Folders), &format!("p{}", std::process::id()), 0).await;
        let _ = hand.task.await;
    });
}

fn worker_process_of(url: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "identity::worker_process", "--nocapture"])
        .env(URL, url)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_make_the_same_bytes() {
    let alone = tempfile::tempdir().unwrap();
    build(alone.path(), 1, &["T5"], &["dtm", "dtc"]).await;
    let store = tempfile::tempdir().unwrap();
    let mut settings = settings(store.path());
    settings.conductor.min_workers = 3;
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings).await;
    let mut children: Vec<Child> = (0..3).map(|_| worker_process_of(&town.url)).collect();
    let job = town.build(&["T5"], &["dtm", "dtc"]).await;
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(job.state(), wire::JobState::Done, "{}", job.error);
    assert_eq!(files(store.path()), files(alone.path()));
    assert!(job.cpu_seconds > 0.0 && job.peak_memory > 0);
}
