//! The rules against counts, an independent move generator and their own symmetries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arena;
mod board;
mod fen;
mod legal;
mod material;
mod notation;
mod perft;
mod reference;
mod repetition;
