//! What is asked of a coordinator that serves.

use std::error::Error;
use std::fmt;
use std::io::Write;

use anyhow::Result;
use canju_cluster::{Client, job_json, parse_metrics, state_name, status_json, wire};
use canju_games::Games;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::{Cancel, Remote, Status, Submit};
use crate::columns::columns;
use crate::follow::follow;
use crate::print;
use crate::screen::screen;
use crate::summary::{at_work, summary};
use crate::watch::watch;

/// The command was told to stop; the job that it followed was not.
#[derive(Debug)]
pub(crate) struct Interrupted(String);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(job) = self;
        write!(f, "job {job} goes on: `coordinator status` shows it, `coordinator cancel {job}` ends it")
    }
}

impl Error for Interrupted {}

async fn connect(remote: &Remote) -> Result<Client> {
    let network = remote.trust.network()?;
    let urls: Vec<String> = remote.coordinator.iter().map(|url| network.url_of(url)).collect();
    Ok(Client::connect_any(&network, &urls).await?)
}

fn show(remote: &Remote, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> Result<()> {
    if remote.json { print(&format!("{:#}\n", json())) } else { print(&text()) }
}

pub(crate) async fn submit(arguments: Submit) -> Result<()> {
    let wanted = &arguments.wanted;
    parse_metrics(&wanted.metric)?;
    let mut client = connect(&arguments.remote).await?;
    // The coordinator must have been given the files, too.
    let (_, names) = Games::new().with_words(&arguments.names)?;
    let job = client.submit(&names, &wanted.metric, &wanted.rules).await?;
    let text = || format!("job {}: {} tables to build, {} there already\n", job.id, job.total, job.present);
    if arguments.follow {
        let mut interrupted = signal(SignalKind::interrupt())?;
        // Who follows must know what to ask for where that ends early.
        let _ = std::io::stderr().write_all(text().as_bytes());
        let job = tokio::select! {
            job = follow(&mut client, &job.id) => job?,
            _ = interrupted.recv() => return Err(Interrupted(job.id).into()),
        };
        return show(&arguments.remote, || job_json(&job), || summary(&job));
    }
    show(&arguments.remote, || job_json(&job), text)
}

pub(crate) async fn jobs(remote: &Remote) -> Result<()> {
    let jobs = connect(remote).await?.jobs().await?;
    show(remote, || Value::Array(jobs.iter().map(job_json).collect()), || job_lines(&jobs))
}

pub(crate) async fn cancel(arguments: &Cancel) -> Result<()> {
    let job = connect(&arguments.remote).await?.cancel(&arguments.job).await?;
    show(&arguments.remote, || job_json(&job), || format!("job {} is {}\n", job.id, state_name(&job)))
}

pub(crate) async fn status(arguments: &Status) -> Result<()> {
    let remote = &arguments.remote;
    if arguments.watch {
        return watch(|| connect(remote), remote.json).await;
    }
    let status = connect(remote).await?.status().await?;
    show(remote, || status_json(&status), || screen(&status))
}

fn job_lines(jobs: &[wire::Job]) -> String {
    if jobs.is_empty() {
        return "no jobs\n".to_owned();
    }
    let rows: Vec<_> = jobs
        .iter()
        .map(|j| {
            let mut what = j.running.iter().map(at_work).collect::<Vec<_>>().join("; ");
            if !j.error.is_empty() {
                what = format!("error: {}", j.error);
            }
            [
                j.id.clone(),
                state_name(j).to_owned(),
                j.tables.join(","),
                j.metrics.join(","),
                format!("{}/{}", j.done, j.total),
                format!("{:.1}", j.seconds),
                what,
            ]
        })
        .collect();
    columns(["job", "state", "endgames", "metrics", "tables", "seconds", "at work on"], 4, &rows)
}
