//! Files of positions and games, asked about by the command.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use canju_records::{Step, read};
use canju_retro::Metric;
use canju_tests::Workshop;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Every kind of move: one that keeps all, a slower win, a shorter loss, a win and a draw given away, and moves in
/// positions without a table.
const STUDIES: &str = r#"[Title "soldier and advisor"]
[Red "Book"]
[FEN "4k4/4a4/9/4P4/9/9/9/9/4A4/4K4 w"]

1. e6e7 {as books say} e8d9 2. e0f0 (2. e7f7 e9e8) 1-0

[Title "horse"]
[FEN "9/4a4/3ak4/N8/9/9/9/9/9/5K3 w"]

1. f0f1 1/2-1/2

[Title "one advisor"]
[FEN "5a3/9/3Nk4/9/9/9/9/9/9/5K3 b"]

1... f9e8 2. d7d9 e7d7 *

[Title "no table"]
[FEN "9/4a4/3ak4/N8/9/2P6/9/9/9/5K3 w"]

1. a6b8 *

[Title "a whole game"]

1. h2e2 *
"#;

/// A folder with tables, and with the studies as a file.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let mut workshop = Workshop::new();
        for name in ["KNKAA", "KAPKA"] {
            workshop.write_to(folder.path(), name, &[Metric::Dtm]);
        }
        fs::write(folder.path().join("studies.pgn"), STUDIES).unwrap();
        folder
    });
    made.path()
}

fn studies() -> PathBuf {
    folder().join("studies.pgn")
}

/// Runs the command with a file and what standard input has.
fn run(arguments: &[&str], file: &Path, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canju"));
    command.args(arguments).arg(file).arg("--tables").arg(folder().join("tables")).env_remove("RUST_LOG");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that fails before it reads has closed the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn annotate(arguments: &[&str]) -> String {
    stdout(&run(&[&["annotate"], arguments].concat(), &studies(), ""))
}

#[test]
fn annotate_marks_what_was_lost() {
    let text = annotate(&[]);
    for wanted in [
        "1. soldier and advisor, Book - ?\n4k4/4a4/9/4P4/9/9/9/9/4A4/4K4 w  KAPKA, plain rules\n\
         Red to move: win, mate in 19 plies (10 moves)\n",
        "   1.   e6e7  win, mate in 19 plies (10 moves)\n        \"as books say\"\n",
        "   1... e8d9  loss, mate in 18 plies (9 moves)\n",
        "   2.   e0f0  win, mate in 21 plies (11 moves)  ** wins 4 plies later; best e7f7 (win, mate in 17 plies (9 moves))\n",
        "       2... e9e8  loss, mate in 12 plies (6 moves)  ** loses 4 plies sooner; best e9f9 (loss, mate in 16 plies (8 moves))\n",
        "Red: 2 moves judged, 0 mistakes, 1 longer win by 4 plies\nBlack: 1 move judged, 0 mistakes\n",
        "   1.   f0f1  draw  ** win to draw; best a6b8 (win, mate in 43 plies (22 moves))\nRed: 1 move judged, 1 mistake (1 win to draw)\n",
        "   1... f9e8  loss, mate in 32 plies (16 moves)  ** draw to loss; best e7d7 (draw)\n",
        "warning: line 15: `d7d9` is not a legal move here",
        "Black: 1 move judged, 1 mistake (1 draw to loss)\n",
        "   1.   a6b8  unknown, no table KNPKAA\nRed: 0 moves judged, 0 mistakes, 1 move unknown\n",
        "Red to move: unknown, too many men for any table\n",
    ] {
        assert!(text.contains(wanted), "{wanted}\nis not in\n{text}");
    }
    // What is unknown is never a draw.
    let unknown = text.split("4. no table").nth(1).unwrap();
    assert!(!unknown.contains("draw"), "{unknown}");
}

#[test]
fn annotate_json_is_stable() {
    let all: Value = serde_json::from_str(&annotate(&["--format", "json", "--notation", "wxf"])).unwrap();
    assert_eq!((all["format"].as_str(), all["rules"].as_str()), (Some("pgn"), Some("plain")));
    let games = all["games"].as_array().unwrap();
    assert_eq!(games.len(), 5);
    let first = &games[0];
    assert_eq!(first["fen"], "4k4/4a4/9/4P4/9/9/9/9/4A4/4K4 w");
    assert_eq!((&first["endgame"], &first["result"]), (&json!("KAPKA"), &json!("1-0")));
    assert_eq!(first["value"], json!({"outcome": "win", "dtm": 19, "dtc": null, "unknown": null}));
    let slower = json!({
        "ply": 3, "depth": 0, "move": "e0f0", "text": "K5.4", "fen": "3ak4/9/4P4/9/9/9/9/9/4A4/5K3 b", "comment": "",
        "before": {"outcome": "win", "dtm": 17, "dtc": null, "unknown": null},
        "after": {"outcome": "win", "dtm": 21, "dtc": null, "unknown": null},
        "mark": "slower", "plies_lost": 4, "best": [{"move": "e7f7", "text": "P5.4"}],
    });
    assert_eq!(first["moves"][2], slower);
    let depths: Vec<_> = first["moves"].as_array().unwrap().iter().map(|m| (&m["ply"], &m["depth"])).collect();
    assert_eq!(json!(depths), json!([[1, 0], [2, 0], [3, 0], [3, 1], [4, 1]]));
    // Variations are marked and not counted.
    assert_eq!(first["moves"][4]["mark"], "sooner");
    let black = json!({
        "judged": 1, "unknown": 0, "win_to_draw": 0, "win_to_loss": 0, "draw_to_loss": 0,
        "slower": 0, "slower_plies": 0, "sooner": 0, "sooner_plies": 0,
    });
    assert_eq!(first["summary"]["black"], black);
    assert_eq!(games[1]["summary"]["red"]["win_to_draw"], 1);
    assert_eq!(games[2]["moves"][0]["mark"], "result");
    assert!(games[2]["warnings"][0].as_str().unwrap().starts_with("line 15: "));
    let unknown = &games[3]["moves"][0]["after"]["unknown"];
    assert_eq!((&games[3]["moves"][0]["after"]["outcome"], &unknown["reason"]), (&json!("unknown"), &json!("missing")));
    assert_eq!(unknown["endgame"], "KNPKAA");
    let tables = folder().display();
    let commands = [
        format!("fetch get KNPKAA --from SOURCE --to {tables}"),
        format!("coordinator start --build KNPKAA --store {tables}"),
    ];
    assert_eq!(unknown["commands"], json!(commands));
    assert_eq!(games[4]["value"]["unknown"]["reason"], "too_large");
}

#[test]
fn annotated_pgn_is_read_again() {
    for notation in ["coordinates", "wxf", "chinese"] {
        let text = annotate(&["--format", "pgn", "--notation", notation]);
        let (old, new) = (read(STUDIES.as_bytes()).unwrap(), read(text.as_bytes()).unwrap());
        assert_eq!(new.records.len(), 5);
        for (old, new) in old.records.iter().zip(&new.records) {
            let moves = |record: &canju_records::Record| {
                let told = record.steps().map(|step| match step {
                    Step::Move(ply) => ply.chosen.to_string(),
                    step => format!("{step:?}"),
                });
                told.collect::<Vec<_>>()
            };
            assert_eq!((moves(new), new.start, new.result), (moves(old), old.start, old.result));
            assert_eq!((&new.title, &new.red, &new.warnings), (&old.title, &old.red, &vec![]), "{text}");
        }
        let first = &new.records[0];
        let plies: Vec<_> = first.main_line().map(|ply| ply.node).collect();
        assert_eq!(first.tree.comment(plies[0]), "as books say");
        assert!(first.tree.comment(plies[2]).starts_with("canju: wins 4 plies later; best "));
        assert_eq!(first.tree.glyphs(plies[2]), [6]);
        // Once more, and nothing is said twice.
        let file = folder().join(format!("{notation}.pgn"));
        fs::write(&file, &text).unwrap();
        let again = stdout(&run(&["annotate", "--format", "pgn", "--notation", notation], &file, ""));
        let but_for_warnings = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with("canju: line")).map(str::to_owned).collect()
        };
        assert_eq!(but_for_warnings(&again), but_for_warnings(&text));
    }
}

#[test]
fn probe_tells_all_positions_of_a_file() {
    let text = stdout(&run(&["probe", "--file"], &studies(), ""));
    for wanted in [
        "1. soldier and advisor, Book - ?\n  4k4/4a4/9/4P4/9/9/9/9/4A4/4K4 w  KAPKA: win, mate in 19 plies (10 moves)\n",
        "  e0f0  3ak4/9/4P4/9/9/9/9/9/4A4/5K3 b  KAPKA: loss, mate in 20 plies (10 moves)\n",
        "  a6b8  9/1N2a4/3ak4/9/9/2P6/9/9/9/5K3 b  KNPKAA: unknown, no table KNPKAA\n",
        "  warning: line 15: ",
    ] {
        assert!(text.contains(wanted), "{wanted}\nis not in\n{text}");
    }
    let all: Value = serde_json::from_str(&stdout(&run(&["probe", "--json", "--file"], &studies(), ""))).unwrap();
    let records = all["records"].as_array().unwrap();
    assert_eq!(records.len(), 5);
    let last = json!({
        "fen": "3ak4/9/4P4/9/9/9/9/9/4A4/5K3 b", "move": "e0f0", "text": "e0f0", "endgame": "KAPKA",
        "outcome": "loss", "dtm": 20, "dtc": null, "unknown": null,
    });
    assert_eq!(records[0]["positions"][3], last);
    assert_eq!(
        (&records[0]["positions"][0]["move"], &records[3]["positions"][1]["outcome"]),
        (&Value::Null, &json!("unknown"))
    );
}

#[test]
fn standard_input_is_a_file_too() {
    let list = "# horse\n9/4a4/3ak4/N8/9/9/9/9/9/5K3 w\n";
    let text = stdout(&run(&["probe", "--file"], Path::new("-"), list));
    assert_eq!(text, "1. horse\n  9/4a4/3ak4/N8/9/9/9/9/9/5K3 w  KNKAA: win, mate in 43 plies (22 moves)\n");
    let text = stdout(&run(&["annotate"], Path::new("-"), "x|9/4a4/3ak4/N8/9/9/9/9/9/5K3 w|马九进八"));
    assert!(text.contains("   1.   a6b8  win, mate in 43 plies (22 moves)\n"), "{text}");
}

/// As engines are told: each position on the way has its value, as in a game.
#[test]
fn a_line_from_the_start_of_all_games_is_read() {
    let text = stdout(&run(&["probe", "--file"], Path::new("-"), "position startpos moves h2e2 h9g7\n"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(
        lines[3].starts_with("  h9g7  rnbakab1r/9/1c4nc1/") && lines[3].ends_with("too many men for any table"),
        "{text}"
    );
}

/// The rules tell of who cannot move.
#[test]
fn a_mate_is_lost_whatever_tables_there_are() {
    let game = "mate|3k5/R8/9/9/9/9/9/9/8R/5K3 w|i1i9";
    let text = stdout(&run(&["annotate"], Path::new("-"), game));
    let wanted = "   1.   i1i9  win, mate in 1 ply (1 move), conversion in 1 ply (1 move), checkmated\n";
    assert!(text.contains(wanted), "{text}");
    let told = stdout(&run(&["annotate", "--json"], Path::new("-"), game));
    assert_eq!(told, stdout(&run(&["annotate", "--format", "json"], Path::new("-"), game)));
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["games"][0]["moves"][0]["ended"], "checkmate");
    let text = stdout(&run(&["annotate"], Path::new("-"), &game.replace("i1i9", "i1i3")));
    assert!(text.contains("   1.   i1i3  unknown, no table KRRK\n"), "{text}");
}

#[test]
fn rubbish_is_told_in_one_line_with_its_place() {
    let file = folder().join("rubbish.txt");
    fs::write(&file, "\nhello\n").unwrap();
    let nowhere = folder().join("nowhere.pgn");
    for command in [&["annotate"][..], &["probe", "--file"]] {
        for (file, input, wanted) in [
            (file.as_path(), "", "rubbish.txt, line 2: `hello` belongs to no known format"),
            (Path::new("-"), "9/9 w\n", "standard input, line 1: `9/9 w` belongs to no known format"),
            (
                Path::new("-"),
                "[Event \"x\"]\n[FEN \"9/9 w\"]",
                "standard input, line 2: no position: the board has 2 ranks",
            ),
            (Path::new("-"), "", "standard input, line 1: nothing to read"),
            (nowhere.as_path(), "", "nowhere.pgn cannot be read: name a file"),
        ] {
            let output = run(command, file, input);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(
                stderr.starts_with("error: ") && stderr.lines().count() == 1 && stderr.contains(wanted),
                "{stderr}"
            );
        }
    }
    let both = run(&["probe", "9/4a4/3ak4/N8/9/9/9/9/9/5K3", "--file"], &studies(), "");
    assert_eq!(both.status.code(), Some(2));
}
