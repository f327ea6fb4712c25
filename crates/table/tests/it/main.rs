//! Tables written and read, whole and damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop")]

mod damage;
mod fixtures;
mod format;
mod manifest;
mod set;
mod shards;
