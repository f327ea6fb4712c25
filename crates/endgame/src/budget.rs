//! How a part with a scratch folder divides its room.

use canju_retro::Room;

use crate::territory::Territory;

/// Bytes for each of what a part holds.
///
/// An eighth of the room is for logs at all times. Before the first ply an eighth is for sets, which are only written
/// then, and three for slices of smaller tables; in plies a half is for sets and an eighth for frontiers. The rest is
/// for the work on single slices.
pub(crate) struct Budget {
    /// Of each of the two logs of an owned slice.
    pub log: usize,
    pub prepare: Phase,
    pub plies: Phase,
    /// Decoded slices of smaller tables that one slice holds.
    pub held: u64,
}

/// Before the first ply, or from then on.
pub(crate) struct Phase {
    pub sets: u64,
    /// What is decoded and kept: slices of smaller tables, then frontiers.
    pub decoded: u64,
    /// Slices that are worked on at a time.
    pub width: usize,
}

/// What the work on one slice takes beside the sets that it reads, in sets: before the first ply those that it makes and
/// its events by ply; in a ply a dense set, the new frontier and its bytes.
const PREPARE_SETS: u64 = 8;
const STEP_SETS: u64 = 4;
/// What a slice needs of smaller tables for a black placement and the next ones, in sets; with less, slices of those are read
/// again for each placement. Measured: 10 for KRKAABBP and KCPKAABB.
const HELD_SETS: u64 = 16;

impl Budget {
    pub fn new(room: &Room, territory: &Territory, threads: usize) -> Self {
        let set = 16 * territory.most_words().max(1) as u64;
        let eighth = room.bytes / 8;
        let width = |bytes: u64, sets: u64| (bytes / (sets * set)).clamp(1, threads.max(1) as u64) as usize;
        let prepare = width(6 * eighth, PREPARE_SETS + HELD_SETS);
        Self {
            // What a log holds can take twice the memory while it grows.
            log: (eighth / 4 / territory.slices.len().max(1) as u64) as usize,
            prepare: Phase { sets: eighth, decoded: 3 * eighth, width: prepare },
            plies: Phase { sets: 4 * eighth, decoded: eighth, width: width(2 * eighth, STEP_SETS) },
            held: (3 * eighth / prepare as u64).max(HELD_SETS * set),
        }
    }
}
