//! The manifest: there and back, hashes, merging, and what is wrong with it.

use canju_retro::Metric;
use canju_table::{BuildStatistics, Manifest, MetricEntry, SmallerTable, Verification};
use serde_json::{Value, json};

use crate::fixtures::{Fixture, cells, name, show, slice, statistics};

fn fixture() -> Fixture {
    let slices = (0..4).map(|i| slice(&cells(i, 1000, 9, 3))).collect();
    Fixture::new(Metric::Dtm, &[1000, 1000], &[1, 1], slices)
}

#[test]
fn there_and_back() {
    let manifest = fixture().manifest;
    let mut entry = manifest.metrics[&Metric::Dtm].clone();
    entry.smaller.push(SmallerTable { endgame: name("KPK"), metric: Metric::Dtm, content: "0".repeat(64) });
    entry.verification = Some(Verification { by: vec!["w1".into()], cells: 4000, wrong: 0 });
    entry.build = Some(BuildStatistics { workers: 3, cpu_seconds: 1.5, ..BuildStatistics::default() });
    let manifest = manifest.with_metric(Metric::Dtm, entry);
    let json = manifest.to_json().unwrap();
    assert_eq!(Manifest::parse("m", json.as_bytes()).unwrap(), manifest);
    assert_eq!(Manifest::parse("m", json.as_bytes()).unwrap().to_json().unwrap(), json);
    let line = &manifest.metrics[&Metric::Dtm].longest.w.win.as_ref().unwrap();
    assert!(line.plies > 0 && line.fen.starts_with("cell "));
}

#[test]
fn win_draw_loss_has_no_distances() {
    let fixture = fixture();
    let entry = MetricEntry::new(Metric::Wdl, &statistics(&fixture.slices), vec![], vec![], show).unwrap();
    assert!(entry.longest.w.win.is_none() && entry.longest.b.loss.is_none());
    let counts = &fixture.manifest.sides.w;
    let histogram = &entry.histogram.w;
    assert_eq!((histogram.win.len(), histogram.loss.len()), (1, 1));
    assert_eq!((histogram.draw, *histogram.win.values().next().unwrap()), (counts.draw, counts.win));
}

/// The content is what the endgame determines, not who built it, when, or at what cost.
#[test]
fn the_content_hash() {
    let manifest = fixture().manifest;
    let mut other = manifest.clone();
    let entry = other.metrics.get_mut(&Metric::Dtm).unwrap();
    entry.software = "another".into();
    entry.build = Some(BuildStatistics::default());
    entry.verification = Some(Verification { by: vec![], cells: 0, wrong: 0 });
    assert_eq!(manifest.content_hash(), other.content_hash());
    let mut changed = manifest.clone();
    changed.metrics.get_mut(&Metric::Dtm).unwrap().shards[1].blake3 = "0".repeat(64);
    assert_ne!(manifest.content_hash(), changed.content_hash());
    changed = manifest.clone();
    changed.sides.b.draw += 1;
    assert_ne!(manifest.metric_hash(Metric::Dtm), changed.metric_hash(Metric::Dtm));
    assert_eq!(manifest.metric_hash(Metric::Dtc), None);
}

#[test]
fn metrics_are_added() {
    let fixture = fixture();
    let dtm = fixture.manifest.clone();
    let entry = MetricEntry::new(Metric::Dtc, &statistics(&fixture.slices), vec![], vec![], show).unwrap();
    let mut dtc = dtm.clone();
    dtc.metrics.clear();
    let mut both = dtm.clone();
    both.merge(dtc.with_metric(Metric::Dtc, entry)).unwrap();
    assert_eq!(both.metrics.len(), 2);
    assert_eq!(both.metric_hash(Metric::Dtm), dtm.metric_hash(Metric::Dtm));
    both.merge(dtm.clone()).unwrap();
    let mut other = dtm.clone();
    other.metrics.get_mut(&Metric::Dtm).unwrap().shards.pop();
    let before = both.clone();
    assert!(both.merge(other).unwrap_err().to_string().contains("disagree on metrics.dtm"));
    let mut other = dtm;
    other.sides.w.win += 1;
    assert_eq!(both.merge(other).unwrap_err().field, "sides");
    assert_eq!(both, before);
}

/// Changes one place of the JSON and tells what reading says.
fn with(change: impl FnOnce(&mut Value)) -> Result<Manifest, String> {
    let mut json: Value = serde_json::from_str(&fixture().manifest.to_json().unwrap()).unwrap();
    change(&mut json);
    Manifest::parse("folder/manifest.json", json.to_string().as_bytes()).map_err(|e| e.to_string())
}

#[test]
fn unknown_fields_are_passed_over() {
    let read = with(|m| {
        m["later"] = json!({"a": 1});
        m["sides"]["w"]["later"] = json!(1);
        m["metrics"]["dtm"]["later"] = json!(1);
        m["metrics"]["dtx"] = json!({"another": "metric"});
    });
    assert_eq!(read.unwrap(), fixture().manifest);
}

#[test]
fn optional_fields_may_be_missing() {
    let read = with(|m| {
        let entry = m["metrics"]["dtm"].as_object_mut().unwrap();
        for optional in ["software", "verification"] {
            entry.remove(optional);
        }
        entry.insert("build".into(), json!({ "workers": 3, "later": 1 }));
    });
    let (read, whole) = (read.unwrap(), fixture().manifest);
    let build = read.metrics[&Metric::Dtm].build.as_ref().unwrap();
    assert_eq!((build.workers, build.bytes_stored), (3, 0));
    assert_eq!(read.metric_hash(Metric::Dtm), whole.metric_hash(Metric::Dtm));
    assert!(with(|m| drop(m["metrics"]["dtm"].as_object_mut().unwrap().remove("build"))).is_ok());
}

#[test]
fn wrong_fields_are_named() {
    let says = |change: fn(&mut Value), words: &[&str]| {
        let error = with(change).unwrap_err();
        assert!(error.starts_with("folder/manifest.json: "), "{error}");
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    says(|m| m["format"] = json!(2), &["field format", "update"]);
    says(|m| m["endgame"] = json!("../x"), &["field endgame", "../x"]);
    says(|m| m["rules"] = json!("asian"), &["field rules", "plain"]);
    says(|m| m["sides"]["w"]["win"] = json!("many"), &["field sides.w.win", "many"]);
    says(|m| m["metrics"]["dtm"]["shards"][0]["bytes"] = json!(-1), &["field metrics", "shards[0].bytes", "-1"]);
    says(|m| m["metrics"]["dtm"]["histogram"]["b"]["win"]["x"] = json!(1), &["histogram.b.win", "<order>.<plies>"]);
    says(|m| drop(m.as_object_mut().unwrap().remove("cells")), &["cells"]);
    says(|m| m["metrics"]["dtm"]["shards"][1]["number"] = json!(7), &["shards[1]", "numbered"]);
    says(|m| m["metrics"]["dtm"]["shards"][1]["first_slice"] = json!(7), &["shards[1]", "follow"]);
    says(|m| m["metrics"]["dtm"]["shards"][1]["blake3"] = json!("xyz"), &["shards[1]", "hexadecimal"]);
    says(|m| *m = json!([]), &["invalid"]);
}
