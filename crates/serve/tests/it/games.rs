//! Files of games.

use serde_json::{Value, json};

use crate::{limits, memory, over, post, server};
use canju_serve::Limits;
use std::sync::Arc;

async fn read(body: impl Into<axum::body::Body>) -> Value {
    let answer = post(&server(), "/v1/games", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn a_study_is_read_with_its_moves() {
    let value = read("horse against two advisors|9/4a4/3ak4/N8/9/9/9/9/9/5K3 w|马九进八 士5进6").await;
    let game = &value["games"][0];
    assert_eq!((&value["format"], &game["title"]), (&json!("names"), &json!("horse against two advisors")));
    assert_eq!(game["fen"], "9/4a4/3ak4/N8/9/9/9/9/9/5K3 w");
    let wanted = json!({
        "move": "a6b8", "wxf": "H9+8", "chinese": "马九进八", "fen": "9/1N2a4/3ak4/9/9/9/9/9/9/5K3 b", "comment": "",
    });
    assert_eq!(game["moves"][0], wanted);
    assert_eq!(game["moves"].as_array().unwrap().len(), 2);
    assert_eq!((&game["result"], &game["warnings"]), (&json!("*"), &json!([])));
}

#[tokio::test]
async fn a_game_has_its_players_and_comments() {
    let pgn = "[Game \"Chinese Chess\"]\n[Event \"Cup\"]\n[Red \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[FEN \"5k3/9/9/9/9/9/9/9/9/4K2R1 w\"]\n\n{before} 1. R2.4 {mate} 1-0\n";
    let value = read(pgn).await;
    let game = &value["games"][0];
    let told = ["event", "red", "black", "result", "comment"].map(|word| game[word].as_str().unwrap());
    assert_eq!(told, ["Cup", "A", "B", "1-0", "before"]);
    assert_eq!((&game["moves"][0]["move"], &game["moves"][0]["comment"]), (&json!("h0f0"), &json!("mate")));
}

#[tokio::test]
async fn what_cannot_be_read_is_told_where() {
    let cases: [(&[u8], &str); 4] =
        [(b"", "line 1"), (b"hello", "`hello`"), (b"3k5/9 w\n", "line 1"), (&[0xff, 0, 7], "line 1")];
    for (body, wanted) in cases {
        let (status, kind, message) = post(&server(), "/v1/games", body.to_vec()).await.error();
        assert_eq!((status, kind.as_str()), (400, "games"), "{message}");
        assert!(message.contains(wanted), "{message}");
    }
    // And in parts, for who tells it in another language.
    let fault = post(&server(), "/v1/games", "# x\n3k5/9 w\n").await.json()["error"]["file"].clone();
    assert_eq!(fault, json!({"reason": "unrecognised", "line": 2}));
    let fault = post(&server(), "/v1/games", &b"XQ\x63\0"[..]).await.json()["error"]["file"].clone();
    assert_eq!(fault, json!({"reason": "cut", "byte": 4}));
    let small = over(Arc::new(memory()), Limits { body: 10, ..limits() });
    assert_eq!(post(&small, "/v1/games", "x".repeat(11)).await.error().0, 413);
}

/// What was passed over is told in parts too.
#[tokio::test]
async fn warnings_have_parts() {
    let list = "3k5/9/9/9/9/9/9/9/3R5/4K4 w\n5k3/9/9/9/9/9/9/9/9/4K2R1 w moves h0h1 h1h1\n3k5/9/9/9/9/9/9/9/3KK4/9 w\n";
    let fault = post(&server(), "/v1/games", list).await.json()["error"]["file"].clone();
    let kings = json!({"reason": "two_kings", "side": "red", "square": "e1"});
    assert_eq!(fault, json!({"reason": "fen", "line": 3, "position": kings}));
    let value = read(list.lines().take(2).collect::<Vec<_>>().join("\n")).await;
    let check = json!({"reason": "check", "side": "black"});
    assert_eq!(value["games"][0]["faults"], json!([{"reason": "start", "line": 1, "position": check}]));
    assert_eq!(value["games"][1]["faults"], json!([{"reason": "unread", "line": 2, "text": "h1h1"}]));
    assert!(value["games"][1]["warnings"][0].as_str().unwrap().starts_with("line 2: `h1h1` "), "{value}");
}

#[tokio::test]
async fn a_file_has_at_most_a_thousand_games() {
    let list = "5k3/9/9/9/9/9/9/9/9/4K2R1 w\n";
    assert_eq!(read(list.repeat(1000)).await["games"].as_array().unwrap().len(), 1000);
    let (status, _, message) = post(&server(), "/v1/games", list.repeat(1001)).await.error();
    assert_eq!(status, 400);
    assert!(message.contains("line 1001") && message.contains("1000"), "{message}");
}
