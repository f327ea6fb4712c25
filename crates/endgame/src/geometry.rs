//! Lines, legs and steps of single pieces: the tables behind everything that is not the bit axis.

use std::sync::LazyLock;

use canju_xiangqi::{Color, Role, Square, role_mask};

use crate::word::{BOARD, crossed};

/// One quiet step between two squares. The same list serves for stepping back and forth, but for
/// horses (whose leg is beside the square they come from) and soldiers (who never go back).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The other square.
    pub to: u8,
    /// What must be empty besides that square: the squares between, or the horse's leg.
    pub path: u128,
    /// `path` and the other square together.
    pub all: u128,
}

/// Steps from each square.
pub(crate) type Steps = [Vec<Step>; 90];

pub(crate) struct Geometry {
    /// The squares strictly between two squares of a common rank or file; else 0.
    between: Vec<[u128; 90]>,
    /// Rays by direction (north, east, south, west).
    rays: [[u128; 90]; 4],
    /// The same rays as squares in the order in which a slide passes them, [`END`] behind the last.
    walks: Box<[[[u8; 10]; 4]; 90]>,
    forth: [[Steps; 7]; 2],
    back: [[Steps; 7]; 2],
    /// From where a horse attacks each square, and the legs on the way: both together, as mostly none is blocked.
    horses: [[u128; 2]; 90],
    /// From where a soldier attacks each square, by colour.
    soldiers: [[u128; 90]; 2],
}

/// Marks the end of a walk.
pub(crate) const END: u8 = u8::MAX;

static GEOMETRY: LazyLock<Geometry> = LazyLock::new(Geometry::new);

const fn bit(s: usize) -> u128 {
    1 << s
}

impl Geometry {
    pub fn get() -> &'static Self {
        &GEOMETRY
    }

    fn new() -> Self {
        let mut between = vec![[0u128; 90]; 90];
        let ray = |s: usize, direction: usize| -> u128 {
            let (file, rank) = (s % 9, s / 9);
            match direction {
                0 => (rank + 1..10).map(|r| bit(r * 9 + file)).sum(),
                1 => (file + 1..9).map(|f| bit(rank * 9 + f)).sum(),
                2 => (0..rank).map(|r| bit(r * 9 + file)).sum(),
                _ => (0..file).map(|f| bit(rank * 9 + f)).sum(),
            }
        };
        let rays: [[u128; 90]; 4] = std::array::from_fn(|d| std::array::from_fn(|s| ray(s, d)));
        for s in 0..90 {
            for d in 0..4 {
                for t in (0..90).filter(|&t| rays[d][s] & bit(t) != 0) {
                    between[s][t] = rays[d][s] & rays[(d + 2) % 4][t];
                }
            }
        }
        let mut walks = Box::new([[[END; 10]; 4]; 90]);
        for (s, walks) in walks.iter_mut().enumerate() {
            for (d, walk) in walks.iter_mut().enumerate() {
                let mut squares: Vec<usize> = members(rays[d][s]).collect();
                if d >= 2 {
                    squares.reverse();
                }
                for (at, square) in walk.iter_mut().zip(squares) {
                    *at = square as u8;
                }
            }
        }
        let empty = || std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| Vec::new())));
        let mut geometry =
            Self { between, rays, walks, forth: empty(), back: empty(), horses: [[0; 2]; 90], soldiers: [[0; 90]; 2] };
        for color in Color::ALL {
            for role in [Role::Chariot, Role::Cannon, Role::Horse, Role::Soldier] {
                let mut pairs = Vec::new();
                for s in (0..90).filter(|&s| role_mask(color, role) & bit(s) != 0) {
                    for t in (0..90).filter(|&t| role_mask(color, role) & bit(t) != 0) {
                        if let Some(path) = geometry.quiet_path(color, role, s, t) {
                            pairs.push((s, t, path));
                        }
                    }
                }
                for (s, t, path) in pairs {
                    let step = |to: usize| Step { to: to as u8, path, all: path | bit(to) };
                    geometry.forth[color.index()][role.index()][s].push(step(t));
                    geometry.back[color.index()][role.index()][t].push(step(s));
                }
            }
        }
        for (horses, steps) in geometry.horses.iter_mut().zip(&geometry.back[0][Role::Horse.index()]) {
            *horses = steps.iter().fold([0; 2], |[from, legs], s| [from | bit(usize::from(s.to)), legs | s.path]);
        }
        for (soldiers, back) in geometry.soldiers.iter_mut().zip(&geometry.back) {
            for (from, steps) in soldiers.iter_mut().zip(&back[Role::Soldier.index()]) {
                *from = steps.iter().fold(0, |set, s| set | bit(usize::from(s.to)));
            }
        }
        geometry
    }

    /// What must be empty between `s` and `t` for a quiet move of an attacker, or `None` where there is none.
    fn quiet_path(&self, color: Color, role: Role, s: usize, t: usize) -> Option<u128> {
        let (df, dr) = ((t % 9) as i32 - (s % 9) as i32, (t / 9) as i32 - (s / 9) as i32);
        match role {
            Role::Chariot | Role::Cannon => ((df == 0) != (dr == 0)).then(|| self.between[s][t]),
            Role::Horse => leg(s, df, dr),
            Role::Soldier => {
                let ahead = if color == Color::Red { 1 } else { -1 };
                let forward = (df, dr) == (0, ahead);
                let sideways = dr == 0 && df.abs() == 1 && crossed(color) & bit(s) != 0;
                (forward || sideways).then_some(0)
            }
            Role::King | Role::Advisor | Role::Elephant => None,
        }
    }

    /// The quiet steps from a square, if all other squares are empty.
    pub fn forth(&self, color: Color, role: Role) -> &Steps {
        &self.forth[color.index()][role.index()]
    }

    /// The steps by which a piece can have come to a square.
    pub fn back(&self, color: Color, role: Role) -> &Steps {
        &self.back[color.index()][role.index()]
    }

    /// The squares that a chariot or cannon passes from `s`, by direction.
    pub fn walks(&self, s: u8) -> &[[u8; 10]; 4] {
        &self.walks[usize::from(s)]
    }

    pub fn between(&self, s: usize, t: usize) -> u128 {
        self.between[s][t]
    }

    /// The squares of a further piece for which the attacker on `from` attacks square `target`:
    /// those that do not block it, or, for a cannon, those that serve as its screen. `occupied`
    /// are the other pieces; whether `from` and `target` are in it does not matter.
    pub fn attack(&self, color: Color, role: Role, from: usize, target: usize, occupied: u128) -> u128 {
        const ALL: u128 = u128::MAX;
        match role {
            Role::Chariot | Role::Cannon => {
                let (file, rank) = (from % 9 == target % 9, from / 9 == target / 9);
                if file == rank {
                    return 0;
                }
                let line = self.between[from][target];
                match ((line & occupied).count_ones(), role) {
                    (0, Role::Chariot) | (1, Role::Cannon) => ALL & !line,
                    (0, Role::Cannon) => line,
                    _ => 0,
                }
            }
            Role::Horse => {
                let (df, dr) = ((target % 9) as i32 - (from % 9) as i32, (target / 9) as i32 - (from / 9) as i32);
                match leg(from, df, dr) {
                    Some(leg) if leg & occupied == 0 => ALL & !leg,
                    _ => 0,
                }
            }
            Role::Soldier => {
                if self.soldiers[color.index()][target] & bit(from) != 0 {
                    ALL
                } else {
                    0
                }
            }
            Role::King | Role::Advisor | Role::Elephant => 0,
        }
    }

    /// The squares from which an attacker of this role attacks `target`, the other pieces on `occupied`.
    pub fn attackers(&self, color: Color, role: Role, target: usize, occupied: u128) -> u128 {
        let occupied = occupied & !bit(target);
        match role {
            Role::Chariot => self.lines(target, occupied, 0),
            Role::Cannon => self.lines(target, occupied, 1),
            Role::Horse if self.horses[target][1] & occupied == 0 => self.horses[target][0],
            Role::Horse => self.back(color, role)[target]
                .iter()
                .filter(|step| step.path & occupied == 0)
                .fold(0, |set, step| set | bit(usize::from(step.to))),
            Role::Soldier => self.soldiers[color.index()][target],
            Role::King | Role::Advisor | Role::Elephant => 0,
        }
    }

    /// The squares from which an attacker of this role attacks `target` with other pieces placed in any way.
    pub fn reach(&self, color: Color, role: Role, target: usize) -> u128 {
        match role {
            Role::Chariot | Role::Cannon => self.rays.iter().fold(0, |set, rays| set | rays[target]),
            Role::Horse => self.horses[target][0],
            Role::Soldier => self.soldiers[color.index()][target],
            Role::King | Role::Advisor | Role::Elephant => 0,
        }
    }

    /// The empty squares that a chariot or cannon, horse or soldier on `from` attacks: where an enemy
    /// on the bit axis could be captured.
    pub fn targets(&self, color: Color, role: Role, from: usize, occupied: u128) -> u128 {
        match role {
            // Lines are the same from both ends.
            Role::Chariot => self.lines(from, occupied, 0),
            Role::Cannon => self.lines(from, occupied, 1),
            Role::Horse | Role::Soldier => {
                self.forth(color, role)[from]
                    .iter()
                    .filter(|step| step.path & occupied == 0)
                    .fold(0, |set, step| set | bit(usize::from(step.to)))
                    & !occupied
            }
            Role::King | Role::Advisor | Role::Elephant => 0,
        }
    }

    /// The empty squares seen from `s` along ranks and files beyond exactly `screens` (0 or 1) pieces.
    fn lines(&self, s: usize, occupied: u128, screens: u32) -> u128 {
        let mut set = 0;
        for (d, rays) in self.rays.iter().enumerate() {
            let ray = rays[s];
            let nearest = |blockers: u128| {
                let at = if d < 2 { blockers.trailing_zeros() } else { 127 - blockers.leading_zeros() };
                at as usize
            };
            let blockers = ray & occupied;
            if blockers == 0 {
                if screens == 0 {
                    set |= ray;
                }
                continue;
            }
            let first = nearest(blockers);
            if screens == 0 {
                set |= ray & !rays[first] & !bit(first);
                continue;
            }
            let beyond = rays[first] & occupied;
            set |= match beyond {
                0 => rays[first],
                _ => {
                    let second = nearest(beyond);
                    rays[first] & !rays[second] & !bit(second)
                }
            };
        }
        set & BOARD
    }
}

/// The leg of a horse's step by `(df, dr)` from `from`, or `None` where it is no horse's step.
fn leg(from: usize, df: i32, dr: i32) -> Option<u128> {
    match (df.abs(), dr.abs()) {
        (1, 2) => Some(bit((from as i32 + 9 * dr.signum()) as usize)),
        (2, 1) => Some(bit((from as i32 + df.signum()) as usize)),
        _ => None,
    }
}

/// The squares' numbers in a set, ascending.
pub(crate) fn members(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let s = set.trailing_zeros() as usize;
            set &= set - 1;
            s
        })
    })
}

/// The square of a number below 90.
pub(crate) fn square(s: usize) -> Square {
    Square::at((s % 9) as u8, (s / 9) as u8)
}
