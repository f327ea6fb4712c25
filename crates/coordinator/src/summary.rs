//! What a finished job did.

use canju_cluster::{bytes_in_words, wire};

use crate::columns::{columns, grouped};

/// The job as text: its tables, and what they took.
pub(crate) fn summary(job: &wire::Job) -> String {
    if job.total == 0 {
        return format!(
            "nothing to build: {} ({}) and all that they lead to are there\n",
            job.tables.join(", "),
            job.metrics.join(", ")
        );
    }
    let rows: Vec<_> = job
        .built
        .iter()
        .map(|b| {
            let longest = if b.longest_position.is_empty() {
                "none".to_owned()
            } else {
                format!("{}  {}", b.longest_plies, b.longest_position)
            };
            [
                b.table.clone(),
                b.metric.clone(),
                grouped(b.positions),
                grouped(b.wins),
                grouped(b.draws),
                grouped(b.losses),
                longest,
            ]
        })
        .collect();
    let head = ["endgame", "metric", "positions", "win", "draw", "loss", "longest win in plies (white to move)"];
    let mut text = columns(head, 2, &rows);
    // Both metrics of a table are on the same positions.
    let positions = job.positions.max(1) as f64;
    text += &format!(
        "\n{} tables built, {} there already, {} positions in {:.1} s\n",
        job.done,
        job.present,
        grouped(job.positions),
        job.seconds
    );
    text += &format!("cpu {:.1} s, peak memory {}\n", job.cpu_seconds, bytes_in_words(job.peak_memory));
    text += &format!(
        "sent {} ({:.4} bytes a position), stored {} ({:.4} bytes a position)\n",
        bytes_in_words(job.bytes_sent),
        job.bytes_sent as f64 / positions,
        bytes_in_words(job.bytes_stored),
        job.bytes_stored as f64 / positions
    );
    text
}

/// What a running table is at, in a few words.
pub(crate) fn at_work(running: &wire::Running) -> String {
    let metric = if running.metric.is_empty() { String::new() } else { format!(" {}", running.metric) };
    match running.stage.as_str() {
        "plies" => format!("{}{metric} ply {}", running.table, running.ply),
        stage => format!("{}{metric} {stage}", running.table),
    }
}
