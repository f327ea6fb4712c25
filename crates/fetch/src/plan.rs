//! What is asked for, and what of it is missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use canju_retro::{Metric, Rules, TableName};
use canju_table::{Manifest, ShardInfo, shard_key};
use rayon::prelude::*;

use crate::home::{Local, hash_file};
use crate::partial::{kept, total};
use crate::{Closure, Event, FetchError, Home, Watch};

/// What is asked for, and how it is fetched.
#[derive(Clone, Debug)]
pub struct Request {
    /// The endgames.
    pub endgames: Vec<TableName>,
    /// Under which rules.
    pub rules: Rules,
    /// Which metrics; `None` for all that there are.
    pub metrics: Option<BTreeSet<Metric>>,
    /// True to fetch the smaller tables, too.
    pub smaller: bool,
    /// Requests that are under way at once, at least 1.
    pub jobs: usize,
    /// Bytes of one request at most, at least 1.
    pub piece: u64,
}

impl Request {
    /// All metrics of some endgames and of all smaller tables, by 8 requests of 4 MiB at once.
    #[must_use]
    pub fn new(endgames: Vec<TableName>) -> Self {
        Self { endgames, rules: Rules::Plain, metrics: None, smaller: true, jobs: 8, piece: 4 << 20 }
    }
}

/// What a fetch has to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The tables that are not whole yet, smaller ones first; with the metrics that are wanted.
    pub tables: Vec<Manifest>,
    /// Tables that are whole already.
    pub whole: usize,
    /// Bytes of the missing shards that are still to come.
    pub bytes: u64,
    /// Bytes of them that an earlier fetch kept aside.
    pub kept: u64,
    /// Bytes that are free on the folder's disk.
    pub free: u64,
    pub(crate) shards: Vec<Missing>,
}

/// A shard that is to be fetched.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// Of which of the plan's tables.
    pub table: usize,
    pub key: String,
    pub info: ShardInfo,
}

/// A shard as the folder has it.
enum Found {
    Whole,
    Missing,
    Damaged(String),
}

/// Compares a folder with what is wanted of it. Writes nothing.
pub(crate) async fn plan(
    home: &Home,
    closure: &Closure,
    place: &str,
    watch: Arc<dyn Watch>,
) -> Result<Plan, FetchError> {
    let (home, closure, place) = (home.clone(), closure.clone(), place.to_owned());
    let planned = tokio::task::spawn_blocking(move || compare(&home, &closure, &place, &*watch)).await;
    planned.unwrap_or_else(|stopped| Err(FetchError::local(Path::new("."), "compared")(std::io::Error::other(stopped))))
}

fn compare(home: &Home, closure: &Closure, place: &str, watch: &dyn Watch) -> Result<Plan, FetchError> {
    let mut has_manifest = Vec::new();
    let mut shards = Vec::new();
    for (table, manifest) in closure.manifests.iter().enumerate() {
        let (rules, name) = (manifest.rules, &manifest.endgame);
        has_manifest.push(match home.manifest(rules, name)? {
            Local::None => false,
            Local::Unusable(what) => {
                watch.see(Event::Replaced { key: &manifest.key(), what: &what });
                false
            }
            Local::Manifest(local) => {
                let mut merged = *local.clone();
                merged.merge(manifest.clone()).map_err(|conflict| home.other(manifest, place, conflict))?;
                merged == *local
            }
        });
        for (&metric, entry) in &manifest.metrics {
            let of_metric = entry.shards.iter();
            shards.extend(of_metric.map(|info| Missing {
                table,
                key: shard_key(rules, name, metric, info.number),
                info: info.clone(),
            }));
        }
    }
    let here = |shard: &Missing| home.file(&shard.key).metadata().is_ok_and(|data| data.len() == shard.info.bytes);
    watch.see(Event::Checking(shards.iter().filter(|shard| here(shard)).map(|shard| shard.info.bytes).sum()));
    let found: Vec<Found> = shards.par_iter().map(|shard| find(home, shard, watch)).collect::<Result<_, _>>()?;

    let mut missing = Vec::new();
    for (shard, found) in shards.into_iter().zip(found) {
        match found {
            Found::Whole => continue,
            Found::Missing => {}
            Found::Damaged(what) => watch.see(Event::Replaced { key: &shard.key, what: &what }),
        }
        missing.push(shard);
    }
    let lacks: BTreeSet<usize> = missing.iter().map(|shard| shard.table).collect();
    let todo: Vec<usize> = (0..closure.manifests.len()).filter(|t| !has_manifest[*t] || lacks.contains(t)).collect();
    for shard in &mut missing {
        shard.table = todo.partition_point(|&t| t < shard.table);
    }
    let aside: u64 = missing.iter().map(|shard| total(&kept(&home.aside(&shard.key), &shard.info))).sum();
    let all = missing.iter().fold(0u64, |sum, shard| sum.saturating_add(shard.info.bytes));
    Ok(Plan {
        tables: todo.iter().map(|&t| closure.manifests[t].clone()).collect(),
        whole: closure.manifests.len() - todo.len(),
        bytes: all - aside,
        kept: aside,
        free: home.free()?,
        shards: missing,
    })
}

fn find(home: &Home, shard: &Missing, watch: &dyn Watch) -> Result<Found, FetchError> {
    let path = home.file(&shard.key);
    match path.metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Missing),
        Err(e) => return Err(FetchError::local(&path, "read")(e)),
        Ok(data) if data.len() != shard.info.bytes => {
            return Ok(Found::Damaged(format!("it has {} bytes, {} by the manifest", data.len(), shard.info.bytes)));
        }
        Ok(_) => {}
    }
    match hash_file(&path, &|read| watch.see(Event::Checked(read))) {
        Ok(hash) if hash == shard.info.blake3 => Ok(Found::Whole),
        Ok(_) => Ok(Found::Damaged("its BLAKE3 is not that of the manifest".to_owned())),
        // A bad sector: the file is replaced by one elsewhere on the disk.
        Err(e) => Ok(Found::Damaged(e.to_string())),
    }
}
