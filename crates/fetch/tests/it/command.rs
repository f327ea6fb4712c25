//! The command as users run it: what it prints, how it fails, and how it is killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use canju_retro::Metric;
use tempfile::{TempDir, tempdir};

use crate::stage::{FILES, NAMES, all_is_sound, aside, is_complete, shard_of};
use crate::web::Web;

fn fetch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fetch"));
    command.args(arguments).env_remove("RUST_LOG").env_remove("CANJU_FROM").stdin(Stdio::null());
    command
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs what must fail with exit code 2, and returns its last line on standard error.
fn fails(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    lines[0].to_owned()
}

/// A folder with all tables.
fn source() -> TempDir {
    let folder = tempdir().unwrap();
    for (key, bytes) in &*FILES {
        let path = folder.path().join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// What a web server has: the tables and their index.
fn on_the_web() -> BTreeMap<String, Vec<u8>> {
    let folder = source();
    let told = stdout(&fetch(&["index", text(folder.path())]).output().unwrap());
    assert!(told.starts_with("4 tables listed"), "{told}");
    let mut files = FILES.clone();
    let index = fs::read(folder.path().join("tables/index.json")).unwrap();
    files.insert("tables/index.json".to_owned(), index);
    files
}

#[test]
fn tables_are_listed_fetched_and_verified() {
    let (source, home) = (source(), tempdir().unwrap());
    let (from, to) = (text(source.path()), text(home.path()));
    let listed = stdout(&fetch(&["list", "--from", from, "kr*"]).output().unwrap());
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert_eq!(lines[1][..6], ["KRK", "plain", "wdl", "dtm", "dtc", "14"], "{listed}");
    assert_eq!(lines[2][0], "KRKN");
    assert!(listed.lines().all(|line| line.contains("longest win") || line.contains(" (dtm)")), "{listed}");

    let json = stdout(&fetch(&["list", "--from", from, "--json"]).output().unwrap());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let tables = json["tables"].as_array().unwrap();
    assert_eq!(tables.iter().map(|t| t["endgame"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    assert_eq!(tables[3]["metrics"], serde_json::json!(["wdl", "dtm", "dtc"]));
    assert_eq!(tables[3]["positions"], 1_312_200);
    assert_eq!(tables[0]["longest"], serde_json::Value::Null);
    assert_eq!(tables[3]["longest"]["metric"], "dtm");

    let told = stdout(&fetch(&["get", "knkr", "--from", from, "--to", to, "--dry-run"]).output().unwrap());
    assert!(told.contains("4 tables to fetch") && told.contains("0 whole there"), "{told}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    // The environment names the source as well.
    let told = stdout(&fetch(&["get", "knkr", "--to", to]).env("CANJU_FROM", from).output().unwrap());
    assert!(told.starts_with("KRKN is whole in ") && told.contains("4 tables fetched, 0 there before"), "{told}");
    is_complete(home.path());
    let told = stdout(&fetch(&["verify", to]).output().unwrap());
    assert!(
        told.starts_with("4 tables, 12 shards, ") && told.contains("so are all that they were built from"),
        "{told}"
    );
}

#[test]
fn damage_is_told_with_the_command_that_repairs_it() {
    let (source, home) = (source(), tempdir().unwrap());
    let (from, to) = (text(source.path()), text(home.path()));
    stdout(&fetch(&["get", "KRKN", "--from", from, "--to", to]).output().unwrap());
    let shard = shard_of("KRK", Metric::Dtm);
    let mut bytes = FILES[&shard].clone();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(home.path().join(&shard), bytes).unwrap();
    let output = fetch(&["verify", to]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains(&format!("damaged: KRK, {shard}, block ")), "{told}");
    let line = fails(&mut fetch(&["verify", to, "KRKN"]));
    assert!(line.contains(&format!("`fetch get KRK --from SOURCE --to {to}`")), "{line}");
    assert!(line.contains(&format!("`coordinator start --build KRK --metric dtm --store {to}`")), "{line}");
    // One that was never there among others that are.
    let line = fails(&mut fetch(&["verify", to, "KCK"]));
    assert!(line.contains(&format!("KCK is not in {to}: fetch what is missing with `fetch get KCK")), "{line}");
    let json = fetch(&["verify", to, "--json"]).output().unwrap();
    assert_eq!(json.status.code(), Some(2));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["whole"], &json["shards"]), (&false.into(), &11.into()));
    assert_eq!(json["findings"][0]["file"], shard);
    assert!(json["findings"][0]["block"].is_u64());

    let output = fetch(&["get", "KRK", "--from", from, "--to", to]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("is damaged and will be replaced"));
    stdout(&output);
    stdout(&fetch(&["verify", to]).output().unwrap());
}

#[test]
fn where_no_table_is_nothing_is_well() {
    let (source, home) = (source(), tempdir().unwrap());
    let empty = text(home.path());
    let nothing = format!("there is no table for the rules plain in the folder {empty}");
    for arguments in [&["verify", empty][..], &["verify", empty, "--json"], &["verify", empty, "KRK"]] {
        let line = fails(&mut fetch(arguments));
        assert!(line.contains(&nothing), "{line}");
    }
    assert!(stdout(&fetch(&["list", "--from", empty]).output().unwrap()).starts_with(&nothing));
    let json = stdout(&fetch(&["list", "--from", empty, "--json"]).output().unwrap());
    assert!(json.contains("\"tables\":[]"), "{json}");
    // A level too high, or too low.
    let store = home.path().join("store");
    fs::rename(source.path(), &store).unwrap();
    fs::create_dir(source.path()).unwrap();
    let line = fails(&mut fetch(&["verify", empty]));
    assert!(line.ends_with(&format!("there are some in {}, give that folder", store.display())), "{line}");
    let line = fails(&mut fetch(&["verify", empty, "KRK"]));
    assert!(line.contains(&format!("there are some in {}", store.display())), "{line}");
    let line = fails(&mut fetch(&["verify", text(&store.join("tables/plain"))]));
    assert!(line.contains("give that folder"), "{line}");
    let line = fails(&mut fetch(&["verify", text(&store), "--rules", "check"]));
    assert!(line.ends_with("it has some for plain, give --rules"), "{line}");
    let listed = stdout(&fetch(&["list", "KC*", "--from", text(&store)]).output().unwrap());
    assert!(listed.ends_with("is called KC*: there are 4 of others\n"), "{listed}");
}

#[test]
fn bad_input_is_told_in_one_line() {
    let (source, home) = (source(), tempdir().unwrap());
    let (from, to) = (text(source.path()), text(home.path()));
    for (arguments, wanted) in [
        (&[][..], "list, get, verify, index"),
        (&["get"], "ENDGAME"),
        (&["get", "KXK", "--from", from], "X"),
        (&["get", "KRK"], "--from or CANJU_FROM"),
        (&["get", "KRK", "--from", "ftp://host/"], "ftp:// is not known"),
        (&["get", "KRK", "--from", "/none/such"], "/none/such"),
        (&["get", "KPK", "--from", from, "--to", to], "there is no table KPK"),
        (&["get", "KRK", "--from", from, "--to", to, "--metric", "dtz"], "dtz"),
        (&["get", "KRK", "--from", from, "--to", to, "--jobs", "0"], "--jobs"),
        (&["get", ",", "--from", from], "no endgame"),
        (&["list", "KXK", "--from", from], "X"),
        (&["list", "--from", from, "--log", "a=b=c"], "--log"),
        (&["verify", "/none/such"], "/none/such"),
        (&["verify", to, "KRK"], "fetch get KRK"),
        (&["index", "/none/such"], "/none/such"),
        (&["index", to], "no tables"),
    ] {
        let line = fails(&mut fetch(arguments));
        assert!(line.contains(wanted), "{arguments:?}: {line}");
    }
}

#[test]
fn a_web_server_is_a_source() {
    let files = on_the_web();
    for ranges in [true, false] {
        let (web, home) = (Web::new(files.clone(), ranges), tempdir().unwrap());
        let listed = stdout(&fetch(&["list", "--from", &web.url]).output().unwrap());
        assert_eq!(listed.lines().count(), 5, "{listed}");
        let arguments = ["get", "KRKN", "--from", &web.url, "--to", text(home.path()), "--piece", "3"];
        stdout(&fetch(&arguments).output().unwrap());
        is_complete(home.path());
    }
    // Tables can be had by name where there is no index.
    let (web, home) = (Web::new(FILES.clone(), true), tempdir().unwrap());
    stdout(&fetch(&["get", "KRK", "--from", &web.url, "--to", text(home.path())]).output().unwrap());
    assert_eq!(all_is_sound(home.path()), 2);
    assert!(fails(&mut fetch(&["list", "--from", &web.url])).contains("no index"));
}

#[cfg(unix)]
#[test]
fn a_killed_fetch_leaves_nothing_half_and_goes_on() {
    let (web, home) = (Web::new(on_the_web(), true), tempdir().unwrap());
    let mut arguments = vec!["get", "KRKN", "--from", &web.url, "--to", text(home.path()), "--piece", "2"];
    arguments.extend(["--jobs", "4"]);
    let all: u64 = FILES.values().map(|bytes| bytes.len() as u64).sum();
    let manifests: u64 = FILES.iter().filter(|(key, _)| key.ends_with(".json")).map(|(_, b)| b.len() as u64).sum();
    let rounds = 12;
    for round in 0..rounds {
        // Never so much that a round could come to its end.
        let more = manifests / 2 + (all - manifests) / 14 * (round % 3);
        web.stop_after(more);
        let mut child = fetch(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        web.wait();
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        assert!(all_is_sound(home.path()) < NAMES.len());
    }
    web.stop_after(u64::MAX);
    stdout(&fetch(&arguments).output().unwrap());
    is_complete(home.path());
    // What came once did not come again, apart from what was under way.
    assert!(web.sent() <= all + rounds * (manifests + 5 * 2048), "{} {all}", web.sent());
}

#[cfg(unix)]
#[test]
fn a_signal_stops_it_and_says_how_to_go_on() {
    let (web, home) = (Web::new(on_the_web(), true), tempdir().unwrap());
    let arguments = ["get", "KRKN", "--from", &web.url, "--to", text(home.path()), "--piece", "2"];
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        web.stop_after(30_000);
        let child = fetch(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        web.wait();
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("run the same command again to go on"), "{told}");
    }
    assert!(!aside(home.path()).is_empty());
    web.stop_after(u64::MAX);
    stdout(&fetch(&arguments).output().unwrap());
    is_complete(home.path());
}

#[cfg(unix)]
#[test]
fn a_write_that_fails_is_told_and_harms_nothing() {
    let (source, home) = (source(), tempdir().unwrap());
    let arguments = ["get", "KRKN", "--from", text(source.path()), "--to", text(home.path()), "--piece", "2"];
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 20; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fetch")]);
    let line = fails(limited.args(arguments));
    assert!(line.contains("files may not become so large here") && line.contains("KRK"), "{line}");
    assert!(all_is_sound(home.path()) < NAMES.len());
    stdout(&fetch(&arguments).output().unwrap());
    is_complete(home.path());
}
