//! Which pieces a position has, as one number.

use crate::Position;

/// The bit that tells an empty slot from a square, in each of eight slots.
const EMPTY: u64 = 0x8080_8080_8080_8080;

impl Position {
    /// A number that two positions share exactly when they have the same pieces, wherever these stand and whoever is
    /// to move. Much faster than [`Material::of`](crate::Material::of), and as good as it to look something up by.
    #[must_use]
    #[inline]
    pub fn signature(&self) -> u32 {
        let [red, black] = self.list.as_chunks::<16>().0 else { return 0 };
        side(red) | (side(black) << 14)
    }
}

/// Fourteen bits: two for each of A B R N C, three for the soldiers, one for the king.
#[inline]
fn side(slots: &[u8; 16]) -> u32 {
    let mut taken = 0;
    for (at, eight) in slots.as_chunks::<8>().0.iter().enumerate() {
        let bits = (!u64::from_le_bytes(*eight) & EMPTY) >> 7;
        // Gathers the lowest bit of each byte in the highest byte.
        taken |= ((bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32) << (8 * at);
    }
    let pairs = (taken >> 1) & 0x3ff;
    let (two, soldiers, king) = (pairs - ((pairs >> 1) & 0x155), (taken >> 11).count_ones(), taken & 1);
    two | (soldiers << 10) | (king << 13)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::{Material, Position};

    #[test]
    fn signatures_tell_materials_apart() {
        let mut known: HashMap<u32, Material> = HashMap::new();
        let mut seed = 1u64;
        // Random play leaves holes in the list of pieces, as games do.
        for _ in 0..40 {
            let mut board = Position::initial();
            for _ in 0..400 {
                let moves = board.legal_moves();
                if moves.is_empty() {
                    break;
                }
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                board = board.play(moves[(seed >> 33) as usize % moves.len()]);
                let material = *known.entry(board.signature()).or_insert_with(|| Material::of(&board));
                assert_eq!(material, Material::of(&board));
            }
        }
        let mut materials: Vec<Material> = known.values().copied().collect();
        materials.sort();
        materials.dedup();
        assert_eq!(materials.len(), known.len());
        assert!(known.len() > 200, "{}", known.len());
    }
}
