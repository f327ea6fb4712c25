//! Follows a job to its end with a progress bar.

use std::time::Duration;

use anyhow::{Result, bail};
use canju_cluster::{Client, wire};
use indicatif::{ProgressBar, ProgressStyle};

use crate::screen::short;
use crate::summary::at_work;

/// Follows a job until it is done. The bar is drawn on stderr, and only where that is a terminal.
///
/// # Errors
/// What the job failed of, or that it was cancelled.
pub(crate) async fn follow(client: &mut Client, job: &str) -> Result<wire::Job> {
    let mut watch = client.watch(job).await?;
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}") {
        bar.set_style(style);
    }
    let mut pace = Pace::default();
    let mut last = None;
    while let Some(job) = watch.next().await? {
        let fraction = fraction(&job);
        bar.set_position((fraction * 1000.0) as u64);
        bar.set_message(message(&job, fraction, pace.update(job.seconds, job.labels)));
        last = Some(job);
    }
    bar.finish_and_clear();
    let Some(job) = last else { bail!("the coordinator told nothing of job {job}: ask again with `coordinator jobs`") };
    match job.state() {
        wire::JobState::Done => Ok(job),
        wire::JobState::Cancelled => bail!("job {} was cancelled", job.id),
        _ if job.error.is_empty() => bail!("the coordinator stopped before job {} was done: start it again", job.id),
        _ => bail!("{}", job.error),
    }
}

/// How much of the positions is done. Tables at work count by what is done of them.
fn fraction(job: &wire::Job) -> f64 {
    let begun: f64 = job.running.iter().map(|r| r.fraction * r.positions as f64).sum();
    ((job.positions_done as f64 + begun) / job.positions.max(1) as f64).min(1.0)
}

fn message(job: &wire::Job, fraction: f64, pace: f64) -> String {
    let mut text = format!("{}/{} tables", job.done, job.total);
    if job.state() == wire::JobState::Waiting {
        return text + ", waiting for workers";
    }
    if let Some(largest) = job.running.iter().max_by_key(|r| r.positions) {
        text += &format!(", {}", at_work(largest));
        if job.running.len() > 1 {
            text += &format!(" and {} more", job.running.len() - 1);
        }
    }
    text += &format!(", {} labels/s", short(pace));
    if fraction > 0.02 && job.seconds > 1.0 {
        let left = Duration::from_secs_f64((job.seconds * (1.0 - fraction) / fraction).min(1e9));
        text += &format!(", {} left", indicatif::HumanDuration(left));
    }
    text
}

/// Labels a second over the last second or so.
#[derive(Default)]
struct Pace {
    since: (f64, u64),
    rate: f64,
}

impl Pace {
    fn update(&mut self, seconds: f64, labels: u64) -> f64 {
        let (then, before) = self.since;
        if seconds - then >= 0.5 {
            self.rate = labels.saturating_sub(before) as f64 / (seconds - then);
            self.since = (seconds, labels);
        }
        self.rate
    }
}
