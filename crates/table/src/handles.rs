//! Files that stay open for a while after they were read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;

use crate::ReadAt;

/// So many shards of a folder are open at a time; a system may let a process have no more than 256 files. Another is closed
/// for one that is read when as many are open: a probe that finds its block in memory reads none.
pub const OPEN_FILES: usize = 128;

/// The files that are open, by the number of their opening.
#[derive(Debug)]
pub(crate) struct Handles {
    open: Cache<u64, Arc<File>>,
    next: AtomicU64,
}

impl Default for Handles {
    fn default() -> Self {
        Self { open: Cache::new(OPEN_FILES), next: AtomicU64::new(0) }
    }
}

/// A file that is opened again where it was closed since. Should it be another one by then, the checksums tell.
struct Handle {
    path: PathBuf,
    number: u64,
    handles: Arc<Handles>,
}

impl Handles {
    /// Opens a file.
    pub fn open(self: &Arc<Self>, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let handle = Handle { path: path.to_owned(), number, handles: Arc::clone(self) };
        handle.file()?;
        Ok(Arc::new(handle))
    }
}

impl Handle {
    fn file(&self) -> io::Result<Arc<File>> {
        self.handles.open.get_or_insert_with(&self.number, || Ok(Arc::new(File::open(&self.path)?)))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.handles.open.remove(&self.number);
    }
}

impl ReadAt for Handle {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file()?.read_at(offset, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.file()?.size()
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;

    use super::*;
    use crate::{FolderSource, Source};

    /// The files below a folder that this process has open.
    fn open_below(folder: &Path) -> usize {
        let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        open.filter(|path| path.starts_with(folder)).count()
    }

    #[test]
    fn files_are_closed_for_others_and_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("tables")).unwrap();
        let number = 3 * OPEN_FILES as u32;
        for n in 0..number {
            fs::write(root.join(format!("tables/{n}.shard")), n.to_le_bytes()).unwrap();
        }
        let source = FolderSource::new(&root);
        let files: Vec<_> = (0..number).map(|n| source.open(&format!("tables/{n}.shard")).unwrap()).collect();
        for _ in 0..2 {
            for (n, file) in (0..number).zip(&files) {
                let mut bytes = [0; 4];
                file.read_at(0, &mut bytes).unwrap();
                assert_eq!((u32::from_le_bytes(bytes), file.size().unwrap()), (n, 4));
                assert!(open_below(&root) <= OPEN_FILES);
            }
        }
        assert!(open_below(&root) > OPEN_FILES / 2);
        drop(files);
        assert_eq!(open_below(&root), 0);
        assert_eq!(source.open("tables/none.shard").err().unwrap().kind(), io::ErrorKind::NotFound);
    }
}
