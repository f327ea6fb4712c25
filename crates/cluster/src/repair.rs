//! Finished tables that turn out to be damaged are built again; who reads them waits.

use std::collections::BTreeSet;
use std::time::Duration;

use canju_retro::{Metric, TableName};

use crate::conductor::Damage;
use crate::plan::TablePlan;
use crate::run::{Loss, Run};
use crate::work::{Stage, Work};
use crate::{Action, Conductor, MemberId, WorkId};

/// How often a part may fail by its worker's own trouble, without a ply between, before its jobs fail.
const PART_FAILURES: u32 = 3;

impl Conductor {
    /// A part failed by its worker's own trouble: another worker may fare better.
    pub(crate) fn lose_part(&mut self, now: Duration, member: MemberId, id: WorkId, cause: &str) {
        let Some(work) = self.works.get_mut(&id) else { return };
        // As with lost workers, plies between two failures show that it is not the table's fault.
        let furthest = work.run().map_or(0, Run::furthest);
        work.failures = if furthest > work.failed_at { 1 } else { work.failures + 1 };
        work.failed_at = furthest;
        if work.failures >= PART_FAILURES {
            self.fail(now, id, cause);
            return;
        }
        tracing::warn!(table = %work.plan.table, cause, "part failed, others take it over");
        work.shunned.insert(member);
        self.take_away(now, member, id);
    }

    /// What a worker has of a table goes to others.
    pub(crate) fn take_away(&mut self, now: Duration, member: MemberId, id: WorkId) {
        let Some(work) = self.works.get_mut(&id) else { return };
        let Stage::Running(run) = &mut work.stage else { return };
        let (task, loss) = (run.task.clone(), run.lose(member));
        self.tell_drop(member, &task, false);
        self.tally.recoveries.inc();
        match loss {
            Loss::None => {}
            Loss::Shares => self.share_again(now, id),
            Loss::All => self.stop(now, id),
        }
    }

    /// Ends what is at work of a table, to be begun again.
    fn stop(&mut self, now: Duration, id: WorkId) {
        let Some(work) = self.works.get_mut(&id) else { return };
        if let Some(run) = work.halt(now) {
            self.drop_parts(&run, false);
        }
        self.count_memory(id);
    }

    /// A table could not be read by a part of some work.
    pub(crate) fn damaged(&mut self, now: Duration, reader: WorkId, table: TableName, metric: Metric, cause: &str) {
        let Some(work) = self.works.get_mut(&reader) else { return };
        work.repairs += 1;
        if work.repairs > self.settings.repairs || !work.plan.smaller.contains(&table) {
            self.fail(now, reader, cause);
            return;
        }
        tracing::warn!(reader = %work.plan.table, %table, %metric, cause, "table is damaged, it is built again");
        let rules = work.rules;
        self.stop(now, reader);
        let at_work = self.works.iter().find(|(_, w)| w.rules == rules && w.plan.table == table).map(|(&id, _)| id);
        let key = (rules, table.clone());
        let id = match at_work.or(self.replanning.get(&key).copied()) {
            Some(id) => id,
            None => {
                let id = WorkId(self.number());
                self.replanning.insert(key, id);
                self.actions.push(Action::Replan(Damage { id, table, metric, rules }));
                id
            }
        };
        if let Some(work) = self.works.get_mut(&reader) {
            work.waits_for.insert(id);
        }
    }

    /// The plan of a damaged table, or why there is none.
    pub fn repair(&mut self, now: Duration, damage: &Damage, plan: Result<TablePlan, String>) {
        self.replanning.remove(&(damage.rules, damage.table.clone()));
        let readers: Vec<WorkId> =
            self.works.iter().filter(|(_, w)| w.waits_for.contains(&damage.id)).map(|(&id, _)| id).collect();
        let plan = match plan {
            Ok(plan) => plan,
            Err(cause) => {
                for reader in readers {
                    self.fail(now, reader, &format!("{} is damaged and cannot be built again: {cause}", damage.table));
                }
                self.schedule(now);
                return;
            }
        };
        let wanted = readers.iter().filter_map(|id| self.works.get(id));
        let jobs: BTreeSet<_> = wanted.flat_map(|w| w.jobs.iter().copied()).collect();
        let Some(&home) = jobs.first() else { return };
        for job in &jobs {
            if let Some(job) = self.jobs.get_mut(job) {
                job.begin_again(damage.id, &plan);
            }
        }
        let smaller =
            self.works.iter().filter(|(_, w)| w.rules == damage.rules && plan.smaller.contains(&w.plan.table));
        let waits_for = smaller.map(|(&id, _)| id).collect();
        self.works.insert(damage.id, Work { repair: true, ..Work::new(plan, damage.rules, jobs, home, waits_for) });
        self.schedule(now);
    }
}
