//! The commands together: build by `coordinator`, ask and check by `canju`, and the same bytes however many work.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::BTreeMap;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Once;

use serde_json::Value;

/// The folder that cargo puts commands into, beside the folder of this test.
fn folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}

/// A command of a package that has tests of it. They are built first: tests of one package are not told of the commands of others.
/// They are built as the tests of all packages have them, so that nothing is built twice where all are tested.
fn command(name: &str) -> Command {
    static BUILT: Once = Once::new();
    let folder = folder();
    BUILT.call_once(|| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["test", "--quiet", "--workspace", "--no-run", "--target-dir"]).arg(folder.parent().unwrap());
        // What cargo tells a test of its package has some build scripts run again, and all that needs them built again.
        for (name, _) in std::env::vars_os() {
            let told = name.to_string_lossy();
            if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|start| told.starts_with(start)) {
                cargo.env_remove(name);
            }
        }
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        assert!(cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success(), "the commands do not build");
    });
    Command::new(folder.join(format!("{name}{EXE_SUFFIX}")))
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Builds KCPKA for both distances.
fn build(tables: &Path, workers: &str) {
    let mut coordinator = command("coordinator");
    // Tables as small as these stay whole; with two workers, each has some of them.
    coordinator.args(["start", "--build", "KCPKA", "--metric", "dtm,dtc", "--threads", "1"]);
    succeeds(coordinator.args(["--memory", "1GiB", "--local-workers", workers, "--store"]).arg(tables));
}

fn canju(tables: &Path, arguments: &[&str]) -> Output {
    command("canju").args(arguments).arg("--tables").arg(tables).output().unwrap()
}

fn json(tables: &Path, arguments: &[&str]) -> Value {
    let output = canju(tables, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All shards below a folder, by path.
fn shards(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "shard") {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn build_ask_verify_damage() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [one, two] = folders.each_ref().map(|folder| folder.path().join("tables"));
    build(&one, "1");
    build(&two, "2");
    let written = shards(&one);
    assert!(written.len() >= 14, "{:?}", written.keys());
    assert!(written == shards(&two), "two workers wrote other bytes than one");

    let stats = json(&one, &["stats", "KCPKA"]);
    assert_eq!(stats["endgame"], "KCPKA");
    let sides = ["w", "b"].map(|side| {
        let counts = ["win", "draw", "loss", "illegal"].map(|what| stats["sides"][side][what].as_u64().unwrap());
        counts.iter().sum::<u64>()
    });
    assert_eq!(stats["cells"].as_u64().unwrap(), sides[0] + sides[1]);
    let longest = &stats["longest"]["dtm"];
    let fen = longest["fen"].as_str().unwrap();
    let value = json(&one, &["probe", fen]);
    assert_eq!((&value["outcome"], &value["dtm"]), (&"win".into(), &longest["plies"]));
    assert_eq!(value["moves"][0]["dtm"], longest["plies"]);
    let line = json(&one, &["line", fen]);
    assert_eq!(line["plies"], longest["plies"]);
    assert!(line["end"] == "mate" || line["end"] == "stalemate");
    let list = json(&one, &["list"]);
    assert!(list["tables"].as_array().unwrap().iter().any(|t| t["endgame"] == "KCPKA"), "{list}");

    assert!(canju(&two, &["verify", "KCPKA,KCPK", "--threads", "2"]).status.success());
    let (name, mut bytes) =
        shards(&two).into_iter().find(|(path, _)| path.to_string_lossy().contains("KCPKA")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(two.join(&name), bytes).unwrap();
    let damaged = canju(&two, &["verify", "KCPKA"]);
    assert_eq!(damaged.status.code(), Some(2));
    let told = String::from_utf8(damaged.stderr).unwrap();
    assert!(told.starts_with("error: the table KCPKA is damaged") && told.contains(".shard"), "{told}");
}

/// Endgames in which the bit axis is one of several alike have each position more than once; beside them an
/// ordinary one and one with dice.
#[test]
fn what_is_built_can_be_fetched_and_is_sound() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [source, copy] = folders.each_ref().map(|folder| folder.path().join("tables"));
    for built in [&["KPPK,KCCKA,KNKA"][..], &["EWN1B1", "--metric", "odds"]] {
        let mut coordinator = command("coordinator");
        coordinator.args(["start", "--local-workers", "1", "--threads", "1", "--store"]).arg(&source);
        succeeds(coordinator.arg("--build").args(built));
    }
    succeeds(command("fetch").args(["get", "KPPK,KCCKA,KNKA"]).arg("--from").arg(&source).arg("--to").arg(&copy));
    for folder in [&source, &copy] {
        let told = succeeds(command("fetch").arg("verify").arg(folder));
        assert!(told.contains("are what was written"), "{told}");
    }
    let (stats, list) = (json(&copy, &["stats", "KPPK"]), json(&copy, &["list"]));
    assert!(stats["cells"].as_u64().unwrap() > 0 && list.to_string().contains("KCCKA"), "{stats} {list}");
}

/// Tables of chances: the same shards by one worker and by three that exchange layers, which are long for five stones, and
/// they answer.
#[test]
fn chances_are_tables() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [alone, cut] = folders.each_ref().map(|folder| folder.path().join("tables"));
    for (tables, workers, cut_from) in [(&alone, "1", "1000000000"), (&cut, "3", "1")] {
        let mut coordinator = command("coordinator");
        coordinator.args([
            "start",
            "--build",
            "ewn61b12,ewn123b12",
            "--metric",
            "odds",
            "--threads",
            "1",
            "--memory",
            "1GiB",
        ]);
        coordinator.args(["--local-workers", workers, "--cut-from", cut_from, "--store"]);
        succeeds(coordinator.arg(tables));
    }
    let written = shards(&alone);
    assert!(written.keys().any(|path| path.to_str().unwrap().contains("EWN123B12")) && written.len() > 14 * 3);
    assert!(written == shards(&cut), "three workers wrote other bytes than one");
    let value = json(&cut, &["probe", "R1a5 R6b5 B1e1 B2d1 r"]);
    assert_eq!(value["table"], "EWN12B16");
    let chance = value["chance"].as_f64().unwrap();
    let rolls = value["rolls"].as_array().unwrap();
    let mean = rolls.iter().map(|roll| roll["chance"].as_f64().unwrap()).sum::<f64>() / 6.0;
    assert!((chance - 0.816_018).abs() < 1e-6 && (chance - mean).abs() < 1e-6, "{value}");
    let verified = String::from_utf8(canju(&cut, &["verify", "EWN12B16,EWN16B1"]).stdout).unwrap();
    assert_eq!(verified.matches("positions checked (odds), all follow from the rules").count(), 2, "{verified}");
}

/// Every example of a puzzle: the same shards by `canju solve`, by one worker and by three that exchange plies; and the table
/// answers by its name alone.
#[test]
fn puzzles_are_tables() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let mut files: Vec<String> =
        fs::read_dir(&examples).unwrap().map(|e| e.unwrap().path().to_str().unwrap().to_owned()).collect();
    files.sort();
    assert!(files.len() >= 10);
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [alone, cut, solved] = folders.each_ref().map(|folder| folder.path().join("tables"));
    for (tables, workers, cut_from) in [(&alone, "1", "1000000"), (&cut, "3", "1")] {
        let mut coordinator = command("coordinator");
        coordinator.args(["start", "--build", &files.join(","), "--threads", "1", "--memory", "1GiB"]);
        coordinator.args(["--local-workers", workers, "--cut-from", cut_from, "--store"]);
        succeeds(coordinator.arg(tables));
    }
    for file in &files {
        succeeds(command("canju").args(["solve", file, "--store"]).arg(&solved));
        // A second time there is nothing to do.
        succeeds(command("canju").args(["solve", file, "--store"]).arg(&solved));
    }
    let written = shards(&alone);
    assert!(written.len() >= 2 * 3 * files.len());
    assert!(written == shards(&cut), "three workers wrote other bytes than one");
    assert!(written == shards(&solved), "solve wrote other bytes than the cluster");

    let ghosts = files.iter().find(|file| file.ends_with("ghosts.toml")).unwrap();
    let table = json(&cut, &["probe", ghosts])["table"].as_str().unwrap().to_owned();
    for (name, tables) in [(ghosts, &cut), (&table, &cut), (&table, &solved)] {
        let value = json(tables, &["probe", name, "331"]);
        assert_eq!((&value["outcome"], &value["steps"], &value["number"]), (&"solvable".into(), &11.into(), &1.into()));
        assert_eq!((&value["moves"][0]["position"], &value["moves"][0]["steps"]), (&"310".into(), &10.into()));
        let verified = String::from_utf8(canju(tables, &["verify", name]).stdout).unwrap();
        assert!(verified.contains("20 positions checked (wdl, dtm), all follow from the rules"), "{verified}");
    }
    assert!(canju(&cut, &["verify", &files.join(",")]).status.success());
    let manifest = |tables: &Path| {
        let text = fs::read(tables.join(format!("tables/plain/{table}/manifest.json")));
        let mut manifest: Value = serde_json::from_slice(&text.unwrap()).unwrap();
        for metric in manifest["metrics"].as_object_mut().unwrap().values_mut() {
            metric.as_object_mut().unwrap().remove("build");
        }
        manifest
    };
    assert_eq!(manifest(&cut), manifest(&solved));
    assert_eq!(manifest(&cut)["definition"], fs::read_to_string(ghosts).unwrap());
}
