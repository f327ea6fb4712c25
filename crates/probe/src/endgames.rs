//! The indices of the endgames that were asked for, each made once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use canju_endgame::Index;
use canju_retro::GameError;
use canju_xiangqi::Material;

/// Indices by material.
#[derive(Default)]
pub(crate) struct Endgames(RwLock<HashMap<Material, Arc<Index>>>);

impl Endgames {
    /// The index of a canonical material.
    pub fn index(&self, material: Material) -> Result<Arc<Index>, GameError> {
        if let Some(index) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&material) {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(Index::new(material)?);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(all.entry(material).or_insert(index)))
    }
}
