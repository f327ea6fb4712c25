//! EinStein würfelt nicht!: chances, boards and the list of its tables.

use std::sync::{Arc, OnceLock};

use axum::Router;
use canju_retro::MemoryTables;
use canju_table::MemorySource;
use canju_tests::write_dice;
use serde_json::{Value, json};

use crate::{get, limits, memory, over};

/// Red's 1 runs into the goal with 1 to 3.
const HALF: &str = "R1d1 R4a1 B1b5 r";

fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let (mut files, solved) = (Vec::new(), Arc::new(MemoryTables::new()));
        for name in ["EWN1B1", "EWN14B1", "EWN16B1"] {
            write_dice(name, name, &solved, &mut |key, bytes| files.push((key, bytes)));
        }
        files
    })
}

/// Endgames of xiangqi, and tables of dice.
fn source() -> MemorySource {
    let source = memory();
    files().iter().for_each(|(key, bytes)| source.insert(key.clone(), bytes.clone()));
    source
}

fn server() -> Router {
    over(Arc::new(source()), limits())
}

fn path(position: &str) -> String {
    format!("/v1/ewn?position={}", position.replace(' ', "+"))
}

async fn ask(server: &Router, position: &str) -> Value {
    let answer = get(server, &path(position)).await;
    assert_eq!(answer.status, 200, "{position}: {}", answer.text());
    answer.json()
}

#[tokio::test]
async fn chances_before_the_roll_and_of_each_roll_and_move() {
    let server = server();
    let half = ask(&server, HALF).await;
    assert_eq!((&half["position"], &half["table"], &half["turn"]), (&json!(HALF), &json!("EWN14B1"), &json!("red")));
    assert!((half["chance"].as_f64().unwrap() - 0.5).abs() < 1e-6, "{half}");
    let rolls = half["rolls"].as_array().unwrap();
    let chances: Vec<&Value> = rolls.iter().map(|roll| &roll["chance"]).collect();
    assert_eq!(chances, [&json!(1.0), &json!(1.0), &json!(1.0), &json!(0.0), &json!(0.0), &json!(0.0)]);
    let second = rolls[1]["moves"].as_array().unwrap();
    assert_eq!(second[0], json!({"move": "1d1-e1", "position": "R1e1 R4a1 B1b5 b", "chance": 1.0}));
    assert_eq!(second[1]["move"], "4a1-b1");
    // Any order and case; a roll; either side.
    let rolled = ask(&server, "b1B5,r4a1 R1D1 r2").await;
    assert_eq!((&rolled["position"], rolled["rolls"].as_array().unwrap().len()), (&json!(HALF), 1));
    assert_eq!(rolled["rolls"][0], half["rolls"][1]);
    // Red wins 125 of 216.
    let blue = ask(&server, "R1b4 R6c5 B3d2 b").await;
    assert!((blue["chance"].as_f64().unwrap() - 91.0 / 216.0).abs() < 1e-6, "{blue}");
    let over = ask(&server, "R1e1 B1b5 b").await;
    assert_eq!((&over["winner"], &over["chance"], &over["table"]), (&json!("red"), &json!(0.0), &Value::Null));
    assert_eq!((&over["rolls"], &over["unknown"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn a_table_that_is_missing_names_what_builds_it() {
    let server = server();
    let told = ask(&server, "R1d1 R2a1 B1b5 r").await;
    assert_eq!((&told["chance"], &told["unknown"]["reason"]), (&Value::Null, &json!("missing")));
    let commands = json!(["fetch get EWN12B1 --from SOURCE", "coordinator start --build EWN12B1 --metric odds"]);
    assert_eq!((&told["unknown"]["commands"], &told["unknown"]["endgame"]), (&commands, &json!("EWN12B1")));
    // A move that wins is known all the same.
    assert_eq!((&told["rolls"][0]["chance"], &told["rolls"][5]["chance"]), (&json!(1.0), &Value::Null));
    assert_eq!(told["rolls"][1]["moves"].as_array().unwrap().len(), 1);
    let full = "R1a5 R2b5 R3c5 R4a4 R5b4 R6a3 B1e1 B2d1 B3c1 B4e2 B5d2 B6e3 r";
    let told = ask(&server, full).await;
    assert_eq!((&told["unknown"]["reason"], &told["unknown"]["commands"]), (&json!("too_large"), &json!([])));
    assert_eq!(told["rolls"].as_array().unwrap().len(), 6);
    // What is known may be kept.
    for (position, keep) in [(HALF, "public, max-age=300"), ("R1d1 R2a1 B1b5 r", "no-cache")] {
        let answer = get(&server, &path(position)).await;
        assert_eq!(answer.header("cache-control"), keep);
        assert!(answer.header("etag").starts_with("W/\""));
    }
}

#[tokio::test]
async fn what_is_no_position_is_refused() {
    let server = server();
    for (position, wanted) in [
        ("R1d1 B1b5", "the side to move, r or b, is missing"),
        ("R7d1 B1b5 r", "neither a stone"),
        ("R1d1 B1d1 r", "two stones are on d1"),
        ("R1d1 R1a1 r", "Red 1 is there twice"),
        ("R1d1 B1b5 r9", "a die shows 1 to 6"),
        ("R1z9 B1b5 r", "not a square"),
        ("%00%F0%9F%98%80", "neither a stone"),
        ("", "the side to move"),
    ] {
        let (status, kind, message) = get(&server, &path(position)).await.error();
        assert_eq!((status, kind.as_str()), (400, "position"), "{position}: {message}");
        assert!(message.contains(wanted), "{position}: {message}");
    }
    let (status, kind, message) = get(&server, &path(&"R1d1 ".repeat(50))).await.error();
    assert_eq!((status, kind.as_str()), (400, "position"), "{message}");
    assert!(message.contains("give at most 200"), "{message}");
    let (status, kind, _) = get(&server, "/v1/ewn").await.error();
    assert_eq!((status, kind.as_str()), (400, "parameter"));
}

#[tokio::test]
async fn boards_are_drawn() {
    let server = server();
    let board = format!("/v1/ewn/board.svg?position={}", HALF.replace(' ', "+"));
    let plain = get(&server, &board).await;
    assert_eq!((plain.status.as_u16(), plain.header("content-type")), (200, "image/svg+xml"));
    assert!(plain.text().starts_with("<svg") && !plain.text().contains("<path"));
    let arrow = get(&server, &format!("{board}&move=4a1-b1")).await;
    assert!(arrow.text().contains("<path") && arrow.header("content-security-policy").contains("default-src 'none'"));
    for wrong in ["&move=4a1-c1", "&move=%3Cscript%3E"] {
        let (status, kind, message) = get(&server, &format!("{board}{wrong}")).await.error();
        assert_eq!((status, kind.as_str()), (400, "parameter"), "{message}");
    }
    assert_eq!(get(&server, "/v1/ewn/board.svg?position=x").await.error().1, "position");
}

/// Each game's list has its own tables and no others.
#[tokio::test]
async fn tables_are_listed_by_game() {
    let source = source();
    source.insert("tables/plain/RIVER0123456789/manifest.json", b"{}".to_vec());
    source.insert("tables/plain/EWN13B1/manifest.json", b"{}".to_vec());
    let server = over(Arc::new(source), limits());
    let dice = get(&server, "/v1/ewn/tables").await.json();
    let table =
        |name: &str, stones: u32, positions: u32| json!({"table": name, "stones": stones, "positions": positions});
    let wanted = [table("EWN14B1", 3, 27_648), table("EWN16B1", 3, 27_648), table("EWN1B1", 2, 1152)];
    assert_eq!((&dice["tables"], &dice["damaged"]), (&json!(wanted), &json!(["EWN13B1"])));
    let endgames = get(&server, "/v1/endgames").await.json();
    let names: Vec<&str> =
        endgames["endgames"].as_array().unwrap().iter().map(|e| e["endgame"].as_str().unwrap()).collect();
    assert_eq!(names, ["KBK", "KK", "KNK", "KNKB", "KRK", "KRKN"]);
    assert_eq!(endgames["damaged"], json!([]));
    let (status, kind, message) = get(&server, "/v1/endgames/EWN14B1").await.error();
    assert_eq!((status, kind.as_str()), (400, "name"));
    assert!(message.contains("/v1/ewn"), "{message}");
}

/// A table whose cells mean something else is no table, and one that is mended is read again.
#[tokio::test]
async fn a_damaged_table_is_told() {
    let source = Arc::new(source());
    let (key, bytes) = files().iter().find(|(key, _)| key.ends_with("/EWN14B1/manifest.json")).unwrap();
    source.insert(key.clone(), b"{}".to_vec());
    let server = over(Arc::clone(&source) as _, limits());
    assert_eq!(ask(&server, HALF).await["unknown"]["reason"], "damaged");
    let mut other: Value = serde_json::from_slice(bytes).unwrap();
    other["index"] = json!(99);
    source.insert(key.clone(), serde_json::to_vec(&other).unwrap());
    let reason = ask(&server, HALF).await["unknown"]["reason"].clone();
    assert!(reason == "version" || reason == "damaged", "{reason}");
    source.insert(key.clone(), bytes.clone());
    assert!(ask(&server, HALF).await["chance"].is_f64());
}

#[tokio::test]
async fn the_page_is_there() {
    let page = get(&server(), "/ewn").await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}
