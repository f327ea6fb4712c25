use crate::{Color, Role, Square};

/// The set of squares on which a piece may stand.
#[must_use]
pub const fn role_mask(color: Color, role: Role) -> u128 {
    GROUND[color.index()][role.index()]
}

/// The squares on which a piece may stand, in ascending order: 9 for a king, 5 for an advisor,
/// 7 for an elephant, 55 for a soldier and all 90 for the others.
#[must_use]
pub const fn role_squares(color: Color, role: Role) -> &'static [Square] {
    match (role, color) {
        (Role::King, Color::Red) => &KING[0],
        (Role::King, Color::Black) => &KING[1],
        (Role::Advisor, Color::Red) => &ADVISOR[0],
        (Role::Advisor, Color::Black) => &ADVISOR[1],
        (Role::Elephant, Color::Red) => &ELEPHANT[0],
        (Role::Elephant, Color::Black) => &ELEPHANT[1],
        (Role::Soldier, Color::Red) => &SOLDIER[0],
        (Role::Soldier, Color::Black) => &SOLDIER[1],
        (Role::Chariot | Role::Horse | Role::Cannon, _) => &BOARD,
    }
}

const GROUND: [[u128; 7]; 2] = {
    let mut ground = [[0; 7]; 2];
    let mut index = 0;
    while index < 90 {
        let square = Square::known(index);
        let mut role = 0;
        while role < 7 {
            if stands(Role::ALL[role], square) {
                ground[0][role] |= square.bit();
                ground[1][role] |= square.flip().bit();
            }
            role += 1;
        }
        index += 1;
    }
    ground
};

/// Whether a red piece may stand on a square.
const fn stands(role: Role, square: Square) -> bool {
    let (file, rank) = (square.file(), square.rank());
    let palace = file >= 3 && file <= 5 && rank <= 2;
    match role {
        Role::King => palace,
        // The corners and the centre of the palace: one colour of a chequered board.
        Role::Advisor => palace && (file + rank) % 2 == 1,
        Role::Elephant => {
            rank <= 4
                && match rank {
                    0 | 4 => file == 2 || file == 6,
                    2 => file % 4 == 0,
                    _ => false,
                }
        }
        Role::Soldier => rank >= 5 || (rank >= 3 && file % 2 == 0),
        Role::Chariot | Role::Horse | Role::Cannon => true,
    }
}

const fn list<const N: usize>(set: u128) -> [Square; N] {
    assert!(set.count_ones() as usize == N);
    let mut list = [Square::known(0); N];
    let mut rest = set;
    let mut at = 0;
    while rest != 0 {
        list[at] = Square::known(rest.trailing_zeros() as u8);
        rest &= rest - 1;
        at += 1;
    }
    list
}

const fn both<const N: usize>(role: Role) -> [[Square; N]; 2] {
    [list(GROUND[0][role.index()]), list(GROUND[1][role.index()])]
}

static KING: [[Square; 9]; 2] = both(Role::King);
static ADVISOR: [[Square; 5]; 2] = both(Role::Advisor);
static ELEPHANT: [[Square; 7]; 2] = both(Role::Elephant);
static SOLDIER: [[Square; 55]; 2] = both(Role::Soldier);
static BOARD: [Square; 90] = list(GROUND[0][Role::Chariot.index()]);
