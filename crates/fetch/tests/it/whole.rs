//! Fetches that go well.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use canju_fetch::{Fetched, Request, closure, get};
use canju_retro::Metric;
use canju_table::BuildStatistics;
use tempfile::tempdir;

use crate::stage::{
    FILES, NAMES, Source, Told, all_is_sound, fetch, files_of, is_complete, manifest, manifest_of, request,
};

#[tokio::test]
async fn everything_comes_and_comes_once() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let fetched = fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    let shards: u64 = FILES.iter().filter(|(key, _)| key.ends_with(".shard")).map(|(_, b)| b.len() as u64).sum();
    assert_eq!(fetched, Fetched { tables: NAMES.len(), whole: 0, bytes: shards });
    is_complete(folder.path());
    assert_eq!(all_is_sound(folder.path()), NAMES.len());

    let before = source.read.load(Ordering::Relaxed);
    let again = fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    assert_eq!(again, Fetched { tables: 0, whole: NAMES.len(), bytes: 0 });
    let manifests: u64 = FILES.iter().filter(|(key, _)| key.ends_with(".json")).map(|(_, b)| b.len() as u64).sum();
    assert_eq!(source.read.load(Ordering::Relaxed) - before, manifests);
}

#[tokio::test]
async fn large_shards_come_in_pieces() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    let asked = source.asked.lock().unwrap();
    let large = "tables/plain/KRKN/dtm/0000.shard";
    let pieces = FILES[large].len().div_ceil(crate::stage::PIECE as usize);
    assert!(pieces > 10, "{pieces}");
    assert_eq!(asked.iter().filter(|key| *key == large).count(), pieces);
}

#[tokio::test]
async fn smaller_tables_come_first_and_only_if_wanted() {
    let source = Source::new(|_| {}).await;
    let order = closure(&source.origin(), &request("KRKN")).await.unwrap();
    let order: Vec<String> = order.manifests.iter().map(|m| m.endgame.to_string()).collect();
    assert_eq!(order, NAMES);

    let folder = tempdir().unwrap();
    let alone = Request { smaller: false, ..request("KRKN") };
    fetch(&source, folder.path(), &alone).await.unwrap();
    assert!(files_of(folder.path()).keys().all(|key| key.starts_with("tables/plain/KRKN/")));
    let rest = fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    assert_eq!((rest.tables, rest.whole), (3, 1));
    is_complete(folder.path());
}

#[tokio::test]
async fn metrics_are_chosen_and_added() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let only = |metric| Request { metrics: Some(BTreeSet::from([metric])), ..request("KRKN") };
    fetch(&source, folder.path(), &only(Metric::Dtc)).await.unwrap();
    let metrics = |name: &str| {
        let folder = folder.path().join("tables/plain").join(name);
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        names.collect::<BTreeSet<_>>()
    };
    let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(metrics("KRKN"), set(&["dtc", "manifest.json"]));
    // The distance to conversion was built from who wins in the smaller tables.
    assert_eq!(metrics("KRK"), set(&["dtc", "manifest.json", "wdl"]));
    assert_eq!(all_is_sound(folder.path()), NAMES.len());

    fetch(&source, folder.path(), &only(Metric::Dtm)).await.unwrap();
    assert_eq!(metrics("KRKN"), set(&["dtc", "dtm", "manifest.json"]));
    assert_eq!(all_is_sound(folder.path()), NAMES.len());
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    is_complete(folder.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_do_no_harm() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let told = Arc::new(Told::default());
    let asked = request("KRKN");
    let runs = (0..4).map(|_| {
        let (origin, folder, asked, told) =
            (source.origin(), folder.path().to_path_buf(), asked.clone(), Arc::clone(&told));
        tokio::spawn(async move { get(&origin, &folder, &asked, told).await })
    });
    let mut fetched = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        fetched.push(run.await.unwrap().unwrap());
    }
    // One did the work, and the others found it done.
    assert_eq!(fetched.iter().filter(|f| f.tables == NAMES.len()).count(), 1, "{fetched:?}");
    assert_eq!(fetched.iter().filter(|f| f.whole == NAMES.len()).count(), 3, "{fetched:?}");
    assert_eq!(told.0.lock().unwrap().iter().filter(|line| line.starts_with("Finished")).count(), NAMES.len());
    is_complete(folder.path());
}

#[tokio::test]
async fn a_folder_named_tables_is_one_with_tables_in_it() {
    let source = Source::new(|_| {}).await;
    let above = tempdir().unwrap();
    let folder = above.path().join("tables");
    fetch(&source, &folder, &request("KRK")).await.unwrap();
    assert!(folder.join("tables/plain/KRK/manifest.json").is_file());
    // As others have it: the tables directly in it.
    let direct = above.path().join("b/tables");
    fs::create_dir_all(direct.parent().unwrap()).unwrap();
    fs::rename(folder.join("tables"), &direct).unwrap();
    let more = fetch(&source, &direct, &request("KRKN")).await.unwrap();
    assert_eq!((more.tables, more.whole), (2, 2));
    is_complete(&above.path().join("b"));
}

#[tokio::test]
async fn what_a_table_cost_comes_as_it_was() {
    let mut costly = manifest("KRK");
    // Sums of times have all the digits that a number can have.
    let build =
        BuildStatistics { cpu_seconds: 0.1 + 0.2, wall_seconds: 0.018_767_930_000_000_002, ..Default::default() };
    costly.metrics.get_mut(&Metric::Dtm).unwrap().build = Some(build);
    let json = costly.to_json().unwrap();
    let source = Source::with(&manifest_of("KRK"), |bytes| *bytes = json.clone().into_bytes()).await;
    let folder = tempdir().unwrap();
    fetch(&source, folder.path(), &request("KRK")).await.unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(manifest_of("KRK"))).unwrap(), json);
}
