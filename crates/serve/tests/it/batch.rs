//! Many positions at once.

use serde_json::{Value, json};

use crate::{DRAWN, KRK, MISSING, limits, memory, over, post, server};
use canju_serve::Limits;
use std::sync::Arc;

async fn results(body: &Value) -> Vec<Value> {
    let answer = post(&server(), "/v1/probe", body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["results"].as_array().unwrap().clone()
}

#[tokio::test]
async fn answers_come_in_order_and_errors_stand_among_them() {
    let fens = [KRK, "x", DRAWN, MISSING, "4k4/9/9/9/9/9/9/9/9/4K4 w"];
    let positions: Vec<Value> = fens.iter().map(|fen| json!({"fen": fen})).collect();
    let results = results(&json!({"positions": positions})).await;
    let told: Vec<&str> =
        results.iter().map(|r| r["outcome"].as_str().or(r["error"]["kind"].as_str()).unwrap()).collect();
    assert_eq!(told, ["win", "fen", "draw", "unknown", "illegal"]);
    assert!(results[0].get("moves").is_none());
}

#[tokio::test]
async fn moves_come_when_they_are_wanted() {
    let results = results(&json!({"positions": [{"fen": KRK}], "moves": true})).await;
    assert_eq!(results[0]["moves"][0]["move"], "h0f0");
    assert!(results[0]["error"].is_null());
}

#[tokio::test]
async fn bounds_hold() {
    let server = over(Arc::new(memory()), Limits { batch: 2, batch_with_moves: 1, body: 500, ..limits() });
    let many = |n: usize, moves: bool| json!({"positions": vec![json!({"fen": KRK}); n], "moves": moves}).to_string();
    for (body, wanted) in [(many(3, false), "at most 2"), (many(2, true), "at most 1 with moves")] {
        let (status, kind, message) = post(&server, "/v1/probe", body).await.error();
        assert_eq!((status, kind.as_str()), (400, "too_many"));
        assert!(message.contains(wanted), "{message}");
    }
    assert_eq!(post(&server, "/v1/probe", many(2, false)).await.status, 200);
    let (status, kind, message) = post(&server, "/v1/probe", many(20, false)).await.error();
    assert_eq!((status, kind.as_str()), (413, "too_large"));
    assert!(message.contains("at most 500 bytes"), "{message}");
}

#[tokio::test]
async fn a_body_that_is_none_is_told_where() {
    for (body, wanted) in [
        ("", "line 1"),
        ("{\"positions\": 3}", "line 1 column 15"),
        ("{}", "missing field `positions`"),
        ("3", "expected an object with `positions`"),
        ("{\"positions\": [3]}", "expected an object with `fen`"),
    ] {
        let (status, kind, message) = post(&server(), "/v1/probe", body).await.error();
        assert_eq!((status, kind.as_str()), (400, "body"), "{message}");
        assert!(message.contains(wanted), "{message}");
    }
}
