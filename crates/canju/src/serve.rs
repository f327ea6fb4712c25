//! `canju serve`: the tables over HTTP.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use canju_serve::{Limits, Server, Service, router};
use canju_store::Location;
use canju_table::OPEN_FILES;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::ServeArguments;
use crate::tables;

/// Files that are not connections: shards, and what the process needs itself.
const FILES: u64 = OPEN_FILES as u64 + 128;

/// Raises the limit of open files as far as it goes, and takes only as many connections as leave room for files.
fn make_room(limits: &mut Limits) {
    let files = rlimit::increase_nofile_limit(u64::MAX).or_else(|_| rlimit::Resource::NOFILE.get_soft());
    let Ok(files) = files else { return };
    let most = usize::try_from(files.saturating_sub(FILES)).unwrap_or(usize::MAX).max(16);
    if most < limits.connections {
        tracing::warn!(files, connections = most, "few files may be open: fewer connections are taken");
        limits.connections = most;
    }
}

/// Serves until SIGTERM or SIGINT; a second one ends it at once.
pub(crate) fn run(arguments: &ServeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let prober = Arc::new(tables::open_with(&arguments.tables, arguments.memory)?);
    let mut limits = Limits {
        requests: arguments.requests as usize,
        timeout: Duration::from_secs(arguments.timeout),
        ..Limits::default()
    };
    if let Some(threads) = arguments.threads {
        limits.threads = usize::from(threads);
    }
    make_room(&mut limits);
    let location: Location = arguments.tables.tables.parse()?;
    let service = match location {
        Location::Folder(folder) => Service::of_folder(prober, folder, limits.clone()),
        _ => Service::new(prober, limits.clone()),
    };
    // Threads that ask are held to a number by the service, and none may wait for another.
    let runtime = Builder::new_multi_thread().max_blocking_threads(limits.threads + 8).enable_all().build()?;
    runtime.block_on(async {
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let server = Server::bind(arguments.listen, limits).await.context(format!("--listen {}", arguments.listen))?;
        let address = server.address();
        if !address.ip().is_loopback() {
            tracing::warn!(%address, "open to everybody who reaches this address");
        }
        writeln!(out, "http://{address}/")?;
        out.flush()?;
        let stop = async {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            tokio::spawn(async move {
                tokio::select! {
                    _ = term.recv() => {}
                    _ = int.recv() => {}
                }
                std::process::exit(130);
            });
        };
        server.run(router(service), stop).await;
        anyhow::Ok(())
    })?;
    // A thread that still waits for a store must not hold the end up.
    runtime.shutdown_background();
    Ok(())
}
