//! The endgames that were asked for, each with its index and its table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use canju_endgame::Index;
use canju_retro::{Cell, GameError};
use canju_table::Table;
use canju_xiangqi::{Material, Position};
use foldhash::fast::FixedState;

/// An endgame whose table is there, as positions of one signature see it.
pub(crate) struct Endgame {
    index: Arc<Index>,
    pub table: Arc<Table>,
    /// True where the table has the sides the other way round.
    swapped: bool,
    /// The changes of the set when the table was looked up.
    pub changes: u64,
}

impl Endgame {
    /// The cell of a position of this signature; `None` where no game leads to it.
    #[inline]
    pub fn cell(&self, position: &Position) -> Option<Cell> {
        self.index.cell_seen(position, self.swapped)
    }
}

/// Endgames by the signature of their positions.
pub(crate) type Known = HashMap<u32, Arc<Endgame>, FixedState>;

/// The index of one material, once it is made. Who comes while it is made waits: a large one takes hundreds of MiB.
type Place = Arc<Mutex<Option<Arc<Index>>>>;

/// Indices by material, and endgames by signature. Threads that ask read without a lock; an endgame that is new
/// makes a new map.
#[derive(Default)]
pub(crate) struct Endgames {
    indices: Mutex<HashMap<Material, Place>>,
    pub known: ArcSwap<Known>,
}

impl Endgames {
    /// The index of a canonical material.
    pub fn index(&self, material: Material) -> Result<Arc<Index>, GameError> {
        let place = {
            let mut all = self.indices.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(material).or_default())
        };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = &*place {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(Index::new(material)?);
        *place = Some(Arc::clone(&index));
        Ok(index)
    }

    /// Remembers the endgame of a signature.
    pub fn learn(
        &self,
        signature: u32,
        (material, swapped): (Material, bool),
        table: Arc<Table>,
        changes: u64,
    ) -> Result<Arc<Endgame>, GameError> {
        let endgame = Arc::new(Endgame { index: self.index(material)?, table, swapped, changes });
        self.known.rcu(|known| {
            let mut more = Known::clone(known);
            more.insert(signature, Arc::clone(&endgame));
            more
        });
        Ok(endgame)
    }
}
