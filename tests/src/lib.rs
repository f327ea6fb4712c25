//! What the tests that cross crates share: tables built in memory or in a folder, and a second opinion.
//!
//! ```
//! use canju_probe::{Prober, Wdl};
//! use canju_retro::Metric;
//! use canju_tests::Workshop;
//!
//! let prober = Prober::new(Workshop::new().tables(&["KRK"], &[Metric::Dtm]));
//! let value = prober.probe(&"5k3/9/9/9/9/9/9/9/9/4K2R1 w".parse()?)?;
//! assert_eq!((value.outcome, value.dtm), (Wdl::Win, Some(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod board;
mod damage;
mod dice;
mod endless;
mod placements;
mod pursuit;
mod rabin;
mod reference;
mod workshop;

pub use board::Board;
pub use damage::{Files, damage, forge};
pub use dice::write_dice;
pub use endless::{Endless, Fate, Settled};
pub use reference::{Judged, Judgement, Reference};
pub use workshop::Workshop;

/// The page for engine authors: its Rust runs as a test of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/engines.md")]
pub struct Engines;
