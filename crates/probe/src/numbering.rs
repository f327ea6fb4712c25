//! The number of a position as a sum of what each piece on its square adds to it.
//!
//! An index is a mixed-radix number, so each fortress and each attacker contributes to it on its own. The
//! contributions are learned from [`Index::cell`] by moving one piece at a time, once for a table; after
//! that a move's effect on the number is a subtraction and an addition. What was not learned is asked of the
//! index as before, and the sums are checked against it while they are learned.

use std::sync::Arc;

use canju_endgame::Index;
use canju_retro::{Cell, Random, Side};
use canju_xiangqi::{Color, Move, Piece, Position, Role, Square, role_squares};

use crate::lesson::{FORT, Lesson};

const KEYS: usize = 9 << 12;
/// Stands for a contribution that is not known. Eighteen of them still fit, and one is beyond any known sum.
const UNKNOWN: i64 = 1 << 57;
const KNOWN_BELOW: i64 = 1 << 56;
/// Positions from which pieces are moved; what is then still unknown is rare or impossible.
const LESSONS: usize = 4000;

/// Where a position's value stands: a slice, and a cell in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub slice: u32,
    pub index: u32,
}

impl Spot {
    fn of(cell: Cell) -> Self {
        Self { slice: cell.slice, index: cell.index }
    }

    fn number(self) -> i64 {
        i64::from(self.slice) << 32 | i64::from(self.index)
    }

    fn from_number(number: i64) -> Option<Self> {
        (number < KNOWN_BELOW).then_some(Self { slice: (number >> 32) as u32, index: number as u32 })
    }
}

/// Identical attackers of one side. Their squares are taken in ascending order, each place in it with
/// contributions of its own.
struct Kind {
    piece: Piece,
    places: Vec<[i64; 90]>,
}

/// What each piece of an endgame adds to a position's number.
pub(crate) struct Numbering {
    index: Arc<Index>,
    /// What each fortress adds, by its key, Red's and Black's.
    forts: [Vec<i64>; 2],
    /// Red fortresses, by key, for which the board is mirrored first.
    turned: Vec<bool>,
    /// What a king, advisor or elephant adds to its fortress's key.
    keys: [[[u16; 90]; 3]; 2],
    kinds: Vec<Kind>,
    /// The kind of each piece.
    kind_of: [[usize; 7]; 2],
    origin: i64,
}

/// One position, ready to tell where its moves lead.
pub(crate) struct Stand {
    number: i64,
    keys: [usize; 2],
    /// The number without Red's fortress on the mirrored board, once it was asked for.
    mirrored: Option<i64>,
}

/// How a board is looked at: from the other side, and then mirrored.
#[derive(Clone, Copy)]
struct View {
    swapped: bool,
    mirrored: bool,
}

impl View {
    fn square(self, square: Square) -> Square {
        let square = if self.swapped { square.flip() } else { square };
        if self.mirrored { square.mirror() } else { square }
    }

    fn color(self, color: Color) -> Color {
        if self.swapped { color.opposite() } else { color }
    }
}

const AS_IT_IS: View = View { swapped: false, mirrored: false };

impl Kind {
    fn sum(&self, squares: impl Iterator<Item = Square>) -> i64 {
        let mut sorted = [Square::at(0, 0); 5];
        let mut len = 0;
        for square in squares.take(5) {
            let mut at = len;
            while at > 0 && sorted[at - 1] > square {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = square;
            len += 1;
        }
        self.places.iter().zip(&sorted[..len]).map(|(place, s)| place[s.index()]).sum()
    }
}

impl Numbering {
    /// The numbering of an index.
    pub fn learn(index: Arc<Index>) -> Self {
        let mut keys = [[[0; 90]; 3]; 2];
        for color in Color::ALL {
            for (role, shift) in FORT.into_iter().zip([12, 7, 0]) {
                for (i, square) in role_squares(color, role).iter().enumerate() {
                    let part = if role == Role::King { i << shift } else { 1 << (shift + i) };
                    keys[color.index()][role.index()][square.index()] = part as u16;
                }
            }
        }
        let mut kinds = Vec::new();
        let mut kind_of = [[usize::MAX; 7]; 2];
        for color in Color::ALL {
            for role in Role::ALL.into_iter().filter(|role| !FORT.contains(role)) {
                let count = index.material().count(color, role);
                if count > 0 {
                    kind_of[color.index()][role.index()] = kinds.len();
                    kinds.push(Kind { piece: Piece::new(color, role), places: vec![[UNKNOWN; 90]; count] });
                }
            }
        }
        let forts = [vec![UNKNOWN; KEYS], vec![UNKNOWN; KEYS]];
        let mut numbering = Self { index, forts, turned: vec![false; KEYS], keys, kinds, kind_of, origin: 0 };
        if !numbering.study() {
            numbering.origin = UNKNOWN;
        }
        numbering
    }

    /// The index that was learned.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The spot of a board with the index's material, or with the sides exchanged.
    pub fn locate(&self, board: &Position, swapped: bool) -> Option<Spot> {
        let mut view = View { swapped, mirrored: false };
        let red = self.key(board, Color::Red, view);
        view.mirrored = self.turned[red];
        let number = self.forts[0][red] + self.all_but_red_fort(board, view);
        Spot::from_number(number).or_else(|| {
            let cell = if swapped { self.index.cell(&board.flip()) } else { self.index.cell(board) };
            cell.map(Spot::of)
        })
    }

    /// Gets ready for the quiet moves of a board as [`Index::set_up`] gives it.
    pub fn stand(&self, board: &Position) -> Stand {
        let keys = Color::ALL.map(|color| self.key(board, color, AS_IT_IS));
        let number = self.forts[0][keys[0]] + self.all_but_red_fort(board, AS_IT_IS);
        let number = if self.turned[keys[0]] { UNKNOWN } else { number };
        Stand { number, keys, mirrored: None }
    }

    /// The spot after a quiet move of the board.
    pub fn after(&self, stand: &mut Stand, board: &Position, piece: Piece, chosen: Move) -> Option<Spot> {
        let Move { from, to } = chosen;
        let color = piece.color.index();
        let number = if FORT.contains(&piece.role) {
            let parts = &self.keys[color][piece.role.index()];
            let old = stand.keys[color];
            let new = old - usize::from(parts[from.index()]) + usize::from(parts[to.index()]);
            if piece.color == Color::Red && self.turned[new] {
                let rest = stand
                    .mirrored
                    .get_or_insert_with(|| self.all_but_red_fort(board, View { swapped: false, mirrored: true }));
                self.forts[0][new] + *rest
            } else {
                stand.number - self.forts[color][old] + self.forts[color][new]
            }
        } else {
            let kind = &self.kinds[self.kind_of[color][piece.role.index()]];
            if let [place] = &kind.places[..] {
                stand.number - place[from.index()] + place[to.index()]
            } else {
                let squares = || board.squares_of(piece.color, piece.role);
                let moved = squares().map(|s| if s == from { to } else { s });
                stand.number - kind.sum(squares()) + kind.sum(moved)
            }
        };
        Spot::from_number(number).or_else(|| self.index.cell(&board.play(chosen)).map(Spot::of))
    }

    fn all_but_red_fort(&self, board: &Position, view: View) -> i64 {
        let black = self.key(board, Color::Black, view);
        let men = self.kinds.iter().map(|kind| {
            let squares = board.squares_of(view.color(kind.piece.color), kind.piece.role);
            kind.sum(squares.map(|s| view.square(s)))
        });
        self.origin + self.forts[1][black] + men.sum::<i64>()
    }

    /// The key of the fortress that has this colour in the view.
    fn key(&self, board: &Position, color: Color, view: View) -> usize {
        let mut key = 0;
        for role in FORT {
            let parts = &self.keys[color.index()][role.index()];
            for square in board.squares_of(view.color(color), role) {
                key += usize::from(parts[view.square(square).index()]);
            }
        }
        key
    }

    /// Learns the contributions. False where they do not add up to what the index says.
    fn study(&mut self) -> bool {
        let shape = self.index.shape();
        let mut random = Random::new(1);
        let mut board = Position::empty(Color::Red);
        let mut forts = Color::ALL.map(|color| self.all_forts(color));
        let mut squares: Vec<Vec<Vec<Square>>> = self.kinds.iter().map(open_squares).collect();
        let mut begun = false;
        for _ in 0..LESSONS {
            let slice = random.below(shape.slices.len() as u64) as u32;
            let number = random.below(u64::from(shape.slices[slice as usize].cells).max(1)) as u32;
            if !self.index.set_up(Cell { slice, index: number, side: Side::First }, &mut board) {
                continue;
            }
            let base = Lesson::of(&board, self.kinds.iter().map(|kind| kind.piece));
            let Some(cell) = base.board().and_then(|b| self.index.cell(&b)) else { continue };
            if !begun {
                self.begin(&base, Spot::of(cell).number());
                begun = true;
            }
            if let Some(spot) = Spot::from_number(self.sum(&base))
                && spot != Spot::of(cell)
            {
                return false;
            }
            let difference = Spot::of(cell).number();
            for color in Color::ALL {
                self.vary_fort(&base, color, difference, &mut forts[color.index()]);
            }
            for (kind, squares) in squares.iter_mut().enumerate() {
                for (place, squares) in squares.iter_mut().enumerate() {
                    self.vary_man(&base, (kind, place), difference, squares);
                }
            }
            if forts.iter().all(Vec::is_empty) && squares.iter().flatten().all(Vec::is_empty) {
                break;
            }
        }
        for fort in self.all_forts(Color::Red) {
            let (key, image) = (self.key_of(&fort, false), self.key_of(&fort, true));
            if self.turned[key] {
                self.forts[0][key] = self.forts[0][image];
            }
        }
        true
    }

    /// The first position's pieces contribute nothing: the origin is its number.
    fn begin(&mut self, base: &Lesson, number: i64) {
        self.origin = number;
        for color in Color::ALL {
            let key = self.key_of(&base.forts[color.index()], false);
            self.forts[color.index()][key] = 0;
        }
        for (kind, squares) in self.kinds.iter_mut().zip(&base.men) {
            for (place, square) in kind.places.iter_mut().zip(squares) {
                place[square.index()] = 0;
            }
        }
    }

    fn sum(&self, base: &Lesson) -> i64 {
        let forts = Color::ALL.map(|c| self.forts[c.index()][self.key_of(&base.forts[c.index()], false)]);
        let men = self.kinds.iter().zip(&base.men).map(|(kind, squares)| kind.sum(squares.iter().copied()));
        self.origin + forts[0] + forts[1] + men.sum::<i64>()
    }

    /// Puts every fortress that is not known yet in the place of the lesson's.
    fn vary_fort(&mut self, base: &Lesson, color: Color, number: i64, todo: &mut Vec<Vec<(Piece, Square)>>) {
        let here = self.forts[color.index()][self.key_of(&base.forts[color.index()], false)];
        if here == UNKNOWN {
            return;
        }
        let mut again = Position::empty(Color::Red);
        let mut lesson = base.clone();
        todo.retain(|fort| {
            lesson.forts[color.index()].clone_from(fort);
            let Some(cell) = lesson.board().and_then(|board| self.index.cell(&board)) else { return true };
            let key = self.key_of(fort, false);
            let canonical = self.index.set_up(cell, &mut again) && self.key(&again, Color::Red, AS_IT_IS) == key;
            if color == Color::Red && !canonical {
                self.turned[key] = true;
            } else {
                self.forts[color.index()][key] = here + Spot::of(cell).number() - number;
            }
            false
        });
    }

    /// Puts one attacker of the lesson on every square that is not known yet.
    fn vary_man(&mut self, base: &Lesson, (kind, place): (usize, usize), number: i64, todo: &mut Vec<Square>) {
        let own = &base.men[kind];
        let here = self.kinds[kind].places[place][own[place].index()];
        if here == UNKNOWN {
            return;
        }
        let mut lesson = base.clone();
        todo.retain(|&square| {
            let below = place.checked_sub(1).is_none_or(|i| own[i] < square);
            let above = own.get(place + 1).is_none_or(|&next| square < next);
            if !below || !above {
                return true;
            }
            lesson.men[kind][place] = square;
            let Some(cell) = lesson.board().and_then(|board| self.index.cell(&board)) else { return true };
            self.kinds[kind].places[place][square.index()] = here + Spot::of(cell).number() - number;
            false
        });
    }

    fn key_of(&self, fort: &[(Piece, Square)], mirrored: bool) -> usize {
        let view = View { swapped: false, mirrored };
        let parts = fort.iter().map(|(p, s)| self.keys[p.color.index()][p.role.index()][view.square(*s).index()]);
        parts.map(usize::from).sum()
    }

    /// All placements of a side's king, advisors and elephants, impossible ones too.
    fn all_forts(&self, color: Color) -> Vec<Vec<(Piece, Square)>> {
        let mut all = vec![Vec::new()];
        for role in FORT {
            let piece = Piece::new(color, role);
            for _ in 0..self.index.material().count(color, role) {
                let longer = all.iter().flat_map(|fort: &Vec<(Piece, Square)>| {
                    let last = fort.iter().filter(|(p, _)| *p == piece).map(|(_, s)| *s).max();
                    let squares = role_squares(color, role).iter().filter(move |s| last.is_none_or(|l| l < **s));
                    squares.map(|s| fort.iter().copied().chain([(piece, *s)]).collect::<Vec<_>>())
                });
                all = longer.collect();
            }
        }
        all
    }
}

/// The squares that each of several identical attackers can have in ascending order.
fn open_squares(kind: &Kind) -> Vec<Vec<Square>> {
    let all = role_squares(kind.piece.color, kind.piece.role);
    let n = kind.places.len();
    (0..n).map(|place| all[place..=all.len() - n + place].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cell's value must be found under every number that the index has for it.
    #[test]
    fn sums_lead_to_the_same_positions_as_the_index() {
        for name in ["KK", "KRKAABB", "KPPKPP", "KCCKPP", "KABKAB", "KNPKP", "KAPPPKC"] {
            let index = Arc::new(Index::new(name.parse().unwrap()).unwrap());
            let numbering = Numbering::learn(Arc::clone(&index));
            assert!(numbering.origin != UNKNOWN, "{name}: the index is not a sum");
            let shape = index.shape();
            let mut random = Random::new(7);
            let (mut board, mut found) = (Position::empty(Color::Red), Position::empty(Color::Red));
            let (mut tried, mut asked) = (0, 0);
            for _ in 0..600 {
                let slice = random.below(shape.slices.len() as u64) as u32;
                let number = random.below(u64::from(shape.slices[slice as usize].cells)) as u32;
                if !index.set_up(Cell { slice, index: number, side: Side::First }, &mut board) || !board.is_legal() {
                    continue;
                }
                let mut stand = numbering.stand(&board);
                for &chosen in &board.legal_moves() {
                    if board.is_capture(chosen) {
                        continue;
                    }
                    let (next, piece) = (board.play(chosen), board.piece_at(chosen.from).unwrap());
                    let spots = [
                        numbering.locate(&next, false),
                        numbering.locate(&next.flip(), true),
                        numbering.after(&mut stand, &board, piece, chosen),
                    ];
                    for spot in spots {
                        let spot = spot.unwrap();
                        let cell = Cell { slice: spot.slice, index: spot.index, side: Side::Second };
                        assert!(index.set_up(cell, &mut found), "{name} {next}");
                        assert!(found == next || found == next.mirror(), "{name} {next} {found}");
                    }
                    tried += 1;
                    asked += usize::from(Spot::from_number(stand.number).is_none());
                }
            }
            assert!(tried > 400, "{name}: {tried}");
            assert!(asked * 20 < tried, "{name}: {asked} of {tried} were not learned");
        }
    }
}
