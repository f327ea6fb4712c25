//! A cluster on a simulated network, with everything that can go wrong drawn from a seed.
//!
//! `CANJU_SEED=N cargo test -p canju-tests --test simulation -- --nocapture` plays one scenario again, with
//! `RUST_LOG=info` or finer for its log.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where something is wrong")]

mod play;
mod scenario;
#[path = "../../../crates/cluster/tests/toy/mod.rs"]
mod toy;
mod wires;
mod world;

use std::sync::{Arc, OnceLock};

use play::{Ending, play};
use scenario::{Scenario, Wish};
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

fn attempt(seed: u64, wish: Wish) -> Result<Ending, String> {
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

/// Plays the scenarios of these seeds, or the one that the environment names.
fn play_all(seeds: std::ops::Range<u64>, wish: Wish) {
    log();
    let one = std::env::var("CANJU_SEED").ok().map(|seed| seed.parse::<u64>().expect("CANJU_SEED is a number"));
    let seeds = one.map_or(seeds, |seed| seed..seed + 1);
    for seed in seeds {
        let began = std::time::Instant::now();
        match attempt(seed, wish) {
            Ok(ending) => println!("seed {seed}: {:?}, {} ms here", ending.took, began.elapsed().as_millis()),
            Err(violation) => panic!(
                "seed {seed}: {violation}\n{:#?}\nplay it again: CANJU_SEED={seed} cargo test -p canju-tests --test simulation",
                Scenario::draw(seed, wish)
            ),
        }
    }
}

#[test]
fn whatever_goes_wrong_the_tables_are_right() {
    play_all(0..30, Wish::default());
}
