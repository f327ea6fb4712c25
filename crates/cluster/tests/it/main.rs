//! Coordinators and workers in one process, each test a cluster of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where something is wrong")]

mod away;
mod chief;
mod credentials;
mod exchange;
mod failing;
mod failure;
mod failure_table;
#[path = "../../../store/tests/it/fake_s3/mod.rs"]
mod fake_s3;
mod hindered;
mod http;
mod identity;
mod jobs;
mod links;
mod outsider;
mod pipes;
mod pki;
mod returning;
mod seat;
mod status;
mod stores;
mod town;
mod toy;
mod upgrade;
mod worker;
