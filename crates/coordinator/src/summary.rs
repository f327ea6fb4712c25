//! What a finished job did.

use canju_cluster::{bytes_in_words, wire};
use canju_command::words;

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
                format!("{}  {}", distance(b), b.longest_position)
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
        "\n{} built, {} there already, {} positions in {:.1} s\n",
        words::counted(job.done, "table", "tables"),
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

/// The longest win as `canju stats` tells it: plies of an order above 0 do not lead to mate.
fn distance(built: &wire::Built) -> String {
    match built.longest_order {
        0 => built.longest_plies.to_string(),
        order => words::distance(order, built.longest_plies),
    }
}

/// What a running table is at, in a few words.
pub(crate) fn at_work(running: &wire::Running) -> String {
    let metric = if running.metric.is_empty() { String::new() } else { format!(" {}", running.metric) };
    match running.stage.as_str() {
        "plies" => format!("{}{metric} ply {}", running.table, running.ply),
        stage => format!("{}{metric} {stage}", running.table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longest_win_has_its_order() {
        let built = |table: &str, longest_order, longest_plies| wire::Built {
            table: table.to_owned(),
            metric: "dtm".to_owned(),
            longest_order,
            longest_plies,
            longest_position: "FEN".to_owned(),
            ..wire::Built::default()
        };
        let built = vec![built("KRKP", 0, 21), built("KRKPP", 2, 1)];
        let text = summary(&wire::Job { total: 2, done: 2, built, ..wire::Job::default() });
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        let ends = |name: &str, end: &str| line(name).is_some_and(|line| line.ends_with(end));
        assert!(ends("KRKP ", " 21  FEN") && ends("KRKPP ", "order 2 and 1 ply  FEN"), "{text}");
    }
}
