use crate::{Army, Color, Material, Piece, Role};

impl Material {
    /// What captures can take, a kind of piece at a time, and the material that is left: the sides in
    /// the order they have here, Red first, and so not always canonical.
    ///
    /// Advisors and elephants stay at home, as do kings: only an enemy that has a chariot, horse,
    /// cannon or soldier can take them.
    #[must_use]
    pub fn captures(&self) -> Vec<(Piece, Material)> {
        let mut all = Vec::new();
        for color in Color::ALL {
            let enemy_armed = self.army(color.opposite()).attack_weight() > 0;
            for role in Role::ALL {
                let at_home = matches!(role, Role::Advisor | Role::Elephant);
                let left = |side: Color| -> Option<Army> {
                    let army = *self.army(side);
                    if side == color { army.without(role) } else { Some(army) }
                };
                if let (Some(first), Some(second)) = (left(Color::Red), left(Color::Black))
                    && (enemy_armed || !at_home)
                {
                    all.push((Piece::new(color, role), Material::new(first, second)));
                }
            }
        }
        all
    }
}
