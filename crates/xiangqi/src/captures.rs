use std::collections::BTreeSet;

use crate::{Material, Role};

impl Material {
    /// What one capture leaves: the distinct materials with one piece other than a king less, the
    /// sides in the order they have here and so not always canonical.
    #[must_use]
    pub fn captures(&self) -> Vec<Material> {
        let first = Role::ALL.into_iter().filter_map(|role| self.first.without(role));
        let second = Role::ALL.into_iter().filter_map(|role| self.second.without(role));
        (first.map(|army| Material::new(army, self.second)))
            .chain(second.map(|army| Material::new(self.first, army)))
            .collect()
    }
}

/// Every canonical material that captures lead to, the given one included: what must be solved for
/// it to be solved.
///
/// In an order of dependence, where each comes after all that its captures lead to: by the number
/// of men, then by name.
#[must_use]
pub fn closure(material: &Material) -> Vec<Material> {
    let mut found = BTreeSet::new();
    let mut layer = BTreeSet::from([material.canonical().0]);
    while !layer.is_empty() {
        // Each capture takes one man: a layer and the next have nothing in common.
        let next = layer.iter().flat_map(Material::captures).map(|less| less.canonical().0).collect();
        found.append(&mut layer);
        layer = next;
    }
    let mut ordered: Vec<Material> = found.into_iter().collect();
    ordered.sort_by_cached_key(|material| (material.men(), material.to_string()));
    ordered
}
