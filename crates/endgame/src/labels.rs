//! Where a part keeps the sets of its slices and what the last ply labelled.

use std::borrow::Cow;

use canju_retro::{Distance, Frontier, GameError, Side};

use crate::captures::Captures;
use crate::own::Own;
use crate::slab::SlabCache;
use crate::territory::Territory;

/// What another part's last ply labelled in one slice.
pub(crate) struct Arrival<'a> {
    pub slice: u32,
    pub side: Side,
    /// The same as the bytes, where it was kept.
    pub frontier: Option<Frontier>,
    pub encoded: &'a [u8],
    /// True for wins.
    pub wins: bool,
}

/// A ply to label.
pub(crate) struct Ply<'a> {
    /// The step's number in the log.
    pub step: u16,
    /// What its labels say.
    pub distance: Distance,
    /// By place among the owned slices and side to move, cells that are lost as they are: where the side violates the
    /// rules of repetition for ever or breaks that off. May be shorter.
    pub broken: &'a [[Frontier; 2]],
}

impl Ply<'_> {
    /// True for plies that label wins.
    pub fn wins(&self) -> bool {
        self.distance.plies % 2 == 1
    }

    /// True for the ply that tries all cells.
    pub fn is_first(&self) -> bool {
        self.distance == Distance::default()
    }
}

/// The sets and frontiers of a part. `owns` has what else is known of each owned slice, in order.
pub(crate) trait Labels: Send + Sync {
    /// Works out legality and captures of all owned slices.
    fn prepare(
        &mut self,
        territory: &Territory,
        owns: &mut [Own],
        captures: &Captures,
        cache: &SlabCache,
    ) -> Result<(), GameError>;

    /// Labels a ply and writes it into the logs, or takes the labels from there. The frontiers are then those of this ply.
    fn label(&mut self, territory: &Territory, owns: &mut [Own], ply: &Ply<'_>) -> Result<(), GameError>;

    /// Gets ready to export a step that was done earlier.
    fn recall(&mut self, territory: &Territory, owns: &[Own], step: u16) -> Result<(), GameError>;

    /// The bytes of an owned slice's frontier of the step that was labelled or recalled last.
    fn outgoing<'a>(&'a self, slice: u32, own: &'a Own, step: u16, side: Side) -> Option<&'a [u8]>;

    /// True where [`Labels::import`] needs the decoded frontier.
    fn keeps_frontiers(&self) -> bool;

    /// Takes what another part labelled in the last ply. Twice is as good as once.
    fn import(&mut self, territory: &Territory, arrival: Arrival<'_>) -> Result<(), GameError>;

    /// The legal cells of a slice that are not won; nothing for one that others own and of which nothing has been won yet.
    fn unwon(&self, slice: u32, side: Side) -> Result<Option<Cow<'_, [u128]>>, GameError>;

    /// The legal cells of an owned slice that may still be lost. `at` is its place among the owned ones.
    fn open(&self, at: usize, slice: u32, side: Side) -> Result<Cow<'_, [u128]>, GameError>;

    /// Bytes of memory held.
    fn memory(&self) -> u64;
}
