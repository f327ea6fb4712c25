//! What this process has used of the machine.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::time::{ClockId, clock_gettime};

use crate::wire;

/// CPU seconds of all threads since the process started.
#[must_use]
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The largest resident size so far, in bytes; 0 where the system does not tell.
#[must_use]
pub fn peak_memory() -> u64 {
    kib("/proc/self/status", "VmHWM:")
}

/// Bytes of memory that the machine could give to new work now; `None` where the system does not tell.
#[must_use]
pub fn available_memory() -> Option<u64> {
    Some(kib("/proc/meminfo", "MemAvailable:")).filter(|&bytes| bytes > 0)
}

/// Bytes that the disk of a folder has free for this user; `None` where the system does not tell.
pub(crate) fn free_space(folder: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn kib(file: &str, field: &str) -> u64 {
    let status = std::fs::read_to_string(file).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(field));
    line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}

/// A number for this process, so that workers sharing it are not counted twice.
#[must_use]
pub fn process() -> u64 {
    static NUMBER: OnceLock<u64> = OnceLock::new();
    *NUMBER.get_or_init(|| fastrand::u64(1..))
}

/// The figures as they are reported.
#[must_use]
pub fn usage() -> wire::Usage {
    wire::Usage { process: process(), cpu_seconds: cpu_seconds(), peak_memory: peak_memory() }
}

/// Shares the CPU time of the process among the parts at work: equally among those at work at the same time.
#[derive(Debug, Default)]
struct Ledger {
    /// CPU seconds when the number of parts last changed.
    since: f64,
    open: BTreeMap<u64, f64>,
}

impl Ledger {
    fn settle(&mut self, now: f64) {
        let each = (now - self.since) / self.open.len().max(1) as f64;
        for seconds in self.open.values_mut() {
            *seconds += each;
        }
        self.since = now;
    }
}

fn ledger() -> MutexGuard<'static, Ledger> {
    static LEDGER: Mutex<Ledger> = Mutex::new(Ledger { since: 0.0, open: BTreeMap::new() });
    LEDGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part's entry in the process's ledger of CPU time, from its beginning to its drop.
#[derive(Debug)]
pub(crate) struct Account(u64);

impl Account {
    pub(crate) fn open() -> Self {
        let mut ledger = ledger();
        ledger.settle(cpu_seconds());
        let number = ledger.open.keys().next_back().map_or(0, |n| n + 1);
        ledger.open.insert(number, 0.0);
        Self(number)
    }

    /// CPU seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        let mut ledger = ledger();
        ledger.settle(cpu_seconds());
        ledger.open.get(&self.0).copied().unwrap_or(0.0)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let mut ledger = ledger();
        ledger.settle(cpu_seconds());
        ledger.open.remove(&self.0);
    }
}
