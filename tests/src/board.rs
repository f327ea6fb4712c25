//! A board and its rules for the second opinion: ninety letters as in a FEN, moves found by walking.

/// A board as ninety letters, rank by rank from Red's home rank; 0 is an empty square.
#[derive(Clone, PartialEq, Eq)]
pub struct Board(pub(crate) [u8; 90]);

pub(crate) fn is_red(letter: u8) -> bool {
    letter.is_ascii_uppercase()
}

/// Whether a piece may ever stand on a square.
pub(crate) fn may_stand(letter: u8, square: usize) -> bool {
    let (file, rank) = (square % 9, square / 9);
    let rank = if is_red(letter) { rank } else { 9 - rank };
    match letter.to_ascii_uppercase() {
        b'K' => (3..=5).contains(&file) && rank <= 2,
        b'A' => [(3, 0), (5, 0), (4, 1), (3, 2), (5, 2)].contains(&(file, rank)),
        b'B' => [(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)].contains(&(file, rank)),
        b'P' => rank >= 5 || (rank >= 3 && file % 2 == 0),
        _ => true,
    }
}

fn step(square: usize, files: i32, ranks: i32) -> Option<usize> {
    let (file, rank) = ((square % 9) as i32 + files, (square / 9) as i32 + ranks);
    ((0..9).contains(&file) && (0..10).contains(&rank)).then_some((rank * 9 + file) as usize)
}

const STRAIGHT: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

impl Board {
    /// A board with these pieces, by their FEN letters, on these squares, numbered from Red's left rank by rank.
    /// `None` where two share a square.
    pub fn new(pieces: impl IntoIterator<Item = (char, usize)>) -> Option<Self> {
        let mut board = [0; 90];
        for (letter, square) in pieces {
            if board[square] != 0 {
                return None;
            }
            board[square] = letter as u8;
        }
        Some(Self(board))
    }

    /// The FEN with this side to move.
    #[must_use]
    pub fn fen(&self, red: bool) -> String {
        let ranks = (0..10).rev().map(|rank| {
            let (mut text, mut gap) = (String::new(), 0);
            for letter in &self.0[9 * rank..9 * rank + 9] {
                if *letter == 0 {
                    gap += 1;
                    continue;
                }
                if gap > 0 {
                    text += &gap.to_string();
                }
                text.push(char::from(*letter));
                gap = 0;
            }
            if gap > 0 { text + &gap.to_string() } else { text }
        });
        let ranks: Vec<String> = ranks.collect();
        format!("{} {}", ranks.join("/"), if red { 'w' } else { 'b' })
    }

    /// Where the piece on a square can go by its own way of moving, captures of either side included.
    pub(crate) fn targets(&self, from: usize, each: &mut dyn FnMut(usize)) {
        let letter = self.0[from];
        let empty = |square: usize| self.0[square] == 0;
        match letter.to_ascii_uppercase() {
            b'K' | b'A' => {
                let ways = if letter.eq_ignore_ascii_case(&b'K') { STRAIGHT } else { DIAGONAL };
                let to = ways.into_iter().filter_map(|(f, r)| step(from, f, r));
                to.filter(|&to| may_stand(letter, to)).for_each(each);
            }
            b'B' => {
                for (f, r) in DIAGONAL {
                    if let (Some(eye), Some(to)) = (step(from, f, r), step(from, 2 * f, 2 * r))
                        && empty(eye)
                        && may_stand(letter, to)
                    {
                        each(to);
                    }
                }
            }
            b'N' => {
                for (f, r) in STRAIGHT {
                    let Some(leg) = step(from, f, r).filter(|&leg| empty(leg)) else { continue };
                    for turn in [1, -1] {
                        let aside = if f == 0 { (turn, r) } else { (f, turn) };
                        step(leg, aside.0, aside.1).into_iter().for_each(&mut *each);
                    }
                }
            }
            b'R' | b'C' => {
                for (f, r) in STRAIGHT {
                    let mut screens = 0;
                    let mut at = from;
                    while let Some(next) = step(at, f, r) {
                        at = next;
                        match (letter.to_ascii_uppercase(), empty(at), screens) {
                            (_, true, 0) => each(at),
                            (b'R', false, 0) | (b'C', false, 1) => {
                                each(at);
                                break;
                            }
                            (_, false, _) => screens += 1,
                            _ => {}
                        }
                    }
                }
            }
            b'P' => {
                let forward = if is_red(letter) { 1 } else { -1 };
                step(from, 0, forward).into_iter().for_each(&mut *each);
                let crossed = if is_red(letter) { from >= 45 } else { from < 45 };
                for side in [1, -1].into_iter().filter(|_| crossed) {
                    step(from, side, 0).into_iter().for_each(&mut *each);
                }
            }
            _ => {}
        }
    }

    /// Whether a side's king can be captured, by a piece or by the enemy's king along an open file.
    pub(crate) fn is_exposed(&self, red: bool) -> bool {
        let find = |king: u8| self.0.iter().position(|&letter| letter == king).unwrap();
        let (own, other) = if red { (find(b'K'), find(b'k')) } else { (find(b'k'), find(b'K')) };
        let between = |square: &usize| *square > own.min(other) && *square < own.max(other);
        if own % 9 == other % 9 && (own % 9..90).step_by(9).filter(between).all(|square| self.0[square] == 0) {
            return true;
        }
        self.0.iter().enumerate().filter(|&(_, &letter)| letter != 0 && is_red(letter) != red).any(|(from, _)| {
            let mut hit = false;
            self.targets(from, &mut |to| hit |= to == own);
            hit
        })
    }

    /// Whether the position can occur: the side that moved last has not left its king to be captured, and no two
    /// soldiers of a side share a file before the river.
    #[must_use]
    pub fn is_legal(&self, red: bool) -> bool {
        let doubled = |letter: u8, home: std::ops::Range<usize>| {
            (0..9).any(|file| home.clone().filter(|s| s % 9 == file && self.0[*s] == letter).count() > 1)
        };
        !doubled(b'P', 0..45) && !doubled(b'p', 45..90) && !self.is_exposed(!red)
    }

    /// Calls `each` with every square that a legal move leaves and enters, and the board after it.
    pub(crate) fn moves(&mut self, red: bool, each: &mut dyn FnMut(&Self, usize, usize, u8)) {
        for from in 0..90 {
            let letter = self.0[from];
            if letter == 0 || is_red(letter) != red {
                continue;
            }
            let mut targets = [0; 20];
            let mut n = 0;
            self.targets(from, &mut |to| {
                targets[n] = to;
                n += 1;
            });
            for &to in &targets[..n] {
                let taken = self.0[to];
                if taken != 0 && (is_red(taken) == red || taken.eq_ignore_ascii_case(&b'k')) {
                    continue;
                }
                (self.0[from], self.0[to]) = (0, letter);
                if !self.is_exposed(red) {
                    each(self, from, to, taken);
                }
                (self.0[from], self.0[to]) = (letter, taken);
            }
        }
    }

    /// The boards after all legal moves, and whether each move captured.
    #[must_use]
    pub fn successors(&self, red: bool) -> Vec<(Self, bool)> {
        let mut all = Vec::new();
        self.clone().moves(red, &mut |after, _, _, taken| all.push((after.clone(), taken != 0)));
        all
    }
}
