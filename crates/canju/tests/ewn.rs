//! The commands for EinStein würfelt nicht!: what they print, also on their page, and how they fail.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use canju_retro::MemoryTables;
use canju_tests::write_dice;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with tables of three stones and one of four.
fn tables() -> &'static Path {
    static TABLES: OnceLock<TempDir> = OnceLock::new();
    let folder = TABLES.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let solved = Arc::new(MemoryTables::new());
        for name in ["EWN1B1", "EWN14B1", "EWN16B1", "EWN16B16"] {
            write(folder.path(), name, name, &solved);
        }
        folder
    });
    folder.path()
}

/// Solves a table and writes it under a name.
fn write(folder: &Path, name: &str, under: &str, solved: &Arc<MemoryTables>) {
    write_dice(name, under, solved, &mut |key, bytes| {
        let path = folder.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    });
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canju"));
    command.args(arguments).env_remove("RUST_LOG").current_dir(folder).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&run(tables(), arguments))).unwrap()
}

/// Runs what must fail, and returns its only line.
fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
    stderr
}

/// Each block of the page that begins with a command shows what that command prints.
#[test]
fn the_page_shows_what_is_printed() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/einstein.md");
    let page = fs::read_to_string(page).unwrap();
    let mut shown = 0;
    for block in page.split("```text\n$ canju ").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        let (command, printed) = block.split_once('\n').unwrap();
        let arguments: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(stdout(&run(tables(), &arguments)), printed, "{command}");
        shown += 1;
    }
    assert_eq!(shown, 3);
}

#[test]
fn probe_tells_each_roll_and_move() {
    let probed = json(&["probe", "R1d1", "R4a1", "B1b5", "r", "--json"]);
    assert_eq!((&probed["table"], &probed["chance"]), (&"EWN14B1".into(), &0.5.into()));
    let rolls = probed["rolls"].as_array().unwrap();
    assert_eq!(rolls.len(), 6);
    let chances: Vec<f64> = rolls.iter().map(|roll| roll["chance"].as_f64().unwrap()).collect();
    assert_eq!(chances, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(rolls[0]["moves"][0]["move"], "1d1-e1");
    // With any numbers that mean the same, and the colours exchanged.
    let same = json(&["probe", "B6b5 B3e5 R2d1 b", "--json"]);
    assert_eq!((&same["table"], &same["chance"]), (&"EWN14B1".into(), &0.5.into()));
    let over = json(&["probe", "R1e1 B1b5 b", "--json"]);
    assert_eq!((&over["chance"], &over["rolls"]), (&0.0.into(), &Value::Array(vec![])));
}

#[test]
fn probe_draws_the_board() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("board.svg");
    stdout(&run(tables(), &["probe", "R1d1 R4a1 B1b5 r2", "--svg", file.to_str().unwrap()]));
    let svg = fs::read_to_string(&file).unwrap();
    assert_eq!((svg.matches("<circle").count(), svg.matches("<path").count()), (3, 1));
    assert!(fails(tables(), &["probe", "R1d1 B1b5 r", "--svg", "/no/folder/board.svg"]).contains("cannot write"));
}

#[test]
fn what_is_not_there_is_said() {
    let error = fails(tables(), &["probe", "R1d1 R3a1 B1b5 r"]);
    assert!(error.contains("coordinator start --build EWN13B1 --metric odds"), "{error}");
    assert!(fails(tables(), &["probe", "R1d1 R4a1 B1b5"]).contains("the side to move"));
    assert!(fails(tables(), &["probe", "R1d1 R4d1 B1b5 r"]).contains("two stones are on d1"));
    assert!(fails(tables(), &["verify", "EWN13B1"]).contains("EWN13B1"));
    assert!(fails(tables(), &["match", "--red", "static", "--blue", "nobody"]).contains("nobody"));
    assert!(fails(tables(), &["grade", "static", "--tables", "tables", "--stones", "3"]).contains("not all tables"));
}

/// What is known of the moves is told before it is an error that the table is missing.
#[test]
fn what_is_known_without_the_table_is_told() {
    let asked = ["probe", "R1d1 R3a1 B1b5 r"];
    let output = run(tables(), &asked);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let wanted = "Red to move, before the roll: unknown\n  1: wins\n     1d1-e1  wins\n  2: wins\n     1d1-e1  wins\n     \
                  3a1-b1  unknown\n  3: unknown\n     3a1-b1  unknown\n";
    assert!(text.contains(wanted), "{text}");
    let output = run(tables(), &[&asked[..], &["--json"]].concat());
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &told["table"], &told["chance"]), (Some(2), &"EWN13B1".into(), &Value::Null));
    let rolls = told["rolls"].as_array().unwrap();
    assert_eq!((&rolls[1]["chance"], &rolls[1]["moves"][1]["chance"]), (&1.0.into(), &Value::Null));
    // Where nothing is known there is nothing but the error.
    assert_eq!(run(tables(), &["probe", "R1c5 R3a3 B1e1 r"]).stdout, b"");
}

/// Nobody is told of boards of xiangqi who asks about this game.
#[test]
fn names_and_positions_are_told_apart_from_xiangqi() {
    let cases: [(&[&str], &str); 8] = [
        (&["line", "R1d1 R4a1 B1b5 r"], "dice decide how play goes on: `canju probe`"),
        (&["judge", "R1d1", "R4a1"], "a position of EinStein"),
        (&["line", "ewn12b1"], "the name of a table: give a position of it"),
        (&["probe", "EWN12B1"], "`canju stats EWN12B1`"),
        (&["verify", "EWN17B1"], "is named by the stones of both sides"),
        (&["verify", "EWN13B1"], "coordinator start --build EWN13B1 --metric odds --store "),
        (&["verify", "EWN16B16", "--rules", "axf"], "--rules axf: in EinStein würfelt nicht! nothing is ever repeated"),
        (&["stats", "EWN16B16", "--rules", "check"], "--rules check: in EinStein"),
    ];
    for (arguments, wanted) in cases {
        let error = fails(tables(), arguments);
        assert!(error.contains(wanted) && !error.contains("rank"), "{arguments:?}: {error}");
    }
    assert!(fails(tables(), &["probe", "R1d1 R4a1 B1b5 r", "--rules", "axf"]).contains("nothing is ever repeated"));
}

/// Only tables that are asked are looked at, however many there are.
#[test]
fn a_table_that_is_not_asked_hinders_nobody() {
    let (folder, solved) = (TempDir::new().unwrap(), Arc::new(MemoryTables::new()));
    for name in ["EWN1B1", "EWN14B1", "EWN12B1"] {
        write(folder.path(), name, name, &solved);
    }
    fs::write(folder.path().join("tables/plain/EWN12B1/manifest.json"), "no manifest").unwrap();
    let told = stdout(&run(folder.path(), &["probe", "R1d1 R4a1 B1b5 r"]));
    assert!(told.contains("before the roll: 0.500000"), "{told}");
    assert!(fails(folder.path(), &["probe", "R1d1 R2a1 B1b5 r"]).contains("EWN12B1"));
}

#[test]
fn too_many_stones_have_no_table() {
    let start = "R1a5 R2b5 R3c5 R4a4 R5b4 B1e1 B2d1 B3c1 B4e2 r";
    let error = fails(tables(), &["probe", start]);
    assert!(error.contains("no tables of 9 stones") && !error.contains("--build"), "{error}");
    assert!(fails(tables(), &["match", "--red", "table", "--blue", "table", "--depth", "6"]).contains("--depth"));
}

#[test]
fn tables_are_verified() {
    let told = stdout(&run(tables(), &["verify", "ewn61b5,EWN16B16"]));
    assert!(told.contains("EWN16B1: 14 shards") && told.matches("all follow from the rules").count() == 2, "{told}");
    // A table of other stones under the name.
    let (folder, solved) = (TempDir::new().unwrap(), Arc::new(MemoryTables::new()));
    write(folder.path(), "EWN1B1", "EWN1B1", &solved);
    write(folder.path(), "EWN16B1", "EWN12B1", &solved);
    let output = run(folder.path(), &["verify", "EWN12B1"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("wrong") && told.contains("EWN12B1: first wrong: R1"), "{told}");
}

#[test]
fn players_meet_and_are_graded() {
    let asked =
        ["match", "--red", "static", "--blue", "random", "--games", "60", "--seed", "7", "--stones", "3", "--json"];
    let played = json(&asked);
    assert_eq!(played, json(&asked), "a seed gives the same games");
    let won = |side: usize| played["players"][side]["games_won"].as_u64().unwrap();
    assert!(won(0) + won(1) >= 60 && won(0) > 2 * won(1), "{played}");
    assert_eq!(played["players"][0]["illegal"], 0);
    assert!(played["players"][0].as_object().unwrap().contains_key("interval"), "{played}");
    let told = stdout(&run(tables(), &asked[..asked.len() - 1]));
    assert!(told.contains("Red   static") && told.contains("Blue  random") && told.contains('±'), "{told}");
    let graded = json(&["grade", "table,static", "--moves", "500", "--stones", "3", "--json"]);
    assert_eq!((&graded[0]["worse"], &graded[0]["mean_loss"]), (&0.into(), &0.0.into()));
    assert!(graded[1]["mean_loss"].as_f64().unwrap() > 0.0);
}
