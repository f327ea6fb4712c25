//! `canju serve`: begins, answers, and ends as told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::{KRK, fails, tables};

/// A server on any port, and where it says it is.
fn start(listen: &str) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_canju"))
        .args(["serve", "--listen", listen, "--tables"])
        .arg(tables().join("tables"))
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
    (child, address)
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Sends a signal, and returns the exit code and the log.
fn end(mut child: Child, signal: &str) -> (Option<i32>, String) {
    assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    (child.wait().unwrap().code(), log)
}

#[test]
fn it_answers_until_it_is_told_to_end() {
    for signal in ["TERM", "INT"] {
        let (child, address) = start("127.0.0.1:0");
        let answer = get(&address, &format!("/v1/probe?fen={}", KRK.replace(' ', "+")));
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("\"outcome\":\"win\",\"dtm\":1"), "{answer}");
        let (code, log) = end(child, signal);
        assert_eq!(code, Some(0), "{log}");
        // One line of the log for the request.
        assert!(log.lines().any(|l| l.contains("canju_serve::access") && l.contains("/v1/probe")), "{log}");
        assert!(!log.contains("open to everybody"), "{log}");
    }
}

#[test]
fn an_address_for_everybody_is_said_to_be_so() {
    let (child, _) = start("0.0.0.0:0");
    let (_, log) = end(child, "TERM");
    assert!(log.contains("open to everybody who reaches this address"), "{log}");
}

#[test]
fn what_cannot_be_served_is_told_in_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let line = fails(tables(), &["serve", "--listen", &address], 2);
    assert!(line.contains(&address) && line.contains("in use by another program"), "{line}");
    let nowhere = tempfile::TempDir::new().unwrap();
    assert!(fails(nowhere.path(), &["serve", "--listen", "127.0.0.1:0"], 2).contains("there is no folder"));
    for (arguments, wanted) in [
        (["serve", "--listen", "here"], "--listen"),
        (["serve", "--threads", "0"], "--threads"),
        (["serve", "--timeout", "0"], "--timeout"),
    ] {
        let line = fails(tables(), &arguments, 2);
        assert!(line.contains(wanted), "{line}");
    }
}
