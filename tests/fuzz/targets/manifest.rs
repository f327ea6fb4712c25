//! Any bytes as a manifest, beside real shards.
#![no_main]

use canju_fuzz::{FILES, ask};
use canju_table::Manifest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::parse("fuzz", bytes) {
        let again = manifest.to_json().unwrap();
        assert_eq!(Manifest::parse("fuzz", again.as_bytes()).unwrap(), manifest);
        let _ = manifest.content_hash();
        let mut files = FILES.clone();
        for key in ["tables/plain/KPK/manifest.json", "tables/plain/KPKA/manifest.json"] {
            files.insert(key.to_owned(), bytes.to_vec());
        }
        ask(&files);
    }
});
