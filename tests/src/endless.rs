//! A second opinion on the rules of repetition: the game on endless plays, solved as such.
//!
//! For each side that may profit there is one Rabin game on the positions that nobody can force to an end: a pair for the
//! king and one for each of its other pieces. A move of the other side spoils the king's pair unless it checks, and a
//! piece's unless it makes an attack on that piece that was none before. A move of its own serves the king's pair
//! unless it checks, and a piece's unless it checks or attacks anything anew.

use std::collections::HashMap;
use std::sync::Arc;

use canju_retro::Rules;

use crate::board::Board;
use crate::placements::Placements;
use crate::rabin::{self, Game};

/// Who wins, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fate {
    /// It cannot occur.
    Illegal,
    /// Nobody can force a win.
    Draw,
    /// The side to move wins.
    Win,
    /// The side to move loses.
    Loss,
}

/// One endgame, solved under one rule of repetition.
pub struct Settled {
    placements: Placements,
    fates: Vec<Fate>,
}

impl Settled {
    fn new(letters: &[u8]) -> Self {
        Self { placements: Placements::new(letters), fates: Vec::new() }
    }

    fn len(&self) -> usize {
        self.placements.len()
    }

    /// Who wins a position of the endgame.
    #[must_use]
    pub fn fate(&self, board: &Board, red: bool) -> Fate {
        let id = self.placements.id_of(board);
        self.fates[if red { id } else { id + self.len() }]
    }

    /// Won, lost and drawn positions of the full board, identical pieces not told apart.
    #[must_use]
    pub fn counts(&self, red: bool) -> [u64; 3] {
        let orders = self.placements.orders();
        let half = if red { &self.fates[..self.len()] } else { &self.fates[self.len()..] };
        [Fate::Win, Fate::Loss, Fate::Draw].map(|fate| (half.iter().filter(|&&f| f == fate).count() / orders) as u64)
    }
}

/// Endgames solved under one rule of repetition, with all that captures lead to.
pub struct Endless {
    rules: Rules,
    settled: HashMap<Vec<u8>, Arc<Settled>>,
}

/// A quiet move.
#[derive(Clone, Copy)]
struct Step {
    to: u32,
    checks: bool,
}

/// What the moves of a position come to beside its quiet ones.
#[derive(Clone, Copy, Default)]
struct Captures {
    wins: bool,
    draws: bool,
}

/// All moves of an endgame.
struct Graph {
    legal: Vec<bool>,
    captures: Vec<Captures>,
    starts: Vec<u32>,
    steps: Vec<Step>,
    back_starts: Vec<u32>,
    back: Vec<u32>,
}

impl Endless {
    /// Nothing solved yet.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, settled: HashMap::new() }
    }

    /// The endgame of these pieces, as FEN letters: Red's in upper case, then Black's, such as `KRkn`.
    pub fn solve(&mut self, letters: &str) -> Arc<Settled> {
        self.solve_letters(letters.as_bytes())
    }

    fn solve_letters(&mut self, letters: &[u8]) -> Arc<Settled> {
        if let Some(settled) = self.settled.get(letters) {
            return Arc::clone(settled);
        }
        let smaller: Vec<_> = (0..letters.len())
            .map(|i| {
                let king = letters[i].eq_ignore_ascii_case(&b'k');
                (!king).then(|| self.solve_letters(&[&letters[..i], &letters[i + 1..]].concat()))
            })
            .collect();
        let mut settled = Settled::new(letters);
        let graph = Graph::new(&settled, &smaller);
        let mut fates = graph.forced();
        if self.rules != Rules::Plain {
            for red in [true, false] {
                let won = graph.repeated(&settled, &fates, red, self.rules);
                for node in (0..won.len()).filter(|&node| won[node]) {
                    fates[node] = if (node < settled.len()) == red { Fate::Win } else { Fate::Loss };
                }
            }
        }
        settled.fates = fates;
        let settled = Arc::new(settled);
        self.settled.insert(letters.to_vec(), Arc::clone(&settled));
        settled
    }
}

impl Graph {
    fn new(settled: &Settled, smaller: &[Option<Arc<Settled>>]) -> Self {
        let len = settled.len();
        let mut graph = Self {
            legal: vec![false; 2 * len],
            captures: vec![Captures::default(); 2 * len],
            starts: vec![0],
            steps: Vec::new(),
            back_starts: vec![0; 2 * len + 1],
            back: Vec::new(),
        };
        for node in 0..2 * len {
            let red = node < len;
            let squares = settled.placements.squares(node % len);
            if let Some(mut board) = settled.placements.board(&squares).filter(|board| board.is_legal(red)) {
                graph.legal[node] = true;
                board.moves(red, &mut |after, from, to, taken| {
                    let placed = |i: usize| if squares[i] == from { to } else { squares[i] };
                    if taken == 0 {
                        let id = settled.placements.id((0..squares.len()).map(placed));
                        let to = (if red { id + len } else { id }) as u32;
                        graph.back_starts[to as usize + 1] += 1;
                        graph.steps.push(Step { to, checks: after.is_exposed(!red) });
                        return;
                    }
                    let victim = squares.iter().position(|&s| s == to).unwrap();
                    let child = smaller[victim].as_ref().unwrap();
                    let id = child.placements.id((0..squares.len()).filter(|&i| i != victim).map(placed));
                    match child.fates[if red { id + child.len() } else { id }] {
                        Fate::Loss => graph.captures[node].wins = true,
                        Fate::Draw => graph.captures[node].draws = true,
                        Fate::Win => {}
                        Fate::Illegal => panic!("a legal capture leads to {}", after.fen(!red)),
                    }
                });
            }
            graph.starts.push(graph.steps.len() as u32);
        }
        for node in 0..2 * len {
            graph.back_starts[node + 1] += graph.back_starts[node];
        }
        graph.back = vec![0; graph.steps.len()];
        let mut at = graph.back_starts.clone();
        for node in 0..2 * len {
            for step in &graph.steps[graph.starts[node] as usize..graph.starts[node + 1] as usize] {
                graph.back[at[step.to as usize] as usize] = node as u32;
                at[step.to as usize] += 1;
            }
        }
        graph
    }

    fn steps(&self, node: usize) -> &[Step] {
        &self.steps[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    fn before(&self, node: usize) -> &[u32] {
        &self.back[self.back_starts[node] as usize..self.back_starts[node + 1] as usize]
    }

    /// Who can force the game to an end.
    fn forced(&self) -> Vec<Fate> {
        let mut fates: Vec<Fate> = self.legal.iter().map(|&l| if l { Fate::Draw } else { Fate::Illegal }).collect();
        let mut left: Vec<u32> = (0..fates.len()).map(|node| self.steps(node).len() as u32).collect();
        let mut queue = Vec::new();
        for node in (0..fates.len()).filter(|&node| self.legal[node]) {
            if self.captures[node].wins {
                fates[node] = Fate::Win;
                queue.push(node);
            } else if left[node] == 0 && !self.captures[node].draws {
                fates[node] = Fate::Loss;
                queue.push(node);
            }
        }
        while let Some(node) = queue.pop() {
            for before in self.before(node).iter().map(|&n| n as usize).filter(|&n| self.legal[n]) {
                if fates[before] != Fate::Draw {
                    continue;
                }
                left[before] -= 1;
                if fates[node] == Fate::Loss {
                    fates[before] = Fate::Win;
                } else if left[before] == 0 && !self.captures[before].draws {
                    fates[before] = Fate::Loss;
                } else {
                    continue;
                }
                queue.push(before);
            }
        }
        fates
    }

    /// The positions among those that nobody can force to an end which a side wins by the rules of repetition.
    fn repeated(&self, settled: &Settled, fates: &[Fate], hero_red: bool, rules: Rules) -> Vec<bool> {
        let len = settled.len();
        let is_hero = |node: usize| (node < len) == hero_red;
        // What the villain can take the game out of, and where the hero has no move that goes on, is not won.
        let mut inside: Vec<bool> = fates.iter().map(|&f| f == Fate::Draw).collect();
        let mut left: Vec<u32> = (0..fates.len())
            .map(|node| self.steps(node).iter().filter(|s| inside[s.to as usize]).count() as u32)
            .collect();
        let mut queue: Vec<usize> = (0..fates.len())
            .filter(|&n| inside[n] && if is_hero(n) { left[n] == 0 } else { self.captures[n].draws })
            .collect();
        queue.iter().for_each(|&n| inside[n] = false);
        while let Some(node) = queue.pop() {
            for before in self.before(node).iter().map(|&n| n as usize) {
                if inside[before] {
                    left[before] -= 1;
                    if !is_hero(before) || left[before] == 0 {
                        inside[before] = false;
                        queue.push(before);
                    }
                }
            }
        }
        let nodes: Vec<usize> = (0..fates.len()).filter(|&n| inside[n]).collect();
        let mut won = vec![false; fates.len()];
        if nodes.is_empty() {
            return won;
        }
        let mut number = vec![u32::MAX; fates.len()];
        nodes.iter().enumerate().for_each(|(i, &node)| number[node] = i as u32);
        // The hero's pieces but the king, and by placement which pieces attack which: those of the villain, of the hero.
        let victims: Vec<usize> = (0..settled.placements.letters().len())
            .filter(|&i| crate::board::is_red(settled.placements.letters()[i]) == hero_red)
            .filter(|&i| rules != Rules::Check && !settled.placements.letters()[i].eq_ignore_ascii_case(&b'k'))
            .collect();
        let mut attacks: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
        if rules != Rules::Check {
            for (by_red, attacks) in [!hero_red, hero_red].into_iter().zip(&mut attacks) {
                *attacks = vec![0; len];
                for (id, pairs) in attacks.iter_mut().enumerate() {
                    if inside[id] || inside[id + len] {
                        *pairs = attack_pairs(settled, id, by_red);
                    }
                }
            }
        }
        let all = (2u8 << victims.len()) - 1;
        let men = settled.placements.letters().len();
        let game = Game::new(
            victims.len() + 1,
            nodes.iter().map(|&node| {
                let hero = is_hero(node);
                let steps = self.steps(node).iter().filter(|s| inside[s.to as usize]);
                let arcs = steps.map(|step| {
                    let pairs = |attacks: &[u64], node: usize| attacks.get(node % len).copied().unwrap_or(0);
                    let attacks = &attacks[usize::from(hero)];
                    let anew = pairs(attacks, step.to as usize) & !pairs(attacks, node);
                    let (mut spoils, mut serves) = (0, 0);
                    if hero {
                        serves = match (step.checks, anew) {
                            (true, _) => 0,
                            (false, 0) => all,
                            (false, _) => 1,
                        };
                    } else {
                        spoils = all;
                        if step.checks {
                            spoils &= !1;
                        }
                        for (i, &victim) in victims.iter().enumerate() {
                            if (0..men).any(|by| anew >> (8 * by + victim) & 1 == 1) {
                                spoils &= !(2 << i);
                            }
                        }
                    }
                    rabin::Arc { to: number[step.to as usize], spoils, serves }
                });
                (hero, arcs.collect())
            }),
        );
        for (&node, hero_wins) in nodes.iter().zip(game.won()) {
            won[node] = hero_wins;
        }
        won
    }
}

/// Bit `8 * attacker + victim` of each attack by a side.
fn attack_pairs(settled: &Settled, id: usize, by_red: bool) -> u64 {
    let squares = settled.placements.squares(id);
    let Some(board) = settled.placements.board(&squares) else { return 0 };
    let red = |i: &usize| crate::board::is_red(settled.placements.letters()[*i]);
    let mut pairs = 0;
    for by in (0..squares.len()).filter(|i| red(i) == by_red) {
        for of in (0..squares.len()).filter(|i| red(i) != by_red) {
            if board.attacks(squares[by], squares[of]) {
                pairs |= 1 << (8 * by + of);
            }
        }
    }
    pairs
}
