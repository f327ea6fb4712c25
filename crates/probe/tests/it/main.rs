//! Asking as engines do: opening, distances, cold reads, many threads, damaged tables.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod cold;
mod damage;
#[cfg(feature = "network")]
mod network;
mod open;
mod threads;
mod wells;
