//! Ninety cells in one word: the squares of the bit axis, and how its piece moves over them.
//!
//! Bit `s` of a word is the cell in which the bit-axis piece stands on square `s`. Bit 90 stands
//! for "off the board": endgames without attackers use it as the single cell of every word.

use canju_xiangqi::{Color, Role};

/// The ninety squares.
pub(crate) const BOARD: u128 = (1 << 90) - 1;
/// The cell of a word in an endgame that has no bit-axis piece.
pub(crate) const OFF_BOARD: u128 = 1 << 90;

/// The squares of file `f`.
pub(crate) const fn file(f: u32) -> u128 {
    let mut set = 0;
    let mut rank = 0;
    while rank < 10 {
        set |= 1u128 << (rank * 9 + f);
        rank += 1;
    }
    set
}

const FILE_A: u128 = file(0);
const FILE_I: u128 = file(8);

/// The squares of ranks `low` up to, not including, `high`.
pub(crate) const fn ranks(low: u32, high: u32) -> u128 {
    ((1u128 << (high * 9)) - 1) & !((1u128 << (low * 9)) - 1)
}

/// The squares beyond the river for a soldier of this colour.
pub(crate) const fn crossed(color: Color) -> u128 {
    match color {
        Color::Red => ranks(5, 10),
        Color::Black => ranks(0, 5),
    }
}

/// The word of the mirrored position: every group of nine bits reversed.
#[inline]
pub(crate) fn mirror(w: u128) -> u128 {
    let swap = |left: u32, by: u32| (w & file(left)) << by | (w >> by) & file(left);
    swap(0, 8) | swap(1, 6) | swap(2, 4) | swap(3, 2) | w & (file(4) | OFF_BOARD)
}

/// The word of the position seen from the other side: the ten groups of nine bits in reverse order.
pub(crate) fn flip(w: u128) -> u128 {
    let swap = |low: u32, by: u32| (w & ranks(low, low + 1)) << by | (w >> by) & ranks(low, low + 1);
    swap(0, 81) | swap(1, 63) | swap(2, 45) | swap(3, 27) | swap(4, 9) | w & OFF_BOARD
}

/// The square's mirror image.
pub(crate) const fn mirror_square(s: u8) -> u8 {
    s / 9 * 9 + 8 - s % 9
}

/// The square seen from the other side.
pub(crate) const fn flip_square(s: u8) -> u8 {
    81 - s / 9 * 9 + s % 9
}

/// The cells from which the bit-axis piece has a quiet move into `set`, for fixed other pieces on `occupied`.
///
/// `set` must hold no cell on an occupied square; the result may (the caller masks with possible cells).
pub(crate) fn quiet_predecessors(color: Color, role: Role, set: u128, occupied: u128) -> u128 {
    match role {
        Role::Chariot | Role::Cannon => slides(set, BOARD & !occupied),
        Role::Horse => horse_sources(set, occupied),
        Role::Soldier => soldier_sources(color, set),
        Role::King | Role::Advisor | Role::Elephant => 0,
    }
}

/// Fills along ranks and files over `empty`, the squares of `set` themselves left out unless another reaches them.
fn slides(set: u128, empty: u128) -> u128 {
    // East by carry: adding the first steps to runs of ones ripples to the end of each run. Runs are cut before file a,
    // so that no carry enters the next rank: there it meets a zero and stops.
    let runs = empty & !FILE_A;
    let steps = (set << 1) & runs;
    let east = (runs & !(runs.wrapping_add(steps))) | steps;
    // West, north and south by doubling.
    let mut open = empty & !FILE_I;
    let mut west = (set >> 1) & open;
    west |= (west >> 1) & open;
    open &= open >> 1;
    west |= (west >> 2) & open;
    open &= open >> 2;
    west |= (west >> 4) & open;

    let mut open = empty;
    let mut north = (set << 9) & open;
    north |= (north << 9) & open;
    open &= open << 9;
    north |= (north << 18) & open;
    open &= open << 18;
    north |= (north << 36) & open;
    // Eight squares are covered so far, nine are possible.
    north |= (north << 9) & empty;

    let mut open = empty;
    let mut south = (set >> 9) & open;
    south |= (south >> 9) & open;
    open &= open >> 9;
    south |= (south >> 18) & open;
    open &= open >> 18;
    south |= (south >> 36) & open;
    south |= (south >> 9) & empty;
    east | west | north | south
}

/// Squares of which the file has a neighbour `by` files to the right (left when negative).
const fn has_file(by: i32) -> u128 {
    let mut set = 0;
    let mut f = 0;
    while f < 9 {
        if f + by >= 0 && f + by < 9 {
            set |= file(f as u32);
        }
        f += 1;
    }
    set
}

fn horse_sources(set: u128, occupied: u128) -> u128 {
    const RIGHT: u128 = has_file(1);
    const LEFT: u128 = has_file(-1);
    const RIGHT_2: u128 = has_file(2);
    const LEFT_2: u128 = has_file(-2);
    // The leg is beside the square the horse comes from, so it is judged there.
    let north = (set >> 19 & RIGHT | set >> 17 & LEFT) & !(occupied >> 9);
    let south = (set << 17 & RIGHT | set << 19 & LEFT) & !(occupied << 9);
    let east = (set >> 11 & RIGHT_2 | set << 7 & RIGHT_2) & !(occupied >> 1);
    let west = (set >> 7 & LEFT_2 | set << 11 & LEFT_2) & !(occupied << 1);
    (north | south | east | west) & BOARD
}

fn soldier_sources(color: Color, set: u128) -> u128 {
    let forward = match color {
        Color::Red => set >> 9,
        Color::Black => set << 9,
    };
    let sideways = (set << 1 & !FILE_A | set >> 1 & !FILE_I) & crossed(color);
    (forward | sideways) & BOARD
}

#[cfg(test)]
mod tests {
    use super::*;
    use canju_xiangqi::{Piece, Position, Square, role_mask};
    use proptest::prelude::*;

    /// The same by single moves, on a board with the other pieces as black soldiers or red ones.
    fn by_moves(color: Color, role: Role, set: u128, occupied: u128) -> u128 {
        let mut sources = 0;
        for from in Square::all().filter(|s| occupied & s.bit() == 0 && role_mask(color, role) & s.bit() != 0) {
            let mut position = Position::empty(color);
            position.place(Piece::new(color, role), from).unwrap();
            for s in Square::all().filter(|s| occupied & s.bit() != 0) {
                // A blocker of the mover's colour cannot be captured: what is left are quiet moves.
                if position.place(Piece::new(color, Role::Chariot), s).is_err() {
                    return by_moves(color, role, set, 0);
                }
            }
            let reach = position.reach(from) & !occupied;
            if reach & set != 0 {
                sources |= from.bit();
            }
        }
        sources
    }

    proptest! {
        #[test]
        fn words_agree_with_single_moves(
            set in any::<u128>(), sparse in any::<u128>(), blockers in proptest::collection::vec(0u32..90, 0..2), red in any::<bool>(),
        ) {
            let color = if red { Color::Red } else { Color::Black };
            let occupied = blockers.iter().fold(0u128, |o, &s| o | 1 << s);
            for role in [Role::Chariot, Role::Cannon, Role::Horse, Role::Soldier] {
                let possible = role_mask(color, role) & !occupied;
                let set = set & sparse & possible;
                let words = quiet_predecessors(color, role, set, occupied) & possible;
                prop_assert_eq!(words, by_moves(color, role, set, occupied), "{:?} {:?}", color, role);
            }
        }

        #[test]
        fn mirror_and_flip_move_single_bits(w in any::<u128>()) {
            let w = w & (BOARD | OFF_BOARD);
            let mut mirrored = w & OFF_BOARD;
            let mut flipped = w & OFF_BOARD;
            for s in Square::all().filter(|s| w & s.bit() != 0) {
                mirrored |= s.mirror().bit();
                flipped |= s.flip().bit();
            }
            prop_assert_eq!(mirror(w), mirrored);
            prop_assert_eq!(flip(w), flipped);
            prop_assert_eq!(mirror(mirror(w)), w);
            for s in Square::all() {
                prop_assert_eq!(usize::from(mirror_square(s.index() as u8)), s.mirror().index());
                prop_assert_eq!(usize::from(flip_square(s.index() as u8)), s.flip().index());
            }
        }
    }
}
