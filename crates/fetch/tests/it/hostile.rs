//! Sources that lie.

use std::collections::BTreeMap;
use std::fs;

use canju_retro::Metric;
use canju_table::{Manifest, SmallerTable};
use tempfile::tempdir;

use crate::stage::{FILES, Source, manifest, manifest_of, refused, request, table};

/// Fetches KRK from a source with another manifest of it, which must be refused; nothing may be written anywhere.
async fn refuses(text: impl Into<Vec<u8>>) -> String {
    let above = tempdir().unwrap();
    let folder = above.path().join("a/b");
    fs::create_dir_all(&folder).unwrap();
    let text = text.into();
    let source = Source::with(&manifest_of("KRK"), |bytes| *bytes = text).await;
    let error = refused(&source, &folder, &request("KRK")).await;
    let names =
        |path: &std::path::Path| -> Vec<_> { fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name()).collect() };
    assert_eq!(names(above.path()), ["a"]);
    assert_eq!(names(&above.path().join("a")), ["b"]);
    assert!(!folder.join("tables").exists(), "{error}");
    error
}

fn changed(change: impl FnOnce(&mut Manifest)) -> String {
    let mut manifest = manifest("KRK");
    change(&mut manifest);
    manifest.to_json().unwrap()
}

#[tokio::test]
async fn garbage_is_no_manifest() {
    for garbage in ["", "{", "null", "[]", "\0\0\0", "{\"format\": 1}", "<html>404</html>"] {
        let error = refuses(garbage).await;
        assert!(error.contains("the manifest of KRK in the source cannot be used"), "{garbage}: {error}");
    }
    refuses(vec![0xff; 1000]).await;
    refuses("[".repeat(100_000)).await;
}

#[tokio::test]
async fn names_do_not_lead_out_of_the_folder() {
    let text = String::from_utf8(FILES[&manifest_of("KRK")].clone()).unwrap();
    for evil in ["../../../etc", "..", "/etc/x", "K/../..", "KRK/", "krk", "", "KRK\u{0}"] {
        let evil = serde_json::to_string(evil).unwrap();
        refuses(text.replace("\"endgame\": \"KRK\"", &format!("\"endgame\": {evil}"))).await;
        refuses(text.replace("\"endgame\": \"KK\"", &format!("\"endgame\": {evil}"))).await;
        refuses(text.replace("\"rules\": \"plain\"", &format!("\"rules\": {evil}"))).await;
        refuses(text.replacen("\"number\": 0", &format!("\"number\": {evil}"), 1)).await;
        let with_blake3 = changed(|m| m.metrics.get_mut(&Metric::Wdl).unwrap().shards[0].blake3 = "@".to_owned());
        refuses(with_blake3.replace("\"@\"", &evil)).await;
    }
    refuses(text.replacen("\"number\": 0", "\"number\": -1", 1)).await;
}

#[tokio::test]
async fn a_manifest_of_another_endgame_is_refused() {
    let error = refuses(FILES[&manifest_of("KNK")].clone()).await;
    assert!(error.contains("KRK"), "{error}");
    let above = tempdir().unwrap();
    // And a shard of another endgame.
    let source = Source::new(|files: &mut BTreeMap<_, _>| {
        let other = files["tables/plain/KNK/dtm/0000.shard"].clone();
        files.insert("tables/plain/KRK/dtm/0000.shard".to_owned(), other);
    })
    .await;
    let error = refused(&source, above.path(), &request("KRK")).await;
    assert!(error.contains("tables/plain/KRK/dtm/0000.shard in the source is damaged"), "{error}");
}

#[tokio::test]
async fn absurd_sizes_are_refused() {
    let bytes = |bytes| changed(|m| m.metrics.get_mut(&Metric::Dtm).unwrap().shards[0].bytes = bytes);
    for absurd in [u64::MAX, u64::MAX / 2, 1 << 40] {
        let error = refuses(bytes(absurd)).await;
        assert!(error.contains("cannot be used"), "{error}");
    }
    refuses(changed(|m| m.sides.w.win = u64::MAX)).await;
    refuses(changed(|m| m.metrics.clear())).await;
    // A table that says of itself in every way that it is huge does not fit on the disk.
    let huge = 1 << 60;
    let all = changed(|m| {
        m.cells = huge;
        m.metrics.values_mut().for_each(|entry| entry.shards[0].bytes = huge);
    });
    let error = refuses(all).await;
    assert!(error.contains("bytes are missing, and the disk of") && error.contains("bytes free"), "{error}");
    let text = changed(|m| m.metrics.get_mut(&Metric::Dtm).unwrap().software = "x".repeat(70 << 20));
    let error = refuses(text).await;
    assert!(error.contains("cannot be used"), "{error}");
}

#[tokio::test]
async fn tables_that_were_built_from_themselves_are_refused() {
    let itself = |m: &mut Manifest| {
        let content = m.metric_hash(Metric::Wdl).unwrap();
        let smaller = SmallerTable { endgame: table("KRK"), metric: Metric::Wdl, content };
        m.metrics.get_mut(&Metric::Dtm).unwrap().smaller.push(smaller);
    };
    let error = refuses(changed(itself)).await;
    assert!(error.contains("it was built from itself"), "{error}");
    let other = |m: &mut Manifest| m.metrics.get_mut(&Metric::Dtm).unwrap().smaller[0].content = "0".repeat(64);
    let error = refuses(changed(other)).await;
    assert!(error.contains("KRK was built from another KK (dtm)"), "{error}");
}
