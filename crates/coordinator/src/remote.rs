//! What is asked of a coordinator that serves.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Result;
use canju_cluster::{Client, bytes_in_words, wire};
use serde_json::{Value, json};

use crate::arguments::{Cancel, Remote, Status, Submit};
use crate::columns::columns;
use crate::follow::follow;
use crate::print;
use crate::summary::{at_work, job_json, state_name, summary};

async fn connect(remote: &Remote) -> Result<Client> {
    let network = remote.trust.network()?;
    let urls: Vec<String> = remote.coordinator.iter().map(|url| network.url_of(url)).collect();
    Ok(Client::connect_any(&network, &urls).await?)
}

fn show(remote: &Remote, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> Result<()> {
    if remote.json { print(&format!("{:#}\n", json())) } else { print(&text()) }
}

pub(crate) async fn submit(arguments: Submit) -> Result<()> {
    let mut client = connect(&arguments.remote).await?;
    let wanted = &arguments.wanted;
    let job = client.submit(&arguments.names, &wanted.metric, &wanted.rules).await?;
    if arguments.follow {
        let job = follow(&mut client, &job.id).await?;
        return show(&arguments.remote, || job_json(&job), || summary(&job));
    }
    let text = || format!("job {}: {} tables to build, {} there already\n", job.id, job.total, job.present);
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
    let mut client = connect(&arguments.remote).await?;
    loop {
        let status = client.status().await?;
        if arguments.watch && !arguments.remote.json && std::io::stdout().is_terminal() {
            print("\x1b[2J\x1b[H")?;
        }
        show(&arguments.remote, || status_json(&status), || status_text(&status))?;
        if !arguments.watch {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

fn status_text(status: &wire::StatusReply) -> String {
    let rows: Vec<_> = status
        .workers
        .iter()
        .map(|w| {
            let bound = if w.memory == 0 { "no bound".to_owned() } else { bytes_in_words(w.memory) };
            let tables = if w.tables.is_empty() { "idle".to_owned() } else { w.tables.join(" ") };
            let used = format!("{} of {bound}", bytes_in_words(w.memory_used));
            [w.name.clone(), w.address.clone(), w.threads.to_string(), format!("{:.1}", w.cpu_seconds), used, tables]
        })
        .collect();
    let mut text = format!("store: {}\n\n", status.store);
    text += &columns(["worker", "address", "threads", "cpu s", "memory", "at work on"], 2, &rows);
    text.push('\n');
    text + &job_lines(&status.jobs)
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

fn status_json(status: &wire::StatusReply) -> Value {
    let workers = status.workers.iter().map(|w| {
        json!({
            "name": w.name, "address": w.address, "threads": w.threads, "memory": w.memory,
            "memory_used": w.memory_used, "tables": w.tables, "cpu_seconds": w.cpu_seconds,
        })
    });
    json!({
        "store": status.store,
        "workers": workers.collect::<Vec<_>>(),
        "jobs": status.jobs.iter().map(job_json).collect::<Vec<_>>(),
    })
}
