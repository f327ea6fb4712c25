//! How much memory a file takes that wants to take much. A test of its own: nothing else runs in its process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;

use canju_records::{Limits, read_within};

/// Bytes of a file.
const SIZE: usize = 256 << 10;

/// The most memory that this process had at any time so far, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Each of these once took up to fifty bytes for each of its own, or time by the square of its size.
#[test]
fn words_are_not_kept() {
    let limits = Limits { games: 1000, moves: 1000, ..Limits::default() };
    // A file, its text, and what is said in it, each once, and what the process itself takes.
    let most = peak() + 12 * SIZE;
    let files = [
        ("", "1. h2e2 "),
        ("", "1. h2e2 ("),
        ("", "1. h2e2 ()"),
        ("1. h2e2 ", "$1"),
        ("1. h2e2 ", "!"),
        ("1. h2e2 ", ")"),
        ("1. h2e2 ", "x "),
        ("1. h2e2 ", "1."),
        ("1. h2e2 {x} ", "{}"),
        ("1. ", "h2e2e2h2h9g7g7h9"),
        ("1. 炮二平五", "马8进7"),
        ("[Event \"x\"]\n", "[a \"\"]"),
        ("[Event \"x\"]\n", "* "),
        ("[Event \"x\"]\n{", "\n"),
        ("[DhtmlXQ_binit]99[/DhtmlXQ_binit]\n[DhtmlXQ_movelist]", "["),
    ];
    for (head, part) in files {
        let text = head.to_owned() + &part.repeat((SIZE - head.len()) / part.len());
        let _ = read_within(text.as_bytes(), &limits);
        drop(text);
        let taken = peak();
        assert!(taken <= most, "{head}{part}…: {} KiB more than before", (taken + 12 * SIZE - most) >> 10);
    }
}
