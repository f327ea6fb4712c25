//! Real tables, damaged as the bytes say, and asked.
#![no_main]

use canju_fuzz::{FILES, ask};
use canju_tests::damage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|edits: &[u8]| {
    let mut files = FILES.clone();
    damage(&mut files, edits);
    ask(&files);
});
