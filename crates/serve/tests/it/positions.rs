//! Single positions: their values, moves and lines.

use canju_retro::{Metric, Rules};
use canju_tests::Workshop;
use canju_xiangqi::Position;
use serde_json::{Value, json};

use crate::{DRAWN, KRK, MISSING, ask, get, server, under, with_fen};

#[tokio::test]
async fn a_win_is_told_with_its_distances() {
    let value = ask(&server(), "/v1/probe", KRK).await;
    let wanted = json!({
        "fen": KRK, "endgame": "KRK", "rules": "plain", "turn": "red", "outcome": "win", "dtm": 1, "dtc": 1,
        "ended": null, "check": false, "unknown": null,
    });
    assert_eq!(value, wanted);
}

#[tokio::test]
async fn a_draw_has_no_distances() {
    let value = ask(&server(), "/v1/probe", DRAWN).await;
    assert_eq!((&value["outcome"], &value["dtm"], &value["unknown"]), (&json!("draw"), &Value::Null, &Value::Null));
}

#[tokio::test]
async fn the_side_may_be_left_out_and_plus_is_a_space() {
    let server = server();
    for path in ["/v1/probe?fen=5k3/9/9/9/9/9/9/9/9/4K2R1", "/v1/probe?fen=5k3/9/9/9/9/9/9/9/9/4K2R1+w+-+-+0+1"] {
        assert_eq!(get(&server, path).await.json()["fen"], KRK, "{path}");
    }
}

#[tokio::test]
async fn moves_are_rated_best_first() {
    let value = ask(&server(), "/v1/moves", KRK).await;
    let moves = value["moves"].as_array().unwrap();
    let position: Position = KRK.parse().unwrap();
    assert_eq!(moves.len(), position.legal_moves().len());
    let wanted = json!({
        "move": "h0f0", "wxf": "R2.4", "chinese": "车二平四", "capture": false, "check": true,
        "fen": "5k3/9/9/9/9/9/9/9/9/4KR3 b", "outcome": "win", "dtm": 1, "dtc": 1, "unknown": null,
    });
    assert_eq!(moves[0], wanted);
    let wins: Vec<u64> = moves.iter().filter(|m| m["outcome"] == "win").map(|m| m["dtm"].as_u64().unwrap()).collect();
    assert!(wins.is_sorted() && wins.len() > 1, "{wins:?}");
}

#[tokio::test]
async fn what_is_not_in_the_tables_is_unknown_and_names_its_commands() {
    let server = server();
    let value = ask(&server, "/v1/probe", MISSING).await;
    assert_eq!((&value["outcome"], &value["dtm"]), (&json!("unknown"), &Value::Null));
    let unknown = &value["unknown"];
    assert_eq!((&unknown["reason"], &unknown["endgame"]), (&json!("missing"), &json!("KPPK")));
    assert_eq!(unknown["commands"], json!(["fetch get KPPK --from SOURCE", "coordinator start --build KPPK"]));
    let value = ask(&server, "/v1/moves", MISSING).await;
    let moves = value["moves"].as_array().unwrap();
    assert!(moves.iter().all(|m| m["outcome"] == "unknown" && m["unknown"]["reason"] == "missing"), "{moves:?}");
    let squares: Vec<&str> = moves.iter().map(|m| m["move"].as_str().unwrap()).collect();
    let position: Position = MISSING.parse().unwrap();
    let mut wanted: Vec<_> = position.legal_moves().iter().copied().collect();
    wanted.sort_unstable();
    assert_eq!(squares, wanted.iter().map(ToString::to_string).collect::<Vec<_>>());
}

#[tokio::test]
async fn crowds_and_impossible_soldiers_are_unknown_too() {
    let server = server();
    let initial = ask(&server, "/v1/moves", &Position::initial().to_fen()).await;
    assert_eq!((&initial["outcome"], &initial["unknown"]["reason"]), (&json!("unknown"), &json!("too_large")));
    assert_eq!(initial["unknown"]["commands"], json!([]));
    assert_eq!(initial["moves"].as_array().unwrap().len(), 44);
    let doubled = ask(&server, "/v1/probe", "3k5/9/9/9/9/P8/P8/9/9/4K4 w").await;
    assert_eq!((&doubled["outcome"], &doubled["unknown"]["reason"]), (&json!("unknown"), &json!("doubled")));
}

/// The table of the position is missing, those after captures are there.
#[tokio::test]
async fn moves_into_tables_that_are_there_are_known() {
    let value = ask(&server(), "/v1/moves", "4k4/9/9/9/9/9/9/3r5/3R5/3K5 w").await;
    assert_eq!((&value["outcome"], &value["unknown"]["reason"]), (&json!("unknown"), &json!("missing")));
    let moves = value["moves"].as_array().unwrap();
    assert_eq!((&moves[0]["move"], &moves[0]["outcome"], &moves[0]["dtc"]), (&json!("d1d2"), &json!("win"), &json!(1)));
    assert!(moves[0]["dtm"].as_u64().unwrap() > 1);
    // The position is won, if not slower than so.
    let won = json!({"move": "d1d2", "wxf": moves[0]["wxf"], "chinese": moves[0]["chinese"], "dtm": moves[0]["dtm"], "dtc": 1});
    assert_eq!(value["won_by"], won);
    assert!(moves[1..].iter().all(|m| m["outcome"] == "unknown"), "{moves:?}");
}

/// Only a win is known by a move; and what is known needs no other.
#[tokio::test]
async fn a_position_is_won_by_a_move_or_unknown() {
    let server = server();
    let fen = "4k4/9/9/9/9/9/9/3r5/3R5/3K5 w";
    let value = ask(&server, "/v1/probe", fen).await;
    assert_eq!((&value["outcome"], &value["won_by"]["move"]), (&json!("unknown"), &json!("d1d2")));
    assert_eq!(ask(&server, "/v1/line", fen).await["won_by"], value["won_by"]);
    // The king takes a horse, and loses to the other one.
    let lost = ask(&server, "/v1/moves", "3k5/9/9/9/9/9/3n5/4n4/4K4/9 w").await;
    assert_eq!((&lost["outcome"], &lost["moves"][0]["outcome"]), (&json!("unknown"), &json!("loss")));
    for value in [&lost, &ask(&server, "/v1/moves", KRK).await, &ask(&server, "/v1/probe", MISSING).await] {
        assert!(value.get("won_by").is_none(), "{value}");
    }
}

#[tokio::test]
async fn who_cannot_move_has_lost_whatever_the_tables() {
    let server = server();
    // A mate with more men than the tables have, and a stalemate.
    let mate = ask(&server, "/v1/moves", "3k5/9/9/9/9/9/9/9/9/2BRKA3 b").await;
    let stalemate = ask(&server, "/v1/line", "3k5/4P4/9/9/9/9/9/9/9/4K4 b").await;
    for (value, ended) in [(&mate, "checkmate"), (&stalemate, "stalemate")] {
        let told = (&value["outcome"], &value["dtm"], &value["dtc"], &value["ended"], &value["unknown"]);
        assert_eq!(told, (&json!("loss"), &json!(0), &json!(0), &json!(ended), &Value::Null), "{value}");
        assert_eq!(value["moves"], json!([]));
    }
    assert_eq!((&stalemate["complete"], &stalemate["end"]), (&json!(true), &json!("stalemate")));
}

#[tokio::test]
async fn a_line_goes_to_mate() {
    let server = server();
    let fen = "4k4/9/9/9/9/9/9/7R1/9/3K5 w";
    let dtm = ask(&server, "/v1/probe", fen).await["dtm"].as_u64().unwrap();
    assert!(dtm > 2);
    let line = ask(&server, "/v1/line", fen).await;
    let moves = line["moves"].as_array().unwrap();
    assert_eq!((&line["metric"], &line["complete"], &line["end"]), (&json!("dtm"), &json!(true), &json!("stalemate")));
    assert_eq!((moves.len() as u64, line["plies"].as_u64()), (dtm, Some(dtm)));
    // Each move is seen from who makes it, and takes one ply.
    let outcomes = ["win", "loss"];
    for (ply, told) in moves.iter().enumerate() {
        assert_eq!((&told["outcome"], told["dtm"].as_u64()), (&json!(outcomes[ply % 2]), Some(dtm - ply as u64)));
    }
    assert_eq!(moves.last().unwrap()["fen"], line["end_fen"]);
    let short = ask(&server, "/v1/line?limit=1&metric=dtc", fen).await;
    assert_eq!((&short["plies"], &short["complete"], &short["metric"]), (&json!(1), &json!(false), &json!("dtc")));
}

#[tokio::test]
async fn where_there_is_no_line_the_reason_is_told() {
    let server = server();
    let draw = ask(&server, "/v1/line", DRAWN).await;
    assert_eq!((&draw["reason"], &draw["moves"], &draw["complete"]), (&json!("draw"), &json!([]), &json!(false)));
    let missing = ask(&server, "/v1/line", MISSING).await;
    assert_eq!((&missing["reason"], &missing["unknown"]["reason"]), (&json!("unknown"), &json!("missing")));
}

#[tokio::test]
async fn a_wrong_question_is_told_what_is_wrong_and_where() {
    let server = server();
    let long = "1".repeat(201);
    let cases = [
        ("/v1/probe", "parameter", "missing field `fen`"),
        ("/v1/probe?fen=", "fen", "the FEN is empty"),
        ("/v1/probe?fen=3k5/9", "fen", "2 ranks"),
        ("/v1/probe?fen=3k5/9/9/9/9/9/9/9/9/4X4", "fen", "`X` on e0"),
        ("/v1/probe?fen=3k5/9/9/9/9/9/9/9/9/5K4", "fen", "rank 0 has 10 files"),
        ("/v1/probe?fen=3k5/9/9/9/9/9/9/9/9/4K4%20x", "fen", "unknown side to move `x`"),
        ("/v1/moves?fen=4k4/9/9/9/9/9/9/9/9/4K4", "illegal", "the kings face each other"),
        ("/v1/line?fen=3k5/4R4/9/9/9/9/9/9/3R5/4K4", "illegal", "Black is in check"),
        ("/v1/probe?fen=9/9/9/9/9/9/9/9/9/4K4", "fen", "Black has no king"),
        (&format!("/v1/probe?fen={long}"), "fen", "201 bytes: give at most 200"),
        (&with_fen("/v1/line?metric=wdl", KRK), "parameter", "metric=wdl: give dtm or dtc"),
        (&with_fen("/v1/line?limit=0", KRK), "parameter", "limit=0"),
        (&with_fen("/v1/line?limit=10001", KRK), "parameter", "from 1 to 10000"),
        (&with_fen("/v1/line?limit=x", KRK), "parameter", "limit=x"),
    ];
    for (path, kind, words) in cases {
        let answer = get(&server, path).await;
        let (status, told, message) = answer.error();
        assert_eq!((status, told.as_str()), (400, kind), "{path}: {message}");
        assert!(message.contains(words), "{path}: {message}");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
}

/// What is wrong with a position is told in parts as well, for who tells it in another language.
#[tokio::test]
async fn what_is_wrong_with_a_position_is_told_in_parts() {
    let server = server();
    let long = "1".repeat(201);
    let cases = [
        ("", json!({"reason": "empty"})),
        ("3k5/9", json!({"reason": "ranks", "count": 2})),
        ("3k5/9/9/9/9/9/9/9/9/5K4", json!({"reason": "files", "count": 10, "rank": 0, "text": "5K4"})),
        ("3k5/9/9/9/9/9/9/9/9/4X4", json!({"reason": "letter", "square": "e0", "text": "X"})),
        ("3k5/9/9/9/9/9/9/9/9/4K4%20x", json!({"reason": "side", "text": "x"})),
        ("9/9/9/9/9/9/9/9/9/4K4", json!({"reason": "no_king", "side": "black"})),
        ("3k5/9/9/9/9/9/9/9/9/3KK4", json!({"reason": "two_kings", "side": "red", "square": "e0"})),
        ("3k5/9/9/9/9/9/9/9/8A/4K4", json!({"reason": "misplaced", "piece": "A", "square": "i1"})),
        ("3k5/RRR6/9/9/9/9/9/9/9/4K4", json!({"reason": "too_many", "count": 2, "piece": "R", "square": "c8"})),
        ("4k4/9/9/9/9/9/9/9/9/4K4", json!({"reason": "kings_face"})),
        ("3k5/9/9/9/9/9/9/9/3R5/4K4", json!({"reason": "check", "side": "black"})),
        (&long, json!({"reason": "long", "count": 201})),
    ];
    for (fen, wanted) in cases {
        let answer = get(&server, &format!("/v1/probe?fen={fen}")).await;
        assert_eq!(answer.json()["error"]["position"], wanted, "{fen}");
    }
    let stones = get(&server, "/v1/ewn?position=R1a5+R1b5+B1e1+r").await.json();
    assert_eq!(stones["error"]["position"], json!({"reason": "twice", "text": "R1"}));
    let stones = get(&server, "/v1/ewn?position=R1a5+nothing").await.json();
    assert_eq!(stones["error"]["position"], json!({"reason": "word", "text": "nothing"}));
}

/// The table that is built must be one of these rules.
#[tokio::test]
async fn commands_name_the_rules() {
    let server = under(Workshop::under(Rules::Axf).tables(&["KRK"], &[Metric::Dtm]));
    let build = "coordinator start --build KPPK --rules axf";
    let unknown = &ask(&server, "/v1/probe", MISSING).await["unknown"];
    assert_eq!(unknown["commands"], json!(["fetch get KPPK --from SOURCE --rules axf", build]));
    assert!(unknown["message"].as_str().unwrap().contains(&format!("`{build}`")), "{unknown}");
    let moves = ask(&server, "/v1/moves", MISSING).await;
    assert_eq!(moves["moves"][0]["unknown"]["commands"][1], build);
    let answer = get(&server, "/v1/endgames/KPPK").await.json();
    assert_eq!(answer["error"]["commands"][1], build);
}

/// Under the rules of repetition a win may rest on what the loser must break off: then there is an order, else none.
#[tokio::test]
async fn orders_are_told() {
    let server = under(Workshop::under(Rules::Axf).tables(&["KRKN"], &[Metric::Dtm]));
    let fen = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w";
    let value = ask(&server, "/v1/moves", fen).await;
    assert_eq!((&value["outcome"], &value["order"], &value["dtm"]), (&json!("win"), &json!(1), &json!(1)));
    let moves = value["moves"].as_array().unwrap();
    assert_eq!((&moves[0]["outcome"], &moves[0]["order"], &moves[0]["dtm"]), (&json!("win"), &json!(1), &json!(1)));
    let value = ask(&server, "/v1/probe", KRK).await;
    assert_eq!((&value["outcome"], value.get("order")), (&json!("win"), None));
    let line = ask(&server, "/v1/line", fen).await;
    let ends = (&line["complete"], &line["end"], &line["reason"]);
    assert_eq!(ends, (&json!(true), &json!("checkmate"), &Value::Null), "the chase is broken off");
}
