//! The command as users run it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where something is wrong")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn coordinator(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coordinator"));
    command.args(arguments).env_remove("RUST_LOG");
    command
}

fn run(arguments: &[&str]) -> Output {
    coordinator(arguments).output().unwrap()
}

/// The message of a call that must be refused.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty() && text.starts_with("error: "), "{text}");
    text
}

fn shards(store: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![store.join("tables")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "shard") {
                found.insert(path.strip_prefix(store).unwrap().display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn builds_an_endgame_and_all_that_it_leads_to() {
    let one = tempfile::tempdir().unwrap();
    let store = one.path().join("tables");
    let build = |store: &Path, workers: &str| {
        let arguments = ["start", "--build", "krkn", "--metric", "dtm,dtc", "--local-workers", workers, "--store"];
        let output = coordinator(&arguments).arg(store).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let summary = build(&store, "1");
    assert!(summary.contains("1 312 200") && summary.contains("346 311"), "{summary}");
    assert!(summary.contains("4 tables built") && summary.contains("peak memory"), "{summary}");
    assert!(build(&store, "1").contains("nothing to build"));
    let two = tempfile::tempdir().unwrap();
    build(two.path(), "2");
    assert_eq!(shards(&store), shards(two.path()));
    assert_eq!(shards(&store).len(), 4 * 3);
}

#[test]
fn says_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let file = file.display().to_string();
    let store = folder.path().join("store").display().to_string();
    assert!(refused(&["start", "--build", "KXK", "--store", &store]).contains("names no endgame"));
    assert!(refused(&["start", "--build", "KRK", "--metric", "dtx", "--store", &store]).contains("unknown metric"));
    assert!(refused(&["submit", "KRK", "--metric", "both"]).contains("or both as dtm,dtc"));
    assert!(refused(&["start", "--store", "s3:/xq/a"]).contains("give s3://xq/a"));
    let manifest = folder.path().join("ref/tables/plain/KRK/manifest.json");
    std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    std::fs::write(manifest, "{}").unwrap();
    let inner = folder.path().join("ref/tables").display().to_string();
    let within = refused(&["start", "--listen", "127.0.0.1:0", "--http", "off", "--store", &inner]);
    assert!(within.contains("within the tables of another store"), "{within}");
    assert!(!Path::new(&inner).join("store.json").exists());
    assert!(refused(&["start", "--build", "KRK", "--rules", "odd", "--store", &store]).contains("unknown rules"));
    assert!(!Path::new(&store).exists(), "nothing is left of what was refused");
    assert!(refused(&["start", "--build", "KRK", "--store", &file]).contains("choose another folder"));
    assert!(refused(&["start", "--listen", "0.0.0.0:0", "--store", &store]).contains("--insecure-network"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert!(refused(&["start", "--listen", &address, "--store", &store]).contains("cannot listen on"));
    assert!(refused(&["jobs", "--coordinator", "127.0.0.1:1"]).contains("cannot reach the coordinator"));
    assert!(refused(&["jobs", "--log", "a=b=c"]).contains("no log filter"));
    assert!(refused(&["start", "--memory", "0", "--store", &store]).contains("leave it out"));
    let number = refused(&["start", "--memory", "512", "--store", &store]);
    assert!(number.contains("512MiB or 512GiB") && number.contains("see `coordinator start --help`"), "{number}");
    assert!(refused(&["start", "--cache-size", "16", "--store", &store]).contains("16MiB or 16GiB"));
    let nowhere = folder.path().join("none").display().to_string();
    let scratch = refused(&["start", "--build", "KRK", "--scratch", &nowhere, "--store", &store]);
    assert!(scratch.contains(&format!("the scratch folder {nowhere} cannot be written: create it")), "{scratch}");
    assert!(!Path::new(&store).exists() && !Path::new(&nowhere).exists());
    for (option, value) in [("--memory", "1GiB"), ("--scratch", "."), ("--threads", "1")] {
        let told = refused(&["start", "--listen", "127.0.0.1:0", option, value, "--store", &store]);
        assert!(told.contains(&format!("{option} is for local workers")), "{told}");
    }
    assert!(!Path::new(&store).exists());
    let http = refused(&["start", "--listen", "127.0.0.1:0", "--http", &address, "--store", &store]);
    assert!(http.contains(&format!("cannot listen on {address}")) && http.contains("with --http"), "{http}");
    for bad in ["ftp://127.0.0.1:7420", "localhost", "http://localhost", ""] {
        let told = refused(&["jobs", "--coordinator", bad]);
        assert!(told.contains("HOST:PORT") && told.contains("see `coordinator jobs --help`"), "{told}");
    }
    assert!(refused(&["submit"]).contains("NAME"));
    assert!(refused(&["start", "--token-file", &file, "--store", &store]).contains("openssl rand"));
    assert!(refused(&["jobs", "--tls-ca", &file]).contains("--tls-ca, holds no certificate"));
    assert!(refused(&["jobs", "--tls-cert", &file]).contains("--tls-key"));
}

#[test]
fn what_does_not_fit_is_refused_before_smaller_tables_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().display().to_string();
    let wanted = ["start", "--build", "EWN123B12", "--metric", "odds", "--memory", "30MiB", "--store", &store];
    let told = refused(&wanted);
    assert!(told.contains("EWN123B12") && told.contains("does not fit"), "{told}");
    assert!(!folder.path().join("tables/plain").exists(), "{told}");
}

#[test]
fn plans_without_a_coordinator() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().display().to_string();
    let output = run(&["plan", "KRKN", "--store", &store, "--json"]);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["tables"][3]["endgame"], "KRKN");
    assert_eq!(plan["tables"][3]["positions"], 1_312_200);
    let small = run(&["plan", "KABCPKAABB", "--store", &store, "--workers", "2", "--memory", "100M"]);
    assert_eq!(small.status.code(), Some(2));
    let text = String::from_utf8(small.stderr).unwrap();
    assert!(text.contains("KABCPKAABB does not fit") && text.contains("workers of this size"), "{text}");
    assert!(run(&["plan", "KABCPKAABB", "--store", &store, "--workers", "4", "--memory", "1G"]).status.success());
    // The rules of repetition take memory too.
    let rules = |rules| {
        let arguments = ["plan", "KRCKR", "--store", &store, "--workers", "1", "--memory", "80MiB", "--rules", rules];
        run(&arguments)
    };
    assert!(rules("plain").status.success());
    let refused = rules("axf");
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("KRCKR does not fit"), "{text}");
    let dice = ["plan", "EWN12B12", "--metric", "odds", "--store", &store, "--workers", "1", "--memory", "1M"];
    let text = String::from_utf8(run(&dice).stderr).unwrap();
    assert!(text.contains("EWN12B12 does not fit") && text.contains("--scratch does not help"), "{text}");
}

#[test]
fn a_profile_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["config", "credentials"].map(|name| folder.path().join(name));
    std::fs::write(&files[0], "[profile other]\nregion = eu-west-1\n").unwrap();
    std::fs::write(&files[1], "").unwrap();
    let ask = |profile: &str| {
        let mut command = coordinator(&["plan", "KRK", "--store", "s3://bucket/prefix"]);
        command.env("AWS_CONFIG_FILE", &files[0]).env("AWS_SHARED_CREDENTIALS_FILE", &files[1]);
        command.env("AWS_PROFILE", profile).env("AWS_REGION", "eu-west-1").env("AWS_EC2_METADATA_DISABLED", "true");
        let output = command.env_remove("AWS_ACCESS_KEY_ID").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let text = ask("nope");
    let places = files.each_ref().map(|file| file.display().to_string());
    let words =
        ["there is no such profile", "AWS_PROFILE is \"nope\"", "aws configure --profile", &places[0], &places[1]];
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
    // One that is there and has no keys, and none.
    for profile in ["other", ""] {
        let text = ask(profile);
        assert!(text.contains("no credentials were found") && !text.contains("no such profile"), "{text}");
    }
    std::fs::write(&files[0], "[profile nope").unwrap();
    let text = ask("nope");
    assert!(text.contains("the files of profiles cannot be read") && text.contains(&places[0]), "{text}");
}

#[test]
fn a_log_that_nobody_reads_ends_nothing() {
    let store = tempfile::tempdir().unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let arguments = ["start", "--log", "debug", "--build", "KRK", "--threads", "1", "--store"];
    let output = coordinator(&arguments).arg(store.path()).stderr(closed).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("2 tables built"));
}

#[test]
fn output_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().display().to_string();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = coordinator(&["plan", "KRK", "--store", &store]).stdout(full).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.starts_with("error: cannot write to the standard output"), "{text}");
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let output = coordinator(&["plan", "KRK", "--store", &store]).stdout(closed).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// A coordinator that serves, ended with the test.
struct Serving(Child, String);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(store: &Path) -> Serving {
    let mut command =
        coordinator(&["start", "--listen", "127.0.0.1:0", "--local-workers", "1", "--log-format", "json", "--store"]);
    let mut child = command.arg(store).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = lines.by_ref().map(Result::unwrap).find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let fields = &line["fields"];
        (fields["message"] == "coordinator listens").then(|| fields["address"].as_str().unwrap().to_owned())
    });
    // Its log must be read on, or it stops at a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Serving(child, address.unwrap())
}

#[test]
fn serves_jobs() {
    let store = tempfile::tempdir().unwrap();
    let serving = serve(store.path());
    let ask = |arguments: &[&str]| {
        let output = coordinator(arguments).args(["--coordinator", &serving.1]).output().unwrap();
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        (output.status.code(), out, err)
    };
    let (code, out, err) = ask(&["submit", "KRK,KCK", "--follow"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("3 tables built"), "{out}");
    assert!(err.contains("job j1: 3 tables to build, 0 there already"), "{err}");
    let (_, out, _) = ask(&["jobs", "--json"]);
    let jobs: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&jobs[0]["id"], &jobs[0]["state"]), (&"j1".into(), &"done".into()));
    let (_, out, _) = ask(&["status"]);
    assert!(out.contains("local-1") && out.contains("no jobs"), "{out}");
    let mut watch = coordinator(&["status", "--watch", "--coordinator", &serving.1]);
    let mut watch = watch.stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(watch.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    assert!(watch.wait().unwrap().success(), "it ends with its reader");
    let health = |arguments: &[&str]| {
        let output = coordinator(&["health"]).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(health(&[&serving.1]), (Some(0), String::new()));
    assert_eq!(health(&[&serving.1, "--live"]), (Some(0), String::new()));
    assert_eq!(health(&["127.0.0.1:1", &serving.1]), (Some(0), String::new()));
    assert_eq!(health(&[&format!("127.0.0.1:1,{}", serving.1)]), (Some(0), String::new()));
    let (code, err) = health(&["127.0.0.1:1"]);
    assert!(code == Some(1) && err.contains("cannot reach the coordinator"), "{err}");
    let (code, _, err) = ask(&["cancel", "j9"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("there is no job"), "{err}");
}

#[test]
fn who_stops_following_a_job_is_told_that_it_goes_on() {
    let store = tempfile::tempdir().unwrap();
    let serving = serve(store.path());
    // It takes minutes, so that it is not over before the signal.
    let mut follow = coordinator(&["submit", "KABCPKAAB", "--follow", "--coordinator", &serving.1]);
    let mut follow = follow.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    assert!(first.starts_with("job j1: "), "{first}");
    assert!(Command::new("kill").args(["-INT", &follow.id().to_string()]).status().unwrap().success());
    assert_eq!(follow.wait().unwrap().code(), Some(130));
    let last = lines.last().unwrap();
    assert!(last.contains("job j1 goes on") && last.contains("coordinator cancel j1"), "{last}");
}
