//! From a solved part to shards in the store.

use std::sync::Arc;

use bytes::Bytes;
use canju_retro::Part;
use canju_table::{EncodeError, ShardSpec, write_shard};
use tokio::task::JoinSet;

use crate::assignment::{Assignment, Layout};
use crate::bench::Bench;
use crate::bucket::key;
use crate::{ClusterError, wire};

/// Shards at work at the same time: while one is written to the store another is encoded.
const AT_ONCE: usize = 3;

impl Bench {
    /// Writes the shards of all runs of a part, one for each run and metric.
    pub(crate) async fn write_shards(
        &self,
        part: &Arc<dyn Part>,
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
                writing.spawn(self.clone().write(Arc::clone(part), spec));
            }
            let Some(written) = writing.join_next().await else { break };
            shards.push(written.map_err(|e| ClusterError::Panicked(e.to_string()))??);
        }
        Ok(shards)
    }

    async fn write(self, part: Arc<dyn Part>, spec: ShardSpec) -> Result<wire::Shard, ClusterError> {
        let name = key(&spec.key())?;
        let metric = spec.metric;
        let encode = move || write_shard(&spec, |side, slice| part.codes(slice, side, metric));
        let (bytes, info) = self.pool.run(encode).await?.map_err(encode_error)?;
        // Over what an attempt that failed may have left: no manifest speaks of it.
        self.bucket.store.put(&name, Bytes::from(bytes)).await?;
        let entry = serde_json::to_string(&info).map_err(|e| ClusterError::Table(Box::new(e)))?;
        Ok(wire::Shard { metric: metric.to_string(), run: info.number, entry, bytes: info.bytes })
    }
}

fn encode_error(error: EncodeError) -> ClusterError {
    ClusterError::Table(Box::new(error))
}
