//! Spans of a run for tracing: one for the metric of the table, and in it one for each ply.

use tracing::{Span, debug_span, info_span};

use crate::Task;
use crate::history::Gain;

/// The open spans of a run.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    run: Span,
    ply: Span,
}

impl Trace {
    pub(crate) fn new(task: &Task) -> Self {
        let job = info_span!("job", job = %task.job);
        let run = info_span!(parent: &job, "run", endgame = %task.table, metric = %task.metric, epoch = task.epoch);
        let ply = debug_span!(parent: &run, "ply", ply = 0u32);
        Self { run, ply }
    }

    /// Plies are done: theirs is closed, and the next one's opened.
    pub(crate) fn gained(&mut self, gain: Gain, ply: u32) {
        if gain.plies == 0 {
            return;
        }
        let (plies, labels, millis) = (gain.plies, gain.labels, gain.took.as_millis() as u64);
        tracing::debug!(parent: &self.ply, plies, labels, millis, "ply done");
        self.ply = debug_span!(parent: &self.run, "ply", ply);
    }
}
