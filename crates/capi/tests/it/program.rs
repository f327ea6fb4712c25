//! The example in C, compiled against both libraries and run on real tables.

use std::path::{Path, PathBuf};
use std::process::Command;

use canju_probe::{OpenOptions, Prober};
use canju_retro::Metric;
use canju_tests::Workshop;
use canju_xiangqi::Position;

use super::{MATE_IN_ONE, MATED, here, tables};

const STRICT: [&str; 5] = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Where cargo has put the libraries: beside this test.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn compile(source: &Path, to: &Path, libraries: &[&str]) {
    let mut cc = Command::new("cc");
    run(cc.args(STRICT).arg("-I").arg(here("include")).arg(source).arg("-o").arg(to).args(libraries));
}

/// What the linker is told for the shared library.
fn shared() -> [String; 3] {
    let at = built().display().to_string();
    [format!("-L{at}"), "-lcanju".to_owned(), format!("-Wl,-rpath,{at}")]
}

#[test]
fn the_example_answers_as_the_rust_library_does() {
    let folder = tables();
    let whole = built().join("libcanju.a").display().to_string();
    let shared = shared();
    let programs = [
        ("shared", shared.each_ref().map(String::as_str).to_vec()),
        ("static", vec![&*whole, "-lpthread", "-ldl", "-lm"]),
    ];
    let prober = Prober::open(folder.path().to_str().unwrap(), &OpenOptions::default()).unwrap();
    let fens = [MATE_IN_ONE, "3k5/9/9/9/4P4/9/9/9/9/4K4 b", "3k1a3/9/9/9/4P4/9/9/9/9/4K4 w", MATED];
    for (name, arguments) in programs {
        let program = folder.path().join(name);
        compile(&here("examples/probe.c"), &program, &arguments);
        let told = run(Command::new(&program).arg(folder.path()).args(fens));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), fens.len(), "{told}");
        for (line, fen) in lines.iter().zip(fens) {
            let position: Position = fen.parse().unwrap();
            let value = prober.probe(&position).unwrap();
            let plies = value.dtm.map(|plies| format!(" in {plies}")).unwrap_or_default();
            let best = prober.moves(&position).unwrap().first().map(|(chosen, value)| {
                let dtm = value.dtm.map_or(-1, i32::from);
                format!(", best {chosen} ({}, dtm {dtm}, dtc -1)", value.outcome.name())
            });
            assert_eq!(*line, format!("{}{plies}{}", value.outcome.name(), best.unwrap_or_default()), "{name} {fen}");
        }
        let wrong = Command::new(&program).arg(folder.path()).arg("nonsense").output().unwrap();
        assert_eq!(wrong.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("error: "));
    }
}

#[test]
fn the_header_is_cplusplus_too() {
    let Ok(done) = Command::new("c++")
        .args(["-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"])
        .arg(here("include/canju.h"))
        .output()
    else {
        // The libraries need no C++ compiler, and neither does this test's machine.
        return;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_program_of_the_page_prints_what_the_page_says() {
    let page = std::fs::read_to_string(here("../../docs/engines.md")).unwrap();
    let (_, rest) = page.split_once("```c\n").unwrap();
    let (program, rest) = rest.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    Workshop::new().write_to(folder.path(), "KRK", &[Metric::Dtm]);
    let source = folder.path().join("engine.c");
    std::fs::write(&source, program).unwrap();
    let engine = folder.path().join("engine");
    compile(&source, &engine, &shared().each_ref().map(String::as_str));
    let told = run(Command::new(&engine).current_dir(folder.path()));
    assert_eq!(told, "won\nmate in 1\nh0f0\n");
    for line in told.lines() {
        assert!(rest.contains(&format!("`{line}`")), "{line}");
    }
}
