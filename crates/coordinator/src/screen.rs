//! The status of a cluster as lines for people.

use canju_cluster::{bytes_in_words, is_sure, state_name, time_in_words, wire};

use crate::columns::columns;
use crate::summary::at_work;

/// Columns of a sparkline.
const SPARK: usize = 40;

/// The whole picture: store, jobs with what is at work, workers. No line has control characters, whatever the
/// cluster says.
pub(crate) fn screen(status: &wire::StatusReply) -> String {
    let mut text = head(status);
    text.push('\n');
    if status.jobs.is_empty() {
        text += "no jobs\n";
    }
    for job in &status.jobs {
        text += &job_block(job);
    }
    if let Some(job) = status.ended.first() {
        let error = if job.error.is_empty() { String::new() } else { format!(": {}", job.error) };
        text += &format!("\nlast: {} {} {}{error}\n", job.id, job.tables.join(","), state_name(job));
    }
    text.push('\n');
    text += &worker_lines(status);
    printable(&text)
}

fn head(status: &wire::StatusReply) -> String {
    let state = if status.active { "at work" } else { "standing by" };
    let mut text =
        format!("canju {}  {state}  {}  up {}\n", status.version, status.store, time_in_words(status.uptime_seconds));
    if status.active && !is_sure(status) {
        let age = time_in_words(status.lease_seconds);
        text += &format!("! not sure of its lease for {age}: another may be active, and this picture so old\n");
    }
    if !status.store_trouble.is_empty() {
        text += &format!("! the store cannot be reached: {}\n", status.store_trouble);
    }
    for trouble in &status.troubles {
        text += &format!("! {trouble}\n");
    }
    text
}

fn job_block(job: &wire::Job) -> String {
    let mut text = format!("{}  {} {}", job.id, job.tables.join(","), job.metrics.join(","));
    text += &format!("  {}  {}/{} tables", state_name(job), job.done, job.total);
    if job.state() == wire::JobState::Waiting {
        return text + ", waiting for workers\n";
    }
    text += &format!("\n    {} labels/s", short(job.labels_per_second));
    if job.seconds_left > 0.0 {
        text += &format!("  about {} left", time_in_words(job.seconds_left));
    }
    text.push('\n');
    for running in &job.running {
        text += &format!("    {}", at_work(running));
        if running.stage == "plies" {
            text += &format!("  {} labels/s", short(running.labels_per_second));
        }
        if running.seconds_left > 0.0 {
            text += &format!("  about {} left", time_in_words(running.seconds_left));
        }
        text.push('\n');
        if running.frontier.len() > 1 {
            text += &format!("    {}\n", sparkline(&running.frontier));
        }
        if !running.late.is_empty() {
            let names = running.late.join(", ");
            let what = if running.stage == "plies" { "the ply" } else { &running.stage };
            text += &format!("    ! waits for {names}, {what} is open for {}\n", time_in_words(running.ply_seconds));
        }
    }
    text
}

fn worker_lines(status: &wire::StatusReply) -> String {
    if status.workers.is_empty() {
        return "no workers\n".to_owned();
    }
    let late: Vec<&String> = status.jobs.iter().flat_map(|j| &j.running).flat_map(|r| &r.late).collect();
    let rows: Vec<_> = status
        .workers
        .iter()
        .map(|w| {
            let state = match (w.draining, w.ready) {
                _ if late.contains(&&w.name) => "late",
                _ if w.seen_seconds > 6.0 => "silent",
                (true, _) => "draining",
                (false, true) => "ready",
                (false, false) => "joining",
            };
            let bound = if w.memory == 0 { "no bound".to_owned() } else { bytes_in_words(w.memory) };
            let scratch = match w.scratch_used {
                0 => String::new(),
                bytes => format!(" + {} scratch", bytes_in_words(bytes)),
            };
            [
                w.name.clone(),
                state.to_owned(),
                format!("{:.1}/{}", w.cpu_share, w.threads),
                format!("{} of {bound}{scratch}", bytes_in_words(w.memory_used)),
                bytes_in_words(w.bytes_sent),
                bytes_in_words(w.bytes_received),
                if w.tables.is_empty() { "idle".to_owned() } else { w.tables.join(" ") },
            ]
        })
        .collect();
    columns(["worker", "state", "cpu", "memory", "sent", "received", "at work on"], 2, &rows)
}

/// A number with its thousands as a letter.
pub(crate) fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// Counts as bars, by their logarithm: the end of a table is worth seeing too. An empty place is a count of 0.
fn sparkline(counts: &[u64]) -> String {
    let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = counts.len().div_ceil(SPARK).max(1);
    let height = |n: u64| (n as f64 + 1.0).ln();
    let top = counts.iter().copied().max().map_or(1.0, height).max(f64::MIN_POSITIVE);
    let bar = |group: &[u64]| match group.iter().copied().max().unwrap_or(0) {
        0 => ' ',
        n => bars[((height(n) / top * bars.len() as f64).ceil() as usize).clamp(1, bars.len()) - 1],
    };
    counts.chunks(each).map(bar).collect()
}

/// Names come from workers: what could move the cursor is shown as a question mark.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_the_logarithm() {
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(sparkline(&[0, 1, 900, 1_000_000]), " ▁▄█");
        let long: Vec<u64> = (0..256).collect();
        assert!(sparkline(&long).chars().count() <= SPARK);
    }

    #[test]
    fn numbers() {
        assert_eq!([12.0, 1_234.0, 5.6e6, 7e9].map(short), ["12", "1.2 k", "5.6 M", "7.0 G"]);
    }

    #[test]
    fn everything_of_a_cluster_at_work_is_there() {
        let running = wire::Running {
            table: "KRKN".into(),
            metric: "dtm".into(),
            stage: "plies".into(),
            ply: 7,
            frontier: vec![3, 9, 1],
            late: vec!["w\u{1b}[2J2".into()],
            ply_seconds: 12.0,
            labels_per_second: 1500.0,
            seconds_left: 40.0,
            ..wire::Running::default()
        };
        let job = wire::Job {
            id: "j1".into(),
            state: wire::JobState::Running.into(),
            tables: vec!["KRKN".into()],
            metrics: vec!["dtm".into()],
            total: 3,
            done: 1,
            running: vec![running],
            ..wire::Job::default()
        };
        let late = wire::Worker {
            name: "w\u{1b}[2J2".into(),
            ready: true,
            memory: 60 << 20,
            memory_used: 60 << 20,
            scratch_used: 88 << 20,
            bytes_sent: 2048,
            ..wire::Worker::default()
        };
        let status = wire::StatusReply {
            workers: vec![late],
            jobs: vec![job],
            store_trouble: "no route".into(),
            troubles: vec!["worker w9 is left out".into()],
            active: true,
            lease_seconds: 40.0,
            unsure: true,
            ..wire::StatusReply::default()
        };
        let text = screen(&status);
        for word in [
            "! the store cannot be reached: no route",
            "! worker w9 is left out",
            "! not sure of its lease for 40 s: another may be active",
            "j1  KRKN dtm  running  1/3 tables",
            "KRKN dtm ply 7  1.5 k labels/s  about 40 s left",
            "! waits for w?[2J2, the ply is open for 12 s",
            "w?[2J2  late",
            "60.0 MiB of 60.0 MiB + 88.0 MiB scratch",
            "2.0 KiB",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains('\u{1b}'));
        assert!(screen(&wire::StatusReply::default()).contains("no workers"));
    }
}
