//! The query form of the public database.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use canju_retro::{Metric, Rules};
use canju_table::MemorySource;
use canju_tests::Workshop;
use serde_json::{Value, json};

use crate::{DRAWN, KRK, MISSING, files, get, limits, over, server, under};

/// A horse and an elephant: one move wins, in nine plies, as the public database says too.
const ZUGZWANG: &str = "3k5/9/5N3/9/2b6/9/9/9/4K4/9 w";

async fn query(router: &Router, action: &str, board: &str, more: &str) -> String {
    let answer = get(router, &format!("/chessdb?action={action}&board={}{more}", board.replace(' ', "%20"))).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "text/plain; charset=utf-8"));
    // Scripts cut the NUL off.
    answer.text().strip_suffix('\0').unwrap().to_owned()
}

async fn json_of(action: &str, board: &str, more: &str) -> Value {
    let path = format!("/chessdb.php?action={action}&board={}&json=1{more}", board.replace(' ', "%20"));
    let answer = get(&server(), &path).await;
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()
}

#[tokio::test]
async fn every_move_has_score_rank_and_note() {
    let server = server();
    let all = query(&server, "queryall", ZUGZWANG, "").await;
    let moves: Vec<&str> = all.split('|').collect();
    assert_eq!(moves[0], "move:f7d6,score:29991,rank:2,note:! (W-M-0009)");
    assert!(moves.contains(&"move:e1e0,score:0,rank:0,note:? (D-M-0000)"), "{all}");
    assert!(moves.len() > 5);
    let all = query(&server, "queryall", KRK, "&egtbmetric=DTC").await;
    assert!(all.starts_with("move:h0h8,score:29999,rank:2,note:! (W-00-001)|move:"), "{all}");
    // The same, but with check.
    assert!(all.contains("|move:h0f0,score:29999,rank:1,note:* (W-00-001)|"), "{all}");
    assert!(all.contains(",rank:1,note:* (W-00-003)"), "{all}");
}

#[tokio::test]
async fn losses_count_down_and_the_slowest_comes_first() {
    let all = query(&server(), "queryall", "3k5/9/9/9/9/9/9/9/4R4/4K4 b", "&egtbmetric=dtm").await;
    let scores: Vec<i32> = all
        .split('|')
        .map(|one| {
            let score: i32 = one.split("score:").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
            assert!(one.contains(&format!("(L-M-{:04})", 30_000 + score)), "{one}");
            score
        })
        .collect();
    assert!(scores.iter().all(|&score| score < -29_000 && score % 2 == 0), "{all}");
    assert!(scores.is_sorted_by(|a, b| a >= b), "{all}");
    assert!(all.contains("rank:2,note:!") && !all.contains("rank:0"), "{all}");
}

/// After a capture the distance to conversion is that of the smaller table, and captures come first all the same.
#[tokio::test]
async fn captures_convert_first() {
    // The chariot takes the horse.
    let board = "3k5/9/9/9/9/4n4/9/9/4R4/5K3 w";
    let all = query(&server(), "queryall", board, "&egtbmetric=dtc").await;
    let first = all.split('|').next().unwrap();
    assert!(first.starts_with("move:e1e4,score:29"), "{all}");
    let after = query(&server(), "queryall", "3k5/9/9/9/9/4R4/9/9/9/5K3 b", "&egtbmetric=dtc").await;
    let step = |text: &str| text.split("-00-").nth(1).unwrap()[..3].parse::<u32>().unwrap();
    assert_eq!(step(first), step(&after) + 1, "{first} {after}");
}

#[tokio::test]
async fn a_move_is_suggested() {
    let server = server();
    for action in ["querybest", "query", "querysearch"] {
        assert_eq!(query(&server, action, KRK, "").await, "egtb:h0h8");
        assert_eq!(query(&server, action, MISSING, "").await, "nobestmove");
        let drawn = query(&server, action, DRAWN, "").await;
        assert!(drawn.starts_with("search:") && drawn.contains("|search:"), "{drawn}");
    }
    // Who has no attackers left has nothing to search for.
    let bare = query(&server, "querybest", "3k5/9/5N3/9/2b6/9/9/9/9/4K4 b", "").await;
    assert!(bare.starts_with("egtb:"), "{bare}");
    assert_eq!(query(&server, "queryscore", KRK, "").await, "eval:29999");
}

#[tokio::test]
async fn a_line_is_told() {
    let server = server();
    let line = query(&server, "querypv", ZUGZWANG, "").await;
    let moves = line.strip_prefix("score:29991,depth:9,pv:").unwrap();
    assert_eq!((moves.split('|').count(), &moves[..4]), (9, "f7d6"));
    let draw = query(&server, "querypv", DRAWN, "").await;
    assert!(draw.starts_with("score:0,depth:0,pv:") && !draw.contains('|'), "{draw}");
}

#[tokio::test]
async fn one_word_says_that_there_is_nothing() {
    let server = server();
    let (mate, stalemate) = ("5k3/9/9/9/9/9/9/9/9/4KR3 b", "3k5/4P4/9/9/9/9/9/9/9/4K4 b");
    for (action, board, wanted) in [
        ("queryall", MISSING, "unknown"),
        ("querypv", MISSING, "unknown"),
        ("queryscore", MISSING, "unknown"),
        ("queryall", mate, "checkmate"),
        ("queryall", stalemate, "stalemate"),
        ("querypv", mate, "checkmate"),
        ("querybest", mate, "nobestmove"),
        ("queryall", "3k5/9 w", "invalid board"),
        ("querybest", "4k4/9/9/9/9/9/9/9/9/4K4 w", "invalid board"),
        ("queue", KRK, "invalid parameters"),
        ("queryall", "", "invalid parameters"),
        ("", KRK, "invalid parameters"),
    ] {
        assert_eq!(query(&server, action, board, "").await, wanted, "{action} {board}");
    }
    assert_eq!(get(&server, "/chessdb").await.text(), "invalid parameters\0");
}

#[tokio::test]
async fn banned_moves_are_passed_over() {
    let server = server();
    let all = query(&server, "queryall", ZUGZWANG, "&ban=move:f7d6|e1e0").await;
    assert!(!all.contains("f7d6") && !all.contains("e1e0") && all.contains("rank:2,note:! (D-M-0000)"), "{all}");
}

#[tokio::test]
async fn all_moves_are_shown_when_asked_for() {
    let all = query(&server(), "queryall", MISSING, "&showall=1&learn=0").await;
    assert!(
        all.split('|').all(|one| one.starts_with("move:") && one.ends_with(",score:??,rank:0,note:? (??-??)")),
        "{all}"
    );
}

/// A metric that the table lacks is not made up.
#[tokio::test]
async fn a_metric_that_is_not_there_is_unknown() {
    let source = MemorySource::new();
    for (key, bytes) in files() {
        if key.ends_with("manifest.json") {
            let mut manifest: Value = serde_json::from_slice(bytes).unwrap();
            manifest["metrics"].as_object_mut().unwrap().remove("dtc");
            source.insert(key.clone(), manifest.to_string().into_bytes());
        } else {
            source.insert(key.clone(), bytes.clone());
        }
    }
    let server = over(Arc::new(source), limits());
    assert_eq!(query(&server, "queryall", KRK, "&egtbmetric=dtc").await, "unknown");
    assert!(query(&server, "queryall", KRK, "").await.starts_with("move:h0h8"));
}

/// Of fields that come again the last one counts, and those of a form after those of the address.
#[tokio::test]
async fn forms_ask_too() {
    let server = server();
    let board = KRK.replace(' ', "+");
    let send = async |address: &str, kind: Option<&str>, form: String| {
        let mut request = Request::post(address);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        crate::send(&server, request.body(Body::from(form)).unwrap()).await
    };
    let kind = Some("application/x-www-form-urlencoded; charset=UTF-8");
    for path in ["/chessdb", "/chessdb.php"] {
        let answer = send(path, kind, format!("action=querybest&board={board}")).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, "egtb:h0h8\0"));
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    }
    let answer = send("/chessdb?action=queryall&board=x", None, format!("action=queryscore&board={board}")).await;
    assert_eq!(answer.text(), "eval:29999\0");
    let answer = send("/chessdb?json=1", kind, format!("action=queryall&action=queryscore&board={board}")).await;
    assert_eq!(answer.json(), json!({"status": "ok", "eval": 29999}));
    // What is no form has no fields.
    let answer = send("/chessdb", Some("multipart/form-data; boundary=x"), format!("action=queryscore&board={board}"));
    assert_eq!(answer.await.text(), "invalid parameters\0");
    let answer = send("/chessdb?json=1", kind, "x".repeat(3 << 20)).await;
    assert_eq!(answer.status, 413);
    assert!(answer.json()["status"].as_str().unwrap().starts_with("Error: the body is too large"), "{}", answer.text());
    assert_eq!(query(&server, "queryall", MISSING, "&action=queryscore&board=&board=3k5/9+w").await, "invalid board");
}

/// By the distance to conversion the best draws have the mark of a move that is not the best.
#[tokio::test]
async fn best_draws_are_marked() {
    let server = server();
    let all = query(&server, "queryall", DRAWN, "").await;
    assert!(all.contains(",score:0,rank:2,note:! (D-M-0000)"), "{all}");
    let all = query(&server, "queryall", DRAWN, "&egtbmetric=dtc").await;
    assert!(all.split('|').next().unwrap().ends_with(",score:0,rank:2,note:* (D-00-000)"), "{all}");
    assert!(!all.contains('!'), "{all}");
}

/// A mate in one keeps the distance that the position has, which a capture need not.
#[tokio::test]
async fn a_mate_comes_before_a_capture() {
    // The chariot mates on f0 or takes the horse.
    let board = "5k3/9/9/9/9/9/9/9/9/4K2Rn w";
    let all = query(&server(), "queryall", board, "&egtbmetric=dtc").await;
    assert!(all.starts_with("move:h0f0,score:29999,rank:2,note:! (W-00-001)|move:h0i0,score:29"), "{all}");
}

/// Where the loser can still break the rules of repetition the score counts from 20000, and the note says how often.
#[tokio::test]
async fn violations_are_noted() {
    let server = under(Workshop::under(Rules::Axf).tables(&["KRKN"], &[Metric::Dtm, Metric::Dtc]));
    let all = query(&server, "queryall", "9/9/4k4/9/9/9/9/9/1n7/R2K5 w", "&egtbmetric=dtc").await;
    let moves: Vec<&str> = all.split('|').collect();
    assert!(moves[0].contains(",score:19999,rank:2,note:! (W-01-001)"), "{all}");
    let score = |one: &&str| one.split("score:").nth(1).unwrap().split(',').next().unwrap().parse::<i32>().unwrap();
    for one in &moves {
        assert_eq!(score(one).abs() > 20_000, one.contains("-00-") && !one.contains("(D-"), "{one}");
    }
}

#[tokio::test]
async fn the_same_in_json() {
    let all = json_of("queryall", ZUGZWANG, "").await;
    assert_eq!(all["status"], "ok");
    assert_eq!(all["moves"][0], json!({"uci": "f7d6", "score": 29991, "rank": 2, "note": "! (W-M-0009)"}));
    assert_eq!(json_of("querybest", KRK, "").await, json!({"status": "ok", "egtb": "h0h8"}));
    assert!(json_of("querybest", DRAWN, "").await["search_moves"][0]["uci"].is_string());
    assert_eq!(json_of("queryscore", KRK, "").await, json!({"status": "ok", "eval": 29999}));
    let line = json!({"status": "ok", "score": 29999, "depth": 1, "pv": ["h0h8"], "pvSAN": ["R2+8"]});
    assert_eq!(json_of("querypv", KRK, "").await, line);
    assert_eq!(json_of("queryall", MISSING, "").await, json!({"status": "unknown"}));
    assert_eq!(json_of("queryall", MISSING, "&showall=1").await["moves"][0]["score"], "??");
}
