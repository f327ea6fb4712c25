//! The rules of repetition against known counts and against a second opinion.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use canju_retro::Rules;
use canju_tests::Endless;

const FULL: &str = include_str!("../../crates/endgame/tests/data/axf-full-board.tsv");

fn letters(name: &str) -> String {
    let second = 1 + name[1..].find('K').unwrap();
    name[..second].to_owned() + &name[second..].to_lowercase()
}

#[test]
#[ignore = "slow"]
fn second_opinion_against_known_counts() {
    let names = std::env::var("NAMES").unwrap_or("KPKP KNKP KCKP KRKP".into());
    for name in names.split_whitespace() {
        let start = std::time::Instant::now();
        for rules in [Rules::Check, Rules::Axf] {
            let settled = Endless::new(rules).solve(&letters(name));
            println!(
                "{name} {rules}: {:?} {:?} {:.1} s",
                settled.counts(true),
                settled.counts(false),
                start.elapsed().as_secs_f64()
            );
        }
        for row in FULL.lines().filter(|l| l.starts_with(&format!("{name}\t"))) {
            println!("   known {row}");
        }
    }
}
