//! `coordinator start`: serves, or builds and ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use canju_cluster::{
    Client, ClusterError, Coordinator, CoordinatorSettings, Dashboard, HttpSettings, LeaseTiming, Network, Pool,
    Settings, Stores, Worker, WorkerSettings, available_memory, check_nested, parse_metrics, parse_tables,
};
use canju_command::check_scratch;
use canju_games::{Games, INDEX_VERSION};
use canju_retro::{Game, Rules};
use canju_shelf::CacheSettings;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::arguments::{Http, Start};
use crate::follow::follow;
use crate::print;
use crate::summary::summary;

/// How often it is looked whether local workers are there.
const ARRIVAL: Duration = Duration::from_millis(20);
/// What a stop may still take: a store that is away does not keep a coordinator from ending.
const FAREWELL: Duration = Duration::from_secs(5);

/// Starts a coordinator, and what goes with it in this process.
pub(crate) async fn start(mut arguments: Start) -> Result<()> {
    let (games, build) = Games::new().with_files(&arguments.game)?.with_words(&arguments.build)?;
    arguments.build = build;
    let game: Arc<dyn Game> = Arc::new(games);
    // What cannot be asked is found out before anything is opened.
    if !arguments.build.is_empty() {
        parse_tables(game.as_ref(), &arguments.build)?;
    }
    parse_metrics(&arguments.wanted.metric)?;
    let _: Rules = arguments.wanted.rules.parse()?;
    let building = !arguments.build.is_empty();
    let workers = arguments.local_workers.unwrap_or(usize::from(building));
    if building && workers == 0 && arguments.listen.is_none() {
        bail!("nobody would do the work: give --local-workers, or --listen for workers of other processes");
    }
    if workers == 0
        && let Some(option) = of_local_workers(&arguments)
    {
        bail!("{option} is for local workers, and there are none: give --local-workers, or give it to `worker start`");
    }
    if let Some(scratch) = &arguments.scratch {
        check_scratch(scratch)?;
    }
    let network = arguments.trust.network()?;
    let stores = Stores {
        options: arguments.place.options(),
        cache: CacheSettings { folder: arguments.cache.folder.clone(), bytes: arguments.cache.size },
    };
    let settings = settings(&arguments, workers, network.clone())?;
    let coordinator = Coordinator::bind(Arc::clone(&game), &stores, settings).await?;
    let url = coordinator.url();
    let dashboard = dashboard(&arguments, &coordinator).await?;
    let (stop, stopped) = watch::channel(());
    let mut tasks: JoinSet<Result<(), ClusterError>> = JoinSet::new();
    tasks.spawn(coordinator.run(dropped(stopped.clone())));
    if let Some(dashboard) = dashboard {
        tracing::info!(url = dashboard.url(), "page and metrics");
        let stopped = stopped.clone();
        tasks.spawn(async {
            dashboard.run(dropped(stopped)).await;
            Ok(())
        });
    }
    for number in 1..=workers {
        let settings = local_worker(
            number,
            workers,
            &url,
            network.clone(),
            arguments.threads,
            arguments.memory,
            arguments.scratch.clone(),
        );
        let worker = Worker::bind(Arc::clone(&game), Arc::new(stores.clone()), settings).await?;
        tasks.spawn(worker.run(std::future::pending(), dropped(stopped.clone())));
    }
    drop(stopped);
    let result = tokio::select! {
        result = work(&arguments, &network, &url, workers, building) => result,
        // None of them ends by itself unless something is wrong.
        Some(ended) = tasks.join_next() => match ended {
            Ok(Ok(())) => Err(anyhow::anyhow!("a part of the coordinator ended too early")),
            Ok(Err(error)) => Err(error.into()),
            Err(error) => Err(error.into()),
        },
    };
    drop(stop);
    if tokio::time::timeout(FAREWELL, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
        tracing::warn!("the lease may not be given back: who comes next waits until it is over");
    }
    result
}

/// An option that was given and says nothing where there are no local workers.
fn of_local_workers(arguments: &Start) -> Option<&'static str> {
    let given = [
        ("--threads", arguments.threads.is_some()),
        ("--memory", arguments.memory.is_some()),
        ("--scratch", arguments.scratch.is_some()),
    ];
    given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
}

/// The HTTP port, where one is wanted.
async fn dashboard(arguments: &Start, coordinator: &Coordinator) -> Result<Option<Dashboard>> {
    let listen = match arguments.http {
        Some(Http::At(address)) => address,
        Some(Http::Off) => return Ok(None),
        None if !arguments.build.is_empty() => return Ok(None),
        None => ([127, 0, 0, 1], 7421).into(),
    };
    let settings = HttpSettings { listen, insecure_network: arguments.insecure_network };
    match coordinator.dashboard(&settings).await {
        Ok(dashboard) => Ok(Some(dashboard)),
        // Nobody asked for this address; the cluster is worth more than its page.
        Err(error) if arguments.http.is_none() => {
            let cause = error.line();
            tracing::warn!(cause, "no page: choose another address with --http, or give --http off");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Builds, or waits for the signal to end.
async fn work(arguments: &Start, network: &Network, url: &str, workers: usize, building: bool) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let signal = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    };
    if !building {
        signal.await;
        tracing::info!("told to stop");
        return Ok(());
    }
    let build = async {
        let mut client = Client::connect_over(network, url).await?;
        arrival(&mut client, workers).await?;
        let wanted = &arguments.wanted;
        let job = client.submit(&arguments.build, &wanted.metric, &wanted.rules).await?;
        let job = follow(&mut client, &job.id).await?;
        print(&summary(&job))
    };
    tokio::select! {
        result = build => result,
        () = signal => bail!("stopped before all was built: finished tables are kept, start again to go on"),
    }
}

/// Waits for the local workers: what does not fit into their memory is refused when it is asked for, not when its turn
/// comes and smaller tables were built for nothing. One that cannot come ends the process by itself.
async fn arrival(client: &mut Client, workers: usize) -> Result<()> {
    while client.status().await?.workers.iter().filter(|w| w.ready).count() < workers {
        tokio::time::sleep(ARRIVAL).await;
    }
    Ok(())
}

/// Ends when the other side of the channel is dropped.
async fn dropped(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

fn settings(arguments: &Start, workers: usize, network: Network) -> Result<CoordinatorSettings> {
    let building = !arguments.build.is_empty();
    let port = if building { 0 } else { 7420 };
    // Workers may run in other folders: they are told the whole path.
    let store = arguments.place.location().context("--store")?;
    if let Some(folder) = store.folder() {
        check_nested(folder).context("--store")?;
    }
    Ok(CoordinatorSettings {
        listen: arguments.listen.unwrap_or_else(|| ([127, 0, 0, 1], port).into()),
        insecure_network: arguments.insecure_network,
        network,
        store: store.to_string(),
        index: INDEX_VERSION,
        heartbeat: Duration::from_secs(2),
        checkpoint: Duration::from_secs(arguments.checkpoint.into()),
        lease: LeaseTiming::default(),
        pool: Pool::new(1, "plan")?,
        advertise: arguments.advertise.clone(),
        conductor: Settings {
            min_workers: arguments.min_workers.unwrap_or(workers.max(1)),
            cut_from: arguments.cut_from,
            ..Settings::default()
        },
    })
}

fn local_worker(
    number: usize,
    workers: usize,
    url: &str,
    network: Network,
    threads: Option<u16>,
    memory: Option<u64>,
    scratch: Option<PathBuf>,
) -> WorkerSettings {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = available_memory().map_or(0, |free| free / 5 * 4 / workers as u64);
    WorkerSettings {
        name: format!("local-{number}"),
        coordinators: vec![url.to_owned()],
        listen: ([127, 0, 0, 1], 0).into(),
        advertise: None,
        insecure_network: false,
        network,
        memory: memory.unwrap_or(share),
        scratch,
        threads: threads.map_or((processors / workers).max(1), usize::from),
        retry: Duration::from_millis(100),
        patience: Duration::from_secs(120),
        drain: Duration::ZERO,
    }
}
