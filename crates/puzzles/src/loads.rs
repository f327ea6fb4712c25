//! What a boat can take at a time.

/// Every load that a boat can take.
#[derive(Clone, Debug)]
pub(crate) struct Loads {
    list: Vec<Load>,
    /// The same as a tree, roots first and each knot before those above it: loads that begin alike share their knots, so
    /// that one look rules many of them out.
    knots: Vec<Knot>,
}

#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// How many of each kind.
    pub(crate) counts: Vec<u32>,
    /// What the load counts in the number of a bank.
    pub(crate) weight: u32,
}

/// So many of one kind, beside what the knots below say.
#[derive(Clone, Debug)]
struct Knot {
    kind: usize,
    count: u32,
    /// Of all that is taken up to here.
    weight: u32,
    /// True where that is a load, and not only the beginning of one.
    ends: bool,
    /// The next knot that is not above this one.
    beyond: usize,
}

/// The kinds of which somebody is taken, ascending, and how many.
type Taken = Vec<(usize, u32)>;

impl Loads {
    /// The loads of these counts, none of which is empty, where one of each kind counts so much.
    pub(crate) fn new(counts: Vec<Vec<u32>>, weights: &[u32]) -> Self {
        let taken = |counts: &Vec<u32>| counts.iter().copied().enumerate().filter(|&(_, n)| n > 0).collect();
        let mut all: Vec<Taken> = counts.iter().map(taken).collect();
        all.sort_unstable();
        let mut knots = Vec::new();
        grow(&mut knots, &all, 0, 0, weights);
        let weigh = |counts: &Vec<u32>| counts.iter().zip(weights).map(|(c, w)| c * w).sum();
        let list = counts.into_iter().map(|counts| Load { weight: weigh(&counts), counts }).collect();
        Self { list, knots }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Load> {
        self.list.iter()
    }

    /// Gives the weights of those loads to `sink` that a bank with so many of each kind has.
    pub(crate) fn within(&self, bank: &[u32], mut sink: impl FnMut(u32)) {
        let mut at = 0;
        while let Some(knot) = self.knots.get(at) {
            if knot.count > bank[knot.kind] {
                at = knot.beyond;
                continue;
            }
            if knot.ends {
                sink(knot.weight);
            }
            at += 1;
        }
    }
}

/// Adds the knots of sorted loads that are alike in what they take first.
fn grow(knots: &mut Vec<Knot>, mut loads: &[Taken], depth: usize, below: u32, weights: &[u32]) {
    while let Some(&(kind, count)) = loads.first().and_then(|load| load.get(depth)) {
        let alike = loads.iter().take_while(|load| load.get(depth) == Some(&(kind, count))).count();
        let (here, rest) = loads.split_at(alike);
        // What is whole comes before what goes on.
        let whole = here.iter().take_while(|load| load.len() == depth + 1).count();
        let (at, weight) = (knots.len(), below + count * weights[kind]);
        knots.push(Knot { kind, count, weight, ends: whole > 0, beyond: 0 });
        grow(knots, &here[whole..], depth + 1, weight, weights);
        knots[at].beyond = knots.len();
        loads = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_finds_what_fits() {
        let (most, weights) = ([3, 1, 2, 1], [12, 6, 2, 1]);
        let up_to = |most: [u32; 4]| {
            let all = (0..(most[0] + 1) * 12).map(|n| [n / 12, n / 6 % 2, n / 2 % 3, n % 2]);
            all.filter(move |counts| counts.iter().zip(&most).all(|(c, m)| c <= m))
        };
        // Somebody who rows, and three at most.
        let is_load = |counts: &[u32; 4]| counts[0] > 0 && counts.iter().sum::<u32>() <= 3;
        let loads = Loads::new(up_to(most).filter(is_load).map(Vec::from).collect(), &weights);
        for bank in up_to(most) {
            let mut found = Vec::new();
            loads.within(&bank, |weight| found.push(weight));
            found.sort_unstable();
            let weigh = |counts: [u32; 4]| counts.iter().zip(&weights).map(|(c, w)| c * w).sum::<u32>();
            let wanted: Vec<u32> = up_to(bank).filter(is_load).map(weigh).collect();
            assert_eq!(found, wanted, "{bank:?}");
        }
    }
}
