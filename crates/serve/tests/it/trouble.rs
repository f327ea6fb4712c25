//! Stores that are away or damaged, and too much at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use canju_probe::Prober;
use canju_retro::Rules;
use canju_serve::{Limits, Service, router};
use canju_table::{FolderSource, TableSet};
use serde_json::json;

use crate::sources::{Away, Gated};
use crate::{DRAWN, KRK, ask, files, get, limits, memory, over, post, with_fen};

#[tokio::test]
async fn a_store_that_is_away_is_503_and_comes_back() {
    let source = Away::new();
    let server = over(Arc::clone(&source) as _, limits());
    let batch = json!({"positions": [{"fen": KRK}]}).to_string();
    for path in
        [with_fen("/v1/probe", KRK), with_fen("/v1/moves", KRK), "/v1/endgames".into(), "/v1/endgames/KRK".into()]
    {
        let answer = get(&server, &path).await;
        let (status, kind, message) = answer.error();
        assert_eq!((status, kind.as_str()), (503, "store"), "{path}: {message}");
        assert_eq!(answer.header("retry-after"), "1");
        // Where the store is, and what it said, is for the log.
        assert!(!message.contains("s3://") && !message.contains("route"), "{message}");
    }
    assert_eq!(post(&server, "/v1/probe", batch.clone()).await.status, 503);
    let told = get(&server, &format!("/chessdb?action=queryall&board={}", KRK.replace(' ', "+"))).await;
    assert_eq!(told.status, 503);
    assert!(told.text().starts_with("Error: "), "{}", told.text());
    assert_eq!(told.header("content-type"), "text/plain; charset=utf-8");
    let told = get(&server, &format!("/chessdb?action=queryall&json=1&board={}", KRK.replace(' ', "+"))).await;
    assert!(told.json()["status"].as_str().unwrap().starts_with("Error: "), "{}", told.text());
    assert_eq!(told.status, 503);
    assert_eq!(get(&server, "/healthz").await.status, 200);
    source.away.store(false, Ordering::SeqCst);
    assert_eq!(ask(&server, "/v1/probe", KRK).await["outcome"], "win");
    assert_eq!(post(&server, "/v1/probe", batch).await.status, 200);
}

#[tokio::test]
async fn a_folder_that_is_gone_is_a_store_that_is_away() {
    let folder = tempfile::tempdir().unwrap();
    for (key, bytes) in files() {
        let path = folder.path().join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let tables = folder.path().to_path_buf();
    let prober = Prober::new(TableSet::open(Arc::new(FolderSource::new(&tables)), Rules::Plain));
    let server = router(Service::of_folder(Arc::new(prober), tables.clone(), limits()));
    assert_eq!(ask(&server, "/v1/probe", KRK).await["outcome"], "win");
    drop(folder);
    assert!(!tables.exists());
    for path in [with_fen("/v1/probe", DRAWN), "/v1/endgames".into()] {
        assert_eq!(get(&server, &path).await.error().1, "store", "{path}");
    }
}

#[tokio::test]
async fn a_damaged_table_is_unknown_until_it_is_replaced() {
    let source = Arc::new(memory());
    let whole: Vec<_> = files().iter().filter(|(key, _)| key.contains("/KRK/") && key.ends_with(".shard")).collect();
    for (key, bytes) in &whole {
        source.insert(key.clone(), bytes[..bytes.len() / 2].to_vec());
    }
    let server = over(Arc::clone(&source) as _, limits());
    let value = ask(&server, "/v1/probe", KRK).await;
    assert_eq!((&value["outcome"], &value["unknown"]["reason"]), (&json!("unknown"), &json!("damaged")));
    assert_eq!(value["unknown"]["commands"][0], "fetch get KRK --from SOURCE");
    for (key, bytes) in &whole {
        source.insert(key.clone(), bytes.clone());
    }
    assert_eq!(ask(&server, "/v1/probe", KRK).await["outcome"], "win");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_can_be_done_is_told_to_come_again() {
    let source = Gated::new();
    let server = over(Arc::clone(&source) as _, Limits { requests: 2, threads: 2, ..limits() });
    let first: Vec<_> = (0..2)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move { get(&server, &with_fen("/v1/probe", KRK)).await })
        })
        .collect();
    source.waiting(2).await;
    let answer = get(&server, &with_fen("/v1/probe", KRK)).await;
    assert_eq!((answer.error().0, answer.error().1.as_str()), (503, "busy"));
    assert_eq!(answer.header("retry-after"), "1");
    // In a word that scripts of the public database know.
    for (path, told) in [
        ("/chessdb?action=queryall", "rate limit exceeded\0"),
        ("/chessdb?json=1", r#"{"status":"rate limit exceeded"}"#),
    ] {
        let answer = get(&server, path).await;
        assert_eq!((answer.status.as_u16(), answer.text(), answer.header("retry-after")), (503, told, "1"));
    }
    // What asks no table goes on.
    assert_eq!(get(&server, "/healthz").await.status, 200);
    source.let_go();
    for task in first {
        assert_eq!(task.await.unwrap().status, 200);
    }
    assert_eq!(get(&server, &with_fen("/v1/probe", KRK)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_takes_too_long_is_504() {
    let source = Gated::new();
    let server = over(Arc::clone(&source) as _, Limits { timeout: Duration::from_millis(20), ..limits() });
    let (status, kind, _) = get(&server, &with_fen("/v1/probe", KRK)).await.error();
    assert_eq!((status, kind.as_str()), (504, "timeout"));
    source.let_go();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_ask_at_once() {
    let server = over(Arc::new(memory()), limits());
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            let server = server.clone();
            tokio::spawn(async move { ask(&server, "/v1/moves", [KRK, DRAWN][n % 2]).await["outcome"].clone() })
        })
        .collect();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), ["win", "draw"][n % 2]);
    }
}
