//! Which worker takes which runs of a table that is cut.

use std::ops::Range;

/// Cuts runs into at most `workers` groups of neighbours, none empty, each as near as it can be to an
/// equal share of the cells. The groups depend on nothing but the arguments.
#[must_use]
pub fn share_out(run_cells: &[u64], workers: usize) -> Vec<Range<usize>> {
    let groups = workers.min(run_cells.len());
    let total: u64 = run_cells.iter().sum();
    let mut shares = Vec::with_capacity(groups);
    let (mut start, mut before) = (0, 0u64);
    for group in 1..=groups {
        // Each group leaves at least one run to every group behind it.
        let last = run_cells.len() - (groups - group);
        let goal = u128::from(total) * group as u128 / groups as u128;
        let mut end = start + 1;
        before += run_cells[start];
        while end < last {
            let with_next = before + run_cells[end];
            // The next run comes in when that brings the border nearer to its goal.
            let nearer = u128::from(before) + u128::from(with_next) <= 2 * goal;
            if group < groups && !nearer {
                break;
            }
            before = with_next;
            end += 1;
        }
        shares.push(start..end);
        start = end;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cells: &[u64], workers: usize) -> u64 {
        let shares = share_out(cells, workers);
        assert_eq!(shares.len(), workers.min(cells.len()));
        let mut next = 0;
        let mut largest = 0;
        for share in &shares {
            assert_eq!(share.start, next);
            assert!(!share.is_empty());
            next = share.end;
            largest = largest.max(cells[share.clone()].iter().sum());
        }
        assert_eq!(next, cells.len());
        largest
    }

    #[test]
    fn equal_runs_are_shared_equally() {
        assert_eq!(check(&[5; 12], 3), 20);
        assert_eq!(check(&[5; 12], 1), 60);
        assert_eq!(check(&[5; 12], 12), 5);
    }

    #[test]
    fn more_workers_than_runs() {
        assert_eq!(check(&[7, 9], 5), 9);
        assert!(share_out(&[], 3).is_empty());
    }

    #[test]
    fn no_share_is_larger_than_the_mean_and_one_run() {
        let mut seed = 1u64;
        for round in 0..500 {
            let cells: Vec<u64> = (0..1 + round % 40)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    seed >> 56
                })
                .collect();
            for workers in 1..7 {
                let mean = cells.iter().sum::<u64>() / workers.min(cells.len()) as u64;
                let longest = cells.iter().max().copied().unwrap_or(0);
                assert!(check(&cells, workers) <= mean + longest + 1, "{cells:?} over {workers}");
            }
        }
    }
}
