//! From a solved part to shards in the store.

use std::sync::Arc;

use bytes::Bytes;
use canju_store::{Key, Store, StoreError};
use canju_table::{EncodeError, ShardInfo, ShardSpec, write_shard};
use tokio::task::JoinSet;

use crate::assignment::{Assignment, Layout};
use crate::bench::Bench;
use crate::bucket::key;
use crate::commit::{ATTEMPTS, read_manifest};
use crate::held::Held;
use crate::sabotage::{Safeguard, is_gone};
use crate::{ClusterError, wire};

/// Shards at work at the same time: while one is written to the store another is encoded.
const AT_ONCE: usize = 3;

impl Bench {
    /// Writes the shards of all runs of a part, one for each run and metric.
    pub(crate) async fn write_shards(
        &self,
        held: &Arc<Held>,
        assignment: &Assignment,
        layout: &Layout,
    ) -> Result<Vec<wire::Shard>, ClusterError> {
        let (table, rules) = (&assignment.task.table, assignment.rules);
        let mut specs = Vec::new();
        for &metric in &assignment.encode {
            for &run in &layout.runs {
                let spec = ShardSpec::of_run(table, rules, metric, &layout.shape, run);
                specs.push(spec.ok_or_else(|| ClusterError::Protocol("a run that the table does not have".into()))?);
            }
        }
        let mut specs = specs.into_iter();
        let mut writing = JoinSet::new();
        let mut shards = Vec::new();
        loop {
            while writing.len() < AT_ONCE
                && let Some(spec) = specs.next()
            {
                writing.spawn(self.clone().write(Arc::clone(held), assignment.task.epoch, spec));
            }
            let Some(written) = writing.join_next().await else { break };
            shards.push(written.map_err(|e| ClusterError::Panicked(e.to_string()))??);
        }
        Ok(shards)
    }

    async fn write(self, held: Arc<Held>, epoch: u64, spec: ShardSpec) -> Result<wire::Shard, ClusterError> {
        let name = key(&spec.key())?;
        let metric = spec.metric;
        let id = spec.clone();
        let encode = held.read(&self.pool, epoch, move |part| {
            write_shard(&spec, |side, slice| part.codes(slice, side, metric)).map_err(encode_error)
        });
        let (bytes, info) = encode.await?;
        self.put(&id, &info, &name, Bytes::from(bytes)).await?;
        let entry = serde_json::to_string(&info).map_err(|e| ClusterError::Table(Box::new(e)))?;
        Ok(wire::Shard { metric: metric.to_string(), run: info.number, entry, bytes: info.bytes })
    }

    /// Puts a shard into the store. What an attempt that failed has left is written over, and so is what is not
    /// the shard that the manifest lists, when these bytes are it. Other bytes do not replace what a manifest lists.
    async fn put(&self, spec: &ShardSpec, info: &ShardInfo, name: &Key, bytes: Bytes) -> Result<(), ClusterError> {
        let store = self.bucket.store.as_ref();
        for _ in 0..ATTEMPTS {
            match store.put_if_absent(name, bytes.clone()).await {
                Ok(_) => return Ok(()),
                Err(StoreError::AlreadyExists { .. }) if is_gone(Safeguard::Comparison) => return Ok(()),
                Err(StoreError::AlreadyExists { .. }) => {}
                Err(e) => return Err(e.into()),
            }
            let there = match store.get(name).await {
                Ok(there) if there.bytes == bytes => return Ok(()),
                Ok(there) => there,
                Err(StoreError::NotFound { .. }) => continue,
                Err(e) => return Err(e.into()),
            };
            match listed(store, spec).await? {
                Some(listed) if listed.blake3 == info.blake3 => {
                    tracing::warn!(shard = %name, place = store.place(), "a damaged shard is replaced");
                }
                Some(_) => {
                    return Err(ClusterError::Refused(format!(
                        "{name} is in {} already, with other bytes, and the manifest of {} lists it: one of them is \
                         damaged or of other software; verify what is there, or build into another folder",
                        store.place(),
                        spec.table
                    )));
                }
                None => {}
            }
            match store.put_if_match(name, bytes.clone(), &there.etag).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Changed { .. } | StoreError::NotFound { .. }) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(ClusterError::Refused(format!("{name} is changed again and again by another process")))
    }
}

/// What the manifest of the shard's table says of it, of whichever version of the index.
async fn listed(store: &dyn Store, spec: &ShardSpec) -> Result<Option<ShardInfo>, ClusterError> {
    let found = read_manifest(store, spec.rules, &spec.table).await?;
    let entry = found.as_ref().and_then(|(manifest, _)| manifest.metrics.get(&spec.metric));
    Ok(entry.and_then(|e| e.shards.iter().find(|s| s.number == spec.number)).cloned())
}

fn encode_error(error: EncodeError) -> ClusterError {
    ClusterError::Table(Box::new(error))
}
