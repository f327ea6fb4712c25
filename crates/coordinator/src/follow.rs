//! Follows a job to its end with a progress bar.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use canju_cluster::{Client, Watch, time_in_words, wire};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::screen::short;
use crate::summary::at_work;

/// How long a coordinator that is lost is waited for.
const LOST: Duration = Duration::from_secs(600);

/// Follows a job until it is done, also from one coordinator to the next. The bar is drawn on stderr, and only where that is a terminal.
///
/// # Errors
/// What the job failed of, or that it was cancelled.
pub(crate) async fn follow(client: &mut Client, job: &str) -> Result<wire::Job> {
    let mut watch = client.watch(job).await?;
    // Who is interrupted leaves no bar behind.
    let bar = ProgressBar::new(1000).with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}") {
        bar.set_style(style);
    }
    let mut last = None;
    let told = loop {
        match watch.next().await {
            Ok(Some(job)) => {
                let fraction = fraction(&job);
                bar.set_position((fraction * 1000.0) as u64);
                bar.set_message(message(&job));
                last = Some(job);
            }
            Ok(None) if last.as_ref().is_some_and(is_over) => break last,
            // The coordinator is gone. It, or another one, goes on with the job.
            Ok(None) | Err(_) => {
                bar.set_message("the coordinator is lost, waiting for it");
                match follow_again(client, job).await {
                    Some(again) => watch = again,
                    None => break last,
                }
            }
        }
    };
    bar.finish_and_clear();
    let Some(job) = told else { bail!("the coordinator told nothing of job {job}: ask again with `coordinator jobs`") };
    match job.state() {
        wire::JobState::Done => Ok(job),
        wire::JobState::Cancelled => bail!("job {} was cancelled", job.id),
        _ if job.error.is_empty() => bail!("the coordinator stopped before job {} was done: start it again", job.id),
        _ => bail!("{}", job.error),
    }
}

/// Follows the job at whichever coordinator answers; nothing when none does for too long.
async fn follow_again(client: &mut Client, job: &str) -> Option<Watch> {
    let began = Instant::now();
    while began.elapsed() < LOST {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if client.reconnect().await.is_ok()
            && let Ok(watch) = client.watch(job).await
        {
            return Some(watch);
        }
    }
    None
}

fn is_over(job: &wire::Job) -> bool {
    matches!(job.state(), wire::JobState::Done | wire::JobState::Failed | wire::JobState::Cancelled)
}

/// How much of the positions is done. Tables at work count by what is done of them.
fn fraction(job: &wire::Job) -> f64 {
    let begun: f64 = job.running.iter().map(|r| r.fraction * r.positions as f64).sum();
    ((job.positions_done as f64 + begun) / job.positions.max(1) as f64).min(1.0)
}

fn message(job: &wire::Job) -> String {
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
    text += &format!(", {} labels/s", short(job.labels_per_second));
    if job.seconds_left > 0.0 {
        text += &format!(", about {} left", time_in_words(job.seconds_left));
    }
    text
}
