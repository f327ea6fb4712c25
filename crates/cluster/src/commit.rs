//! The manifest: what makes finished shards a table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use canju_retro::{Game, GameError, Metric, Rules, Shape, TableName};
use canju_store::{ETag, Store, StoreError};
use canju_table::{
    BuildStatistics, Manifest, MetricEntry, ShardInfo, SmallerTable, TableError, manifest_key, shard_key,
};

use crate::bucket::key;
use crate::{Bucket, ClusterError, Commit, Pool, SolvedMetric, wire};

/// How often an object is read again when another process changes it at the same time.
pub(crate) const ATTEMPTS: usize = 5;

/// The manifest of a table, if it is there.
///
/// # Errors
/// What the store says; [`ClusterError::Table`] for a manifest that is none.
pub(crate) async fn read_manifest(
    store: &dyn Store,
    rules: Rules,
    table: &TableName,
) -> Result<Option<(Manifest, ETag)>, ClusterError> {
    let name = manifest_key(rules, table);
    match store.get(&key(&name)?).await {
        Ok(object) => {
            let manifest = Manifest::parse(&name, &object.bytes).map_err(|error| {
                ClusterError::Table(Box::new(TableError::Manifest {
                    table: table.clone(),
                    place: store.place(),
                    error,
                }))
            })?;
            Ok(Some((manifest, object.etag)))
        }
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The manifest of a table of this version of the index, if it is there.
///
/// # Errors
/// As [`read_manifest`]; [`ClusterError::Refused`] for another version: its cells are other positions.
async fn manifest(
    store: &dyn Store,
    rules: Rules,
    index: u32,
    table: &TableName,
) -> Result<Option<(Manifest, ETag)>, ClusterError> {
    let found = read_manifest(store, rules, table).await?;
    match &found {
        Some((manifest, _)) if manifest.index != index => Err(ClusterError::Refused(format!(
            "{table} in {} was built with version {} of the index and this software has version {index}: \
             delete the folder {} there, or build into another one",
            store.place(),
            manifest.index,
            manifest_key(rules, table).trim_end_matches("/manifest.json"),
        ))),
        _ => Ok(found),
    }
}

/// What a store has of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// The metrics, whole.
    pub metrics: BTreeSet<Metric>,
    /// The positions that its manifest tells, if there is one.
    pub positions: Option<u64>,
}

/// What a store has of these tables: a metric of which a shard is missing or of another length than
/// its manifest says is left out, so that it is built again. `index` is the version of the game's index.
///
/// # Errors
/// What the store says; [`ClusterError::Table`] for a manifest that cannot be used,
/// [`ClusterError::Refused`] for one of another version of the index.
pub async fn present(
    store: &dyn Store,
    rules: Rules,
    index: u32,
    tables: &[TableName],
) -> Result<BTreeMap<TableName, Present>, ClusterError> {
    let mut present = BTreeMap::new();
    for table in tables {
        if let Some((manifest, _)) = manifest(store, rules, index, table).await? {
            let metrics = whole_metrics(store, rules, table, &manifest).await?;
            present.insert(table.clone(), Present { metrics, positions: Some(manifest.positions) });
        }
    }
    Ok(present)
}

/// The metrics of a manifest of which all shards are there.
async fn whole_metrics(
    store: &dyn Store,
    rules: Rules,
    table: &TableName,
    manifest: &Manifest,
) -> Result<BTreeSet<Metric>, ClusterError> {
    let name = manifest_key(rules, table);
    let listed = store.list(name.trim_end_matches("manifest.json")).await?;
    let lengths: BTreeMap<&str, u64> = listed.iter().map(|o| (o.key.as_str(), o.len)).collect();
    let mut whole = BTreeSet::new();
    for (&metric, entry) in &manifest.metrics {
        let missing = entry.shards.iter().find(|shard| {
            let key = shard_key(rules, table, metric, shard.number);
            lengths.get(key.as_str()) != Some(&shard.bytes)
        });
        match missing {
            None => {
                whole.insert(metric);
            }
            Some(shard) => tracing::warn!(%table, %metric, shard = shard.number,
                "a shard is missing or cut short: the table counts as one without this metric"),
        }
    }
    Ok(whole)
}

/// Writes the manifest of a solved table, or adds its new metric to the one that is there. Returns what
/// the job's summary says of it. `index` is the version of the game's index.
///
/// # Errors
/// What the store says; [`ClusterError::Refused`] when the table is there already with other content, when
/// its metrics contradict each other, and when a smaller table lacks what was read of it.
pub async fn commit(
    game: &Arc<dyn Game>,
    bucket: &Bucket,
    pool: &Pool,
    index: u32,
    commit: &Commit,
) -> Result<wire::Built, ClusterError> {
    let mut smaller = Vec::new();
    for table in &commit.smaller {
        let found = manifest(bucket.store.as_ref(), commit.rules, index, table).await?;
        let (manifest, _) = found.ok_or_else(|| {
            ClusterError::Refused(format!("the manifest of the smaller table {table} is gone: build it again"))
        })?;
        smaller.push(manifest);
    }
    // The indices of large tables take a moment.
    let (fresh, built) = {
        let (game, commit) = (Arc::clone(game), commit.clone());
        let draw = move || -> Result<_, ClusterError> {
            let shape = game.shape(&commit.table)?;
            let fresh = draw_up(game.as_ref(), index, &commit, &shape, &smaller)?;
            Ok((fresh, summary(game.as_ref(), &commit, &shape, &commit.solved)?))
        };
        pool.run(draw).await??
    };
    write(bucket, index, commit, fresh).await?;
    Ok(built)
}

fn draw_up(
    game: &dyn Game,
    index: u32,
    commit: &Commit,
    shape: &Shape,
    smaller: &[Manifest],
) -> Result<Manifest, ClusterError> {
    let solved = &commit.solved;
    let mut manifest = Manifest::new(&commit.table, commit.rules, index, shape, &solved.statistics)
        .with_definition(game.definition(&commit.table));
    for (metric, shards) in shards_by_metric(solved, shape)? {
        let read = metric.of_smaller(commit.rules);
        let hashes = smaller.iter().map(|manifest| {
            let endgame = manifest.endgame.clone();
            let content = manifest.metric_hash(read).ok_or_else(|| {
                ClusterError::Refused(format!("the smaller table {endgame} has no {read} any more: build it again"))
            })?;
            Ok(SmallerTable { endgame, metric: read, content })
        });
        let hashes = hashes.collect::<Result<_, ClusterError>>()?;
        let show = |cell| game.show(&commit.table, cell);
        let mut entry = MetricEntry::new(metric, &solved.statistics, shards, hashes, show)?;
        entry.build = (metric == solved.metric).then(|| BuildStatistics {
            workers: solved.workers,
            cpu_seconds: solved.cpu_seconds,
            wall_seconds: solved.wall_seconds,
            peak_memory_bytes: solved.peak_memory,
            bytes_sent: solved.bytes_sent,
            bytes_stored: solved.bytes_stored(),
        });
        manifest = manifest.with_metric(metric, entry);
    }
    Ok(manifest)
}

/// The entries of all shards, complete and in order.
fn shards_by_metric(solved: &SolvedMetric, shape: &Shape) -> Result<BTreeMap<Metric, Vec<ShardInfo>>, ClusterError> {
    let mut shards: BTreeMap<Metric, Vec<ShardInfo>> = BTreeMap::new();
    for shard in &solved.shards {
        let info = serde_json::from_str(&shard.entry)
            .map_err(|e| ClusterError::Protocol(format!("a shard's entry that is none: {e}")))?;
        shards.entry(shard.metric.parse()?).or_default().push(info);
    }
    for (metric, list) in &mut shards {
        list.sort_by_key(|s| s.number);
        let complete = list.iter().map(|s| s.number).eq(0..shape.runs.len() as u32);
        if !complete {
            return Err(ClusterError::Protocol(format!(
                "{} shards of {metric}, for {} runs",
                list.len(),
                shape.runs.len()
            )));
        }
    }
    if shards.contains_key(&solved.metric) {
        Ok(shards)
    } else {
        Err(ClusterError::Protocol(format!("no shards of {}", solved.metric)))
    }
}

async fn write(bucket: &Bucket, index: u32, commit: &Commit, fresh: Manifest) -> Result<(), ClusterError> {
    let name = key(&fresh.key())?;
    let refuse = |text: String| Err(ClusterError::Refused(text));
    for _ in 0..ATTEMPTS {
        let (whole, before) = match manifest(bucket.store.as_ref(), commit.rules, index, &commit.table).await? {
            None => (fresh.clone(), None),
            Some((mut there, etag)) => {
                if let Err(conflict) = there.merge(fresh.clone()) {
                    return refuse(conflict.to_string());
                }
                (there, Some(etag))
            }
        };
        let json = whole.to_json().map_err(|e| ClusterError::Table(Box::new(e)))?;
        let written = match &before {
            None => bucket.store.put_if_absent(&name, Bytes::from(json)).await,
            Some(etag) => bucket.store.put_if_match(&name, Bytes::from(json), etag).await,
        };
        match written {
            Ok(_) => return Ok(()),
            Err(StoreError::AlreadyExists { .. } | StoreError::Changed { .. } | StoreError::NotFound { .. }) => {}
            Err(e) => return Err(e.into()),
        }
    }
    refuse(format!("the manifest of {} is changed again and again by another process", commit.table))
}

fn summary(game: &dyn Game, commit: &Commit, shape: &Shape, solved: &SolvedMetric) -> Result<wire::Built, GameError> {
    let side = &solved.statistics.sides[0];
    let (longest_order, longest_plies) = match side.longest_win.map(|longest| longest.distance) {
        None => (0, 0),
        // Nothing is forbidden: what is in the order are steps that plies are too small for.
        Some(distance) if commit.rules == Rules::Plain => (0, distance.steps()),
        Some(distance) => (distance.order.into(), distance.plies.into()),
    };
    let longest_position = match side.longest_win {
        Some(longest) => game.show(&commit.table, longest.cell)?,
        None => String::new(),
    };
    Ok(wire::Built {
        table: commit.table.to_string(),
        metric: solved.metric.to_string(),
        positions: shape.positions,
        wins: side.wins(),
        draws: side.draws(),
        losses: side.losses(),
        longest_order,
        longest_plies,
        longest_position,
        bytes_stored: solved.bytes_stored(),
        bytes_sent: solved.bytes_sent,
        plies: solved.plies,
        workers: solved.workers,
    })
}
