//! From a request to tables in a folder.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use canju_table::shard_key;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::Semaphore;

use crate::plan::plan;
use crate::transfer::Transfer;
use crate::{Closure, Event, FetchError, Home, Origin, Plan, Request, Watch, closure, partial};

/// What a fetch came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Tables that are whole now and were not before.
    pub tables: usize,
    /// Tables that had been whole.
    pub whole: usize,
    /// Bytes of shards that were fetched.
    pub bytes: u64,
}

/// Fetches endgames into a folder, with the smaller tables that they were built from unless the request is without them.
///
/// Shards grow aside and move into place when their BLAKE3 is that of the manifest; a table's manifest is
/// put when all that it lists is in place, and after those of the smaller tables. So whenever this stops, and
/// however, every table that has a manifest is whole with all its smaller ones, and the next call goes on from there.
/// Shards that are in place are compared with their BLAKE3 first; damaged ones are replaced. Of several calls
/// for one folder, in any processes, one works and the others wait.
///
/// # Errors
/// [`FetchError`]. Damage in the source is found; nothing of it comes into place.
pub async fn get(
    origin: &Origin,
    folder: &Path,
    request: &Request,
    watch: Arc<dyn Watch>,
) -> Result<Fetched, FetchError> {
    let home = Home::new(folder)?;
    let wanted = closure(origin, request).await?;
    let (locked, waiting) = (home.clone(), Arc::clone(&watch));
    let lock = tokio::task::spawn_blocking(move || locked.lock(&*waiting)).await;
    let lock = lock.unwrap_or_else(|e| Err(FetchError::local(folder, "locked")(std::io::Error::other(e))))?;
    let plan = plan(&home, &wanted, &origin.place(), Arc::clone(&watch)).await?;
    check_space(&home, &plan)?;
    watch.see(Event::Begin { tables: plan.tables.len(), bytes: plan.bytes, kept: plan.kept });
    sweep(&home, &wanted, &plan);
    let transfer = Transfer {
        origin: origin.clone(),
        home,
        lock: Arc::new(lock),
        watch,
        requests: Semaphore::new(request.jobs.max(1)),
        jobs: request.jobs.max(1),
        piece: request.piece.max(1),
    };
    let done = run(&transfer, &plan).await;
    transfer.rest().await;
    done?;
    Ok(Fetched { tables: plan.tables.len(), whole: plan.whole, bytes: plan.bytes })
}

/// Removes what is still aside of shards that are in place: their fetch was killed between two steps.
fn sweep(home: &Home, wanted: &Closure, plan: &Plan) {
    let missing: HashSet<&str> = plan.shards.iter().map(|shard| shard.key.as_str()).collect();
    for manifest in &wanted.manifests {
        let shards = manifest.metrics.iter().flat_map(|(metric, entry)| entry.shards.iter().map(move |s| (metric, s)));
        let keys = shards.map(|(metric, s)| shard_key(manifest.rules, &manifest.endgame, *metric, s.number));
        keys.filter(|key| !missing.contains(key.as_str())).for_each(|key| partial::forget(&home.aside(&key)));
    }
}

/// A manifest takes little, but a disk without any room is told before and not after the shards.
const FOR_MANIFESTS: u64 = 1 << 20;

fn check_space(home: &Home, plan: &Plan) -> Result<(), FetchError> {
    let needed = plan.bytes.saturating_add(if plan.tables.is_empty() { 0 } else { FOR_MANIFESTS });
    if needed <= plan.free {
        return Ok(());
    }
    Err(FetchError::Space { folder: home.root().to_path_buf(), needed, free: plan.free })
}

/// Fetches the shards of all tables in one stream, and puts each manifest as soon as everything before it is in place.
async fn run(transfer: &Transfer, plan: &Plan) -> Result<(), FetchError> {
    let mut left = vec![0usize; plan.tables.len()];
    for shard in &plan.shards {
        left[shard.table] += 1;
    }
    let mut finished = 0;
    finish(transfer, plan, &left, &mut finished).await?;
    let shards = (0..plan.shards.len()).map(|at| async move {
        let shard = &plan.shards[at];
        transfer.shard(shard).await.map(|()| shard.table)
    });
    let mut shards = stream::iter(shards).buffer_unordered(transfer.jobs);
    while let Some(table) = shards.try_next().await? {
        left[table] -= 1;
        finish(transfer, plan, &left, &mut finished).await?;
    }
    Ok(())
}

/// Puts the manifests of the next tables that lack nothing. Smaller tables come first in the plan.
async fn finish(transfer: &Transfer, plan: &Plan, left: &[usize], finished: &mut usize) -> Result<(), FetchError> {
    while let Some(manifest) = plan.tables.get(*finished).filter(|_| left[*finished] == 0) {
        transfer.home.put_manifest(manifest, &transfer.origin.place()).await?;
        *finished += 1;
        let (table, done, of) = (&manifest.endgame, *finished, plan.tables.len());
        transfer.watch.see(Event::Finished { table, done, of });
    }
    Ok(())
}

impl Closure {
    /// Compares a folder with the closure: manifests, and every shard that is there with its BLAKE3. Writes nothing.
    ///
    /// # Errors
    /// [`FetchError::Other`] where the folder has another table of the same name; [`FetchError::Local`].
    pub async fn compare(&self, origin: &Origin, folder: &Path, watch: Arc<dyn Watch>) -> Result<Plan, FetchError> {
        plan(&Home::new(folder)?, self, &origin.place(), watch).await
    }
}
