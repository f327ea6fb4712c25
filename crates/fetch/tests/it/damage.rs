//! Damage, in the source and in the folder.

use std::fs;
use std::sync::Arc;

use canju_fetch::{FindingKind, check, get};
use canju_retro::{Metric, Rules};
use tempfile::tempdir;

use crate::stage::{
    FILES, NAMES, Source, Told, all_is_sound, aside, fetch, is_complete, manifest, manifest_of, refused, request,
    shard_of, table,
};

#[tokio::test]
async fn a_damaged_shard_of_the_source_is_named_and_does_not_come_in() {
    let shard = shard_of("KRKN", Metric::Dtm);
    let flip = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
    };
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
    for (source, wanted) in [
        (Source::with(&shard, flip).await, "its BLAKE3 is not that of the manifest"),
        (Source::with(&shard, cut).await, "by the manifest"),
        (Source::new(|files| drop(files.remove(&shard))).await, "it is not there"),
    ] {
        let folder = tempdir().unwrap();
        let told = Arc::new(Told::default());
        let error = get(&source.origin(), folder.path(), &request("KRKN"), Arc::clone(&told) as _).await.unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&shard) && error.contains(wanted) && error.contains("the source"), "{error}");
        assert!(told.has("Again"));
        assert!(all_is_sound(folder.path()) < NAMES.len());
        assert!(!folder.path().join(&shard).exists());
        // The source is mended.
        fetch(&Source::new(|_| {}).await, folder.path(), &request("KRKN")).await.unwrap();
        is_complete(folder.path());
    }
}

#[tokio::test]
async fn a_damaged_manifest_of_the_source_is_refused() {
    let key = manifest_of("KRK");
    let folder = tempdir().unwrap();
    let text = String::from_utf8(FILES[&key].clone()).unwrap();
    // What larger tables were built from is covered by their checksums: all but the distance to conversion.
    let covered = text.find("\"dtm\": {").unwrap()..text.rfind("\"dtc\": {").unwrap();
    assert!(text.find("\"wdl\"").unwrap() < covered.start && covered.len() > 500);
    let mut seen = 0;
    for at in covered.step_by(3) {
        let source = Source::with(&key, |bytes| bytes[at] ^= 1).await;
        match canju_fetch::closure(&source.origin(), &request("KRKN")).await {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("KRK"), "{error}");
                seen += 1;
            }
            Ok(_) => {
                let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
                let line = text[line..].lines().next().unwrap();
                let white = text.as_bytes()[at].is_ascii_whitespace();
                assert!(white || line.contains("\"software\""), "{at}: {line}");
            }
        }
    }
    assert!(seen > 150, "{seen}");
    let cut = Source::with(&key, |bytes| bytes.truncate(bytes.len() / 2)).await;
    let error = refused(&cut, folder.path(), &request("KRKN")).await;
    assert!(error.contains("the manifest of KRK in the source cannot be used"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_the_source_lacks_is_named() {
    let folder = tempdir().unwrap();
    let all = Source::new(|_| {}).await;
    let error = refused(&all, folder.path(), &request("KPK")).await;
    assert!(error.contains("there is no table KPK in the source") && error.contains("fetch list"), "{error}");

    let without = Source::new(|files| drop(files.remove(&manifest_of("KNK")))).await;
    let error = refused(&without, folder.path(), &request("KRKN")).await;
    assert!(error.contains("KRKN was built from KNK") && error.contains("--no-smaller"), "{error}");

    let key = manifest_of("KRK");
    let mut poor = manifest("KRK");
    poor.metrics.remove(&Metric::Dtm);
    let poor = Source::new(|files| drop(files.insert(key, poor.to_json().unwrap().into_bytes()))).await;
    let error = refused(&poor, folder.path(), &request("KRKN")).await;
    assert!(error.contains("KRKN was built from KRK (dtm), which is not there"), "{error}");
    let wanted = canju_fetch::Request { metrics: Some([Metric::Dtm].into()), ..request("KRK") };
    let error = refused(&poor, folder.path(), &wanted).await;
    assert!(error.contains("KRK in the source has no dtm: it has wdl, dtc"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn damage_in_the_folder_is_found_named_and_repaired() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    let whole = check(folder.path(), Rules::Plain, &[], &()).unwrap();
    assert_eq!((whole.tables, whole.findings.len()), (NAMES.len(), 0));
    assert_eq!(whole.right.shards, 12);
    assert_eq!(check(folder.path(), Rules::Plain, &[table("KRK")], &()).unwrap().tables, 2);

    let (flipped, gone, cut) =
        (shard_of("KRKN", Metric::Dtm), shard_of("KNK", Metric::Wdl), shard_of("KRK", Metric::Dtc));
    let mut bytes = FILES[&flipped].clone();
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    fs::write(folder.path().join(&flipped), bytes).unwrap();
    fs::remove_file(folder.path().join(&gone)).unwrap();
    fs::write(folder.path().join(&cut), &FILES[&cut][..50]).unwrap();
    fs::write(folder.path().join(manifest_of("KK")), "{}").unwrap();
    let found = check(folder.path(), Rules::Plain, &[table("KRKN")], &()).unwrap();
    let files: Vec<&str> = found.findings.iter().map(|f| f.file.as_deref().unwrap()).collect();
    assert_eq!(files, [&manifest_of("KK"), &gone, &cut, &flipped]);
    assert!(found.findings.iter().all(|f| f.kind == FindingKind::Damaged));
    assert!(found.findings[3].block.is_some() && found.findings[3].offset.is_some(), "{found:?}");
    assert!(found.findings[..3].iter().all(|f| f.block.is_none() && f.offset.is_none()), "{found:?}");

    let fetched = fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    assert_eq!(fetched.tables, NAMES.len());
    is_complete(folder.path());

    fs::remove_dir_all(folder.path().join("tables/plain/KNK")).unwrap();
    let found = check(folder.path(), Rules::Plain, &[], &()).unwrap();
    let kinds: Vec<_> = found.findings.iter().map(|f| (f.table.as_str(), f.kind)).collect();
    assert_eq!(kinds, [("KNK", FindingKind::Missing)]);
    let found = check(folder.path(), Rules::Plain, &[table("KPK")], &()).unwrap();
    assert_eq!(found.findings[0].kind, FindingKind::Missing);
}

#[tokio::test]
async fn another_table_of_the_same_name_is_left_alone() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let mut other = manifest("KRK");
    other.metrics.get_mut(&Metric::Dtm).unwrap().shards[0].blake3 = "0".repeat(64);
    let path = folder.path().join(manifest_of("KRK"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let json = other.to_json().unwrap();
    fs::write(&path, &json).unwrap();
    let error = refused(&source, folder.path(), &request("KRKN")).await;
    assert!(error.contains("another KRK") && error.contains("move"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), json);

    // It does not go with a larger table either.
    fs::remove_file(&path).unwrap();
    fetch(&source, folder.path(), &request("KRKN")).await.unwrap();
    fs::write(&path, json).unwrap();
    let found = check(folder.path(), Rules::Plain, &[], &()).unwrap();
    assert!(found.findings.iter().any(|f| f.kind == FindingKind::Other && f.table == table("KRK")), "{found:?}");
    assert!(aside(folder.path()).is_empty());
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_said() {
    let source = Source::new(|_| {}).await;
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = refused(&source, &file, &request("KRK")).await;
    assert!(error.contains("a file stands where a folder is needed"), "{error}");
    let error = refused(&source, &file.join("below"), &request("KRK")).await;
    assert!(error.contains("a file stands where a folder is needed"), "{error}");
    // A file where a table's folder is to be.
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("tables")).unwrap();
    fs::write(home.join("tables/plain"), "").unwrap();
    let error = refused(&source, &home, &request("KRK")).await;
    assert!(error.contains("a file stands where a folder is needed"), "{error}");
}
