//! The `worker` command: gives a coordinator threads and memory.

mod advertise;
mod arguments;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use canju_cluster::{HttpSettings, Stores, Worker, WorkerSettings, available_memory};
use canju_command::{Unwell, ask, check_scratch, failure};
use canju_games::Games;
use canju_shelf::CacheSettings;
use canju_store::StoreOptions;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::arguments::{Arguments, Command, Start};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::misused::<Arguments>(&error, ""),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Unwell>() => ExitCode::FAILURE,
        Err(error) => failure::fail(&format!("error: {}", canju_cluster::causes(error.as_ref()))),
    }
}

fn run(arguments: Arguments) -> Result<()> {
    arguments.logging.begin("info")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let arguments = match arguments.command {
        Command::Start(arguments) => *arguments,
        Command::Health(h) => return runtime.block_on(ask("the worker", &[h.url], h.live, &h.trust)),
    };
    if let Some(scratch) = &arguments.scratch {
        check_scratch(scratch)?;
    }
    let stores = stores(&arguments)?;
    let http = arguments.http;
    let games = Games::new().with_files(&arguments.game)?;
    let settings = settings(arguments)?;
    let result = runtime.block_on(start(games, stores, settings, http));
    // A part that is still on the threads must not hold up the end.
    runtime.shutdown_background();
    result
}

async fn start(games: Games, stores: Stores, mut settings: WorkerSettings, http: Option<SocketAddr>) -> Result<()> {
    let (once, twice) = stops()?;
    let mut once = Box::pin(once);
    let insecure_network = settings.insecure_network;
    settings.advertise = tokio::select! {
        found = advertise::advertised(settings.advertise.take(), settings.listen, &settings.coordinators) => found?,
        () = &mut once => return Ok(()),
    };
    let worker = Worker::bind(Arc::new(games), Arc::new(stores), settings).await?;
    tracing::info!(address = %worker.listens(), advertised = worker.address(), "worker listens");
    if let Some(listen) = http {
        let probe = worker.probe(&HttpSettings { listen, insecure_network }).await?;
        tracing::info!(url = probe.url(), "probes and metrics");
        // It answers as long as the process lives.
        tokio::spawn(probe.run(std::future::pending()));
    }
    Ok(worker.run(once, twice).await?)
}

/// The first and the second time that the process is told to stop.
fn stops() -> Result<(impl Future<Output = ()>, impl Future<Output = ()>)> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (told, stops) = watch::channel(0);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            told.send_modify(|times| *times += 1);
            let next =
                if *told.borrow() == 1 { "handing over what it has; once more to leave at once" } else { "leaving" };
            tracing::info!(next, "told to stop");
        }
    });
    let after = |times: i32| {
        let mut stops = stops.clone();
        async move {
            // The other side lives as long as the process.
            let _ = stops.wait_for(|&told| told >= times).await;
        }
    };
    Ok((after(1), after(2)))
}

/// How the store is opened that the coordinator names.
fn stores(arguments: &Start) -> Result<Stores> {
    Ok(Stores {
        options: StoreOptions {
            endpoint: arguments.s3_endpoint.clone(),
            region: arguments.s3_region.clone(),
            ..StoreOptions::default()
        },
        cache: CacheSettings { folder: arguments.cache.clone(), bytes: arguments.cache_size },
    })
}

fn settings(arguments: Start) -> Result<WorkerSettings> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let memory = arguments.memory.unwrap_or_else(|| available_memory().map_or(0, |free| free / 5 * 4));
    let network = arguments.trust.network()?;
    Ok(WorkerSettings {
        name: arguments.name.unwrap_or_else(|| format!("{host}-{}", std::process::id())),
        coordinators: arguments.coordinator.iter().map(|url| network.url_of(url)).collect(),
        listen: arguments.listen,
        advertise: arguments.advertise,
        insecure_network: arguments.insecure_network,
        network,
        memory,
        scratch: arguments.scratch,
        threads: arguments
            .threads
            .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from),
        retry: Duration::from_millis(200),
        patience: Duration::from_secs(120),
        drain: arguments.drain,
    })
}
