//! Folders, and what is asked of them.

use std::fs;
use std::sync::Arc;

use canju_probe::{Distances, OpenOptions, ProbeError, Prober, Reason, Unknown, Value, Wdl};
use canju_retro::{Metric, Outcome, Rules};
use canju_table::{MemorySource, TableSet};
use canju_xiangqi::{Material, Position};
use tempfile::TempDir;

use crate::wells::{FILES, Files, positions};

fn folder(files: &Files) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (key, bytes) in files {
        let path = folder.path().join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[test]
fn a_folder_answers_as_it_was_asked_to() {
    let folder = folder(&FILES);
    // The store, and the tables in it.
    for place in [folder.path().to_owned(), folder.path().join("tables")] {
        let open = |distances| {
            let options = OpenOptions { distances, cache: 1 << 20, ..OpenOptions::default() };
            Prober::open(place.to_str().unwrap(), &options).unwrap()
        };
        let all = open(Distances::All);
        let [none, dtm, dtc] = [Distances::None, Distances::Dtm, Distances::Dtc].map(open);
        let mut decided = 0;
        for position in positions("KRKN", 9973) {
            let value = all.probe(&position).unwrap();
            decided += usize::from(value.outcome != Wdl::Draw);
            assert_eq!(none.probe(&position).unwrap(), Value { dtm: None, dtc: None, ..value });
            assert_eq!(dtm.probe(&position).unwrap(), Value { dtc: None, ..value });
            assert_eq!(dtc.probe(&position).unwrap(), Value { dtm: None, ..value });
            assert_eq!(none.wdl(&position).unwrap(), value.outcome);
            for metric in [Metric::Dtm, Metric::Dtc] {
                let plies = match none.outcome(&position, metric).unwrap() {
                    Outcome::Draw => None,
                    Outcome::Win(distance) | Outcome::Loss(distance) => Some(distance.plies),
                };
                assert_eq!(plies, value.distance(metric), "{position}");
            }
            let moves = none.moves(&position).unwrap();
            assert_eq!(
                moves.first().map(|(_, v)| v.outcome),
                all.moves(&position).unwrap().first().map(|(_, v)| v.outcome)
            );
            assert!(moves.iter().all(|(_, v)| v.dtm.is_none() && v.dtc.is_none()));
            if value.outcome != Wdl::Draw {
                // A line needs its metric whatever else is answered with.
                assert_eq!(none.main_line(&position, Metric::Dtm, 500).unwrap().len(), usize::from(value.dtm.unwrap()));
            }
        }
        assert!(decided > 20, "{decided}");
    }
}

#[test]
fn places_that_are_none_are_told_from_each_other() {
    let open = |place: &str| Prober::open(place, &OpenOptions::default()).map(drop).unwrap_err();
    let none = open("./no/such/folder");
    assert!(matches!(&none, ProbeError::NoFolder { path } if path == "./no/such/folder"));
    assert!(none.to_string().contains("fetch get"), "{none}");
    if cfg!(feature = "network") {
        assert!(matches!(open("ftp://host/tables"), ProbeError::Open(_)));
    } else {
        assert!(matches!(open("s3://bucket/tables"), ProbeError::NoNetwork { .. }));
    }
}

/// The rules alone tell of who cannot move and of doubled soldiers.
#[test]
fn what_no_table_is_needed_for_is_told_without_one() {
    let prober = Prober::new(TableSet::open(Arc::new(MemorySource::new()), Rules::Plain));
    let ask = |fen: &str| prober.probe(&fen.parse().unwrap());
    // A mate with more men than any table has, and a stalemate whose table is missing.
    for fen in ["3k5/9/9/9/9/9/9/9/9/2BRKA3 b", "3k5/4P4/9/9/9/9/9/9/9/4K4 b"] {
        assert_eq!(ask(fen).unwrap(), Value::LOST, "{fen}");
        assert_eq!(prober.wdl(&fen.parse().unwrap()).unwrap(), Wdl::Loss, "{fen}");
    }
    let reason = |fen: &str| Unknown::of(&ask(fen).unwrap_err(), prober.tables()).unwrap().reason;
    assert_eq!(reason("3k5/9/9/9/9/P8/P8/9/9/4K4 w"), Reason::Doubled);
    assert_eq!(reason("3k5/9/9/9/9/P8/2P6/9/9/4K4 w"), Reason::Missing);
    assert_eq!(reason(&Position::initial().to_fen()), Reason::TooLarge);
    assert_eq!(reason("3k5/9/9/9/9/9/9/9/9/3K5 w"), Reason::Illegal);
}

/// A table is there and one that a capture leads to is not.
#[test]
fn moves_are_rated_as_far_as_tables_tell() {
    let source = MemorySource::new();
    for (key, bytes) in FILES.iter().filter(|(key, _)| !key.contains("/KRK/")) {
        source.insert(key, bytes.clone());
    }
    let (partial, full) = (Prober::new(TableSet::open(Arc::new(source), Rules::Plain)), prober(&FILES));
    let (mut unknown, mut mates) = (0, 0);
    for position in positions("KRKN", 997) {
        let wanted = full.moves(&position).unwrap();
        let rated = partial.rated(&position).unwrap();
        let known: Vec<_> = rated.iter().filter_map(|(m, v)| Some((*m, v.as_ref().ok().copied()?))).collect();
        let of_full: Vec<_> = wanted.iter().filter(|(m, _)| known.iter().any(|(k, _)| k == m)).copied().collect();
        assert_eq!(known, of_full, "{position}");
        assert!(rated.is_sorted_by_key(|(_, value)| value.is_err()));
        for (chosen, value) in &rated {
            let after = position.play(*chosen);
            let bare = Material::of(&after).canonical().0.to_string() == "KRK";
            assert_eq!(value.is_err(), bare && after.has_legal_move(), "{position} {chosen}");
            unknown += usize::from(value.is_err());
            mates += usize::from(bare && !after.has_legal_move());
        }
        assert_eq!(
            full.rated(&position).unwrap().into_iter().map(|(m, v)| (m, v.unwrap())).collect::<Vec<_>>(),
            wanted
        );
    }
    assert!(unknown > 10, "{unknown} unknown, {mates} mates");
    // Without its own table too, the moves that lead out of it are known.
    let position = "4k4/9/9/9/9/9/9/3n5/3R5/3K5 w".parse().unwrap();
    let source = MemorySource::new();
    for (key, bytes) in FILES.iter().filter(|(key, _)| !key.contains("/KRKN/")) {
        source.insert(key, bytes.clone());
    }
    let rated = Prober::new(TableSet::open(Arc::new(source), Rules::Plain)).rated(&position).unwrap();
    let known = rated.iter().filter(|(_, value)| value.is_ok()).count();
    assert_eq!((known, rated[0].0.to_string()), (1, "d1d2".to_owned()));
    assert_eq!(rated[0].1.as_ref().unwrap(), &full.moves(&position).unwrap()[0].1);
}

fn prober(files: &Files) -> Prober {
    let source = MemorySource::new();
    for (key, bytes) in files {
        source.insert(key, bytes.clone());
    }
    Prober::new(TableSet::open(Arc::new(source), Rules::Plain))
}

#[test]
fn tables_that_come_later_and_tables_that_change_are_found() {
    let source = Arc::new(MemorySource::new());
    let prober = Prober::new(TableSet::open(Arc::clone(&source) as _, Rules::Plain));
    let position: Position = "5k3/9/9/9/9/9/9/9/9/4K2R1 w".parse().unwrap();
    assert!(matches!(prober.probe(&position), Err(ProbeError::Table(_))));
    let table = "KRK".to_owned();
    for (key, bytes) in FILES.iter().filter(|(key, _)| key.contains("/KRK/")) {
        source.insert(key, bytes.clone());
    }
    assert_eq!(prober.probe(&position).unwrap().dtm, Some(1));
    let name = canju_retro::TableName::new(&table).unwrap();
    let mut manifest = (*prober.tables().manifest(&name).unwrap()).clone();
    manifest.metrics.remove(&Metric::Dtm);
    source.insert(manifest.key(), manifest.to_json().unwrap().into_bytes());
    assert_eq!(prober.probe(&position).unwrap().dtm, Some(1));
    prober.tables().forget(&name);
    let less = Value { outcome: Wdl::Win, order: 0, dtm: None, dtc: Some(1) };
    assert_eq!(prober.probe(&position).unwrap(), less);
    // Nothing was added, and then a metric is.
    prober.tables().doubt();
    assert_eq!(prober.probe(&position).unwrap(), less);
    source.insert(manifest.key(), FILES[&manifest.key()].clone());
    assert_eq!(prober.probe(&position).unwrap(), less, "nobody has doubted it");
    prober.tables().doubt();
    assert_eq!(prober.probe(&position).unwrap(), Value { dtm: Some(1), ..less });
    assert_eq!(prober.moves(&position).unwrap()[0].1.dtm, Some(1));
}

/// Without its own table a position is known to be won where a move out of it wins: that is true, and the bounds hold.
#[test]
fn a_win_by_a_move_is_a_win() {
    let source = MemorySource::new();
    for (key, bytes) in FILES.iter().filter(|(key, _)| !key.contains("/KRKN/")) {
        source.insert(key, bytes.clone());
    }
    let (without, full) = (Prober::new(TableSet::open(Arc::new(source), Rules::Plain)), prober(&FILES));
    let (mut won, mut open) = (0, 0);
    for position in positions("KRKN", 199) {
        let Err(error) = without.probe(&position) else { continue };
        let unknown = Unknown::of(&error, without.tables()).unwrap();
        let by = without.won_by(&position, &unknown);
        let best = without.rated(&position).unwrap().into_iter().next();
        let best = best.and_then(|(chosen, value)| Some((chosen, value.ok()?))).filter(|(_, v)| v.outcome == Wdl::Win);
        assert_eq!(by, best, "{position}");
        let Some((_, bound)) = by else {
            open += 1;
            continue;
        };
        won += 1;
        let exact = full.probe(&position).unwrap();
        assert_eq!(exact.outcome, Wdl::Win, "{position}");
        assert!(exact.dtm <= bound.dtm && exact.dtc <= bound.dtc, "{position}: {exact:?}, {bound:?}");
    }
    assert!(won > 20 && open > 20, "{won} {open}");
}
