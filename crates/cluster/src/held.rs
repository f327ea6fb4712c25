//! The parts that a worker holds. A part of a cut table outlives the membership in which it was begun.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use canju_retro::{Metric, Part, Rules, TableName};
use tokio::sync::RwLock;

use crate::{ClusterError, Pool, Task, wire};

/// What a part is of: whoever needs the same can go on with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HeldKey {
    pub(crate) table: TableName,
    pub(crate) rules: Rules,
    pub(crate) metric: Metric,
    /// Numbers of the table's runs, ascending.
    pub(crate) runs: Vec<u32>,
}

/// What is known of a part without asking it.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The attempt that it works for, or did last. Work for another one comes too late and is not done.
    pub(crate) task: Task,
    /// It has its sets and what there was in the store of its log.
    pub(crate) ready: bool,
    /// Plies of which it has its own labels and those of all neighbours.
    pub(crate) complete: u16,
    /// Plies of its log that are in the store, in the folder of the task's job.
    pub(crate) saved: u16,
    /// Bytes that it holds.
    pub(crate) memory: u64,
}

/// A part, and who may use it.
#[derive(Default)]
pub(crate) struct Desk {
    part: Option<Box<dyn Part>>,
    /// A panic has left the part half changed.
    broken: bool,
    /// Plies that a part not yet ready has of each run.
    pub(crate) have: BTreeMap<u32, u16>,
}

impl Desk {
    /// The part.
    pub(crate) fn part(&self) -> Result<&dyn Part, ClusterError> {
        self.part.as_deref().ok_or_else(gone)
    }

    /// The part, to change it.
    pub(crate) fn part_mut(&mut self) -> Result<&mut (dyn Part + 'static), ClusterError> {
        self.part.as_deref_mut().ok_or_else(gone)
    }

    /// True when there is a part, ready or not.
    pub(crate) const fn is_laid(&self) -> bool {
        self.part.is_some()
    }

    /// Lays out another part, of which these runs are loaded as far as ply 0.
    pub(crate) fn lay(&mut self, part: Box<dyn Part>, runs: &[u32]) {
        self.part = Some(part);
        self.have = runs.iter().map(|&run| (run, 0)).collect();
    }

    /// Takes the part away.
    pub(crate) fn clear(&mut self) {
        self.part = None;
        self.have.clear();
    }
}

fn gone() -> ClusterError {
    ClusterError::Elsewhere("the part that this worker had is lost".into())
}

/// A part that a worker holds.
///
/// It is used on the pool only, and whoever uses it there holds it to the end of the call: dropping a future
/// that waits for such a call loses nothing.
pub(crate) struct Held {
    pub(crate) key: HeldKey,
    desk: Arc<RwLock<Desk>>,
    facts: Mutex<Facts>,
}

impl Held {
    /// A part that is still to be made.
    pub(crate) fn new(key: HeldKey, task: Task) -> Arc<Self> {
        let facts = Facts { task, ready: false, complete: 0, saved: 0, memory: 0 };
        Arc::new(Self { key, desk: Arc::default(), facts: Mutex::new(facts) })
    }

    /// What is known of it.
    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the part to another attempt. What is on the pool for the one before runs to its end.
    pub(crate) fn claim(&self, task: &Task) {
        let mut facts = self.facts();
        if facts.task.job != task.job {
            facts.saved = 0;
        }
        facts.task = task.clone();
    }

    fn check(&self, desk: &Desk, epoch: u64) -> Result<(), ClusterError> {
        if self.facts().task.epoch != epoch {
            return Err(ClusterError::CalledOff);
        }
        if desk.broken { Err(gone()) } else { Ok(()) }
    }

    /// Works on the part for an attempt, on the pool.
    ///
    /// # Errors
    /// [`ClusterError::CalledOff`] when the part works for another attempt meanwhile; what the work says.
    pub(crate) async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        pool: &Pool,
        epoch: u64,
        work: impl FnOnce(&mut Desk) -> Result<T, ClusterError> + Send + 'static,
    ) -> Result<T, ClusterError> {
        let mut desk = Arc::clone(&self.desk).write_owned().await;
        let held = Arc::clone(self);
        let work = move || {
            held.check(&desk, epoch)?;
            desk.broken = true;
            let result = work(&mut desk);
            desk.broken = false;
            held.facts().memory = desk.part.as_ref().map_or(0, |part| part.memory());
            result
        };
        pool.run(work).await?
    }

    /// Reads the part for an attempt, on the pool; others may read at the same time.
    ///
    /// # Errors
    /// As [`Held::change`].
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        pool: &Pool,
        epoch: u64,
        work: impl FnOnce(&dyn Part) -> Result<T, ClusterError> + Send + 'static,
    ) -> Result<T, ClusterError> {
        let desk = Arc::clone(&self.desk).read_owned().await;
        let held = Arc::clone(self);
        pool.run(move || {
            held.check(&desk, epoch)?;
            work(desk.part()?)
        })
        .await?
    }
}

/// The parts of cut tables that a worker holds.
#[derive(Clone, Default)]
pub(crate) struct Holdings(Arc<Mutex<BTreeMap<HeldKey, Arc<Held>>>>);

impl Holdings {
    fn all(&self) -> MutexGuard<'_, BTreeMap<HeldKey, Arc<Held>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// The part of this kind, for this attempt; a new one where there is none.
    pub(crate) fn claim(&self, key: HeldKey, task: &Task) -> Arc<Held> {
        let mut all = self.all();
        let held = all.entry(key).or_insert_with_key(|key| Held::new(key.clone(), task.clone()));
        held.claim(task);
        Arc::clone(held)
    }

    pub(crate) fn has(&self, key: &HeldKey) -> bool {
        self.all().contains_key(key)
    }

    /// The largest epoch of the parts of a table.
    pub(crate) fn epoch_of(&self, table: &TableName, rules: Rules) -> Option<u64> {
        let all = self.all();
        let of_it = all.values().filter(|held| held.key.table == *table && held.key.rules == rules);
        of_it.map(|held| held.facts().task.epoch).max()
    }

    /// Lets parts go.
    pub(crate) fn retain(&self, keep: impl Fn(&Held) -> bool) {
        self.all().retain(|_, held| {
            let kept = keep(held);
            if !kept {
                tracing::debug!(task = %held.facts().task, runs = ?held.key.runs, "part dropped");
            }
            kept
        });
    }

    /// Bytes that all parts hold.
    pub(crate) fn memory(&self) -> u64 {
        self.all().values().map(|held| held.facts().memory).sum()
    }

    /// Lets go of idle parts, of the oldest attempts first, until `bytes` are free of `bound`.
    pub(crate) fn make_room(&self, bytes: u64, bound: u64, is_idle: impl Fn(&HeldKey) -> bool) {
        let mut idle: Vec<(u64, HeldKey)> = {
            let all = self.all();
            let idle = all.values().filter(|held| is_idle(&held.key));
            idle.map(|held| (held.facts().task.epoch, held.key.clone())).collect()
        };
        idle.sort();
        for (_, key) in idle {
            if self.memory().saturating_add(bytes) <= bound {
                return;
            }
            tracing::info!(table = %key.table, metric = %key.metric, "an idle part makes room for others");
            self.all().remove(&key);
        }
    }

    /// The parts, as a coordinator is told of them. One that is not ready yet is worth its preparation.
    pub(crate) fn list(&self) -> Vec<wire::Holding> {
        let all = self.all();
        let told = all.values().map(|held| (held, held.facts().clone()));
        let told = told.map(|(held, facts)| wire::Holding {
            task: Some((&facts.task).into()),
            rules: held.key.rules.to_string(),
            runs: held.key.runs.clone(),
            complete: u32::from(facts.complete),
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobId;

    fn name(table: &str) -> TableName {
        TableName::new(table).unwrap()
    }

    fn task(table: &str, epoch: u64) -> Task {
        Task { job: JobId(1), table: name(table), metric: Metric::Dtm, epoch }
    }

    fn key(table: &str, runs: &[u32]) -> HeldKey {
        HeldKey { table: name(table), rules: Rules::default(), metric: Metric::Dtm, runs: runs.to_vec() }
    }

    #[test]
    fn idle_parts_make_room_oldest_first() {
        let holdings = Holdings::default();
        for (epoch, table) in [(3, "T3"), (1, "T1"), (2, "T2")] {
            holdings.claim(key(table, &[0]), &task(table, epoch)).facts().memory = 10;
        }
        let has = |table| holdings.has(&key(table, &[0]));
        holdings.make_room(5, 35, |_| true);
        assert_eq!(holdings.memory(), 30);
        holdings.make_room(10, 30, |held| *held != key("T1", &[0]));
        assert!(has("T1") && !has("T2") && has("T3"));
        holdings.make_room(1000, 30, |_| true);
        assert!(holdings.is_empty());
    }

    #[test]
    fn a_part_for_the_same_runs_is_kept_and_tells_what_it_has() {
        let holdings = Holdings::default();
        let held = holdings.claim(key("T4", &[0, 1]), &task("T4", 1));
        held.facts().complete = 7;
        held.facts().saved = 5;
        let again = holdings.claim(key("T4", &[0, 1]), &task("T4", 2));
        assert!(Arc::ptr_eq(&held, &again));
        let has = |held: &Held| {
            let facts = held.facts();
            (facts.complete, facts.saved)
        };
        assert_eq!(has(&again), (7, 5));
        // Another job has a folder of its own for checkpoints.
        holdings.claim(key("T4", &[0, 1]), &Task { job: JobId(2), ..task("T4", 3) });
        assert_eq!(has(&held), (7, 0));
        assert!(!Arc::ptr_eq(&held, &holdings.claim(key("T4", &[2]), &task("T4", 3))));
        assert_eq!(holdings.epoch_of(&name("T4"), Rules::default()), Some(3));
        assert_eq!(holdings.epoch_of(&name("T5"), Rules::default()), None);
        let told: Vec<_> = holdings.list().into_iter().map(|h| (h.runs, h.complete)).collect();
        assert_eq!(told, [(vec![0, 1], 7), (vec![2], 0)]);
    }

    #[tokio::test]
    async fn only_the_attempt_that_has_the_part_may_use_it() {
        let held = Held::new(key("T4", &[0]), task("T4", 1));
        let pool = Pool::inline();
        assert!(held.change(&pool, 1, |_| Ok(())).await.is_ok());
        held.claim(&task("T4", 2));
        assert!(matches!(held.change(&pool, 1, |_| Ok(())).await, Err(ClusterError::CalledOff)));
        // A panic leaves it to nobody.
        let panicked: Result<(), _> = held.change(&pool, 2, |_| panic!("oh")).await;
        assert!(matches!(panicked, Err(ClusterError::Panicked(_))));
        assert!(matches!(held.change(&pool, 2, |_| Ok(())).await, Err(ClusterError::Elsewhere(_))));
    }
}
