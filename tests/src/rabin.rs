//! Games on graphs with endless plays, solved by way of parity games: any number of Rabin pairs, a record of the order in
//! which they were spoilt last, and Zielonka's recursion over the priorities.
//!
//! Each move may *spoil* some pairs and *serve* others. The hero wins a play if some pair is spoilt only finitely often
//! and served infinitely often.

/// A move.
#[derive(Clone, Copy)]
pub(crate) struct Arc {
    pub to: u32,
    /// Pairs that it spoils, and pairs that it serves.
    pub spoils: u8,
    pub serves: u8,
}

/// A game. Every node has a move.
pub(crate) struct Game {
    pairs: usize,
    hero: Vec<bool>,
    starts: Vec<u32>,
    arcs: Vec<Arc>,
    back_starts: Vec<u32>,
    /// Arcs by their target, `to` being where they come from.
    back: Vec<Arc>,
    /// Orders of the pairs, and by order, spoilt and served pairs what becomes of the order, and the priority.
    orders: usize,
    turns: Vec<(u8, u8)>,
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let longer = shorter.iter().flat_map(|p| {
        (0..n).map(move |at| {
            let mut p = p.clone();
            p.insert(at, n - 1);
            p
        })
    });
    longer.collect()
}

impl Game {
    /// A game of these nodes: whether the hero moves, and the moves.
    pub fn new(pairs: usize, nodes: impl Iterator<Item = (bool, Vec<Arc>)>) -> Self {
        let (mut hero, mut starts, mut arcs) = (Vec::new(), vec![0], Vec::new());
        for (is_hero, moves) in nodes {
            assert!(!moves.is_empty());
            hero.push(is_hero);
            arcs.extend(moves);
            starts.push(arcs.len() as u32);
        }
        let mut back_starts = vec![0u32; hero.len() + 1];
        for arc in &arcs {
            back_starts[arc.to as usize + 1] += 1;
        }
        for i in 0..hero.len() {
            back_starts[i + 1] += back_starts[i];
        }
        let mut back = vec![Arc { to: 0, spoils: 0, serves: 0 }; arcs.len()];
        let mut at = back_starts.clone();
        for from in 0..hero.len() {
            for arc in &arcs[starts[from] as usize..starts[from + 1] as usize] {
                let slot = &mut at[arc.to as usize];
                back[*slot as usize] = Arc { to: from as u32, ..*arc };
                *slot += 1;
            }
        }
        let orders = permutations(pairs);
        let width = 1 << pairs;
        let mut turns = vec![(0, 0); orders.len() * width * width];
        for (number, order) in orders.iter().enumerate() {
            for spoils in 0..width {
                for serves in 0..width {
                    let is = |set: usize, pair: &usize| set >> pair & 1 == 1;
                    let last = order.iter().rposition(|pair| is(spoils | serves, pair));
                    let priority = match last {
                        None => 1,
                        Some(at) if is(spoils, &order[at]) => 2 * at + 3,
                        Some(at) => 2 * at + 2,
                    };
                    let (mut next, kept): (Vec<_>, Vec<_>) = order.iter().copied().partition(|pair| is(spoils, pair));
                    next.extend(kept);
                    let next = orders.iter().position(|o| *o == next).unwrap();
                    turns[(number * width + spoils) * width + serves] = (next as u8, priority as u8);
                }
            }
        }
        Self { pairs, hero, starts, arcs, back_starts, back, orders: orders.len(), turns }
    }

    fn turn(&self, order: usize, arc: &Arc) -> (usize, u8) {
        let width = 1 << self.pairs;
        let (next, priority) = self.turns[(order * width + usize::from(arc.spoils)) * width + usize::from(arc.serves)];
        (usize::from(next), priority)
    }

    fn moves(&self, state: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        let (node, order) = (state / self.orders, state % self.orders);
        self.arcs[self.starts[node] as usize..self.starts[node + 1] as usize].iter().map(move |arc| {
            let (next, priority) = self.turn(order, arc);
            (arc.to as usize * self.orders + next, priority)
        })
    }

    fn origins(&self, state: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        let (node, order) = (state / self.orders, state % self.orders);
        self.back[self.back_starts[node] as usize..self.back_starts[node + 1] as usize].iter().flat_map(move |arc| {
            (0..self.orders).filter_map(move |before| {
                let (next, priority) = self.turn(before, arc);
                (next == order).then_some((arc.to as usize * self.orders + before, priority))
            })
        })
    }

    /// The nodes from which the hero wins.
    pub fn won(&self) -> Vec<bool> {
        let states = self.hero.len() * self.orders;
        let top = 2 * self.pairs as u8 + 1;
        let won = self.solve(vec![true; states], top);
        (0..self.hero.len()).map(|node| won[node * self.orders]).collect()
    }

    /// The states of `set`, in which only moves up to a priority count, from which the hero wins.
    fn solve(&self, mut set: Vec<bool>, top: u8) -> Vec<bool> {
        let hero_likes = top.is_multiple_of(2);
        let mut hero_wins = vec![false; set.len()];
        if !set.contains(&true) {
            return hero_wins;
        }
        if top == 0 {
            return set;
        }
        loop {
            // Who likes the highest priority cannot be kept from it here.
            let forced = self.attract(&set, top, hero_likes, None);
            let rest: Vec<bool> = set.iter().zip(&forced).map(|(s, f)| *s && !f).collect();
            let inner = self.solve(rest.clone(), top - 1);
            let lost: Vec<bool> = rest.iter().zip(&inner).map(|(r, won)| *r && *won != hero_likes).collect();
            if !lost.contains(&true) {
                if hero_likes {
                    hero_wins.iter_mut().zip(&set).for_each(|(w, s)| *w |= s);
                }
                return hero_wins;
            }
            let lost = self.attract(&set, top, !hero_likes, Some(lost));
            for (state, lost) in lost.into_iter().enumerate().filter(|(_, lost)| *lost) {
                set[state] = false;
                hero_wins[state] = lost && !hero_likes;
            }
            if !set.contains(&true) {
                return hero_wins;
            }
        }
    }

    /// The states of `set` from which a player can force a way into `goal`, or, without one, a move of the top priority.
    fn attract(&self, set: &[bool], top: u8, hero: bool, goal: Option<Vec<bool>>) -> Vec<bool> {
        let owned = |state: usize| self.hero[state / self.orders] == hero;
        let to_top = goal.is_none();
        let mut reached = goal.unwrap_or_else(|| vec![false; set.len()]);
        let mut left = vec![0u8; set.len()];
        let mut queue: Vec<usize> = Vec::new();
        for state in 0..set.len() {
            if !set[state] {
                continue;
            }
            if reached[state] {
                queue.push(state);
                continue;
            }
            let mut moves = 0u8;
            let mut tops = 0u8;
            for (_, priority) in self.moves(state).filter(|&(to, priority)| set[to] && priority <= top) {
                moves += 1;
                tops += u8::from(priority == top);
            }
            left[state] = if to_top { moves - tops } else { moves };
            if to_top && (if owned(state) { tops > 0 } else { tops == moves }) {
                reached[state] = true;
                queue.push(state);
            }
        }
        while let Some(state) = queue.pop() {
            for (from, priority) in self.origins(state) {
                if !set[from] || reached[from] || priority > top || (to_top && priority == top) {
                    continue;
                }
                left[from] -= 1;
                if owned(from) || left[from] == 0 {
                    reached[from] = true;
                    queue.push(from);
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(to: u32, spoils: u8, serves: u8) -> Arc {
        Arc { to, spoils, serves }
    }

    #[test]
    fn who_alternates_spoils_both() {
        // The villain, on 0, spoils one pair or the other each time; the hero, on 1, serves both.
        let both =
            Game::new(2, vec![(false, vec![arc(1, 1, 0), arc(1, 2, 0)]), (true, vec![arc(0, 0, 3)])].into_iter());
        assert_eq!(both.won(), [false, false]);
        let one = Game::new(2, vec![(false, vec![arc(1, 1, 0), arc(1, 1, 0)]), (true, vec![arc(0, 0, 3)])].into_iter());
        assert_eq!(one.won(), [true, true]);
        // What is never served is not won, and the hero may serve only one of them.
        let choice = [(false, vec![arc(1, 1, 0)]), (true, vec![arc(0, 0, 1), arc(0, 0, 0)])];
        assert_eq!(Game::new(2, choice.into_iter()).won(), [false, false]);
        let choice = [(false, vec![arc(1, 1, 0)]), (true, vec![arc(0, 0, 1), arc(0, 0, 2)])];
        assert_eq!(Game::new(2, choice.into_iter()).won(), [true, true]);
    }

    #[test]
    fn the_villain_chooses_between_two_ways_of_losing() {
        // From 0 he goes into the loop of 1 and 2 or into that of 3 and 4: each spoils another pair, and there is no way
        // back; then with one.
        let nodes = |back: bool| {
            let mut home = vec![arc(1, 0, 1)];
            if back {
                home = vec![arc(0, 0, 1)];
            }
            vec![
                (false, vec![arc(2, 2, 0), arc(4, 1, 0)]),
                (false, vec![arc(2, 2, 0)]),
                (true, home),
                (false, vec![arc(4, 1, 0)]),
                (true, vec![arc(if back { 0 } else { 3 }, 0, 2)]),
            ]
        };
        assert_eq!(Game::new(2, nodes(false).into_iter()).won(), [true; 5]);
        let with_way_back = Game::new(2, nodes(true).into_iter()).won();
        assert!(!with_way_back[0] && !with_way_back[2] && !with_way_back[4]);
    }
}
