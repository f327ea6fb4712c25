use canju_xiangqi::{Position, perft};

use crate::arena::counts;

fn check(wanted: impl Fn(u64) -> bool) -> usize {
    let mut checked = 0;
    for (fen, depth, nodes) in counts() {
        if wanted(nodes) {
            let mut position = Position::from_fen(fen).unwrap();
            assert_eq!(perft(&mut position, depth), nodes, "{fen} to depth {depth}");
            assert_eq!(position.to_fen(), fen);
            checked += 1;
        }
    }
    checked
}

#[test]
fn counts_to_five_million_nodes() {
    assert!(check(|nodes| nodes < 5_000_000) > 13 * 4);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn counts_to_the_deepest() {
    assert!(check(|nodes| nodes >= 5_000_000) >= 10);
}
