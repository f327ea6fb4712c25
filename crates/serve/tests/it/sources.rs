//! Sources in trouble.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use canju_table::{MemorySource, ReadAt, Source};

use crate::memory;

/// A store that may be away.
pub(crate) struct Away {
    pub files: MemorySource,
    pub away: AtomicBool,
}

impl Away {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { files: memory(), away: AtomicBool::new(true) })
    }

    fn there(&self) -> io::Result<()> {
        if self.away.load(Ordering::SeqCst) { Err(io::Error::other("no route to host")) } else { Ok(()) }
    }
}

impl Source for Away {
    fn place(&self) -> String {
        "s3://somewhere".to_owned()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        self.there()?;
        self.files.open(key)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        self.there()?;
        self.files.manifests()
    }
}

/// A store that answers when it is let.
pub(crate) struct Gated {
    files: MemorySource,
    /// How many wait, and whether all may go on.
    gate: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gated {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { files: memory(), gate: Mutex::new((0, false)), changed: Condvar::new() })
    }

    /// Lets all go on, now and later.
    pub fn let_go(&self) {
        self.gate.lock().unwrap().1 = true;
        self.changed.notify_all();
    }

    /// Comes back when so many wait.
    pub async fn waiting(self: &Arc<Self>, many: usize) {
        while self.gate.lock().unwrap().0 < many {
            tokio::task::yield_now().await;
        }
    }
}

impl Source for Gated {
    fn place(&self) -> String {
        "behind a gate".to_owned()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        let mut gate = self.gate.lock().unwrap();
        gate.0 += 1;
        while !gate.1 {
            gate = self.changed.wait(gate).unwrap();
        }
        gate.0 -= 1;
        drop(gate);
        self.files.open(key)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        self.files.manifests()
    }
}
