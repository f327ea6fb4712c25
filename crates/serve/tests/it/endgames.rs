//! The tables, what they count, and the server itself.

use std::sync::Arc;
use std::time::Duration;

use canju_retro::{Metric, Rules};
use canju_serve::Limits;
use canju_table::MemorySource;
use canju_tests::Workshop;
use serde_json::{Value, json};

use crate::{KRK, ask, files, get, limits, memory, over, server, under};

#[tokio::test]
async fn the_tables_are_listed() {
    let value = get(&server(), "/v1/endgames").await.json();
    assert_eq!((&value["rules"], &value["place"], &value["damaged"]), (&json!("plain"), &json!("memory"), &json!([])));
    let endgames = value["endgames"].as_array().unwrap();
    let names: Vec<&str> = endgames.iter().map(|e| e["endgame"].as_str().unwrap()).collect();
    assert_eq!(names, ["KBK", "KK", "KNK", "KNKB", "KRK", "KRKN"]);
    let wanted = json!({"endgame": "KRKN", "metrics": ["wdl", "dtm", "dtc"], "men": 4, "positions": 1_312_200});
    assert_eq!(endgames[5], wanted);
}

#[tokio::test]
async fn a_table_that_comes_later_is_found() {
    let source = Arc::new(MemorySource::new());
    let server = over(Arc::clone(&source) as _, limits());
    assert_eq!(ask(&server, "/v1/probe", KRK).await["unknown"]["reason"], "missing");
    for (key, bytes) in files() {
        source.insert(key.clone(), bytes.clone());
    }
    assert_eq!(ask(&server, "/v1/probe", KRK).await["outcome"], "win");
}

/// A distance that is counted while the server runs.
#[tokio::test]
async fn a_metric_that_comes_later_is_found() {
    let source = Arc::new(memory());
    let (key, bytes) = files().iter().find(|(key, _)| key.ends_with("/KRK/manifest.json")).unwrap();
    let mut less: Value = serde_json::from_slice(bytes).unwrap();
    assert!(less["metrics"].as_object_mut().unwrap().remove("dtm").is_some());
    source.insert(key.clone(), serde_json::to_vec(&less).unwrap());
    let server = over(Arc::clone(&source) as _, Limits { fresh: Duration::ZERO, ..limits() });
    let told = ask(&server, "/v1/probe", KRK).await;
    assert_eq!((&told["dtm"], &told["dtc"]), (&Value::Null, &json!(1)));
    source.insert(key.clone(), bytes.clone());
    assert_eq!(ask(&server, "/v1/probe", KRK).await["dtm"], 1);
    assert_eq!(ask(&server, "/v1/line", KRK).await["metric"], "dtm");
    assert_eq!(get(&server, "/v1/endgames/KRK").await.json()["metrics"], json!(["wdl", "dtm", "dtc"]));
}

#[tokio::test]
async fn statistics_are_told_from_the_side_that_was_asked_for() {
    let server = server();
    let straight = get(&server, "/v1/endgames/krkn").await.json();
    let turned = get(&server, "/v1/endgames/KNKR").await.json();
    assert_eq!(
        (&straight["endgame"], &straight["table"], &straight["cells"]),
        (&json!("KRKN"), &json!("KRKN"), &json!(1_312_200))
    );
    assert_eq!((&turned["endgame"], &turned["table"]), (&json!("KNKR"), &json!("KRKN")));
    assert_eq!((&straight["sides"]["w"], &straight["sides"]["b"]), (&turned["sides"]["b"], &turned["sides"]["w"]));
    assert_eq!(straight["histogram"]["dtm"]["w"], turned["histogram"]["dtm"]["b"]);
    let sum =
        |value: &Value| value.as_array().unwrap().iter().map(|bar| bar["positions"].as_u64().unwrap()).sum::<u64>();
    for metric in ["dtm", "dtc"] {
        for side in ["w", "b"] {
            let (bars, counts) = (&straight["histogram"][metric][side], &straight["sides"][side]);
            let told = (sum(&bars["win"]), bars["draw"].as_u64().unwrap(), sum(&bars["loss"]));
            let wanted = ["win", "draw", "loss"].map(|word| counts[word].as_u64().unwrap());
            assert_eq!([told.0, told.1, told.2], wanted, "{metric} {side}");
        }
        let (longest, extremes) = (&straight["longest"][metric], &straight["extremes"][metric]);
        assert_eq!(*longest, extremes["w"]["win"], "{metric}");
        let last = straight["histogram"][metric]["w"]["win"].as_array().unwrap().last().unwrap();
        assert_eq!(last["plies"], longest["plies"]);
        let probed = ask(&server, "/v1/probe", longest["fen"].as_str().unwrap()).await;
        assert_eq!((&probed["outcome"], &probed[metric]), (&json!("win"), &longest["plies"]));
    }
    // Who named Black first sees its boards turned.
    let probed = ask(&server, "/v1/probe", turned["extremes"]["dtm"]["b"]["win"]["fen"].as_str().unwrap()).await;
    assert_eq!((&probed["turn"], &probed["dtm"]), (&json!("black"), &turned["longest"]["dtm"]["plies"]));
    assert_eq!(get(&server, "/v1/endgames/KK").await.json()["longest"], json!({"dtm": null, "dtc": null}));
}

/// Plies of different orders cannot be compared: the longest wins and the bars say which they are.
#[tokio::test]
async fn statistics_have_the_orders() {
    let server = under(Workshop::under(Rules::Axf).tables(&["KRKN"], &[Metric::Dtm, Metric::Dtc]));
    let told = get(&server, "/v1/endgames/KRKN").await.json();
    for metric in ["dtm", "dtc"] {
        let longest = &told["longest"][metric];
        assert_eq!((longest, &longest["order"]), (&told["extremes"][metric]["w"]["win"], &json!(1)));
        let probed = ask(&server, "/v1/probe", longest["fen"].as_str().unwrap()).await;
        assert_eq!((&probed["order"], &probed[metric]), (&longest["order"], &longest["plies"]));
        let bars = told["histogram"][metric]["w"]["win"].as_array().unwrap();
        let distance =
            |bar: &Value| (bar.get("order").map_or(0, |order| order.as_u64().unwrap()), bar["plies"].as_u64().unwrap());
        let distances: Vec<(u64, u64)> = bars.iter().map(distance).collect();
        assert!(distances.is_sorted_by(|a, b| a < b), "{distances:?}");
        assert_eq!((distances[0], distances.last()), ((0, 1), Some(&distance(longest))));
        assert!(bars[0].get("order").is_none());
    }
}

#[tokio::test]
async fn a_table_that_is_not_there_is_404_with_its_commands() {
    let server = server();
    let answer = get(&server, "/v1/endgames/KPPK").await;
    let (status, kind, message) = answer.error();
    assert_eq!((status, kind.as_str()), (404, "missing"), "{message}");
    assert_eq!(answer.json()["error"]["commands"][1], "coordinator start --build KPPK");
    for (name, wanted) in [("KXK", "X"), ("..%2f..%2fetc", "."), ("KRK.json", "."), ("KK%00", "")] {
        let (status, kind, message) = get(&server, &format!("/v1/endgames/{name}")).await.error();
        assert_eq!((status, kind.as_str()), (400, "name"), "{name}: {message}");
        assert!(message.contains(wanted), "{name}: {message}");
    }
}

#[tokio::test]
async fn one_damaged_manifest_does_not_hide_the_others() {
    let source = memory();
    source.insert("tables/plain/KRK/manifest.json", b"{}".to_vec());
    let server = over(Arc::new(source), limits());
    let value = get(&server, "/v1/endgames").await.json();
    assert_eq!((&value["damaged"], value["endgames"].as_array().unwrap().len()), (&json!(["KRK"]), 5));
    let (status, kind, _) = get(&server, "/v1/endgames/KRK").await.error();
    assert_eq!((status, kind.as_str()), (500, "damaged"));
}

#[tokio::test]
async fn the_server_tells_what_it_is() {
    let server = server();
    let info = get(&server, "/v1/info").await.json();
    assert_eq!((&info["rules"], &info["place"]), (&json!("plain"), &json!("memory")));
    assert!(info["version"].is_string() && info["index"].is_u64());
    assert_eq!(get(&server, "/healthz").await.text(), "ok\n");
}
