//! A coordinator and its workers in one process, for tests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use canju_cluster::*;
use canju_retro::Game;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::chief::soon;

/// A worker at work.
pub struct Hand {
    pub task: JoinHandle<Result<(), ClusterError>>,
    stop: Option<oneshot::Sender<()>>,
}

impl Hand {
    /// Asks it to leave, and waits until it has.
    pub async fn leave(mut self) {
        drop(self.stop.take());
        self.task.await.unwrap().unwrap();
    }

    /// Ends it without a word.
    pub fn kill(self) {
        self.task.abort();
    }
}

/// A coordinator at work.
pub struct Town {
    pub url: String,
    pub task: JoinHandle<Result<(), ClusterError>>,
    stop: Option<oneshot::Sender<()>>,
}

/// Shows what goes on: CANJU_TEST_LOG=canju_cluster=debug.
fn log() {
    if let Ok(filter) = std::env::var("CANJU_TEST_LOG") {
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    }
}

pub fn settings(store: &Path) -> CoordinatorSettings {
    CoordinatorSettings {
        listen: ([127, 0, 0, 1], 0).into(),
        insecure_network: false,
        network: Network::default(),
        store: store.display().to_string(),
        index: 1,
        heartbeat: Duration::from_millis(100),
        checkpoint: Duration::from_secs(60),
        lease: LeaseTiming { renew: Duration::from_millis(50), hold: Duration::from_millis(400) },
        pool: Pool::new(1, "plan").unwrap(),
        advertise: None,
        conductor: Settings { cut_from: 0, patience: Duration::from_secs(5), ..Settings::default() },
    }
}

impl Town {
    pub async fn found(game: Arc<dyn Game>, buckets: &dyn Buckets, settings: CoordinatorSettings) -> Self {
        let network = settings.network.clone();
        let coordinator = Coordinator::bind(game, buckets, settings).await.unwrap();
        let url = coordinator.url();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(coordinator.run(async {
            let _ = stopped.await;
        }));
        log();
        let town = Self { url, task, stop: Some(stop) };
        // It is there when it has its lease; one that was there before may hold it a little longer.
        loop {
            let status = match Client::connect_over(&network, &town.url).await {
                Ok(mut client) => client.status().await,
                Err(error) => Err(error),
            };
            match status {
                Err(ClusterError::Remote(_)) if !town.task.is_finished() => {}
                // Some tests are about who does not get in.
                _ => return town,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A coordinator with so many workers, which cut every table that they can.
    pub async fn with(game: Arc<dyn Game>, store: &Path, workers: usize) -> (Self, Vec<Hand>) {
        let mut settings = settings(store);
        settings.conductor.min_workers = workers;
        let town = Self::found(Arc::clone(&game), &Folders, settings).await;
        let mut hands = Vec::new();
        for i in 0..workers {
            hands.push(town.hire(Arc::clone(&game), Arc::new(Folders), &format!("w{i}"), 0).await);
        }
        (town, hands)
    }

    pub async fn hire(&self, game: Arc<dyn Game>, buckets: Arc<dyn Buckets>, name: &str, memory: u64) -> Hand {
        hire(&self.url, game, buckets, name, memory).await
    }

    pub async fn client(&self) -> Client {
        Client::connect(&self.url).await.unwrap()
    }

    pub async fn submit(&self, tables: &[&str], metrics: &[&str]) -> Result<wire::Job, ClusterError> {
        let words = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        self.client().await.submit(&words(tables), &words(metrics), "").await
    }

    /// Follows a job to its end.
    pub async fn end_of(&self, job: &str) -> wire::Job {
        let mut watch = self.client().await.watch(job).await.unwrap();
        let mut last = None;
        let end = async {
            while let Some(picture) = watch.next().await.unwrap() {
                last = Some(picture);
            }
        };
        soon("the end of the job", end).await;
        last.unwrap()
    }

    pub async fn build(&self, tables: &[&str], metrics: &[&str]) -> wire::Job {
        let job = self.submit(tables, metrics).await.unwrap();
        self.end_of(&job.id).await
    }

    pub async fn close(mut self) {
        drop(self.stop.take());
        self.task.await.unwrap().unwrap();
    }
}

pub async fn hire(url: &str, game: Arc<dyn Game>, buckets: Arc<dyn Buckets>, name: &str, memory: u64) -> Hand {
    hire_over(&Network::default(), url, game, buckets, name, memory).await
}

pub async fn hire_over(
    network: &Network,
    url: &str,
    game: Arc<dyn Game>,
    buckets: Arc<dyn Buckets>,
    name: &str,
    memory: u64,
) -> Hand {
    hire_of(network, &[url.to_owned()], game, buckets, name, memory).await
}

/// A worker of several coordinators.
pub async fn hire_of(
    network: &Network,
    coordinators: &[String],
    game: Arc<dyn Game>,
    buckets: Arc<dyn Buckets>,
    name: &str,
    memory: u64,
) -> Hand {
    let settings = WorkerSettings {
        name: name.to_owned(),
        coordinators: coordinators.to_vec(),
        listen: ([127, 0, 0, 1], 0).into(),
        advertise: None,
        insecure_network: false,
        network: network.clone(),
        memory,
        scratch: None,
        threads: 2,
        retry: Duration::from_millis(20),
        patience: Duration::from_secs(60),
        drain: Duration::from_secs(30),
    };
    let worker = Worker::bind(game, buckets, settings).await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    let task = tokio::spawn(worker.run(stopped, std::future::pending()));
    Hand { task, stop: Some(stop) }
}

/// All files below a folder, without what differs from build to build.
pub fn files(store: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let bytes = std::fs::read(&path).unwrap();
            found.insert(
                name.clone(),
                if name.ends_with("manifest.json") { without_cost(&name, &bytes) } else { bytes },
            );
        }
    }
    let mut found = BTreeMap::new();
    let tables = store.join("tables");
    if tables.exists() {
        walk(store, &tables, &mut found);
    }
    found
}

fn without_cost(name: &str, json: &[u8]) -> Vec<u8> {
    let mut manifest = canju_table::Manifest::parse(name, json).unwrap();
    for entry in manifest.metrics.values_mut() {
        entry.build = None;
    }
    manifest.to_json().unwrap().into_bytes()
}
