//! How a part with a scratch folder divides its room.

use canju_retro::Room;

use crate::territory::Territory;

/// Bytes for each of what a part holds. Half of the room is for sets, an eighth each for logs, for what is decoded
/// (slices of smaller tables, later frontiers), and the rest for the work on single slices.
pub(crate) struct Budget {
    pub sets: u64,
    /// Of each of the two logs of an owned slice.
    pub log: usize,
    pub frontiers: u64,
    pub slabs: u64,
    /// Slabs that one slice holds.
    pub held_slabs: u64,
    /// Slices that are worked on at a time, before the first ply and in plies.
    pub prepare_width: usize,
    pub width: usize,
}

/// What the work on one slice takes beside the sets that it reads, in sets: before the first ply those that it makes and
/// its events by ply; in a ply a dense set, the new frontier and its bytes.
const PREPARE_SETS: u64 = 8;
const STEP_SETS: u64 = 4;

impl Budget {
    pub fn new(room: &Room, territory: &Territory, threads: usize) -> Self {
        let set = 16 * territory.most_words().max(1) as u64;
        let width = |sets: u64| (room.bytes / 4 / (sets * set)).clamp(1, threads.max(1) as u64) as usize;
        Self {
            sets: room.bytes / 2,
            // What a log holds can take twice the memory while it grows.
            log: (room.bytes / 32 / territory.slices.len().max(1) as u64) as usize,
            frontiers: room.bytes / 8,
            slabs: room.bytes / 8,
            held_slabs: room.bytes / 8 / width(PREPARE_SETS) as u64,
            prepare_width: width(PREPARE_SETS),
            width: width(STEP_SETS),
        }
    }
}
