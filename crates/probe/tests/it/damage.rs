//! Whatever happens to the files of tables, the answer is an error or the right one.

use std::sync::{Arc, LazyLock};

use canju_probe::{Prober, Value};
use canju_retro::Rules;
use canju_table::{MemorySource, TableSet};
use canju_tests::{damage, forge};
use canju_xiangqi::Position;
use proptest::prelude::*;

use crate::wells::{FILES, Files, positions};

/// The small tables: a damaged file is the one that is asked for more often than not.
static SMALL: LazyLock<Files> = LazyLock::new(|| {
    let small = FILES.iter().filter(|(key, _)| key.contains("/KPK/") || key.contains("/KPKA/"));
    small.map(|(key, bytes)| (key.clone(), bytes.clone())).collect()
});

static RIGHT: LazyLock<Vec<(Position, Value)>> = LazyLock::new(|| {
    let asked = [("KPKA", 997), ("KPK", 97)].into_iter().flat_map(|(name, step)| positions(name, step));
    let prober = prober(&SMALL);
    asked.take(60).map(|p| (p, prober.probe(&p).unwrap())).collect()
});

fn prober(files: &Files) -> Prober {
    let source = MemorySource::new();
    for (key, bytes) in files {
        source.insert(key, bytes.clone());
    }
    Prober::new(TableSet::with_cache(Arc::new(source), Rules::Plain, 1 << 20))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_tables_give_errors_or_right_answers(edits in proptest::collection::vec(any::<u8>(), 5..40)) {
        let mut files = SMALL.clone();
        damage(&mut files, &edits);
        let prober = prober(&files);
        for (position, right) in &*RIGHT {
            if let Ok(value) = prober.probe(position) {
                prop_assert_eq!(value.outcome, right.outcome, "{}", position);
                // A manifest that has lost a metric has no distance to tell.
                prop_assert!(value.dtm.is_none() || value.dtm == right.dtm, "{}", position);
                prop_assert!(value.dtc.is_none() || value.dtc == right.dtc, "{}", position);
            }
            if let Ok(wdl) = prober.wdl(position) {
                prop_assert_eq!(wdl, right.outcome, "{}", position);
            }
        }
    }

    #[test]
    fn forged_checksums_lead_to_no_panic(edits in proptest::collection::vec(any::<u8>(), 5..40)) {
        let mut files = SMALL.clone();
        damage(&mut files, &edits);
        for (key, bytes) in &mut files {
            if key.ends_with(".shard") {
                forge(bytes);
            }
        }
        let prober = prober(&files);
        for (position, _) in &*RIGHT {
            let _ = prober.probe(position);
        }
    }
}

#[test]
fn forging_keeps_a_right_shard_as_it_is() {
    for bytes in SMALL.iter().filter(|(key, _)| key.ends_with(".shard")).map(|(_, bytes)| bytes) {
        let mut forged = bytes.clone();
        forged[30] ^= 1;
        forged[32] ^= 1;
        forge(&mut forged);
        assert_eq!(forged, *bytes);
    }
}
