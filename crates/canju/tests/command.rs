//! The command as users run it: what it prints, how it fails.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod serve;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use canju_retro::{Metric, Rules};
use canju_tests::Workshop;
use tempfile::TempDir;

const KRK: &str = "5k3/9/9/9/9/9/9/9/9/4K2R1 w";

/// A folder with KRKN and KCKC for both distances, made once.
fn tables() -> &'static Path {
    static TABLES: OnceLock<TempDir> = OnceLock::new();
    TABLES.get_or_init(|| build(&["KRKN", "KCKC"])).path()
}

fn build(names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut workshop = Workshop::new();
    for name in names {
        workshop.write_to(folder.path(), name, &[Metric::Dtm, Metric::Dtc]);
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canju"));
    command.args(arguments).arg("--tables").arg(folder.join("tables")).env_remove("RUST_LOG").output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.push("--json");
    stdout(&run(tables(), &all))
}

/// Runs what must fail with this code, and returns its only line.
fn fails(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
    stderr
}

#[test]
fn probe_tells_values_in_words() {
    let text = stdout(&run(tables(), &["probe", KRK]));
    assert!(text.contains("KRK, plain rules"), "{text}");
    assert!(text.contains("Red to move: win, mate in 1 ply (1 move), conversion in 1 ply (1 move)"), "{text}");
    assert!(text.contains("  h0f0  win, mate in 1 ply (1 move)"), "{text}");
    let (board, side) = KRK.split_once(' ').unwrap();
    assert_eq!(stdout(&run(tables(), &["probe", board, side])), text);
    let chinese = stdout(&run(tables(), &["probe", KRK, "--notation", "chinese"]));
    assert!(chinese.contains("车二平四"), "{chinese}");
    let mated = stdout(&run(tables(), &["probe", "5k3/9/9/9/9/9/9/9/9/4KR3 b"]));
    assert!(mated.contains("loss, mate in 0 plies (0 moves), conversion in 0 plies (0 moves), checkmated"), "{mated}");
}

#[test]
fn probe_json_is_stable() {
    let text = json(&["probe", KRK]);
    let head = r#"{"fen":"5k3/9/9/9/9/9/9/9/9/4K2R1 w","endgame":"KRK","rules":"plain","outcome":"win","dtm":1,"dtc":1,"moves":[{"move":"h0f0","text":"h0f0","outcome":"win","dtm":1,"dtc":1},"#;
    assert!(text.starts_with(head), "{text}");
}

/// The table of the position is missing, and that after a capture is there: won is won, however fast.
#[test]
fn probe_tells_a_win_that_is_known_by_a_move() {
    let fen = "4k4/9/9/9/9/4r4/9/9/4R4/3K5 w";
    let text = stdout(&run(tables(), &["probe", fen]));
    let wanted = "Red to move: at least a win: e1e4 (win, mate in 3 plies (2 moves), conversion in 1 ply (1 move)); \
                  the fastest is unknown, no table KRKR\n  e1e4  win, mate in 3 plies (2 moves), conversion in 1 ply \
                  (1 move)\n  d0e0  unknown, no table KRKR\n";
    assert!(text.contains(wanted), "{text}");
    let told: serde_json::Value = serde_json::from_str(&json(&["probe", fen])).unwrap();
    let won = serde_json::json!({"move": "e1e4", "dtm": 3, "dtc": 1});
    assert_eq!((&told["outcome"], &told["dtm"], &told["won_by"]), (&"unknown".into(), &serde_json::Value::Null, &won));
    assert_eq!((&told["unknown"]["endgame"], &told["moves"][1]["outcome"]), (&"KRKR".into(), &"unknown".into()));
    // A move that ends the game needs no table at all.
    let text = stdout(&run(tables(), &["probe", "3k5/9/9/9/4R4/9/9/9/4A4/4K4 w"]));
    assert!(
        text.contains(
            "KARK, plain rules\nRed to move: win, mate in 1 ply (1 move), conversion in 1 ply (1 move)\n  e5e8  win, "
        ),
        "{text}"
    );
    let list = tables().join("won");
    fs::write(&list, fen).unwrap();
    let text = stdout(&run(tables(), &["probe", "--file", list.to_str().unwrap()]));
    assert!(text.contains("KRKR: at least a win: e1e4 (win, "), "{text}");
    // A known loss by a move tells nothing of the position: it is told, and that the table is missing.
    let lost = "3k5/9/9/9/9/9/3n5/4n4/4K4/9 w";
    let output = run(tables(), &["probe", lost]);
    let text = String::from_utf8(output.stdout).unwrap();
    let wanted = "Red to move: unknown, no table KNNK\n  e1e2  loss, mate in 8 plies (4 moves), ";
    assert!(text.contains(wanted) && !text.contains("at least"), "{text}");
    assert!(fails(tables(), &["probe", lost], 2).contains("there is no table KNNK"));
    // Where nothing is known of the moves either, there is nothing but the error; how the other distance is built is told.
    let missing = "3k5/9/9/9/9/P1P6/9/9/9/4K4 w";
    assert_eq!(run(tables(), &["probe", missing]).stdout, b"");
    assert!(
        fails(tables(), &["probe", missing], 2).contains("(--metric dtm,dtc for the distance to conversion as well)")
    );
    assert!(fails(tables(), &["line", missing, "--metric", "dtc"], 2).contains("--build KPPK --metric dtc --store"));
}

#[test]
fn line_goes_to_mate() {
    let text = json(&["line", KRK, "--notation", "wxf"]);
    let whole = r#"{"fen":"5k3/9/9/9/9/9/9/9/9/4K2R1 w","endgame":"KRK","rules":"plain","metric":"dtm","outcome":"win","plies":1,"moves":[{"move":"h0f0","text":"R2.4"}],"end":"mate","end_fen":"5k3/9/9/9/9/9/9/9/9/4KR3 b"}"#;
    assert_eq!(text.trim_end(), whole);
    let words = stdout(&run(tables(), &["line", KRK, "--metric", "dtc"]));
    assert!(words.contains("   1. h0f0") && words.contains("mate after 1 ply\n"), "{words}");
}

#[test]
fn a_line_counts_blacks_first_move_alone() {
    let words = stdout(&run(tables(), &["line", "4k4/9/9/9/9/9/9/R8/9/3K5 b"]));
    let lines: Vec<&str> = words.lines().skip(1).collect();
    assert_eq!(lines[..3], ["   1... e9e8", "   2. a2f2  e8e7", "   3. f2f8"], "{words}");
    let mated = stdout(&run(tables(), &["line", "5k3/9/9/9/9/9/9/9/9/4KR3 b"]));
    assert_eq!(mated.lines().count(), 2, "{mated}");
}

#[test]
fn a_file_in_place_of_a_position_is_told_how_to_be_asked() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("my games.pgn");
    fs::write(&file, "1. h2e2 *\n").unwrap();
    let name = file.to_str().unwrap();
    for command in ["probe", "line"] {
        let line = fails(tables(), &[command, name], 2);
        assert!(line.contains(&format!("`canju probe --file '{name}'`")), "{line}");
    }
    // What is no file of positions is taken for a puzzle, whose mistakes are told.
    fs::write(&file, "nothing").unwrap();
    let line = fails(tables(), &["probe", name], 2);
    assert!(!line.contains("--file"), "{line}");
}

/// The table that is built must be one of these rules.
#[test]
fn commands_name_the_rules() {
    let folder = TempDir::new().unwrap();
    Workshop::under(Rules::Axf).write_to(folder.path(), "KPK", &[Metric::Dtm]);
    let missing = "3k5/9/9/9/9/P1P6/9/9/9/4K4 w";
    let line = fails(folder.path(), &["probe", missing, "--rules", "axf"], 2);
    let root = folder.path().display();
    let build = format!("coordinator start --build KPPK --rules axf --store {root}");
    assert!(line.contains(&format!("`fetch get KPPK --from SOURCE --to {root} --rules axf`")), "{line}");
    assert!(line.contains(&format!("`{build}`")), "{line}");
    let list = folder.path().join("list");
    fs::write(&list, missing).unwrap();
    let file = ["probe", "--file", list.to_str().unwrap(), "--rules", "axf", "--json"];
    let told = stdout(&run(folder.path(), &file));
    assert!(told.contains(&format!("\"{build}\"")), "{told}");
}

#[test]
fn stats_are_told_from_the_side_that_was_asked_for() {
    let counts = |text: &str, side: &str| {
        let at = text.find(&format!("\"{side}\":{{\"win\"")).unwrap();
        text[at + 4..][..text[at + 4..].find('}').unwrap() + 1].to_owned()
    };
    let (straight, turned) = (json(&["stats", "krkn"]), json(&["stats", "knkr"]));
    assert!(
        straight.starts_with(r#"{"endgame":"KRKN","rules":"plain","cells":1312200,"sides":{"w":{"win":"#),
        "{straight}"
    );
    assert!(turned.starts_with(r#"{"endgame":"KNKR","rules":"plain","cells":1312200,"#), "{turned}");
    assert_eq!(counts(&straight, "w"), counts(&turned, "b"));
    assert_eq!(counts(&straight, "b"), counts(&turned, "w"));
    let tail = straight.split_once("\"longest\":").unwrap().1;
    assert!(tail.starts_with(r#"{"dtm":{"plies":"#) && tail.contains(r#","dtc":{"plies":"#), "{tail}");
    let fen = |text: &str| text.split("\"fen\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let flipped: canju_xiangqi::Position = fen(&turned).parse().unwrap();
    assert_eq!(flipped.flip().to_fen(), fen(&straight));
    assert!(json(&["stats", "KK"]).ends_with("\"longest\":{\"dtm\":null,\"dtc\":null}}\n"));
}

#[test]
fn list_tells_all_tables() {
    let text = json(&["list"]);
    assert!(
        text.starts_with(r#"{"tables":[{"endgame":"KCK","rules":"plain","metrics":["wdl","dtm","dtc"],"cells":"#),
        "{text}"
    );
    assert_eq!(text.matches("\"endgame\"").count(), 6);
    assert!(stdout(&run(tables(), &["list"])).contains("KRKN"));
}

#[test]
fn verify_tells_that_all_is_well() {
    let text = stdout(&run(tables(), &["verify", "KNKR,kck", "--threads", "2"]));
    assert!(text.contains("KRKN: ") && text.contains("all follow from the rules"), "{text}");
    let text = stdout(&run(tables(), &["verify", "KRKN", "--sample", "5000"]));
    assert!(text.contains("positions checked (wdl, dtm, dtc)"), "{text}");
}

#[test]
fn verify_tells_what_single_moves_do_not_prove() {
    let folder = TempDir::new().unwrap();
    let mut workshop = Workshop::under(Rules::Axf);
    for name in ["KPKP", "KPKA"] {
        workshop.write_to(folder.path(), name, &[Metric::Dtm]);
    }
    let text = stdout(&run(folder.path(), &["verify", "KPKP", "--rules", "axf"]));
    assert!(
        text.contains("all follow from the rules") && text.contains("KPKP: not proved under these rules"),
        "{text}"
    );
    // With one side armed nothing rests on repetition.
    let text = stdout(&run(folder.path(), &["verify", "KPKA", "--rules", "axf"]));
    assert!(text.contains("all follow from the rules") && !text.contains("not proved"), "{text}");
    assert!(!stdout(&run(tables(), &["verify", "KRKN", "--sample", "5000"])).contains("not proved"));
}

/// What a value of an order above 0 counts to is no mate, and statistics keep it apart.
#[test]
fn orders_are_told() {
    let folder = TempDir::new().unwrap();
    Workshop::under(Rules::Axf).write_to(folder.path(), "KRKN", &[Metric::Dtm]);
    let told = |arguments: &[&str]| stdout(&run(folder.path(), &[arguments, &["--rules", "axf"]].concat()));
    let fen = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w";
    let win = "win: within 1 ply (1 move) the opponent can only go on with a perpetual check or chase, which must be broken off";
    let text = told(&["probe", fen]);
    assert!(text.contains(&format!("Red to move: {win}\n")), "{text}");
    let best = text.lines().find(|line| line.ends_with(win) && line.starts_with("  ")).unwrap();
    let best: canju_xiangqi::Move = best.trim().split(' ').next().unwrap().parse().unwrap();
    let after = fen.parse::<canju_xiangqi::Position>().unwrap().play(best).to_fen();
    let lost = "loss: from here only a perpetual check or chase goes on, which must be broken off";
    let text = told(&["probe", &after]);
    assert!(text.contains(lost) && text.contains("  loss, mate in "), "{text}");
    assert!(told(&["line", fen]).starts_with(&format!("{fen}  {win}\n")));

    let text = told(&["stats", "KRKN"]);
    assert!(text.contains("longest win (dtm): order 1 and 1 ply, "), "{text}");
    let stats: serde_json::Value = serde_json::from_str(&told(&["stats", "KRKN", "--json"])).unwrap();
    let orders = stats["orders"].as_array().unwrap();
    assert_eq!(orders.iter().map(|of| of["order"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    for (side, outcome) in [("w", "win"), ("w", "loss"), ("b", "win"), ("b", "loss")] {
        let sum: u64 = orders.iter().map(|of| of[side][outcome].as_u64().unwrap()).sum();
        assert_eq!(sum, stats["sides"][side][outcome].as_u64().unwrap(), "{side} {outcome}");
    }
    let row = text.lines().find(|line| line.starts_with("1 ")).unwrap();
    assert_eq!(
        row.replace(' ', ""),
        ["w", "b"].iter().fold("1".to_owned(), |row, side| {
            format!("{row}{}{}", orders[1][side]["win"], orders[1][side]["loss"])
        })
    );
    assert!(!json(&["stats", "KRKN"]).contains("orders"));
}

/// Runs `canju judge`, which takes no tables.
fn judge(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_canju")).arg("judge").args(arguments).env_remove("RUST_LOG").output().unwrap()
}

#[test]
fn played_lines_are_judged() {
    let horse = ["3k5/9/9/9/9/9/3r5/9/9/3NK4 w", "d0c2", "d3c3", "c2d0", "c3d3"];
    let told = stdout(&judge(&horse));
    let wanted = format!(
        "{}  4 moves, axf rules\n{0}  stands after 0 moves and again after 4\n\
         Red is free: a move of it neither checks nor chases\nBlack chases the Red horse with every move\n\
         Black loses: a perpetual chase of the Red horse\n",
        horse[0]
    );
    assert_eq!(told, wanted);
    let told = |more: &[&str], line: &[&str]| -> serde_json::Value {
        serde_json::from_str(&stdout(&judge(&[more, line, &["--json"]].concat()))).unwrap()
    };
    let verdict = |told: &serde_json::Value| {
        ["verdict", "rule", "piece"].map(|field| told["repetition"][field].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(verdict(&told(&[], &horse)), ["black_loses", "perpetual_chase", "N"]);
    for rules in ["check", "plain"] {
        assert_eq!(verdict(&told(&["--rules", rules], &horse)), ["draw", "nothing", ""], "{rules}");
    }
    // One string, the other fields of a FEN, other notations.
    let words = format!("{} - - 0 1 N6+7 d3c3 c2d0 c3d3", horse[0]);
    assert_eq!(told(&[], &[&words]), told(&[], &horse));
    let drawn = ["9/4c4/3k5/3r5/9/9/4C4/9/4K4/3R5 w", "e3d3", "d6e6", "d3e3", "e6d6"];
    assert_eq!(verdict(&told(&[], &drawn))[0], "draw");
    let soldiers = ["3k5/9/9/9/9/5p3/9/5p3/5K3/5C3 w", "f1e1", "f2e2", "e1f1", "e2f2"];
    assert_eq!(verdict(&told(&["--rules", "check"], &soldiers)), ["black_loses", "perpetual_check", ""]);
    assert_eq!(told(&[], &horse[..4])["repetition"], serde_json::Value::Null);
    assert!(stdout(&judge(&horse[..4])).ends_with("no position comes back: nothing to judge\n"));
}

#[test]
fn games_of_a_file_are_judged() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("games");
    let lines = "horse|3k5/9/9/9/9/9/3r5/9/9/3NK4 w|d0c2 d3c3 c2d0 c3d3\nshort|3k5/9/9/9/9/9/3r5/9/9/3NK4 w|d0c2\n";
    fs::write(&file, lines).unwrap();
    let name = file.to_str().unwrap();
    let text = stdout(&judge(&["--file", name]));
    let wanted = ["1. horse\n", "Black loses: a perpetual chase of the Red horse\n\n2. short\n", "nothing to judge\n"];
    assert!(wanted.iter().all(|part| text.contains(part)), "{text}");
    let told: serde_json::Value = serde_json::from_str(&stdout(&judge(&["--file", name, "--json"]))).unwrap();
    let games = told["games"].as_array().unwrap();
    assert_eq!((&games[0]["title"], &games[0]["repetition"]["verdict"]), (&"horse".into(), &"black_loses".into()));
    assert!(games[1]["repetition"].is_null());

    // One that cannot be judged keeps no other from it.
    fs::write(&file, format!("bad|4k4/9/9/9/9/9/9/9/9/4K4 w|e0d0\n{lines}")).unwrap();
    let output = judge(&["--file", name]);
    let text = String::from_utf8(output.stdout).unwrap();
    let wanted = ["1. bad\nnot judged: 4k4/9/9/9/9/9/9/9/9/4K4 w is no legal position", "2. horse\n", "3. short\n"];
    assert!(wanted.iter().all(|part| text.contains(part)), "{text}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), &*stderr),
        (Some(2), "error: of 3 games 1 cannot be judged, as is told with each\n")
    );
    let output = judge(&["--file", name, "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told["games"][0]["error"].as_str().unwrap().contains("no legal position"), "{told}");
    assert_eq!(told["games"][1]["repetition"]["verdict"], "black_loses");
}

#[test]
fn what_cannot_be_judged_is_told_in_one_line() {
    let horse = "3k5/9/9/9/9/9/3r5/9/9/3NK4 w";
    let cases: [(&[&str], &str); 7] = [
        (&[], "judge --help"),
        (&["rubbish"], "rubbish is no position"),
        (&[horse, "d0d5"], "move 1, in 3k5/9/9/9/9/9/3r5/9/9/3NK4 w"),
        (&[horse, "d0c2", "rubbish"], "`rubbish` is not a move"),
        (&["4k4/9/9/9/9/9/9/9/4R4/3K5 w"], "no legal position"),
        (&[horse, "--rules", "dice"], "dice"),
        (&["--file", "/nowhere/games"], "cannot be read"),
    ];
    for (arguments, wanted) in cases {
        let output = judge(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
        assert!(stderr.contains(wanted), "{arguments:?}: {stderr}");
    }
}

#[test]
fn bad_input_is_told_in_one_line() {
    let cases: [(&[&str], &str); 12] = [
        (&["stats", "KXK"], "X"),
        (&["verify", "KRKR1"], "1"),
        (&["probe", "4k4/9/9/9/9/9/9/9/9/3KK4 w"], "two kings on one side"),
        (&["probe", "4k4/9/9/9/9/9/9/9/4R4/3K5 w"], "Black is in check and it is Red's turn"),
        (&["probe", "4k4/9/9/9/9/9/9/9/9/4K4 w"], "the kings face each other"),
        (&["probe", "3k5/9/9/9/9/P1P6/9/9/9/4K4 w"], "coordinator start --build KPPK"),
        (&["probe", "3k5/9 w"], "2 ranks"),
        (&["probe", "3k5/9/9/9/9/9/9/9/9/4K2R1 x"], "unknown side to move `x`"),
        (&["line", "3k5/9/9/9/9/9/9/9/9/4K4 w"], "draw"),
        (&["stats", "KPK"], "coordinator start --build KPK"),
        (&["line", KRK, "--metric", "dtz"], "dtz"),
        (&["list", "--log", "a=b=c"], "--log"),
    ];
    for (arguments, wanted) in cases {
        let line = fails(tables(), arguments, 2);
        assert!(line.contains(wanted), "{arguments:?}: {line}");
    }
    let nowhere = TempDir::new().unwrap();
    let line = fails(nowhere.path(), &["list"], 2);
    assert!(line.contains("there is no folder") && line.contains("--tables"), "{line}");
    for (memory, told) in [("512", "512MiB or 512GiB"), ("1KiB", "1MiB or more")] {
        let line = fails(tables(), &["verify", "KRK", "--memory", memory], 2);
        assert!(line.contains(told) && line.contains("see `canju verify --help`"), "{line}");
    }
    stdout(&run(tables(), &["verify", "KCK", "--memory", "64MiB"]));
    let crowd = fails(tables(), &["probe", "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"], 2);
    assert!(crowd.contains("unknown") && crowd.contains("no table can hold so many pieces"), "{crowd}");
}

#[test]
fn a_list_of_nothing_says_where_something_is() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("tables")).unwrap();
    let listed = stdout(&run(folder.path(), &["list"]));
    assert!(listed.starts_with("there is no table for the rules plain in the folder "), "{listed}");
    fs::create_dir_all(folder.path().join("tables/store")).unwrap();
    fs::rename(build(&["KRK"]).path().join("tables"), folder.path().join("tables/store/tables")).unwrap();
    let listed = stdout(&run(folder.path(), &["list"]));
    let there = folder.path().join("tables/store");
    assert!(listed.ends_with(&format!("there are some in {}, give that folder\n", there.display())), "{listed}");
}

#[test]
fn damage_is_found_and_named() {
    let folder = build(&["KRK"]);
    let table = folder.path().join("tables/plain/KRK");
    let shard = table.join("dtm/0000.shard");
    let whole = fs::read(&shard).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() * 3 / 4;
    flipped[middle] ^= 1;
    fs::write(&shard, &flipped).unwrap();
    let line = fails(folder.path(), &["verify", "KRK"], 2);
    assert!(line.contains("KRK is damaged") && line.contains("0000.shard"), "{line}");
    fs::write(&shard, &whole[..whole.len() / 2]).unwrap();
    assert!(fails(folder.path(), &["probe", KRK], 2).contains("0000.shard"));
    fs::write(&shard, &whole).unwrap();
    stdout(&run(folder.path(), &["verify", "KRK"]));

    let manifest = table.join("manifest.json");
    let text = fs::read(&manifest).unwrap();
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    for arguments in [&["stats", "KRK"][..], &["probe", KRK], &["list"]] {
        let line = fails(folder.path(), arguments, 2);
        assert!(line.contains("manifest"), "{line}");
    }
}

#[test]
fn a_shard_of_another_metric_is_found_out() {
    let folder = build(&["KCKC"]);
    let table = folder.path().join("tables/plain/KCKC");
    let (from, to) = (table.join("wdl/0000.shard"), table.join("dtc/0000.shard"));
    fs::copy(from, to).unwrap();
    assert!(fails(folder.path(), &["verify", "KCKC"], 2).contains("KCKC"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_canju"))
        .args(["probe", KRK, "--tables"])
        .arg(tables().join("tables"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(stderr, "");
}

#[test]
fn logs_go_to_standard_error_as_asked() {
    let output = run(tables(), &["verify", "KCK", "--log", "info", "--log-format", "json"]);
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(stderr.lines().any(|l| l.starts_with('{') && l.contains("verified")), "{stderr}");
    stdout(&output);
}
