//! In which order a part labels and works out what the rules of repetition need.

use canju_retro::{After, Distance, GameError, StepCounts};

use crate::own::Own;
use crate::stage::{FIRST, Phase, Stage};

/// The phase that a part is in. It is the same in all parts of a table: they turn together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub phase: Phase,
    /// The phase's first step.
    pub began: u16,
    /// True once the phase has labelled something in this part.
    labelled: bool,
    /// Cells of this part that lack a free move.
    lack: u64,
}

impl Default for Course {
    fn default() -> Self {
        Self { phase: Phase::Label(0), began: 0, labelled: false, lack: 0 }
    }
}

impl Phase {
    /// True where steps do not label.
    pub const fn is_stage(self) -> bool {
        !matches!(self, Self::Label(_))
    }
}

impl Course {
    /// Begins the next phase with step `next`; `tries` where violations have to be tried.
    pub fn turn(&mut self, after: After, next: u16, tries: bool) -> Result<(), GameError> {
        let phase = match (self.phase, after) {
            (Phase::Label(order), After::Next) => Phase::Begin(order),
            (Phase::Begin(order), After::Next) if tries => Phase::Try(order),
            (Phase::Begin(order) | Phase::Try(order) | Phase::Cut(order), After::Next) => Phase::Lack(order),
            (Phase::Lack(order), After::Again) => Phase::Cut(order),
            (Phase::Lack(order), After::Next) => Phase::Label(order + 1),
            (phase, after) => return Err(GameError::OutOfTurn(format!("{after:?} after {phase:?}"))),
        };
        *self = Self { phase, began: next, ..Self::default() };
        Ok(())
    }

    /// Completes the counts of a step, which hold how many cells it found. All that goes in is in the logs, so that a
    /// part that takes its steps from there says the same.
    pub fn count(&mut self, counts: &mut StepCounts, at: u16, owns: &[Own], stage: Option<&Stage>) {
        let found = counts.total();
        match self.phase {
            Phase::Label(order) => {
                self.labelled |= found > 0;
                let now = Distance { order, plies: at };
                let broken = stage.filter(|_| order > 0).is_some_and(|stage| at < stage.last_ply());
                counts.pending = broken || owns.iter().any(|own| own.pending(now));
                // Captures of this order may have opened cells without a label: once more is cheap.
                let goes_on = || self.labelled || owns.iter().any(|own| own.later(order - 1));
                if stage.is_some() && (order == 0 || goes_on()) {
                    counts.after = After::Next;
                }
            }
            phase => {
                // Something may enter a bound though nothing has entered those before it.
                let bounds = matches!(phase, Phase::Begin(_)) && at < FIRST;
                *counts = StepCounts { labels: [0; 2], pending: bounds || found > 0, after: After::Next };
                if matches!(phase, Phase::Lack(_)) && at % 2 == 1 {
                    self.lack = if at == 1 { found } else { self.lack - found };
                }
                if self.lack > 0 {
                    counts.after = After::Again;
                }
            }
        }
    }
}
