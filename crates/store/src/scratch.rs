//! Where a folder store keeps what is not yet an object, and the locks between processes.
//!
//! All of it is in the hidden folder `.canju` of the store, on the same file system as the objects,
//! so that a finished file moves into place by a rename. Each open store has a folder of its own there
//! and holds a lock in it: what nobody holds is left over from a process that died, and is removed
//! at the next opening. No process number is trusted, for containers that share a disk may have the same ones.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fs4::fs_std::FileExt;

use crate::Key;

const HIDDEN: &str = ".canju";
const OWNER: &str = "owner.lock";
/// There in every folder that was ever opened for writing.
const OPENING: &str = "open.lock";
/// Writers of different keys seldom wait for each other, and the lock files stay few.
const LOCKS: u8 = 32;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The scratch folder of one open store.
#[derive(Debug)]
pub(crate) struct Scratch {
    hidden: PathBuf,
    own: Mutex<Own>,
    /// How often there was an own folder again.
    returns: AtomicU64,
}

/// The folder of its own.
#[derive(Debug)]
struct Own {
    path: PathBuf,
    /// Locked as long as the store is open.
    _owner: File,
}

/// A file that was written aside; removed again unless it was moved into place.
pub(crate) struct Aside {
    pub(crate) path: PathBuf,
}

impl Scratch {
    /// Makes the scratch folder, tries that it can be written, and removes what dead processes left.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let hidden = root.join(HIDDEN);
        fs::create_dir_all(&hidden)?;
        let own = Mutex::new(Own::make(&hidden)?);
        let scratch = Self { hidden, own, returns: AtomicU64::new(0) };
        drop(scratch.write(b"can be written")?);
        Ok(scratch)
    }

    fn own(&self) -> PathBuf {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).path.clone()
    }

    /// True where its own folder is not there any more, though nobody removes it while its store is open: the store's folder
    /// is away. Where a store's folder is there, it has come back in a way that the locks did not outlive, as a disk of the
    /// network does, and another has removed what nobody held: there is an own folder again then, for the next time.
    pub(crate) fn is_away(&self) -> bool {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if !own.is_lost() {
            return false;
        }
        if self.hidden.join(OPENING).is_file()
            && let Ok(made) = Own::make(&self.hidden)
        {
            *own = made;
            self.returns.fetch_add(1, Ordering::Release);
        }
        true
    }

    /// Another number after each time that the folder was away and came back: what failed meanwhile may have failed for that.
    pub(crate) fn returns(&self) -> u64 {
        self.returns.load(Ordering::Acquire)
    }

    /// Writes bytes aside, durably.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<Aside> {
        let path = self.own().join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        let mut file = File::create_new(&path)?;
        let aside = Aside { path };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(aside)
    }

    /// The lock under which a key's object changes, for all processes. It ends when it is dropped.
    pub(crate) fn lock(&self, key: &Key) -> io::Result<File> {
        let number = blake3::hash(key.as_str().as_bytes()).as_bytes()[0] % LOCKS;
        lock(&self.hidden.join(format!("key-{number:02}.lock")))
    }
}

impl Own {
    /// Removes what dead processes left, and makes a folder for this one.
    fn make(hidden: &Path) -> io::Result<Self> {
        // Nobody may look for left-overs between the making of a folder and the locking of its owner file.
        let _opening = lock(&hidden.join(OPENING))?;
        remove_left_over(hidden)?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let path = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = hidden.join(format!("tmp-{}-{since_epoch}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        };
        let owner = lock(&path.join(OWNER))?;
        Ok(Self { path, _owner: owner })
    }

    fn is_lost(&self) -> bool {
        matches!(fs::metadata(self.path.join(OWNER)), Err(e) if e.kind() == io::ErrorKind::NotFound)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: what stays is removed at the next opening.
        let _ = fs::remove_dir_all(self.own());
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // Not there any more when it was moved into place.
        let _ = fs::remove_file(&self.path);
    }
}

fn lock(path: &Path) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    FileExt::lock_exclusive(&file)?;
    Ok(file)
}

fn remove_left_over(hidden: &Path) -> io::Result<()> {
    for entry in fs::read_dir(hidden)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let abandoned = match File::options().write(true).open(path.join(OWNER)) {
            Ok(owner) => FileExt::try_lock_exclusive(&owner)?,
            Err(e) => e.kind() == io::ErrorKind::NotFound,
        };
        if abandoned {
            // An owner that closes at this moment removes the same files.
            match fs::remove_dir_all(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
    }
    Ok(())
}
