//! Fetching, interrupted, damaged and deceived.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod command;
mod damage;
mod hostile;
mod interruption;
mod stage;
mod web;
mod whole;
