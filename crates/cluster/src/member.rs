//! A worker as the coordinator sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::gauge::Gauge;
use crate::{MemberId, WorkId, wire};

/// A worker that has joined.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: MemberId,
    pub(crate) epoch: u64,
    pub(crate) name: String,
    pub(crate) address: String,
    /// Bytes that its parts may take; 0 for no bound.
    pub(crate) memory: u64,
    pub(crate) threads: u32,
    pub(crate) process: u64,
    /// It has checked the store and takes work.
    pub(crate) ready: bool,
    pub(crate) seen: Duration,
    pub(crate) gauge: Gauge,
    /// Expected bytes of each part it holds.
    pub(crate) parts: BTreeMap<WorkId, u64>,
}

impl Member {
    pub(crate) fn new(id: MemberId, epoch: u64, hello: &wire::Hello, now: Duration) -> Self {
        Self {
            id,
            epoch,
            name: hello.name.clone(),
            address: hello.address.clone(),
            memory: hello.memory,
            threads: hello.threads.max(1),
            process: hello.usage.as_ref().map_or(0, |u| u.process),
            ready: false,
            seen: now,
            gauge: Gauge::default(),
            parts: BTreeMap::new(),
        }
    }

    pub(crate) fn memory_used(&self) -> u64 {
        self.parts.values().sum()
    }

    /// True when a part of so many bytes fits beside those it holds.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.could_hold(self.memory_used().saturating_add(bytes))
    }

    /// True when a part of so many bytes fits at all.
    pub(crate) fn could_hold(&self, bytes: u64) -> bool {
        self.memory == 0 || bytes <= self.memory
    }

    /// True when it takes another small table.
    pub(crate) fn has_slot(&self) -> bool {
        self.parts.len() < self.threads as usize
    }

    /// How messages to users call it.
    pub(crate) fn title(&self) -> String {
        format!("worker {} ({})", self.name, self.address)
    }
}
