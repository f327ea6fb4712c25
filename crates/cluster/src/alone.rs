//! A table that one worker solves by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use canju_retro::After;
use tokio::time::Instant;

use crate::assignment::Assignment;
use crate::bench::Bench;
use crate::held::{Held, HeldKey};
use crate::usage::{Account, usage};
use crate::wire::report::Kind as Say;
use crate::{ClusterError, wire};

/// How often a part that runs by itself tells how far it is.
const PROGRESS: Duration = Duration::from_millis(200);

/// Tells work on the pool to stop when nobody waits for it any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What the plies came to.
struct Plies {
    plies: u16,
    labels: u64,
    peak: u64,
}

impl Bench {
    /// Solves a whole table, all plies at one go, and writes its shards. It ends with the membership.
    pub(crate) async fn alone(self, assignment: Arc<Assignment>, number: u32) -> Result<(), ClusterError> {
        let account = Account::open();
        self.check_memory(&assignment.task.table, assignment.share(number)?.memory, "is expected to take")?;
        let task = &assignment.task;
        let layout = self.layout(&assignment, number).await?;
        let key = HeldKey {
            table: task.table.clone(),
            rules: assignment.rules,
            metric: task.metric,
            runs: layout.runs.clone(),
        };
        let held = Held::new(key, task.clone());
        self.lay_out(&held, &layout, task.epoch).await?;
        let memory = held.facts().memory;
        self.check_memory(&task.table, memory, "takes")?;
        tracing::debug!(memory, cpu_seconds = account.seconds(), "prepared");
        let prepared = wire::Prepared { task: Some(task.into()), share: number, memory, known: 0 };
        self.reports.say(Say::Prepared(prepared)).await;
        let done = self.run_alone(&held, &assignment).await?;
        tracing::debug!(plies = done.plies, cpu_seconds = account.seconds(), "labelled");
        let shards = self.write_shards(&held, &assignment, &layout).await?;
        tracing::debug!(shards = shards.len(), cpu_seconds = account.seconds(), "encoded");
        let statistics = held.read(&self.pool, task.epoch, |part| Ok(part.statistics()?)).await?;
        let encoded = wire::Encoded {
            task: Some(task.into()),
            shards,
            statistics: Some((&statistics).into()),
            plies: u32::from(done.plies),
            labels: done.labels,
            memory: done.peak,
            usage: Some(usage()),
            cpu_seconds: account.seconds(),
            share: number,
        };
        self.reports.say(Say::Encoded(encoded)).await;
        Ok(())
    }

    async fn run_alone(&self, held: &Arc<Held>, assignment: &Assignment) -> Result<Plies, ClusterError> {
        let stop = Stop(Arc::default());
        let (stopped, reports) = (Arc::clone(&stop.0), self.reports.clone());
        let task = wire::Task::from(&assignment.task);
        let tell = move |ply: u16, labels, encoding| {
            let task = Some(task.clone());
            reports.mention(Say::Progress(wire::Progress { task, ply: u32::from(ply), labels, encoding }));
        };
        let plies = held.change(&self.pool, assignment.task.epoch, move |desk| {
            let part = desk.part_mut()?;
            let (mut ply, mut idle, mut labels, mut peak) = (0u16, 0, 0, part.memory());
            let mut told = Instant::now();
            // Wins stand at odd plies and losses at even ones: two idle plies running are needed to know the end.
            while idle < 2 {
                if stopped.load(Ordering::Relaxed) {
                    return Err(ClusterError::CalledOff);
                }
                let counts = part.step(ply)?;
                labels += counts.total();
                peak = peak.max(part.memory());
                idle = if counts.is_idle() { idle + 1 } else { 0 };
                if idle == 2 && counts.after != After::End {
                    part.turn(counts.after)?;
                    idle = 0;
                }
                ply = ply.checked_add(1).ok_or_else(|| ClusterError::Refused("more than 65535 plies".into()))?;
                if told.elapsed() >= PROGRESS {
                    told = Instant::now();
                    tell(ply, labels, false);
                }
            }
            tell(ply, labels, true);
            Ok(Plies { plies: ply, labels, peak })
        });
        plies.await
    }
}
