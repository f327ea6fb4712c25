//! A fresh part, with what the store has of its log.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use canju_retro::GameError;
use canju_store::{Key, ObjectInfo, StoreError};

use crate::assignment::Layout;
use crate::bench::Bench;
use crate::checkpoint::{Flaw, HEAD, Stamp, folder, open, plies_of, stamp};
use crate::held::Held;
use crate::{ClusterError, Task, causes};

/// How often the store is asked for its checkpoints: a part can begin without them.
const TRIES: usize = 3;
/// The wait before it is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// Why a checkpoint is left out.
enum Skip {
    /// It is damaged, foreign, or cannot be read.
    Unusable(String),
    /// It has nothing that the part lacks.
    Needless,
}

impl From<Flaw> for Skip {
    fn from(flaw: Flaw) -> Self {
        Self::Unusable(flaw.to_string())
    }
}

impl From<StoreError> for Skip {
    fn from(error: StoreError) -> Self {
        Self::Unusable(causes(&error))
    }
}

impl Bench {
    /// Makes the part with its sets, unless that was done already.
    pub(crate) async fn lay_out(&self, held: &Arc<Held>, layout: &Layout, epoch: u64) -> Result<(), ClusterError> {
        let (game, tables) = (Arc::clone(&self.game), self.bucket.tables(layout.spec.rules));
        let (spec, runs) = (layout.spec.clone(), layout.runs.clone());
        let lay_out = held.change(&self.pool, epoch, move |desk| {
            if !desk.is_laid() {
                let mut part = game.part(&spec, tables)?;
                part.prepare()?;
                desk.lay(part, &runs);
            }
            Ok(())
        });
        lay_out.await
    }

    /// Makes a part with its sets and gives it what the store has of its log. Returns the plies that are known.
    pub(crate) async fn restore(&self, held: &Arc<Held>, layout: &Layout, task: &Task) -> Result<u16, ClusterError> {
        let mut unfit = BTreeSet::new();
        loop {
            self.lay_out(held, layout, task.epoch).await?;
            let Some(key) = self.load_all(held, layout, task, &unfit).await? else { break };
            // The part has taken some of it and must not be used any more.
            unfit.insert(key);
            let clear = held.change(&self.pool, task.epoch, |desk| {
                desk.clear();
                Ok(())
            });
            clear.await?;
        }
        let know = held.change(&self.pool, task.epoch, |desk| {
            let stored = desk.have.values().copied().min().unwrap_or(0);
            Ok((desk.part()?.known(), stored))
        });
        let (known, stored) = know.await?;
        let mut facts = held.facts();
        facts.ready = true;
        facts.saved = stored.min(known);
        Ok(known)
    }

    /// Loads all checkpoints that lead further, in the order of their plies. Returns one that the part refused.
    async fn load_all(
        &self,
        held: &Arc<Held>,
        layout: &Layout,
        task: &Task,
        unfit: &BTreeSet<Key>,
    ) -> Result<Option<Key>, ClusterError> {
        let mut have = held.change(&self.pool, task.epoch, |desk| Ok(desk.have.clone())).await?;
        let mut loaded = 0;
        for (object, plies) in self.list_checkpoints(task).await {
            let least = have.values().copied().min().unwrap_or(0);
            if plies.start > least {
                // All that follow leave a gap as well.
                break;
            }
            if plies.end <= least || unfit.contains(&object.key) {
                continue;
            }
            let wanted = Stamp::new(task, layout.spec.rules, &[], plies);
            let (bytes, runs) = match self.fetch(&object, &wanted, &have).await {
                Ok(fetched) => fetched,
                Err(Skip::Needless) => continue,
                Err(Skip::Unusable(reason)) => {
                    tracing::warn!(%task, checkpoint = %object.key, reason, "a checkpoint cannot be used");
                    continue;
                }
            };
            let end = wanted.plies.end;
            let load = held.change(&self.pool, task.epoch, move |desk| {
                let (_, saved) = open(&bytes).map_err(|flaw| GameError::Frontier(flaw.to_string()))?;
                desk.part_mut()?.load(saved)?;
                for run in runs {
                    desk.have.entry(run).and_modify(|plies| *plies = end.max(*plies));
                }
                Ok(desk.have.clone())
            });
            have = match load.await {
                Ok(have) => have,
                Err(ClusterError::Game(GameError::Frontier(reason))) => {
                    tracing::warn!(%task, checkpoint = %object.key, reason, "a checkpoint does not fit the table");
                    return Ok(Some(object.key));
                }
                Err(error) => return Err(error),
            };
            loaded += 1;
        }
        if loaded > 0 {
            tracing::info!(%task, loaded, plies = have.values().min(), "taken from checkpoints");
        }
        Ok(None)
    }

    /// The checkpoints of a task with their plies: the earliest first, of those the longest.
    async fn list_checkpoints(&self, task: &Task) -> Vec<(ObjectInfo, std::ops::Range<u16>)> {
        let folder = folder(task);
        let mut listed = Vec::new();
        for left in (0..TRIES).rev() {
            match self.bucket.store.list(&folder).await {
                Ok(found) => {
                    listed = found;
                    break;
                }
                Err(error) => {
                    tracing::warn!(%task, cause = causes(&error), left, "the checkpoints cannot be listed");
                    if left > 0 {
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
        }
        let mut named: Vec<_> = listed.into_iter().filter_map(|o| plies_of(&o.key).map(|plies| (o, plies))).collect();
        named.sort_by(|(a, x), (b, y)| (x.start, Reverse(x.end), &a.key).cmp(&(y.start, Reverse(y.end), &b.key)));
        named
    }

    /// A checkpoint that has plies of own runs which are lacking, checked, and these runs.
    async fn fetch(
        &self,
        object: &ObjectInfo,
        wanted: &Stamp,
        have: &BTreeMap<u32, u16>,
    ) -> Result<(bytes::Bytes, Vec<u32>), Skip> {
        let store = &self.bucket.store;
        let head = store.get_range(&object.key, 0..HEAD.min(object.len)).await?;
        match stamp(&head) {
            Ok((stamp, _)) => {
                stamp.check(wanted)?;
                lacking(&stamp, have)?;
            }
            // A table of very many runs: the whole tells.
            Err(Flaw::Short) if object.len > HEAD => {}
            Err(flaw) => return Err(flaw.into()),
        }
        let bytes = store.get(&object.key).await?.bytes;
        let checked = bytes.clone();
        let opened = self.pool.run(move || open(&checked).map(|(stamp, _)| stamp)).await;
        let stamp = opened.map_err(|e| Skip::Unusable(e.line()))??;
        stamp.check(wanted)?;
        let runs = lacking(&stamp, have)?;
        Ok((bytes, runs))
    }
}

/// The runs of a checkpoint of which it has plies that are lacking.
fn lacking(stamp: &Stamp, have: &BTreeMap<u32, u16>) -> Result<Vec<u32>, Skip> {
    let lacks = |run: &&u32| have.get(run).is_some_and(|&plies| plies < stamp.plies.end);
    let runs: Vec<u32> = stamp.runs.iter().filter(lacks).copied().collect();
    if runs.is_empty() { Err(Skip::Needless) } else { Ok(runs) }
}
