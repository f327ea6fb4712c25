//! The description: it names every route, and every answer is as it says.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Method, Request};
use canju_retro::{Metric, Rules};
use canju_tests::Workshop;
use serde_json::{Value, json};

use crate::{DRAWN, KRK, MISSING, get, post, send, server, under, with_fen};

async fn description() -> Value {
    get(&server(), "/openapi.json").await.json()
}

/// What a schema of the description says against a value.
fn faults(description: &Value, schema: &str, value: &Value) -> Vec<String> {
    let whole = json!({"$ref": format!("#/components/schemas/{schema}"), "components": description["components"]});
    let validator = jsonschema::validator_for(&whole).unwrap();
    validator.iter_errors(value).map(|fault| fault.to_string()).collect()
}

#[tokio::test]
async fn every_route_is_described_and_answers() {
    let description = description().await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3."));
    let paths = description["paths"].as_object().unwrap();
    let named: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    let wanted = [
        "/chessdb",
        "/chessdb.php",
        "/healthz",
        "/v1/endgames",
        "/v1/endgames/{name}",
        "/v1/ewn",
        "/v1/ewn/board.svg",
        "/v1/ewn/tables",
        "/v1/games",
        "/v1/info",
        "/v1/line",
        "/v1/moves",
        "/v1/probe",
    ];
    assert_eq!(named, wanted.into());
    for (path, operations) in paths {
        let path = path.replace("{name}", "KRK");
        for (method, operation) in operations.as_object().unwrap() {
            assert!(operation["summary"].is_string() || operation["description"].is_string(), "{method} {path}");
            let method: Method = method.to_uppercase().parse().unwrap();
            let request = Request::builder().method(method.clone()).uri(&path).body(Body::empty()).unwrap();
            let status = send(&server(), request).await.status.as_u16();
            assert!(status == 200 || status == 400, "{method} {path}: {status}");
        }
        let request = Request::builder().method(Method::PATCH).uri(&path).body(Body::empty()).unwrap();
        let answer = send(&server(), request).await;
        let mut allowed: Vec<String> = answer.header("allow").split(',').map(|m| m.trim().to_lowercase()).collect();
        allowed.retain(|method| method != "head");
        allowed.sort_unstable();
        assert_eq!(allowed, operations.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), "{path}");
    }
}

#[tokio::test]
async fn parameters_are_described_where_they_stand() {
    let description = description().await;
    let told = |path: &str| {
        let parameters = description["paths"][path]["get"]["parameters"].as_array().unwrap().iter();
        let told = parameters.map(|p| format!("{} {} {}", p["name"], p["in"], p["required"]).replace('"', ""));
        told.collect::<Vec<_>>()
    };
    assert_eq!(told("/v1/probe"), ["fen query true"]);
    assert_eq!(told("/v1/line"), ["fen query true", "metric query false", "limit query false"]);
    assert_eq!(told("/v1/endgames/{name}"), ["name path true"]);
    assert!(told("/chessdb").iter().all(|p| p.ends_with("query false")));
}

#[tokio::test]
async fn answers_are_as_described() {
    let (description, server) = (description().await, server());
    let ordered = under(Workshop::under(Rules::Axf).tables(&["KRKN"], &[Metric::Dtm]));
    let fens = [KRK, DRAWN, MISSING, "3k5/9/9/9/9/9/9/9/9/2BRKA3 b", "4k4/9/9/9/9/9/9/3r5/3R5/3K5 w"];
    for fen in fens {
        for (path, schema) in [("/v1/probe", "Probed"), ("/v1/moves", "WithMoves"), ("/v1/line", "Line")] {
            let answer = get(&server, &with_fen(path, fen)).await.json();
            assert_eq!(faults(&description, schema, &answer), [""; 0], "{path} {fen}");
        }
    }
    let batch = json!({"positions": [{"fen": KRK}, {"fen": "x"}], "moves": true});
    let results = post(&server, "/v1/probe", batch.to_string()).await.json();
    let others = [
        ("Results", results),
        ("Endgames", get(&server, "/v1/endgames").await.json()),
        ("Statistics", get(&server, "/v1/endgames/KRKN").await.json()),
        ("Statistics", get(&server, "/v1/endgames/KK").await.json()),
        ("Statistics", get(&ordered, "/v1/endgames/KRKN").await.json()),
        ("Games", post(&server, "/v1/games", "a|5k3/9/9/9/9/9/9/9/9/4K2R1 w|h0f0").await.json()),
        ("Chances", get(&server, "/v1/ewn?position=R1d1+R4a1+B1b5+r").await.json()),
        ("Chances", get(&server, "/v1/ewn?position=R1e1+B1b5+b").await.json()),
        ("DiceTables", get(&server, "/v1/ewn/tables").await.json()),
        ("Info", get(&server, "/v1/info").await.json()),
        ("ErrorBody", get(&server, "/v1/probe").await.json()),
        ("ErrorBody", get(&server, "/v1/endgames/KPPK").await.json()),
    ];
    for (schema, answer) in others {
        assert_eq!(faults(&description, schema, &answer), [""; 0], "{schema} {answer}");
    }
    // The schemas do say something.
    let mut wrong = get(&server, &with_fen("/v1/probe", KRK)).await.json();
    for (field, value) in [("outcome", json!("lost")), ("dtm", json!("1")), ("check", Value::Null)] {
        let right = std::mem::replace(&mut wrong[field], value);
        assert_eq!(faults(&description, "Probed", &wrong).len(), 1, "{field}");
        wrong[field] = right;
    }
    wrong.as_object_mut().unwrap().remove("turn");
    assert_eq!(faults(&description, "Probed", &wrong).len(), 1);
}
