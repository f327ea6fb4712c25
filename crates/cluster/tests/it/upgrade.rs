//! Members of different versions meet, and a new version finds what an older one has left.

use std::path::Path;
use std::sync::Arc;

use canju_cluster::wire::membership_client::MembershipClient;
use canju_cluster::wire::{command::Kind as Tell, report::Kind as Say};
use canju_cluster::*;
use serde_json::{Value, json};

use crate::chief::{Chief, soon, work};
use crate::failure_table::until;
use crate::town::{Town, files, settings};
use crate::toy::Toy;

fn toy() -> Arc<Toy> {
    Arc::new(Toy::default())
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = read(path);
    change(&mut value);
    std::fs::write(path, value.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_of_another_version_is_turned_away() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(toy(), &Folders, settings(store.path())).await;
    let route = Network::default().connect("the coordinator", &town.url).await.unwrap();
    for version in ["", "0.0.9", "99.0.0"] {
        let (name, address) = ("old".to_owned(), "http://127.0.0.1:1".to_owned());
        let hello = wire::Hello { name, address, version: version.to_owned(), ..Default::default() };
        let hello = wire::Report { epoch: 0, kind: Some(Say::Hello(hello)) };
        let answer = MembershipClient::new(route.clone()).attend(tokio_stream::iter([hello])).await;
        let answer = soon("an answer", answer.unwrap().into_inner().message()).await.unwrap().unwrap();
        let Some(Tell::Goodbye(goodbye)) = answer.kind else { panic!("{answer:?}") };
        let words = [&format!("{version:?}"), VERSION, "use the same on all machines"];
        assert!(words.iter().all(|word| goodbye.reason.contains(word)), "{goodbye:?}");
        assert!(!goodbye.rejoin);
    }
    assert!(town.client().await.status().await.unwrap().workers.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_would_be_turned_away_again_ends() {
    let store = tempfile::tempdir().unwrap();
    let mut chief = Chief::open(store.path()).await;
    let mut worker = work(&[&chief.url], "w", toy(), |_| {}).await;
    let reason = "it is version 1, the coordinator 2: use the same on all machines".to_owned();
    let goodbye = wire::Goodbye { reason: reason.clone(), rejoin: false, coordinator: String::new() };
    chief.guest().await.tell(Tell::Goodbye(goodbye)).await;
    let error = soon("its end", &mut worker.task).await.unwrap().unwrap_err().line();
    assert!(error.contains("turned this worker away") && error.contains(&reason), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_version_has_left_is_taken_up() {
    let (store, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (town, hands) = Town::with(toy(), store.path(), 1).await;
    assert_eq!(town.build(&["T2"], &["dtm"]).await.state(), wire::JobState::Done);
    for hand in hands {
        hand.leave().await;
    }
    town.close().await;
    // A table, a finished job and a lease that have what later versions may add, and lack what earlier ones had not.
    change(&store.path().join("tables/plain/T2/manifest.json"), |manifest| {
        manifest["later"] = json!({ "a": 1 });
        let entry = manifest["metrics"]["dtm"].as_object_mut().unwrap();
        entry.insert("later".into(), json!([1]));
        for optional in ["software", "build", "verification"] {
            entry.remove(optional);
        }
    });
    change(&store.path().join("jobs/j1.json"), |job| {
        job["later"] = json!(1);
        job["built"][0]["later"] = json!(1);
        for newer in ["reign", "at_work"] {
            job.as_object_mut().unwrap().remove(newer);
        }
        job["built"][0].as_object_mut().unwrap().retain(|field, _| field == "table" || field == "later");
    });
    change(&store.path().join("lease/coordinator"), |lease| {
        lease["later"] = json!("x");
        lease["holder"] = json!({ "address": "http://127.0.0.1:9", "process": "old-1", "later": 1 });
    });
    let asked = json!({
        "version": 1, "id": 2, "tables": ["T4"], "metrics": ["dtm"], "rules": "plain", "state": "running", "total": 0, "done": 0,
        "present": 0, "positions": 0, "positions_done": 0, "labels": 0, "seconds": 100.0, "cpu_seconds": 7.0, "peak_memory": 0,
        "built": [], "later": { "more": [1, 2] },
    });
    std::fs::write(store.path().join("jobs/j2.json"), asked.to_string()).unwrap();
    // One that cannot be understood is left alone.
    let strange = json!({ "version": 2, "id": 3 }).to_string();
    std::fs::write(store.path().join("jobs/j3.json"), &strange).unwrap();

    let (town, _hands) = Town::with(toy(), store.path(), 1).await;
    until("the lease", async || town.client().await.jobs().await.is_ok()).await;
    let job = town.end_of("j2").await;
    assert_eq!((job.state(), job.done), (wire::JobState::Done, 2), "{}", job.error);
    assert!(job.seconds >= 100.0 && job.cpu_seconds >= 7.0, "{job:?}");
    let jobs = town.client().await.jobs().await.unwrap();
    let known: Vec<_> = jobs.iter().map(|job| (job.id.as_str(), job.state(), job.built.len())).collect();
    assert_eq!(known, [("j1", wire::JobState::Done, 2), ("j2", wire::JobState::Done, 2)]);
    until("its record", async || read(&store.path().join("jobs/j2.json"))["state"] == "done").await;
    assert_eq!(std::fs::read_to_string(store.path().join("jobs/j3.json")).unwrap(), strange);
    let (lone, _hand) = Town::with(toy(), alone.path(), 1).await;
    assert_eq!(lone.build(&["T4"], &["dtm"]).await.state(), wire::JobState::Done);
    // What was there was not written again.
    let t2 = "tables/plain/T2/manifest.json";
    assert!(read(&store.path().join(t2))["later"].is_object());
    let other = |path: &Path| files(path).into_iter().filter(|(name, _)| name != t2).collect::<Vec<_>>();
    assert_eq!(other(store.path()), other(alone.path()));
}
