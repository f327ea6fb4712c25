//! Jobs and clusters in JSON, as `--json` prints them and the coordinator's HTTP port serves them.

use serde_json::{Value, json};

use crate::wire;

/// What a job's state is called.
#[must_use]
pub fn state_name(job: &wire::Job) -> &'static str {
    match job.state() {
        wire::JobState::Unspecified => "unknown",
        wire::JobState::Waiting => "waiting",
        wire::JobState::Running => "running",
        wire::JobState::Done => "done",
        wire::JobState::Failed => "failed",
        wire::JobState::Cancelled => "cancelled",
    }
}

/// What the standing of a table of a closure is called.
#[must_use]
pub fn standing_name(table: &wire::TableState) -> &'static str {
    match table.state() {
        wire::Standing::Unspecified => "unknown",
        wire::Standing::Present => "present",
        wire::Standing::Waiting => "waiting",
        wire::Standing::Running => "running",
        wire::Standing::Repairing => "repairing",
        wire::Standing::Committed => "committed",
        wire::Standing::Failed => "failed",
    }
}

/// A job as JSON: the fields of `docs/json.md`.
#[must_use]
pub fn job_json(job: &wire::Job) -> Value {
    let built = job.built.iter().map(|b| {
        let mut longest = json!({ "plies": b.longest_plies, "position": b.longest_position });
        if b.longest_order > 0 {
            longest["order"] = b.longest_order.into();
        }
        json!({
            "endgame": b.table, "metric": b.metric, "positions": b.positions,
            "win": b.wins, "draw": b.draws, "loss": b.losses,
            "longest_win": longest,
            "plies": b.plies, "workers": b.workers, "bytes_sent": b.bytes_sent, "bytes_stored": b.bytes_stored,
        })
    });
    json!({
        "id": job.id, "state": state_name(job), "error": job.error, "tables": job.tables, "metrics": job.metrics,
        "total": job.total, "done": job.done, "present": job.present,
        "positions": job.positions, "positions_done": job.positions_done, "labels": job.labels,
        "labels_per_second": job.labels_per_second, "seconds_left": known(job.seconds_left),
        "seconds": job.seconds, "cpu_seconds": job.cpu_seconds, "peak_memory": job.peak_memory,
        "bytes_sent": job.bytes_sent, "bytes_stored": job.bytes_stored,
        "running": job.running.iter().map(running_json).collect::<Vec<_>>(),
        "closure": job.tables_state.iter().map(table_json).collect::<Vec<_>>(),
        "built": built.collect::<Vec<_>>(),
    })
}

fn running_json(running: &wire::Running) -> Value {
    json!({
        "endgame": running.table, "metric": running.metric, "stage": running.stage, "ply": running.ply,
        "labels": running.labels, "positions": running.positions, "workers": running.workers,
        "fraction": running.fraction, "frontier": running.frontier, "frontier_stride": running.frontier_stride,
        "late": running.late, "ply_seconds": running.ply_seconds,
        "labels_per_second": running.labels_per_second, "seconds_left": known(running.seconds_left),
    })
}

fn table_json(table: &wire::TableState) -> Value {
    json!({
        "endgame": table.table, "smaller": table.smaller, "state": standing_name(table), "metric": table.metric,
        "stage": table.stage, "ply": table.ply, "fraction": table.fraction, "positions": table.positions,
    })
}

/// A cluster as JSON: the fields of `docs/json.md`.
#[must_use]
pub fn status_json(status: &wire::StatusReply) -> Value {
    let workers = status.workers.iter().map(|w| {
        json!({
            "id": w.id, "name": w.name, "address": w.address, "host": w.host, "threads": w.threads, "memory": w.memory,
            "memory_used": w.memory_used, "scratch_used": w.scratch_used, "peak_memory": w.peak_memory, "tables": w.tables,
            "cpu_seconds": w.cpu_seconds, "cpu_share": w.cpu_share, "bytes_sent": w.bytes_sent,
            "bytes_received": w.bytes_received, "seen_seconds": w.seen_seconds, "ready": w.ready,
            "draining": w.draining,
        })
    });
    json!({
        "store": status.store, "store_trouble": status.store_trouble, "reign": status.reign, "active": status.active,
        "unsure": status.unsure,
        "version": status.version, "uptime_seconds": status.uptime_seconds,
        "lease_seconds": status.lease_seconds, "troubles": status.troubles,
        "turned_away": status.turned_away, "unreached": status.unreached, "left_out": status.left_out,
        "workers": workers.collect::<Vec<_>>(),
        "jobs": status.jobs.iter().map(job_json).collect::<Vec<_>>(),
        "ended": status.ended.iter().map(job_json).collect::<Vec<_>>(),
    })
}

/// An estimate, when there is one.
fn known(seconds: f64) -> Option<f64> {
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_may_be_old_says_so() {
        let status = wire::StatusReply { active: true, unsure: true, ..Default::default() };
        assert_eq!(status_json(&status)["unsure"], true);
        assert_eq!(status_json(&wire::StatusReply::default())["unsure"], false);
    }
}
