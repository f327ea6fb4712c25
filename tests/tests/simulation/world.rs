//! The store that all hosts of a simulation share: slow, unreliable, and watched.
//!
//! Every write is judged when it is made: a shard that is not the right one, a manifest of what is not there, a lease that
//! two hold, a finished job that changes. So a wrong table is found at the moment at which it comes to be.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use canju_cluster::{Bucket, Buckets, ClusterError};
use canju_store::{ETag, Key, MemoryStore, Object, ObjectInfo, Retrying, Store, StoreError, StoreOptions};
use canju_table::{Manifest, ReadAt, Source};
use serde_json::Value;

/// The tables of a build that nothing disturbed, without what differs from build to build.
pub type Expected = BTreeMap<String, Bytes>;

/// How the store behaves at the moment.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    /// Milliseconds that a request and its answer take, each.
    pub delay: Range<u64>,
    /// How likely a request fails before it is done, in thousandths.
    pub fails: u32,
    /// How likely the answer to a request is lost after it was done, in thousandths.
    pub lost: u32,
    /// Nobody reaches it.
    pub away: bool,
    /// These hosts do not reach it.
    pub away_for: BTreeSet<String>,
}

/// What all hosts share.
#[derive(Debug)]
pub struct World {
    objects: MemoryStore,
    /// What has to come out; nothing while that is being found out.
    expected: Arc<Expected>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: fastrand::Rng,
    weather: Weather,
    /// Who has held the lease in each reign.
    reigns: BTreeMap<u64, String>,
    /// The last reign of each host.
    reign_of: BTreeMap<String, u64>,
    /// In which reign each record was written last.
    writers: BTreeMap<String, u64>,
    /// Objects that the simulation has damaged.
    damaged: BTreeSet<String>,
    violations: Vec<String>,
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("memory does not wait"),
    }
}

fn without_cost(name: &str, json: &[u8]) -> Bytes {
    let mut manifest = Manifest::parse(name, json).unwrap();
    manifest.metrics.values_mut().for_each(|entry| entry.build = None);
    manifest.to_json().unwrap().into_bytes().into()
}

impl World {
    pub fn new(seed: u64, expected: Arc<Expected>) -> Arc<Self> {
        let state = State {
            random: fastrand::Rng::with_seed(seed),
            weather: Weather::default(),
            reigns: BTreeMap::new(),
            reign_of: BTreeMap::new(),
            writers: BTreeMap::new(),
            damaged: BTreeSet::new(),
            violations: Vec::new(),
        };
        Arc::new(Self { objects: MemoryStore::new(), expected, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn set_weather(&self, change: impl FnOnce(&mut Weather)) {
        change(&mut self.state().weather);
    }

    /// Something happened that must not happen.
    pub fn accuse(&self, what: String) {
        self.state().violations.push(what);
    }

    /// The first thing that must not have happened.
    pub fn violation(&self) -> Option<String> {
        self.state().violations.first().cloned()
    }

    fn read(&self, key: &str) -> Option<Bytes> {
        at_once(self.objects.get(&Key::new(key).ok()?)).ok().map(|object| object.bytes)
    }

    fn list(&self, prefix: &str) -> Vec<String> {
        at_once(self.objects.list(prefix)).unwrap().into_iter().map(|o| o.key.as_str().to_owned()).collect()
    }

    /// All tables, without what differs from build to build.
    pub fn tables(&self) -> Expected {
        let content = |key: &str| {
            let bytes = self.read(key).unwrap();
            if key.ends_with("/manifest.json") { without_cost(key, &bytes) } else { bytes }
        };
        self.list("tables/").into_iter().map(|key| (key.clone(), content(&key))).collect()
    }

    /// Checks the end of a job that is done. Damage that nobody has come across may be left.
    pub fn check_done(&self) {
        if self.expected.is_empty() {
            return;
        }
        let (found, damaged) = (self.tables(), self.state().damaged.clone());
        for key in self.expected.keys().chain(found.keys()) {
            if found.get(key) != self.expected.get(key) && !damaged.contains(key) {
                let there = if found.contains_key(key) { "is not what it should be" } else { "is missing" };
                self.accuse(format!("the job is done and {key} {there}"));
                return;
            }
        }
    }

    /// Flips a bit in some finished shard, if there is one.
    pub fn damage(&self, pick: usize) {
        let listed = |key: &String| key.ends_with(".shard") && self.is_listed(key);
        let shards: Vec<String> = self.list("tables/").into_iter().filter(listed).collect();
        let Some(key) = shards.get(pick % shards.len().max(1)) else { return };
        let mut bytes = self.read(key).unwrap().to_vec();
        let place = pick % bytes.len();
        bytes[place] ^= 1;
        self.state().damaged.insert(key.clone());
        at_once(self.objects.put(&Key::new(key).unwrap(), bytes.into())).unwrap();
    }

    /// Flips a bit in some checkpoint, if there is one.
    pub fn blot(&self, pick: usize) {
        let checkpoints = self.list("work/");
        let Some(key) = checkpoints.get(pick % checkpoints.len().max(1)) else { return };
        let mut bytes = self.read(key).unwrap().to_vec();
        // In the labels, and to another one that could be: only the checksum tells.
        let body = bytes.len() / 3..bytes.len() - 40;
        let place = body.start + pick / 2 % body.len();
        bytes[place] ^= 1 << (1 + pick % 2);
        at_once(self.objects.put(&Key::new(key).unwrap(), bytes.into())).unwrap();
    }

    /// Leaves something where a shard is to be that is not there yet.
    pub fn litter(&self, pick: usize) {
        let missing = |key: &&String| key.ends_with(".shard") && self.read(key).is_none();
        let missing: Vec<&String> = self.expected.keys().filter(missing).collect();
        let Some(key) = missing.get(pick % missing.len().max(1)) else { return };
        let mut bytes = self.expected[*key].to_vec();
        let place = pick % bytes.len();
        bytes[place] ^= 1;
        at_once(self.objects.put(&Key::new(key).unwrap(), bytes.into())).unwrap();
    }

    /// True where a manifest lists the shard.
    fn is_listed(&self, shard: &str) -> bool {
        let manifests = self.list("tables/").into_iter().filter(|key| key.ends_with("/manifest.json"));
        let mut keys = manifests.flat_map(|key| shards_of(&key, &self.read(&key).unwrap()));
        keys.any(|key| key == shard)
    }

    /// Looks at what was just written.
    fn judge(&self, host: &str, key: &str, before: Option<&Bytes>) {
        let Some(after) = self.read(key) else { return };
        if key == "lease/coordinator" {
            self.judge_lease(host, before, &after);
        } else if key.starts_with("jobs/") {
            let state = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["state"].clone();
            self.judge_record(host, key);
            let (was, is) = (before.map(|b| state(b)), state(&after));
            if was.as_ref().is_some_and(|was| *was != "running" && *was != is) {
                self.accuse(format!("{host} made {key} {is} when it was {}", was.unwrap()));
            }
        } else if self.expected.is_empty() || !key.starts_with("tables/") {
        } else if key.ends_with("/manifest.json") {
            self.judge_manifest(host, key, &after);
        } else if self.expected.get(key) != Some(&after) {
            self.accuse(format!("{host} wrote {key} and it is not what it should be"));
        }
    }

    /// Whoever has an older lease than the last one who wrote a record must not write it any more.
    fn judge_record(&self, host: &str, key: &str) {
        let mut state = self.state();
        let reign = state.reign_of.get(host).copied().unwrap_or(0);
        let last = state.writers.insert(key.to_owned(), reign).unwrap_or(0);
        drop(state);
        if reign < last {
            self.accuse(format!("{host} of reign {reign} wrote {key} after reign {last} did"));
        }
    }

    fn judge_lease(&self, host: &str, before: Option<&Bytes>, after: &[u8]) {
        let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let after = parse(after);
        let reign = after["reign"].as_u64().unwrap();
        let was = before.map_or(0, |b| parse(b)["reign"].as_u64().unwrap());
        if reign < was {
            self.accuse(format!("{host} took the lease back from reign {was} to {reign}"));
        }
        if let Some(process) = after["holder"]["process"].as_str() {
            let mut state = self.state();
            state.reign_of.insert(host.to_owned(), reign);
            let first = state.reigns.entry(reign).or_insert_with(|| process.to_owned()).clone();
            drop(state);
            if first != process {
                self.accuse(format!("{host} holds reign {reign} as {process}, which {first} held"));
            }
        }
    }

    fn judge_manifest(&self, host: &str, key: &str, after: &[u8]) {
        let parse = |bytes: &[u8]| Manifest::parse(key, bytes).unwrap();
        let Some(expected) = self.expected.get(key) else {
            return self.accuse(format!("{host} wrote {key}, which is no table of the job"));
        };
        let (expected, found) = (parse(expected), parse(&without_cost(key, after)));
        let same = found.metrics.iter().all(|(metric, entry)| expected.metrics.get(metric) == Some(entry));
        if !same {
            return self.accuse(format!("{host} wrote {key} with other metrics than it should have"));
        }
        let damaged = self.state().damaged.clone();
        for shard in shards_of(key, after).into_iter().filter(|shard| !damaged.contains(shard)) {
            if self.read(&shard).as_ref() != self.expected.get(&shard) {
                self.accuse(format!("{host} wrote {key} while {shard} is not what it should be"));
            }
        }
    }
}

/// The keys of all shards that a manifest lists.
fn shards_of(key: &str, json: &[u8]) -> Vec<String> {
    let manifest = Manifest::parse(key, json).unwrap();
    let shards =
        manifest.metrics.iter().flat_map(|(&metric, entry)| entry.shards.iter().map(move |s| (metric, s.number)));
    shards.map(|(metric, number)| canju_table::shard_key(manifest.rules, &manifest.endgame, metric, number)).collect()
}

/// The store as one host reaches it, without patience.
#[derive(Debug)]
struct Counter {
    world: Arc<World>,
    host: String,
}

impl Counter {
    fn away(&self, key: &str) -> StoreError {
        let source = io::Error::other("the simulation wants it so");
        StoreError::Unavailable { what: format!("at {key}"), place: "the simulation".into(), source }
    }

    /// Asks for something that may change the object `key`.
    async fn ask<T>(
        &self,
        key: &str,
        writes: bool,
        effect: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let (before, after, fails, lost) = {
            let mut state = self.world.state();
            let State { random, weather, .. } = &mut *state;
            let mut delay = || random.u64(weather.delay.start..weather.delay.end.max(weather.delay.start + 1));
            let (before, after) = (delay(), delay());
            let (fails, lost) = (random.u32(..1000) < weather.fails, random.u32(..1000) < weather.lost);
            (Duration::from_millis(before), Duration::from_millis(after), fails, lost)
        };
        tokio::time::sleep(before).await;
        let is_away = || {
            let state = self.world.state();
            state.weather.away || state.weather.away_for.contains(&self.host)
        };
        if is_away() || fails {
            return Err(self.away(key));
        }
        let there = self.world.read(key);
        let result = effect.await;
        if writes && result.is_ok() {
            self.world.judge(&self.host, key, there.as_ref());
        }
        tokio::time::sleep(after).await;
        if is_away() || lost { Err(self.away(key)) } else { result }
    }
}

#[async_trait]
impl Store for Counter {
    fn place(&self) -> String {
        "the simulation".into()
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        self.ask(key.as_str(), false, self.world.objects.get(key)).await
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        self.ask(key.as_str(), false, self.world.objects.get_range(key, range)).await
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        self.ask(key.as_str(), false, self.world.objects.head(key)).await
    }

    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.ask(key.as_str(), true, self.world.objects.put(key, bytes)).await
    }

    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        self.ask(key.as_str(), true, self.world.objects.put_if_absent(key, bytes)).await
    }

    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        self.ask(key.as_str(), true, self.world.objects.put_if_match(key, bytes, expected)).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.ask(key.as_str(), false, self.world.objects.delete(key)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        self.ask(prefix, false, self.world.objects.list(prefix)).await
    }
}

/// Finished tables as readers find them.
struct Shelf(Arc<World>);

impl Source for Shelf {
    fn place(&self) -> String {
        "the simulation".into()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        match self.0.read(key) {
            Some(bytes) => Ok(Arc::new(bytes.to_vec())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        Ok(self.0.list("tables/").into_iter().filter(|key| key.ends_with("/manifest.json")).collect())
    }
}

/// Opens the store for one host, with the patience of real ones.
pub struct Opener {
    pub world: Arc<World>,
    pub host: String,
}

#[async_trait]
impl Buckets for Opener {
    async fn open(&self, _: &str) -> Result<Bucket, ClusterError> {
        let counter = Arc::new(Counter { world: Arc::clone(&self.world), host: self.host.clone() });
        let options = StoreOptions {
            patience: Duration::from_secs(600),
            timeout: Duration::from_secs(10),
            ..StoreOptions::default()
        };
        Ok(Bucket {
            store: Arc::new(Retrying::new(counter, &options)),
            source: Arc::new(Shelf(Arc::clone(&self.world))),
        })
    }
}
