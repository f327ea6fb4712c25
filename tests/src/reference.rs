//! A second opinion: xiangqi solved one position at a time, straight from the rules.
//!
//! Nothing here is shared with the solver or with the tables of moves: its board is ninety letters as in a FEN,
//! its moves are found by walking, and every position of the full board is kept, mirror images and all. It is
//! slow and short, and meant to be read beside the rules.

use std::collections::HashMap;
use std::sync::Arc;

use crate::board::Board;
use crate::placements::Placements;

/// What a position is worth to the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It cannot occur.
    Illegal,
    /// Nobody can force a win.
    Draw,
    /// The side to move wins, in so many plies to mate and to conversion.
    Win(u16, u16),
    /// The side to move loses, likewise.
    Loss(u16, u16),
}

/// Value of a position that cannot occur.
const ILLEGAL: i16 = i16::MIN;
/// Wins in n plies are n, losses in n plies -1 - n.
const DRAW: i16 = 0;

fn loss(plies: usize) -> i16 {
    -1 - plies as i16
}

/// One endgame, solved.
pub struct Judged {
    placements: Placements,
    dtm: [Vec<i16>; 2],
    dtc: [Vec<i16>; 2],
}

impl Judged {
    fn new(letters: &[u8]) -> Self {
        Self { placements: Placements::new(letters), dtm: [vec![], vec![]], dtc: [vec![], vec![]] }
    }

    /// What a position of the endgame is worth.
    #[must_use]
    pub fn judge(&self, board: &Board, red: bool) -> Judgement {
        let (side, id) = (usize::from(!red), self.placements.id_of(board));
        match (self.dtm[side][id], self.dtc[side][id]) {
            (ILLEGAL, _) => Judgement::Illegal,
            (DRAW, _) => Judgement::Draw,
            (m, c) if m > 0 => Judgement::Win(m as u16, c as u16),
            (m, c) => Judgement::Loss((-1 - m) as u16, (-1 - c) as u16),
        }
    }

    /// Won, lost and drawn positions of the full board, identical pieces not told apart.
    #[must_use]
    pub fn counts(&self, red: bool) -> [u64; 3] {
        let orders = self.placements.orders();
        let values = &self.dtm[usize::from(!red)];
        let count = |wanted: fn(i16) -> bool| (values.iter().filter(|&&v| wanted(v)).count() / orders) as u64;
        [count(|v| v > 0), count(|v| v < 0 && v != ILLEGAL), count(|v| v == DRAW)]
    }
}

/// What captures lead to from one position, in one metric.
#[derive(Clone, Copy)]
enum Capture {
    /// The enemy has lost in so many plies.
    Wins(usize),
    /// The enemy has won in so many plies.
    Loses(usize),
}

/// All moves of an endgame.
struct Graph {
    /// Legal positions by side and id.
    legal: Vec<bool>,
    /// How many moves each has, all kinds.
    moves: Vec<u8>,
    /// Where the predecessors by quiet moves of each begin, and the end.
    starts: Vec<u32>,
    from: Vec<u32>,
    /// Captures that do not lead to a draw: who can make them, and what comes of them, by metric.
    captures: [Vec<(u32, Capture)>; 2],
}

/// Endgames solved from the rules, with all that captures lead to.
#[derive(Default)]
pub struct Reference(HashMap<Vec<u8>, Arc<Judged>>);

impl Reference {
    /// Nothing solved yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The endgame of these pieces, as FEN letters: Red's in upper case, then Black's, such as `KRkn`.
    pub fn solve(&mut self, letters: &str) -> Arc<Judged> {
        self.solve_letters(letters.as_bytes())
    }

    fn solve_letters(&mut self, letters: &[u8]) -> Arc<Judged> {
        if let Some(judged) = self.0.get(letters) {
            return Arc::clone(judged);
        }
        let mut smaller = HashMap::new();
        for (i, letter) in letters.iter().enumerate().filter(|(_, l)| !l.eq_ignore_ascii_case(&b'k')) {
            let rest = [&letters[..i], &letters[i + 1..]].concat();
            smaller.insert(*letter, self.solve_letters(&rest));
        }
        let mut judged = Judged::new(letters);
        let graph = Graph::new(&judged, &smaller);
        judged.dtm = graph.label(&graph.captures[0]);
        judged.dtc = graph.label(&graph.captures[1]);
        let judged = Arc::new(judged);
        self.0.insert(letters.to_vec(), Arc::clone(&judged));
        judged
    }
}

impl Graph {
    fn new(judged: &Judged, smaller: &HashMap<u8, Arc<Judged>>) -> Self {
        let placements = &judged.placements;
        let len = placements.len();
        let mut graph = Self {
            legal: vec![false; 2 * len],
            moves: vec![0; 2 * len],
            starts: vec![0; 2 * len + 1],
            from: Vec::new(),
            captures: [Vec::new(), Vec::new()],
        };
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for node in 0..2 * len {
            let (red, id) = (node < len, node % len);
            let squares = placements.squares(id);
            let Some(mut board) = placements.board(&squares).filter(|board| board.is_legal(red)) else { continue };
            graph.legal[node] = true;
            board.moves(red, &mut |after, from, to, taken| {
                graph.moves[node] += 1;
                if taken == 0 {
                    let next = placements.id(squares.iter().map(|&s| if s == from { to } else { s }));
                    let next = next + if red { len } else { 0 };
                    graph.starts[next] += 1;
                    edges.push((next as u32, node as u32));
                    return;
                }
                let effects = match smaller[&taken].judge(after, !red) {
                    Judgement::Win(mate, _) => [Capture::Loses(usize::from(mate)), Capture::Loses(0)],
                    Judgement::Loss(mate, _) => [Capture::Wins(usize::from(mate)), Capture::Wins(0)],
                    _ => return,
                };
                for (captures, effect) in graph.captures.iter_mut().zip(effects) {
                    captures.push((node as u32, effect));
                }
            });
        }
        let mut sum = 0;
        for start in &mut graph.starts {
            sum += *start;
            *start = sum;
        }
        graph.from = vec![0; edges.len()];
        for (to, from) in edges {
            graph.starts[to as usize] -= 1;
            graph.from[graph.starts[to as usize] as usize] = from;
        }
        graph
    }

    /// Labels all positions ply by ply. A capture that loses at ply 0 is taken off before the first ply: it then
    /// delays nothing, which is what conversion means; a mate has no such captures, as nobody is won in 0.
    fn label(&self, captures: &[(u32, Capture)]) -> [Vec<i16>; 2] {
        let mut values: Vec<i16> = self.legal.iter().map(|&legal| if legal { DRAW } else { ILLEGAL }).collect();
        let mut left = self.moves.clone();
        let last = captures.iter().map(|(_, Capture::Wins(n) | Capture::Loses(n))| *n).max().unwrap_or(0);
        let mut events: Vec<Vec<(u32, Capture)>> = vec![Vec::new(); last + 1];
        for &(node, effect) in captures {
            match effect {
                Capture::Loses(0) => left[node as usize] -= 1,
                Capture::Wins(n) | Capture::Loses(n) => events[n].push((node, effect)),
            }
        }
        let mut layer: Vec<u32> =
            (0..left.len() as u32).filter(|&n| self.legal[n as usize] && left[n as usize] == 0).collect();
        layer.iter().for_each(|&node| values[node as usize] = loss(0));
        let mut ply = 0;
        while !layer.is_empty() || ply < events.len() {
            let mut won = Vec::new();
            let mut lost = Vec::new();
            for &node in &layer {
                let before = &self.from[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize];
                if values[node as usize] > 0 { lost.extend(before) } else { won.extend(before) }
            }
            for &(node, effect) in events.get(ply).map_or(&[][..], Vec::as_slice) {
                match effect {
                    Capture::Wins(_) => won.push(node),
                    Capture::Loses(_) => lost.push(node),
                }
            }
            ply += 1;
            layer.clear();
            for node in won {
                if values[node as usize] == DRAW {
                    values[node as usize] = ply as i16;
                    layer.push(node);
                }
            }
            for node in lost {
                left[node as usize] -= 1;
                if left[node as usize] == 0 && values[node as usize] == DRAW {
                    values[node as usize] = loss(ply);
                    layer.push(node);
                }
            }
        }
        let black = values.split_off(values.len() / 2);
        [values, black]
    }
}
