//! Any bytes as what C hands over.
#![no_main]

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

use canju::{Best, Tables, canju_best_move, canju_last_error, canju_open, canju_probe_distance, canju_probe_wdl, status};
use canju_fuzz::FILES;
use libfuzzer_sys::fuzz_target;

/// A handle for all inputs.
struct Open(*mut Tables);

// SAFETY: the header says that handles may be used by any thread.
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

static OPEN: LazyLock<Open> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap().keep();
    for (key, bytes) in &*FILES {
        let path = folder.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let place = CString::new(folder.to_str().unwrap()).unwrap();
    let mut tables = null_mut();
    // SAFETY: texts that end with 0, and a place for the handle.
    assert_eq!(unsafe { canju_open(place.as_ptr(), null(), 0, &raw mut tables) }, status::OK);
    Open(tables)
});

fuzz_target!(|bytes: &[u8]| {
    let mut text = bytes.to_vec();
    text.push(0);
    let fen = text.as_ptr().cast::<c_char>();
    let (mut outcome, mut plies, mut best) = (9, 9, Best { r#move: [0; 8], outcome: 9, dtm: 9, dtc: 9 });
    let metric = i32::from(bytes.first().copied().unwrap_or_default() % 4);
    // SAFETY: a text that ends with 0, tables that stay open, and places for the results.
    let (wdl, distance, chosen) = unsafe {
        (
            canju_probe_wdl(OPEN.0, fen, &raw mut outcome),
            canju_probe_distance(OPEN.0, fen, metric, &raw mut outcome, &raw mut plies),
            canju_best_move(OPEN.0, fen, &raw mut best),
        )
    };
    for status in [wdl, distance, chosen] {
        assert!((status::OK..status::INTERNAL).contains(&status));
    }
    assert!(wdl != status::OK || (-1..=1).contains(&outcome));
    if wdl != status::OK {
        // SAFETY: the library's text.
        assert!(!unsafe { CStr::from_ptr(canju_last_error()) }.to_str().unwrap().is_empty());
    }
});
