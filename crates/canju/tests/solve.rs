//! `canju solve`: what it prints, also on the page about puzzles, and how it fails.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn canju(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_canju"))
        .args(arguments)
        .current_dir(root())
        .env_remove("RUST_LOG")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&canju(arguments))).unwrap()
}

/// Each block of the page that begins with a command shows what that command prints.
#[test]
fn the_page_shows_what_is_printed() {
    let page = fs::read_to_string(root().join("docs/puzzles.md")).unwrap();
    let mut shown = 0;
    for block in page.split("```text\n$ canju ").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        let (command, printed) = block.split_once('\n').unwrap();
        let arguments: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(stdout(&canju(&arguments)), printed, "{command}");
        shown += 1;
    }
    assert!(shown >= 5, "{shown}");
}

/// The files that stand on the page are the examples.
#[test]
fn the_page_shows_the_examples() {
    let page = fs::read_to_string(root().join("docs/puzzles.md")).unwrap();
    for name in ["ghosts.toml", "maze.txt", "roads.toml", "chase.toml"] {
        let text = fs::read_to_string(root().join("docs/examples").join(name)).unwrap();
        assert!(page.contains(&text), "{name}");
    }
}

#[test]
fn json_has_the_line_and_all_labels() {
    let solved = json(&["solve", "docs/examples/ghosts.toml", "--json", "--table"]);
    assert_eq!(
        (&solved["steps"], &solved["shortest"], &solved["outcome"]),
        (&11.into(), &"4".into(), &"solvable".into())
    );
    let numbers: Vec<u64> = solved["line"].as_array().unwrap().iter().map(|s| s["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 19, 2, 20, 3, 27, 6, 30, 13, 31, 11, 32]);
    let labels = solved["labels"].as_array().unwrap();
    assert_eq!(labels.len(), 32);
    assert_eq!(labels[30]["next"], serde_json::json!([11, 14]));
    assert_eq!(labels.iter().filter(|label| label["legal"] == true).count(), 20);
    let safe = json(&["solve", "docs/examples/chase.toml", "--json"]);
    let best = safe["best"].as_array().unwrap();
    assert_eq!((&safe["outcome"], best.is_empty(), &best[0]["steps"]), (&"safe".into(), false, &Value::Null));
    assert!(best.iter().all(|to| to["step"].as_str().unwrap().starts_with("the mouse to ")), "{best:?}");
    let chase = json(&["solve", "docs/examples/chase.toml", "--json"]);
    assert_eq!((&chase["outcome"], &chase["longest"]["steps"]), (&"safe".into(), &3.into()));
    assert_eq!(chase.get("labels"), None);
}

#[test]
fn stats_know_the_tables_of_puzzles() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().to_str().unwrap();
    let counted = |file: &str| {
        let solved = json(&["solve", file, "--json", "--store", tables]);
        let by_name = json(&["stats", solved["table"].as_str().unwrap(), "--json", "--tables", tables]);
        assert_eq!(json(&["stats", file, "--json", "--tables", tables]), by_name);
        assert_eq!(by_name["longest"]["dtm"]["plies"], solved["longest"]["steps"]);
        (by_name, stdout(&canju(&["stats", file, "--tables", tables])))
    };
    let (stats, text) = counted("docs/examples/ghosts.toml");
    let wanted = serde_json::json!({"win": 17, "draw": 3, "loss": 0, "illegal": 12});
    assert_eq!((&stats["cells"], &stats["sides"]["w"]), (&32.into(), &wanted));
    for line in ["Three people and three ghosts: RIVER", "longest win (dtm): 12 plies, ", "a draw one that cannot"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("second"), "{text}");
    let (stats, text) = counted("docs/examples/chase.toml");
    let caught: u64 = ["w", "b"]
        .map(|s| &stats["sides"][s])
        .iter()
        .map(|s| s["win"].as_u64().unwrap() + s["loss"].as_u64().unwrap())
        .sum();
    assert_eq!(caught, 23);
    assert!(text.contains("second") && text.contains("the first side is the cat"), "{text}");
}

#[test]
fn pictures_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("maze.svg");
    stdout(&canju(&["solve", "docs/examples/maze.txt", "--svg", picture.to_str().unwrap()]));
    assert!(fs::read_to_string(&picture).unwrap().contains("<polyline"));
}

/// Every example as a page, with a scene and a line for each step.
#[test]
fn pages_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("solution.html");
    for (name, steps) in [("ghosts.toml", 11), ("hunter.toml", 17), ("hunter-unsolvable.toml", 0), ("boxes.toml", 13)] {
        let file = format!("docs/examples/{name}");
        let printed = stdout(&canju(&["solve", &file, "--html", page.to_str().unwrap()]));
        let html = fs::read_to_string(&page).unwrap();
        assert_eq!(html.matches("<g class=\"scene").count(), steps + 1, "{name}");
        assert_eq!(html.matches("<li>").count(), steps + 1, "{name}");
        assert!(html.contains(printed.lines().next().unwrap()), "{name}");
    }
}

/// A way of more steps than a table tells is told without one.
#[test]
fn long_ways_need_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (maze, store, picture) = (path("long.txt"), path("tables"), path("long.svg"));
    let row = |n: usize| match n % 4 {
        0 => "#".repeat(401) + "\n",
        2 => format!("{}{}\n", " ", "#".repeat(400)),
        _ => " ".repeat(401) + "\n",
    };
    let text: String = (0..400).map(|n| if n % 4 == 0 { format!("{} \n", "#".repeat(400)) } else { row(n) }).collect();
    fs::write(&maze, text.replacen("# ", "#S", 1).trim_end_matches('\n').to_owned() + "\nE\n").unwrap();
    let printed = stdout(&canju(&["solve", &maze, "--svg", &picture]));
    assert!(
        printed.contains("80000 steps; the only shortest solution") && printed.contains("no labels"),
        "{}",
        &printed[..400]
    );
    let output = canju(&["solve", &maze, "--html", &path("long.html")]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("80000 steps are more than a page shows"), "{told}");
    let solved = json(&["solve", &maze, "--json"]);
    assert_eq!((&solved["steps"], &solved["longest"]["steps"]), (&80_000.into(), &80_000.into()));
    let refused = canju(&["solve", &maze, "--store", &store]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(
        told.contains("cannot make a table of")
            && told.contains("long.txt")
            && told.contains("80000 steps")
            && told.contains("without a store"),
        "{told}"
    );
}

#[test]
fn so_many_ways_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open.txt");
    fs::write(
        &open,
        format!("S{}\n{}{}E\n", ".".repeat(99), format!("{}\n", ".".repeat(100)).repeat(98), ".".repeat(99)),
    )
    .unwrap();
    let open = open.to_str().unwrap();
    let solved = json(&["solve", open, "--json"]);
    assert_eq!((&solved["steps"], &solved["shortest"]), (&198.into(), &Value::Null));
    assert!(solved.as_object().unwrap().contains_key("shortest"));
    let probed = canju(&["probe", open, "--svg", "x.svg"]);
    assert!(String::from_utf8(probed.stderr).unwrap().contains("canju solve FILE --svg OUT"));
}

#[test]
fn failures_are_one_line_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.toml");
    fs::write(&bad, "puzzle = \"river\"\n[boat]\nseats = \"two\"\n").unwrap();
    let bad = bad.to_str().unwrap().to_owned();
    for (arguments, word) in [
        (vec!["solve", &bad], format!("{bad}:3: ")),
        (vec!["solve", "no/such.toml"], "no/such.toml: cannot be read".to_owned()),
        (vec!["solve", "docs/examples/maze.txt", "--svg", "no/such/picture.svg"], "no/such/picture.svg".to_owned()),
        (vec!["verify", &bad], "no folder ./tables".to_owned()),
        (vec!["probe", "RIVER0123456789", "331"], "no folder ./tables".to_owned()),
        (vec!["stats", "RIVER0123456789"], "no folder ./tables".to_owned()),
        (vec!["stats", "EWN12"], "EWN12".to_owned()),
    ] {
        let output = canju(&arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("error: ") && told.lines().count() == 1 && told.contains(&word), "{told}");
    }
}
