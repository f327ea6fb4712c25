//! What users ask for: jobs that meet, jobs that end early, and what is refused.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::failing::FailingFolders;
use crate::failure_table::until;
use crate::seat::Seat;
use crate::town::{Town, files, hire_of, settings};
use crate::toy::Toy;
use canju_cluster::{
    Client, ClusterError, Coordinator, Folders, Network, Worker, WorkerSettings, any_is_well, is_well, wire,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

async fn at_the_gate(game: &Toy, parts: u32) {
    while game.waiting.load(Ordering::SeqCst) < parts {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_cannot_be_written_keeps_no_other_from_being_written() {
    let store = tempfile::tempdir().unwrap();
    let failing = FailingFolders { prefix: "jobs/j1.json", broken: Arc::default(), failures: Arc::default() };
    let town = Town::found(Arc::new(Toy::default()), &failing, settings(store.path())).await;
    let first = town.submit(&["T1"], &["dtm"]).await.unwrap();
    failing.broken.store(true, Ordering::SeqCst);
    let second = town.submit(&["T2"], &["dtm"]).await.unwrap();
    let _hand = town.hire(Arc::new(Toy::default()), Arc::new(Folders), "w", 0).await;
    for job in [&first, &second] {
        assert_eq!(town.end_of(&job.id).await.state(), wire::JobState::Done);
    }
    let says = |job: &wire::Job, state: &str| {
        let text = std::fs::read_to_string(store.path().join(format!("jobs/{}.json", job.id))).unwrap();
        text.contains(&format!("\"state\": \"{state}\""))
    };
    until("the other record", async || says(&second, "done")).await;
    assert!(says(&first, "running") && failing.failures.load(Ordering::SeqCst) > 0);
    failing.broken.store(false, Ordering::SeqCst);
    until("the record", async || says(&first, "done")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_jobs_build_a_table_once() {
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy { hold: Some(("T2", 1)), ..Toy::default() });
    let (town, _hands) = Town::with(game.clone(), store.path(), 2).await;
    let first = town.submit(&["T3"], &["dtm", "dtc"]).await.unwrap();
    at_the_gate(&game, 1).await;
    let second = town.submit(&["T4"], &["dtm", "dtc"]).await.unwrap();
    game.gate.store(true, Ordering::SeqCst);
    let (first, second) = (town.end_of(&first.id).await, town.end_of(&second.id).await);
    assert_eq!((first.state(), first.done), (wire::JobState::Done, 3));
    assert_eq!((second.state(), second.done + second.present), (wire::JobState::Done, 4));
    let prepared = game.prepared.lock().unwrap();
    // Tables with one run have one part, the others one on each worker.
    let parts: Vec<_> = prepared.iter().map(|(name, &n)| (name.as_str(), n)).collect();
    let once = ["T1", "T2", "T3", "T4"].map(|t| (t, if t == "T1" { 1 } else { 2 }));
    let each = once.iter().flat_map(|(t, n)| ["dtc", "dtm"].map(|metric| (format!("{t} {metric}"), *n)));
    let each: Vec<(String, u32)> = each.collect();
    assert_eq!(parts, each.iter().map(|(name, n)| (name.as_str(), *n)).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_can_be_cancelled() {
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy { hold: Some(("T3", 3)), ..Toy::default() });
    let (town, _hands) = Town::with(game.clone(), store.path(), 2).await;
    let job = town.submit(&["T5"], &["dtm", "dtc"]).await.unwrap();
    let other = town.submit(&["T2"], &["dtc"]).await.unwrap();
    at_the_gate(&game, 2).await;
    let mut client = town.client().await;
    let running = client.status().await.unwrap();
    assert_eq!(running.jobs[0].running[0].table, "T3");
    assert_eq!(running.workers.iter().filter(|w| w.tables == ["T3"]).count(), 2);
    assert_eq!(client.cancel(&job.id).await.unwrap().state(), wire::JobState::Cancelled);
    assert_eq!(town.end_of(&job.id).await.state(), wire::JobState::Cancelled);
    assert_eq!(town.end_of(&other.id).await.state(), wire::JobState::Done);
    game.gate.store(true, Ordering::SeqCst);
    // The workers are free again.
    let end = town.build(&["T3"], &["dtm"]).await;
    assert_eq!((end.state(), end.present), (wire::JobState::Done, 2), "{}", end.error);
    assert_eq!(client.jobs().await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_answered_with_what_is_wrong() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let refused = |result: Result<wire::Job, ClusterError>| result.unwrap_err().line();
    assert!(refused(town.submit(&["X9"], &["dtm"]).await).contains("\"X9\" names no endgame"));
    assert!(
        refused(town.submit(&["T1"], &["dtx"]).await)
            .contains("unknown metric \"dtx\": use dtm, dtc, or both as dtm,dtc")
    );
    assert!(refused(town.submit(&[], &["dtm"]).await).contains("no endgame is given"));
    assert!(refused(town.submit(&["T1"], &[]).await).contains("no metric is given"));
    let mut client = town.client().await;
    for job in ["j77", "../etc", ""] {
        assert!(client.cancel(job).await.unwrap_err().line().contains("there is no job"));
        assert!(client.watch(job).await.unwrap_err().line().contains("there is no job"));
    }
    let nobody = Client::connect("http://127.0.0.1:1").await.unwrap_err().line();
    assert!(nobody.contains("cannot reach the coordinator at http://127.0.0.1:1"), "{nobody}");
}

/// A server that says this to everybody who connects.
async fn saying(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            // Only after it was asked, and closed only after it was heard.
            let _ = stream.read(&mut [0; 512]).await;
            let _ = stream.write_all(answer).await;
            let _ = stream.shutdown().await;
            let _ = tokio::time::timeout(Duration::from_millis(200), stream.read_to_end(&mut Vec::new())).await;
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_of_another_service_is_told_from_a_coordinator_that_is_away() {
    let network = Network::default();
    for (answer, told) in [
        (&b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"[..], "a web server answers there: give the port"),
        (&[21, 3, 3, 0, 2, 2, 50], "it encrypts: write https://HOST:PORT"),
        (b"220 mail", "cannot reach the coordinator"),
    ] {
        let address = saying(answer).await;
        let url = format!("http://{address}");
        let asked = async { Client::connect(&url).await?.jobs().await.map(drop) };
        let error = asked.await.unwrap_err().line();
        assert!(error.contains(told) && error.contains(&address), "{error}");
        let error = is_well(&network, "the coordinator", &url, "").await.unwrap_err().line();
        assert!(error.contains(told), "{error}");
    }
    for url in ["ftp://127.0.0.1:7420", "http://127.0.0.1"] {
        let error = Client::connect(url).await.unwrap_err().line();
        assert!(error.contains("write HOST:PORT"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_finished_table_lacks_is_built_again() {
    let store = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(Toy::default()), store.path(), 2).await;
    assert_eq!(town.build(&["T3"], &["dtm", "dtc"]).await.state(), wire::JobState::Done);
    let whole = files(store.path());
    for (table, metric) in [("T3", "wdl"), ("T2", "wdl"), ("T3", "dtm"), ("T2", "dtc"), ("T1", "wdl")] {
        let shard = store.path().join(format!("tables/plain/{table}/{metric}/0000.shard"));
        for cut in [false, true] {
            if cut {
                let bytes = std::fs::read(&shard).unwrap();
                std::fs::write(&shard, &bytes[..bytes.len() - 1]).unwrap();
            } else {
                std::fs::remove_file(&shard).unwrap();
            }
            let job = town.build(&["T3"], &["dtm", "dtc"]).await;
            assert_eq!((job.state(), job.total, job.present), (wire::JobState::Done, 1, 2), "{}", job.error);
            assert!(files(store.path()) == whole, "{table} {metric} {cut}");
        }
        assert_eq!(town.build(&["T3"], &["dtm", "dtc"]).await.total, 0);
    }
}

/// A coordinator that takes connections and ends each when it is asked something.
async fn dying() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 24]).await.unwrap();
            // Frames as HTTP/2 has them: length and type, and 5 bytes more; a request begins with the type 1.
            let mut head = [0; 9];
            while stream.read_exact(&mut head).await.is_ok() && head[3] != 1 {
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
                stream.read_exact(&mut vec![0; length as usize]).await.unwrap();
            }
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn another_coordinator_is_asked_where_the_first_takes_connections_and_says_nothing() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    town.submit(&["T1"], &["dtm"]).await.unwrap();
    let dead = dying().await;
    let network = Network::default();
    let mut client = Client::connect_any(&network, &[dead.clone(), town.url.clone()]).await.unwrap();
    assert_eq!(client.jobs().await.unwrap().len(), 1);
    let nobody =
        Client::connect_any(&network, &[dead.clone(), "http://127.0.0.1:1".to_owned()]).await.unwrap_err().line();
    assert!(nobody.contains(&format!("cannot reach the coordinator at {dead}")), "{nobody}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_hangs_does_not_hold_up_the_others() {
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy::default());
    let town = Town::found(game.clone(), &Folders, settings(store.path())).await;
    // The system takes connections, and nobody answers.
    let hanging = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let urls = [format!("http://{}", hanging.local_addr().unwrap()), town.url.clone()];
    let network = Network::default();
    let asked = async {
        let _hand = hire_of(&network, &urls, game, Arc::new(Folders), "w0", 0).await;
        let mut client = Client::connect_any(&network, &urls).await.unwrap();
        while client.status().await.unwrap().workers.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        any_is_well(&network, "the coordinator", &urls, "").await.unwrap();
    };
    // It is given up after 20 s each time.
    tokio::time::timeout(Duration::from_secs(18), asked).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_active_one_that_another_names_is_found_beside_one_that_hangs() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let standby = Seat::take(Arc::new(Toy::default()), settings(store.path()));
    // It leads to the active one, which is not given.
    standby.client().await;
    let hanging = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let urls = [standby.url.clone(), format!("http://{}", hanging.local_addr().unwrap())];
    let network = Network::default();
    // The one that hangs is given up after 20 s.
    let asked = tokio::time::timeout(Duration::from_secs(15), Client::connect_any(&network, &urls));
    let mut client = asked.await.unwrap().unwrap();
    let reign = town.client().await.status().await.unwrap().reign;
    assert_eq!(client.status().await.unwrap().reign, reign);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_watches_a_job_is_sent_away_when_the_reign_is_over() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    // Nobody works on it, so that nothing changes but the reign.
    let job = town.submit(&["T1"], &["dtm"]).await.unwrap();
    let mut watch = town.client().await.watch(&job.id).await.unwrap();
    assert!(watch.next().await.unwrap().is_some());
    let lease = store.path().join("lease/coordinator");
    let ended = async { while watch.next().await.unwrap().is_some() {} };
    let deposed = async {
        loop {
            // Again and again: a renewal may be under way.
            if let Ok(text) = std::fs::read(&lease)
                && let Ok(mut record) = serde_json::from_slice::<serde_json::Value>(&text)
            {
                record["reign"] = (record["reign"].as_u64().unwrap() + 1).into();
                record["holder"]["process"] = "another".into();
                std::fs::write(&lease, record.to_string()).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    tokio::select! {
        () = ended => {}
        () = deposed => {}
        () = tokio::time::sleep(Duration::from_secs(60)) => panic!("it is told nothing"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_and_stores_that_cannot_be_used_are_refused() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let bind = async |change: &dyn Fn(&mut canju_cluster::CoordinatorSettings)| {
        let mut settings = settings(store.path());
        change(&mut settings);
        Coordinator::bind(Arc::new(Toy::default()), &Folders, settings).await.err().unwrap().line()
    };
    let taken = town.url.trim_start_matches("http://").parse().unwrap();
    assert!(bind(&|s| s.listen = taken).await.contains("choose another address or port"));
    assert!(bind(&|s| s.listen = ([0, 0, 0, 0], 0).into()).await.contains("--insecure-network"));
    let file = store.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(bind(&|s| s.store = file.display().to_string()).await.contains("refuses"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_go_only_where_they_fit() {
    let store = tempfile::tempdir().unwrap();
    let whole = tempfile::tempdir().unwrap();
    let game: Arc<Toy> = Arc::default();
    // Never cut by size: only where it does not fit otherwise.
    let mut roomy = settings(store.path());
    roomy.conductor.cut_from = u64::MAX;
    roomy.conductor.min_workers = 2;
    let town = Town::found(game.clone(), &Folders, roomy).await;
    let mut hands = vec![];
    for name in ["a", "b"] {
        hands.push(town.hire(game.clone(), Arc::new(Folders), name, 24_000).await);
    }
    let job = town.build(&["T4"], &["dtm"]).await;
    assert_eq!(job.state(), wire::JobState::Done, "{}", job.error);
    let workers: Vec<u32> = job.built.iter().map(|b| b.workers).collect();
    assert_eq!(workers, [1, 1, 1, 2]);
    // What can never fit is refused before anything is begun.
    let error = town.submit(&["T9"], &["dtm"]).await.unwrap_err().line();
    assert!(error.contains("does not fit") && error.contains("workers of this size"), "{error}");
    let (alone, _hand) = Town::with(game, whole.path(), 1).await;
    alone.build(&["T4"], &["dtm"]).await;
    for (name, bytes) in files(whole.path()) {
        assert_eq!(files(store.path()).get(&name), Some(&bytes), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_was_there_before_its_workers_fails_where_it_fits_none() {
    let store = tempfile::tempdir().unwrap();
    let town = Town::found(Arc::new(Toy::default()), &Folders, settings(store.path())).await;
    let job = town.submit(&["T4"], &["dtm"]).await.unwrap();
    let _small = town.hire(Arc::new(Toy::default()), Arc::new(Folders), "small", 1000).await;
    let end = town.end_of(&job.id).await;
    assert_eq!(end.state(), wire::JobState::Failed);
    assert!(end.error.contains("it does not fit: a share takes") && end.error.contains("1000 B"), "{}", end.error);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_deleted_is_built_again() {
    let store = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(Toy::default()), store.path(), 1).await;
    assert_eq!(town.build(&["T2"], &["dtm"]).await.done, 2);
    let before = files(store.path());
    std::fs::remove_dir_all(store.path().join("tables/plain/T2")).unwrap();
    let job = town.build(&["T2"], &["dtm"]).await;
    assert_eq!((job.state(), job.present, job.done), (wire::JobState::Done, 1, 1), "{}", job.error);
    assert_eq!(files(store.path()), before);
    assert!(!store.path().join("trial").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_another_index_are_refused() {
    let store = tempfile::tempdir().unwrap();
    let (town, _hands) = Town::with(Arc::new(Toy::default()), store.path(), 1).await;
    assert_eq!(town.build(&["T2"], &["dtm"]).await.state(), wire::JobState::Done);
    town.close().await;
    let mut other = settings(store.path());
    other.index = 2;
    let town = Town::found(Arc::new(Toy::default()), &Folders, other).await;
    let error = town.submit(&["T3"], &["dtm"]).await.unwrap_err().line();
    assert!(error.contains("T2 in") || error.contains("T1 in"), "{error}");
    assert!(error.contains("version 1 of the index") && error.contains("build into another"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn advertised_addresses_must_be_some() {
    for bad in ["foo bar", "", "host", "host:port", "host:0", "https://host:1", ":1"] {
        let settings = WorkerSettings {
            name: "w".into(),
            coordinators: vec!["http://127.0.0.1:1".into()],
            listen: ([127, 0, 0, 1], 0).into(),
            advertise: Some(bad.into()),
            insecure_network: false,
            network: Network::default(),
            memory: 0,
            scratch: None,
            threads: 1,
            retry: Duration::from_millis(20),
            patience: Duration::from_secs(60),
            drain: Duration::ZERO,
        };
        let error = Worker::bind(Arc::new(Toy::default()), Arc::new(Folders), settings).await.err();
        assert!(error.is_some_and(|e| e.line().contains("--advertise HOST:PORT")), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_metric_that_an_old_manifest_would_not_take_is_refused_before_it_is_solved() {
    let store = tempfile::tempdir().unwrap();
    let game = Arc::new(Toy::default());
    let (town, _hands) = Town::with(game, store.path(), 1).await;
    assert_eq!(town.build(&["T1"], &["dtm"]).await.state(), wire::JobState::Done);
    let manifest = store.path().join("tables/plain/T1/manifest.json");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    let told = json["positions"].as_u64().unwrap() + 1;
    json["positions"] = told.into();
    std::fs::write(&manifest, json.to_string()).unwrap();
    let refused = town.submit(&["T1"], &["dtc"]).await.unwrap_err().line();
    for words in [format!("tells {told}"), "delete the folder tables/plain/T1".into(), "`fetch verify`".into()] {
        assert!(refused.contains(&words), "{refused}");
    }
    // What it has stays good.
    assert_eq!(town.build(&["T1"], &["dtm"]).await.state(), wire::JobState::Done);
}
