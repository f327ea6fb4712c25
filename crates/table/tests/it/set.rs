//! A folder of tables: asked, read, missing, verified.

use std::fs;
use std::sync::Arc;

use canju_retro::{Cell, Metric, Rules, Side, Tables};
use canju_table::{FolderSource, MetricEntry, Source, TableError, TableSet, parse_manifest_key, shard_key};

use crate::fixtures::{Fixture, cells, collect, name, show, slice, statistics};

fn fixture() -> Fixture {
    let sizes = [9000, 0, 12_000, 5000];
    let slices = sizes
        .iter()
        .enumerate()
        .flat_map(|(i, &len)| [0, 1].map(|s| slice(&cells((2 * i + s) as u64, len as usize, [3, 50, 400, 1][i], 9))));
    Fixture::new(Metric::Dtm, &sizes, &[1, 2, 1], slices.collect())
}

/// Writes a fixture into a folder.
fn into_folder(fixture: &Fixture, folder: &std::path::Path) {
    let mut keys = vec![fixture.manifest.key()];
    keys.extend((0..3).map(|n| shard_key(Rules::Plain, &fixture.table, Metric::Dtm, n)));
    for key in keys {
        let path = folder.join(&key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, fixture.source.read_all(&key).unwrap()).unwrap();
    }
}

#[test]
fn cells_and_slices() {
    let fixture = fixture();
    let (table, slices) = (fixture.table.clone(), fixture.slices.clone());
    let set = TableSet::with_cache(Arc::new(fixture.source), Rules::Plain, 20_000);
    assert_eq!(set.endgames().unwrap(), std::slice::from_ref(&table));
    assert!(set.contains(&table, Metric::Dtm) && !set.contains(&table, Metric::Wdl));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (set, table, slices) = (&set, &table, &slices);
            scope.spawn(move || {
                let mut random = crate::fixtures::Random(thread);
                for _ in 0..3000 {
                    let part = random.next(8);
                    let codes = &slices[part as usize];
                    let index = random.next(codes.len().max(1) as u32);
                    let cell = Cell { slice: part / 2, index, side: Side::BOTH[part as usize % 2] };
                    assert_eq!(set.code(table, Metric::Dtm, cell).ok(), codes.get(index as usize));
                }
            });
        }
    });
    for (part, codes) in slices.iter().enumerate() {
        let (side, number) = (Side::BOTH[part % 2], part as u32 / 2);
        let read = collect(|sink| set.read(&table, Metric::Dtm, side, number, sink).unwrap());
        assert!(read.iter().enumerate().all(|(i, &c)| codes.get(i) == Some(c)) && read.len() == codes.len());
    }
    let beyond = Cell { slice: 4, index: 0, side: Side::First };
    assert!(matches!(set.code(&table, Metric::Dtm, beyond), Err(TableError::NoSuchCell { .. })));
    assert!(set.read(&table, Metric::Dtm, Side::First, 4, &mut |_| ()).is_err());
    let verified = set.verify_shards(&table).unwrap();
    assert_eq!((verified.shards, verified.cells), (3, 2 * 26_000));
    assert_eq!(set.verify_shard(&table, Metric::Dtm, 1).unwrap().cells, 2 * 12_000);
}

#[test]
fn what_is_missing_is_named() {
    let fixture = fixture();
    let set = TableSet::open(Arc::new(fixture.source), Rules::Plain);
    let cell = Cell { slice: 0, index: 0, side: Side::First };
    let error = set.code(&name("KPK"), Metric::Dtm, cell).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no table KPK in memory: fetch it with `fetch get KPK --from SOURCE`, or build it with `coordinator start --build KPK`"
    );
    let error = set.code(&fixture.table, Metric::Dtc, cell).unwrap_err().to_string();
    assert!(error.starts_with("there is no table KCPKA (dtc) in memory"), "{error}");
    let error = set.read(&name("KPK"), Metric::Wdl, Side::First, 0, &mut |_| ()).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("--build KPK"), "{source}");
}

/// A table and a metric that come later are found without opening the set anew.
#[test]
fn later_tables_are_found() {
    let fixture = fixture();
    let folder = tempfile::tempdir().unwrap();
    let set = TableSet::open(Arc::new(FolderSource::new(folder.path())), Rules::Plain);
    assert!(set.endgames().unwrap().is_empty() && !set.contains(&fixture.table, Metric::Dtm));
    into_folder(&fixture, folder.path());
    assert!(set.contains(&fixture.table, Metric::Dtm));
    assert_eq!(set.endgames().unwrap(), std::slice::from_ref(&fixture.table));
    assert!(!set.contains(&fixture.table, Metric::Dtc));
    let entry = MetricEntry::new(Metric::Dtc, &statistics(&fixture.slices), vec![], vec![], show).unwrap();
    let manifest = fixture.manifest.clone().with_metric(Metric::Dtc, entry);
    fs::write(folder.path().join(manifest.key()), manifest.to_json().unwrap()).unwrap();
    assert!(set.contains(&fixture.table, Metric::Dtc));
}

#[test]
fn a_folder_by_either_name() {
    let fixture = fixture();
    let folder = tempfile::tempdir().unwrap();
    into_folder(&fixture, folder.path());
    for path in [folder.path().to_path_buf(), folder.path().join("tables")] {
        let set = TableSet::open(Arc::new(FolderSource::new(path)), Rules::Plain);
        assert_eq!(set.verify_shards(&fixture.table).unwrap().shards, 3);
    }
    let source = FolderSource::new(folder.path());
    assert!(source.manifests().unwrap().iter().all(|key| parse_manifest_key(key).is_some()));
    for outside in ["tables/../secret", "/etc/passwd", "tables//plain", "tables/.hidden", "other/plain"] {
        assert_eq!(source.read_all(outside).unwrap_err().kind(), std::io::ErrorKind::NotFound, "{outside}");
    }
}

#[test]
fn damaged_folders_are_named() {
    let fixture = fixture();
    let folder = tempfile::tempdir().unwrap();
    into_folder(&fixture, folder.path());
    let set = || TableSet::open(Arc::new(FolderSource::new(folder.path())), Rules::Plain);
    let key = |n| shard_key(Rules::Plain, &fixture.table, Metric::Dtm, n);
    let damage = || match set().verify_shards(&fixture.table) {
        Err(TableError::Damaged { damage, .. }) => damage.to_string(),
        other => panic!("{other:?}"),
    };
    let shard = folder.path().join(key(2));
    let whole = fs::read(&shard).unwrap();
    fs::write(&shard, &whole[..whole.len() - 1]).unwrap();
    assert!(damage().contains("0002.shard, byte 0: it has"), "{}", damage());
    // A whole shard of the same length in the wrong place.
    let other = fixture.source.read_all(&key(1)).unwrap();
    fs::write(&shard, &other).unwrap();
    let manifest = folder.path().join(fixture.manifest.key());
    let mut wrong = fixture.manifest.clone();
    wrong.metrics.get_mut(&Metric::Dtm).unwrap().shards[2].bytes = other.len() as u64;
    fs::write(&manifest, wrong.to_json().unwrap()).unwrap();
    assert!(damage().contains("it is shard 1 of KCPKA"), "{}", damage());
    fs::remove_file(&shard).unwrap();
    assert!(damage().contains("it is not there"), "{}", damage());
    // A manifest of another table, and none.
    fs::write(&manifest, fixture.manifest.to_json().unwrap().replace("KCPKA", "KCPKB")).unwrap();
    let error = set().manifest(&fixture.table).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("field endgame"), "{error:?}");
    fs::write(&manifest, "{").unwrap();
    assert!(matches!(set().manifest(&fixture.table), Err(TableError::Manifest { .. })));
}
