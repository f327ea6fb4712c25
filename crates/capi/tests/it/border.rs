//! What comes over the border and should not.
#![allow(unsafe_code, reason = "the functions of a C library are called as C does")]

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use canju_retro::{Metric, Rules};

use canju::{
    Best, Tables, canju_best_move, canju_close, canju_last_error, canju_open, canju_probe_distance, canju_probe_order,
    canju_probe_wdl, status,
};

fn told() -> String {
    // SAFETY: the library gives a text that ends with 0, and no call comes between.
    unsafe { CStr::from_ptr(canju_last_error()) }.to_str().unwrap().to_owned()
}

fn open(place: &str) -> Result<*mut Tables, i32> {
    open_under(None, place)
}

fn open_under(rules: Option<&CStr>, place: &str) -> Result<*mut Tables, i32> {
    let place = CString::new(place).unwrap();
    let mut tables = null_mut();
    // SAFETY: texts that end with 0, and a place for the handle.
    match unsafe { canju_open(place.as_ptr(), rules.map_or(null(), CStr::as_ptr), 0, &raw mut tables) } {
        status::OK => Ok(tables),
        failed => Err(failed),
    }
}

#[test]
fn what_is_no_argument_is_an_error_with_a_text() {
    let folder = super::tables();
    let tables = open(folder.path().to_str().unwrap()).unwrap();
    let fen = CString::new(super::MATE_IN_ONE).unwrap();
    let (mut outcome, mut plies, mut other) = (77, 77, null_mut());
    let odd = c"\xff\xfe".as_ptr();
    // SAFETY: each pointer is NULL or what the header asks for.
    unsafe {
        assert_eq!(canju_probe_wdl(null(), fen.as_ptr(), &raw mut outcome), status::INVALID);
        assert!(told().contains("open some first"), "{}", told());
        assert_eq!(canju_probe_wdl(tables, null(), &raw mut outcome), status::INVALID);
        assert!(told().contains("the FEN is NULL"), "{}", told());
        assert_eq!(canju_probe_wdl(tables, odd, &raw mut outcome), status::INVALID);
        assert!(told().contains("not UTF-8"), "{}", told());
        assert_eq!(canju_probe_wdl(tables, fen.as_ptr(), null_mut()), status::INVALID);
        assert_eq!(canju_best_move(tables, fen.as_ptr(), null_mut()), status::INVALID);
        assert_eq!(canju_open(null(), null(), 0, null_mut()), status::INVALID);
        assert_eq!(canju_open(fen.as_ptr(), odd, 0, &raw mut other), status::INVALID);
        for metric in [0, 3, -1, i32::MAX] {
            let asked = canju_probe_distance(tables, fen.as_ptr(), metric, &raw mut outcome, &raw mut plies);
            assert_eq!(asked, status::INVALID);
        }
        canju_close(null_mut());
        canju_close(tables);
    }
    assert_eq!((outcome, plies), (77, 77), "a failure has filled something");
    assert_eq!(open("/no/such/folder").unwrap_err(), status::UNREACHABLE);
    assert!(told().contains("there is no folder"), "{}", told());
}

#[test]
fn each_failure_has_its_number() {
    let folder = super::tables();
    let tables = open(folder.path().to_str().unwrap()).unwrap();
    let ask = |fen: &str| {
        let fen = CString::new(fen).unwrap();
        let mut outcome = 0;
        // SAFETY: a text, open tables, and a place for the result.
        unsafe { canju_probe_wdl(tables, fen.as_ptr(), &raw mut outcome) }
    };
    assert_eq!(ask(super::MATE_IN_ONE), status::OK);
    assert_eq!(ask("nonsense"), status::POSITION);
    assert_eq!(ask("4k4/9/9/9/9/9/9/9/9/4K4 w"), status::POSITION);
    assert_eq!(ask("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"), status::UNKNOWN);
    assert_eq!(ask("3k5/9/9/9/9/9/9/9/4R4/4K4 w"), status::MISSING);
    assert!(told().contains("fetch get KRK"), "{}", told());
    let mut best = Best { r#move: [0; 8], outcome: 0, dtm: 0, dtc: 0 };
    let mated = CString::new(super::MATED).unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { canju_best_move(tables, mated.as_ptr(), &raw mut best) }, status::OVER);
    let fen = CString::new(super::MATE_IN_ONE).unwrap();
    // SAFETY: as above; one place for both results.
    let asked = unsafe {
        let mut both = 0;
        canju_probe_distance(tables, fen.as_ptr(), 2, &raw mut both, &raw mut both)
    };
    assert_eq!(asked, status::MISSING, "there is no distance to conversion");
    let shard = folder.path().join("tables/plain/KPK/wdl/0000.shard");
    let mut bytes = std::fs::read(&shard).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&shard, bytes).unwrap();
    // SAFETY: opened above, and nobody asks.
    unsafe { canju_close(tables) };
    let tables = open(folder.path().to_str().unwrap()).unwrap();
    // SAFETY: a text, open tables, and a place for the result.
    assert_eq!(unsafe { canju_probe_wdl(tables, fen.as_ptr(), &raw mut best.outcome) }, status::DAMAGED);
    // A text belongs to its thread.
    assert!(std::thread::spawn(|| told().is_empty()).join().unwrap());
    // SAFETY: opened above, and nobody asks.
    unsafe { canju_close(tables) };
}

#[test]
fn the_order_of_a_win_is_told() {
    let folder = tempfile::tempdir().unwrap();
    canju_tests::Workshop::under(Rules::Axf).write_to(folder.path(), "KRKN", &[Metric::Dtm]);
    let tables = open_under(Some(c"axf"), folder.path().to_str().unwrap()).unwrap();
    let ask = |fen: &str, metric: i32| {
        let (fen, mut order) = (CString::new(fen).unwrap(), 77);
        // SAFETY: a text, open tables, and a place for the result.
        (unsafe { canju_probe_order(tables, fen.as_ptr(), metric, &raw mut order) }, order)
    };
    assert_eq!(ask("9/9/4k4/9/9/9/9/9/1n7/R2K5 w", 1), (status::OK, 1));
    assert_eq!(ask("5k3/9/9/9/9/9/9/9/9/4K2R1 w", 1), (status::OK, 0));
    assert_eq!(ask("9/9/4k4/9/9/9/9/9/1n7/R2K5 w", 2), (status::MISSING, 77));
    assert_eq!(ask("9/9/4k4/9/9/9/9/9/1n7/R2K5 w", 3), (status::INVALID, 77));
    // SAFETY: opened above, and nobody asks.
    unsafe { canju_close(tables) };
}

#[test]
fn the_header_has_the_same_numbers() {
    let header = std::fs::read_to_string(super::here("include/canju.h")).unwrap();
    for (name, number) in status::ALL {
        let line = format!("#define CANJU_{name} {number} ");
        assert!(header.contains(&line), "{line}");
    }
    assert!(header.contains(&format!("#define CANJU_ABI {}\n", canju::canju_abi())));
    let declared = |line: &&str| line.contains("canju_") && line.contains('(') && line.starts_with(char::is_alphabetic);
    let functions = header.lines().filter(declared).count();
    let source = std::fs::read_to_string(super::here("src/lib.rs")).unwrap();
    assert_eq!(functions, source.matches("#[unsafe(no_mangle)]").count(), "functions of the header and of the library");
}
