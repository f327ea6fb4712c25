//! A cluster on a simulated network, with everything that can go wrong drawn from a seed.
//!
//! `CANJU_SEED=N cargo test -p canju-tests --test simulation -- --nocapture` plays one scenario again, with
//! `RUST_LOG=info` or finer for its log. Thousands of scenarios, with all crates optimised a little:
//! `cargo test --profile simulation -p canju-tests --test simulation -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where something is wrong")]

mod play;
mod scenario;
#[path = "../../../crates/cluster/tests/it/toy.rs"]
mod toy;
mod wires;
mod world;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use canju_cluster::sabotage::{Safeguard, take_away};
use play::{Ending, Wrong, play};
use scenario::{Focus, Scenario, Wish};
use world::{Expected, World};

/// What has to come out for these metrics.
fn expected(metrics: &[String]) -> Arc<Expected> {
    static BOTH: [OnceLock<Arc<Expected>>; 2] = [OnceLock::new(), OnceLock::new()];
    let build = || {
        let names: Vec<&str> = metrics.iter().map(String::as_str).collect();
        let world = World::new(0, Arc::default());
        play(&Scenario::calm(&["T3"], &names), &world).unwrap();
        let tables = world.tables();
        assert!(tables.len() > 6, "{:?}", tables.keys());
        Arc::new(tables)
    };
    Arc::clone(BOTH[metrics.len() - 1].get_or_init(build))
}

fn attempt(seed: u64, wish: Wish) -> Result<Ending, Wrong> {
    let scenario = Scenario::draw(seed, wish);
    let world = World::new(seed, expected(&scenario.metrics));
    play(&scenario, &world)
}

fn log() {
    if std::env::var_os("RUST_LOG").is_some() {
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).without_time().try_init();
    }
}

/// What the environment says a number is.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// What is wished of the scenarios of ordinary tests: half of them have trouble of one kind, some damaged shards.
fn wish(seed: u64) -> Wish {
    let focus = match seed % 8 {
        1 => Some(Focus::Stray),
        3 => Some(Focus::Deposed),
        5 => Some(Focus::Blots),
        6 => Some(Focus::Litter),
        _ => None,
    };
    Wish { damage: seed % 4 == 2, standby: matches!(focus, Some(Focus::Deposed)), focus, ..Wish::default() }
}

/// Plays the scenarios of these seeds, or the one that the environment names.
fn play_all(seeds: Range<u64>) {
    log();
    let seeds = number("CANJU_SEED").map_or(seeds, |seed| seed..seed + 1);
    for seed in seeds {
        let began = std::time::Instant::now();
        match attempt(seed, wish(seed)) {
            Ok(ending) => println!("seed {seed}: {:?}, {} ms here", ending.took, began.elapsed().as_millis()),
            Err(violation) => panic!(
                "seed {seed}: {violation:?}\n{:#?}\nplay it again: CANJU_SEED={seed} cargo test -p canju-tests --test simulation",
                Scenario::draw(seed, wish(seed))
            ),
        }
    }
}

#[test]
fn whatever_goes_wrong_the_tables_are_right() {
    play_all(0..20);
}

/// As many more as `CANJU_SEEDS` says, from `CANJU_FROM` on; tells of all that fail.
#[test]
#[ignore = "takes minutes"]
fn whatever_goes_wrong_in_thousands_of_ways() {
    let from = number("CANJU_FROM").unwrap_or(1000);
    let seeds = from..from + number("CANJU_SEEDS").unwrap_or(2000);
    let began = std::time::Instant::now();
    let (next, failed) = (AtomicU64::new(from), Mutex::new(Vec::new()));
    // A scenario is one thread's, so that it can be played again.
    let play_on = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return;
            }
            if (seed - from) % 100 == 99 {
                println!("{} scenarios, {} s", seed - from + 1, began.elapsed().as_secs());
            }
            if let Err(violation) = attempt(seed, wish(seed)) {
                println!("seed {seed}: {violation:?}");
                failed.lock().unwrap().push(seed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(play_on);
        }
    });
    println!("{} scenarios in {} s", seeds.clone().count(), began.elapsed().as_secs());
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "play them again, each with CANJU_SEED: {failed:?}");
}

/// Takes safeguards away until a scenario goes wrong in a way that `matters`; with them it must go well.
fn is_noticed(safeguards: &'static [Safeguard], wish: Wish, matters: impl Fn(&Wrong) -> bool) {
    log();
    // What has to come out is found out with all of them.
    expected(&["dtm".to_owned()]);
    expected(&["dtm".to_owned(), "dtc".to_owned()]);
    for seed in 0..SEEDS {
        take_away(safeguards);
        let end = attempt(seed, wish);
        take_away(&[]);
        if let Err(wrong) = end {
            println!("without {safeguards:?}, seed {seed}: {wrong:?}");
            if matters(&wrong) {
                attempt(seed, wish).unwrap();
                return;
            }
        }
    }
    panic!("nobody misses {safeguards:?}");
}

/// Scenarios that are played without a safeguard until one goes wrong.
const SEEDS: u64 = 100;

fn is_violation(wrong: &Wrong) -> bool {
    matches!(wrong, Wrong::Violation(_))
}

const CUT: Wish = Wish { good_store: true, cut: true, standby: false, damage: false, focus: None };

const fn focus(focus: Focus) -> Wish {
    Wish { focus: Some(focus), ..CUT }
}

#[test]
fn epochs_of_messages_are_missed() {
    is_noticed(&[Safeguard::Epochs], focus(Focus::Stray), |_| true);
}

#[test]
fn the_lease_is_missed() {
    is_noticed(&[Safeguard::Lease], Wish { standby: true, ..focus(Focus::Deposed) }, is_violation);
}

#[test]
fn checksums_of_checkpoints_are_missed() {
    is_noticed(&[Safeguard::Checksums], focus(Focus::Blots), is_violation);
}

#[test]
fn the_count_of_chunks_is_missed() {
    // Parts that do not wait for all messages are found out by it.
    let told = |wrong: &Wrong| matches!(wrong, Wrong::Failed(error) if error.contains("chunks"));
    is_noticed(&[Safeguard::Waiting], CUT, told);
    is_noticed(&[Safeguard::Waiting, Safeguard::Traffic], CUT, is_violation);
}

#[test]
fn the_comparison_of_shards_is_missed() {
    is_noticed(&[Safeguard::Comparison], focus(Focus::Litter), is_violation);
}
