//! The moves of every piece from every square, made by the compiler.
//!
//! Sets of squares are `u128` with bit `9 * rank + file`.

use crate::{Color, Role, Square, role_mask};

/// Bits beyond the board that stand in every [`between`] set of two squares that share no line.
/// There are three of them since nothing in the game looks over three pieces.
pub(crate) const WALL: u128 = 0b111 << 125;

/// What a slider on one place of a line sees, as bits of the line.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    /// The empty places and, at either end, the first piece.
    pub slide: u16,
    /// The second piece on either side, which a cannon can capture.
    pub jump: u16,
}

/// By place on the line and by the places that are taken. Written for a file of ten; on a rank of
/// nine the place beyond the edge must be masked out of `slide`.
pub(crate) static LINES: [[Line; 1024]; 10] = {
    let mut lines = [[Line { slide: 0, jump: 0 }; 1024]; 10];
    let mut place = 0;
    while place < 10 {
        let mut taken = 0;
        while taken < 1024 {
            let mut line = look(place, taken, 1);
            let down = look(place, taken, -1);
            line.slide |= down.slide;
            line.jump |= down.jump;
            lines[place as usize][taken as usize] = line;
            taken += 1;
        }
        place += 1;
    }
    lines
};

const fn look(place: i8, taken: u16, step: i8) -> Line {
    let mut line = Line { slide: 0, jump: 0 };
    let mut passed = 0;
    let mut at = place + step;
    while at >= 0 && at < 10 && passed < 2 {
        let bit = 1 << at;
        if passed == 0 {
            line.slide |= bit;
        }
        if taken & bit != 0 {
            if passed == 1 {
                line.jump |= bit;
            }
            passed += 1;
        }
        at += step;
    }
    line
}

/// The ten bits of a file's line as a set of squares on file `a`.
pub(crate) static FILE_SQUARES: [u128; 1024] = {
    let mut spread = [0; 1024];
    let mut line = 0;
    while line < 1024 {
        let mut rank = 0;
        while rank < 10 {
            if line >> rank & 1 != 0 {
                spread[line] |= 1 << (9 * rank);
            }
            rank += 1;
        }
        line += 1;
    }
    spread
};

/// The squares strictly between two squares of one line; [`WALL`] when they share none.
#[inline]
pub(crate) fn between(a: Square, b: Square) -> u128 {
    BETWEEN[a.index()][b.index()]
}

static BETWEEN: [[u128; 90]; 90] = {
    let mut table = [[WALL; 90]; 90];
    let mut a = 0;
    while a < 90 {
        let mut b = 0;
        while b < 90 {
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let step = if low == high {
                0
            } else if low / 9 == high / 9 {
                1
            } else if low % 9 == high % 9 {
                9
            } else {
                0
            };
            if step != 0 {
                let mut set = 0;
                let mut at = low + step;
                while at < high {
                    set |= 1 << at;
                    at += step;
                }
                table[a][b] = set;
            }
            b += 1;
        }
        a += 1;
    }
    table
};

/// A set of targets that is open unless a piece stands on `block`. Where the block would be off
/// the board there are no targets and `block` is the square of the piece itself.
#[derive(Clone, Copy)]
pub(crate) struct Hop {
    pub block: Square,
    pub targets: u128,
}

const DIAGONALS: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
const STRAIGHT: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

const fn step(square: Square, (files, ranks): (i8, i8)) -> Option<Square> {
    let file = square.file() as i8 + files;
    let rank = square.rank() as i8 + ranks;
    if file < 0 || file > 8 || rank < 0 || rank > 9 {
        return None;
    }
    Some(Square::at(file as u8, rank as u8))
}

const fn bit(square: Option<Square>) -> u128 {
    match square {
        Some(square) => square.bit(),
        None => 0,
    }
}

/// The horse's four legs with the two targets behind each.
pub(crate) static HORSE: [[Hop; 4]; 90] = {
    let mut table = [[Hop { block: Square::known(0), targets: 0 }; 4]; 90];
    let mut index = 0;
    while index < 90 {
        let square = Square::known(index);
        let mut way = 0;
        while way < 4 {
            let (file, rank) = STRAIGHT[way];
            let hop = &mut table[index as usize][way];
            hop.block = square;
            if let Some(leg) = step(square, (file, rank)) {
                hop.block = leg;
                // Outward from the leg: once more along, once to either side.
                hop.targets = bit(step(leg, (file + rank, rank + file))) | bit(step(leg, (file - rank, rank - file)));
            }
            way += 1;
        }
        index += 1;
    }
    table
};

/// By the square of a horse and a square that it attacks: its leg. For all other pairs the square
/// of the horse, which is never empty.
#[inline]
pub(crate) fn leg(horse: Square, target: Square) -> Square {
    LEG[target.index()][horse.index()]
}

static LEG: [[Square; 90]; 90] = {
    let mut table = [[Square::known(0); 90]; 90];
    let mut horse = 0;
    while horse < 90 {
        let mut target = 0;
        while target < 90 {
            table[target][horse] = Square::known(horse as u8);
            let mut way = 0;
            while way < 4 {
                let hop = HORSE[horse][way];
                if hop.targets >> target & 1 != 0 {
                    table[target][horse] = hop.block;
                }
                way += 1;
            }
            target += 1;
        }
        horse += 1;
    }
    table
};

/// The elephant's four eyes with the target behind each. Only red and black elephants' own
/// squares have targets.
pub(crate) static ELEPHANT: [[Hop; 4]; 90] = {
    let mut table = [[Hop { block: Square::known(0), targets: 0 }; 4]; 90];
    let ground = role_mask(Color::Red, Role::Elephant) | role_mask(Color::Black, Role::Elephant);
    let mut index = 0;
    while index < 90 {
        let square = Square::known(index);
        let mut way = 0;
        while way < 4 {
            let (file, rank) = DIAGONALS[way];
            let hop = &mut table[index as usize][way];
            hop.block = square;
            if let (Some(eye), Some(target)) = (step(square, (file, rank)), step(square, (2 * file, 2 * rank)))
                && ground & square.bit() != 0
                && ground & target.bit() != 0
            {
                hop.block = eye;
                hop.targets = target.bit();
            }
            way += 1;
        }
        index += 1;
    }
    table
};

/// The king's steps; empty outside the palaces.
pub(crate) static KING: [u128; 90] = palace_steps(Role::King, STRAIGHT);

/// The advisor's steps; empty off its squares.
pub(crate) static ADVISOR: [u128; 90] = palace_steps(Role::Advisor, DIAGONALS);

const fn palace_steps(role: Role, ways: [(i8, i8); 4]) -> [u128; 90] {
    let ground = role_mask(Color::Red, role) | role_mask(Color::Black, role);
    let mut table = [0; 90];
    let mut index = 0;
    while index < 90 {
        let square = Square::known(index);
        if ground & square.bit() != 0 {
            let mut way = 0;
            while way < 4 {
                table[index as usize] |= bit(step(square, ways[way])) & ground;
                way += 1;
            }
        }
        index += 1;
    }
    table
}

/// The soldier's steps, by side.
pub(crate) static SOLDIER: [[u128; 90]; 2] = {
    let mut table = [[0; 90]; 2];
    let mut side = 0;
    while side < 2 {
        let mut index = 0;
        while index < 90 {
            let square = Square::known(index);
            let ahead = if side == 0 { 1 } else { -1 };
            let crossed = (square.rank() >= 5) == (side == 0);
            let mut steps = bit(step(square, (0, ahead)));
            if crossed {
                steps |= bit(step(square, (1, 0))) | bit(step(square, (-1, 0)));
            }
            table[side][index as usize] = steps;
            index += 1;
        }
        side += 1;
    }
    table
};

/// The squares from which a soldier of a side attacks a square.
pub(crate) static SOLDIER_FROM: [[u128; 90]; 2] = {
    let mut table = [[0; 90]; 2];
    let mut side = 0;
    while side < 2 {
        let mut from = 0;
        while from < 90 {
            let mut target = 0;
            while target < 90 {
                if SOLDIER[side][from] >> target & 1 != 0 {
                    table[side][target] |= 1 << from;
                }
                target += 1;
            }
            from += 1;
        }
        side += 1;
    }
    table
};
