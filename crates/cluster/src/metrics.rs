//! What Prometheus is told. `docs/metrics.md` names and explains it all.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::json::state_name;
use crate::tally::Tally;
use crate::usage::{cpu_seconds, peak_memory};
use crate::{VERSION, wire};

/// The type of the answer.
pub(crate) const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Vec<(&'static str, String)>;
type Level = Gauge<f64, AtomicU64>;
type Levels = Family<Labels, Level>;
type Count = Counter<f64, AtomicU64>;
type Counts = Family<Labels, Count>;

/// The metrics of a coordinator: what is, from its status, and what has been, from its counts. A new registry every
/// time, so that a worker that is gone is gone here too.
pub(crate) fn coordinator(status: &wire::StatusReply, tally: &Tally) -> String {
    let mut registry = registry("coordinator");
    let told = &mut registry;
    level(told, "active", "1 while it gives out work, 0 while it stands by", f64::from(u8::from(status.active)));
    level(told, "reign", "The number of its lease; grows when another coordinator takes over", status.reign as f64);
    let trouble = f64::from(u8::from(!status.store_trouble.is_empty()));
    level(told, "store_trouble", "1 while the store cannot be reached", trouble);
    jobs(told, status);
    workers(told, status);
    let counters = [
        ("labels", "Cells labelled", &tally.labels),
        ("tables_committed", "Tables whose manifest was written", &tally.tables),
        ("runs", "Runs of a metric of a table that were given out", &tally.runs),
        ("recoveries", "Runs that were begun again because a worker or a table was lost", &tally.recoveries),
    ];
    for (name, help, counter) in counters {
        told.register(name, help, counter.clone());
    }
    let bytes = [
        ("sent", "Bytes of messages that workers sent each other", &tally.sent),
        ("received", "Bytes of messages that workers took from each other", &tally.received),
        ("stored", "Bytes of the shards of committed tables", &tally.stored),
    ];
    for (name, help, counter) in bytes {
        told.register_with_unit(name, help, Unit::Bytes, counter.clone());
    }
    told.register_with_unit("ply", "How long plies took", Unit::Seconds, tally.ply_seconds.clone());
    text(&registry)
}

/// The metrics of a worker.
pub(crate) fn worker(attending: bool, memory: u64, threads: usize) -> String {
    let mut registry = registry("worker");
    level(&mut registry, "attending", "1 while it attends a coordinator", f64::from(u8::from(attending)));
    level(&mut registry, "threads", "Threads that compute", threads as f64);
    registry.register_with_unit(
        "memory_limit",
        "What its parts may take; 0 for no bound",
        Unit::Bytes,
        set(memory as f64),
    );
    text(&registry)
}

/// A registry with what is told of every process.
fn registry(role: &'static str) -> Registry {
    let mut registry = Registry::with_prefix("canju");
    let build = [("version", VERSION.to_owned()), ("role", role.to_owned())];
    registry.register("build", "The version of the software", Info::new(build.to_vec()));
    let cpu = Count::default();
    cpu.inc_by(cpu_seconds());
    registry.register_with_unit("process_cpu", "CPU time of the process", Unit::Seconds, cpu);
    let peak = set(peak_memory() as f64);
    registry.register_with_unit("process_peak_memory", "The largest resident size of the process", Unit::Bytes, peak);
    registry
}

fn jobs(registry: &mut Registry, status: &wire::StatusReply) {
    // States without jobs are told too: an alert needs the 0 before the 1.
    let mut states = BTreeMap::from(["waiting", "running", "done", "failed", "cancelled"].map(|name| (name, 0.0)));
    for job in status.jobs.iter().chain(&status.ended) {
        *states.entry(state_name(job)).or_default() += 1.0;
    }
    let by_state = Levels::default();
    for (state, number) in states {
        by_state.get_or_create(&vec![("state", state.to_owned())]).set(number);
    }
    registry.register("jobs", "Jobs by state; of those that are over the last ten", by_state);

    let (positions, done, left) = (Levels::default(), Levels::default(), Levels::default());
    for job in &status.jobs {
        let label = vec![("job", job.id.clone())];
        positions.get_or_create(&label).set(job.positions as f64);
        done.get_or_create(&label).set(job.positions_done as f64);
        left.get_or_create(&label).set(job.seconds_left);
    }
    registry.register("job_positions", "Positions of the tables that a job builds", positions);
    registry.register("job_positions_done", "Positions of those that are committed", done);
    registry.register_with_unit("job_left", "Estimated time to a job's end; 0 when unknown", Unit::Seconds, left);

    let (ply, pace, open) = (Levels::default(), Levels::default(), Levels::default());
    let mut late: Vec<&str> = Vec::new();
    for running in status.jobs.iter().flat_map(|j| &j.running) {
        let label = vec![("endgame", running.table.clone()), ("metric", running.metric.clone())];
        ply.get_or_create(&label).set(f64::from(running.ply));
        pace.get_or_create(&label).set(running.labels_per_second);
        open.get_or_create(&label).set(running.ply_seconds);
        late.extend(running.late.iter().map(String::as_str));
    }
    registry.register("table_ply", "The ply at work of a table", ply);
    registry.register("table_labels_per_second", "Cells of a table labelled a second, lately", pace);
    registry.register_with_unit("table_ply_open", "How long its ply is at work", Unit::Seconds, open);
    late.sort_unstable();
    late.dedup();
    level(
        registry,
        "workers_late",
        "Workers whose report of a ply is missing while others have reported",
        late.len() as f64,
    );
}

fn workers(registry: &mut Registry, status: &wire::StatusReply) {
    let mut states = BTreeMap::from(["ready", "joining", "draining"].map(|name| (name, 0.0)));
    let by_worker = || (Levels::default(), Levels::default(), Levels::default());
    let (used, limit, peak) = by_worker();
    let (seen, busy, scratch) = by_worker();
    let (sent, received) = (Counts::default(), Counts::default());
    for worker in &status.workers {
        let state = match (worker.draining, worker.ready) {
            (true, _) => "draining",
            (false, true) => "ready",
            (false, false) => "joining",
        };
        *states.entry(state).or_default() += 1.0;
        let label = vec![("worker", worker.name.clone())];
        used.get_or_create(&label).set(worker.memory_used as f64);
        scratch.get_or_create(&label).set(worker.scratch_used as f64);
        limit.get_or_create(&label).set(worker.memory as f64);
        peak.get_or_create(&label).set(worker.peak_memory as f64);
        seen.get_or_create(&label).set(worker.seen_seconds);
        busy.get_or_create(&label).set(worker.cpu_share);
        sent.get_or_create(&label).inc_by(worker.bytes_sent as f64);
        received.get_or_create(&label).inc_by(worker.bytes_received as f64);
    }
    let by_state = Levels::default();
    for (state, number) in states {
        by_state.get_or_create(&vec![("state", state.to_owned())]).set(number);
    }
    registry.register("workers", "Workers by state", by_state);
    let strangers = [
        ("workers_turned_away", "Workers that were turned away within a minute", status.turned_away),
        ("workers_unreached", "Workers that are in though the coordinator does not reach them", status.unreached),
        ("workers_left_out", "Workers that are left out of tables that are cut", status.left_out),
    ];
    for (name, help, number) in strangers {
        level(registry, name, help, number.into());
    }
    registry.register("worker_processors", "Processors that a worker's process keeps busy, lately", busy);
    let bytes = [
        ("worker_memory", "What a worker's parts are expected to take of its memory", used),
        ("worker_scratch", "What they are expected to take in files of its scratch folder", scratch),
        ("worker_memory_limit", "What they may take; 0 for no bound", limit),
        ("worker_peak_memory", "The largest resident size of a worker's process", peak),
    ];
    for (name, help, levels) in bytes {
        registry.register_with_unit(name, help, Unit::Bytes, levels);
    }
    registry.register_with_unit("worker_seen", "Time since a worker's last word", Unit::Seconds, seen);
    registry.register_with_unit("worker_sent", "Bytes that a worker sent to others since it joined", Unit::Bytes, sent);
    let help = "Bytes that a worker took from others since it joined";
    registry.register_with_unit("worker_received", help, Unit::Bytes, received);
}

fn set(value: f64) -> Level {
    let level = Level::default();
    level.set(value);
    level
}

fn level(registry: &mut Registry, name: &str, help: &str, value: f64) {
    registry.register(name, help, set(value));
}

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = encode(&mut text, registry);
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// A cluster in which everything is told.
    fn busy() -> wire::StatusReply {
        let running = wire::Running {
            table: "KRKN".into(),
            metric: "dtm".into(),
            ply: 7,
            late: vec!["w1".into(), "w1".into()],
            ..wire::Running::default()
        };
        let job = |state: wire::JobState| wire::Job { id: "j1".into(), state: state.into(), ..wire::Job::default() };
        wire::StatusReply {
            active: true,
            turned_away: 1,
            unreached: 2,
            left_out: 3,
            workers: vec![
                wire::Worker { name: "w1".into(), ready: true, bytes_sent: 7, ..wire::Worker::default() },
                wire::Worker { name: "a\"} 1\ncanju_false 1".into(), draining: true, ..wire::Worker::default() },
            ],
            jobs: vec![wire::Job { running: vec![running], ..job(wire::JobState::Running) }],
            ended: vec![job(wire::JobState::Failed)],
            ..wire::StatusReply::default()
        }
    }

    /// Names of all samples, without labels.
    fn names(text: &str) -> BTreeSet<String> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        samples.filter_map(|line| line.split(['{', ' ']).next()).map(str::to_owned).collect()
    }

    fn told() -> BTreeSet<String> {
        let mut told = names(&coordinator(&busy(), &Tally::default()));
        told.extend(names(&worker(true, 1, 2)));
        told
    }

    fn words(text: &str) -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with("canju_") && *word != "canju_cluster").map(str::to_owned).collect()
    }

    fn file(path: &str) -> String {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
    }

    #[test]
    fn what_is_told_is_what_is() {
        let text = coordinator(&busy(), &Tally::default());
        for line in [
            "canju_active 1.0",
            "canju_jobs{state=\"running\"} 1.0",
            "canju_jobs{state=\"failed\"} 1.0",
            "canju_jobs{state=\"done\"} 0.0",
            "canju_workers{state=\"draining\"} 1.0",
            "canju_workers_late 1.0",
            "canju_workers_turned_away 1.0",
            "canju_workers_unreached 2.0",
            "canju_workers_left_out 3.0",
            "canju_table_ply{endgame=\"KRKN\",metric=\"dtm\"} 7.0",
            "canju_worker_sent_bytes_total{worker=\"w1\"} 7.0",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}: {text}");
        }
        assert!(text.ends_with("# EOF\n"));
        // A name does not get out of its label.
        assert!(!text.lines().any(|l| l.starts_with("canju_false")), "{text}");
    }

    #[test]
    fn counts_are_told() {
        let tally = Tally::default();
        let took = std::time::Duration::from_secs(4);
        tally.gained(crate::history::Gain { labels: 12, plies: 2, took });
        tally.committed(&wire::Built { bytes_stored: 90, ..wire::Built::default() });
        let text = coordinator(&busy(), &tally);
        for line in [
            "canju_labels_total 12",
            "canju_tables_committed_total 1",
            "canju_stored_bytes_total 90",
            "canju_ply_seconds_count 2",
            "canju_ply_seconds_sum 4.0",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}: {text}");
        }
    }

    #[test]
    fn the_documentation_names_every_metric_and_no_other() {
        let documented = words(&file("docs/metrics.md"));
        let told: BTreeSet<String> = told()
            .into_iter()
            .map(|name| ["_bucket", "_sum", "_count"].iter().fold(name, |n, end| n.trim_end_matches(end).to_owned()))
            .collect();
        assert_eq!(documented, told);
    }

    #[test]
    fn dashboards_and_alerts_use_metrics_that_there_are() {
        let told = told();
        let dashboard = file("deploy/grafana/canju.json");
        let parsed: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
        let panels = parsed["panels"].as_array().unwrap();
        let asked: Vec<&str> =
            panels.iter().flat_map(|p| p["targets"].as_array().unwrap()).map(|t| t["expr"].as_str().unwrap()).collect();
        let mut used = words(&asked.join("\n"));
        used.extend(words(&file("deploy/prometheus/alerts.yml")));
        assert!(used.len() > 15, "{used:?}");
        // Prometheus reads none of them where one is no YAML: a colon within a text that is not quoted.
        let alerts = file("deploy/prometheus/alerts.yml");
        let values = alerts.lines().filter_map(|line| line.split_once(": "));
        let broken: Vec<_> = values.filter(|(_, value)| !value.starts_with('"') && value.contains(": ")).collect();
        assert_eq!(broken, []);
        assert_eq!(used.difference(&told).collect::<Vec<_>>(), Vec::<&String>::new());
        let numbers: BTreeSet<u64> = panels.iter().map(|p| p["id"].as_u64().unwrap()).collect();
        assert_eq!(numbers.len(), panels.len());
    }
}
