//! Files for what does not fit into memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::GameError;

/// How much memory a part may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of memory for sets, logs, frontiers and decoded slices of smaller tables together. A part that
    /// cannot do with so little takes what it needs at least.
    pub bytes: u64,
    /// The folder for what does not fit. Without one, all stays in memory, and `bytes` bounds only what is kept for speed.
    pub scratch: Option<PathBuf>,
}

/// A file without a name: it is gone with the process, however that ends.
#[derive(Debug)]
pub struct ScratchFile {
    file: File,
    folder: PathBuf,
    end: AtomicU64,
    written: AtomicU64,
}

impl ScratchFile {
    /// An empty file in a folder.
    ///
    /// # Errors
    /// [`GameError::Scratch`] when it cannot be made.
    pub fn new(folder: &Path) -> Result<Self, GameError> {
        let file = tempfile::tempfile_in(folder).map_err(|source| error(folder, source))?;
        Ok(Self { file, folder: folder.to_owned(), end: AtomicU64::new(0), written: AtomicU64::new(0) })
    }

    /// Writes bytes behind all others, and says where.
    ///
    /// # Errors
    /// [`GameError::Scratch`], for example when the disk is full.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, GameError> {
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.write_at(bytes, offset)?;
        Ok(offset)
    }

    /// Writes bytes at an offset, over what stands there.
    ///
    /// # Errors
    /// [`GameError::Scratch`], for example when the disk is full.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), GameError> {
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, offset).map_err(|source| error(&self.folder, source))
    }

    /// Reads as many bytes as `bytes` has.
    ///
    /// # Errors
    /// [`GameError::Scratch`], also when the file ends before.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), GameError> {
        self.file.read_exact_at(bytes, offset).map_err(|source| error(&self.folder, source))
    }

    /// Bytes that were written so far, those over others too.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

fn error(folder: &Path, source: io::Error) -> GameError {
    GameError::Scratch { folder: folder.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_leaves_no_name_and_gives_back_what_it_took() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScratchFile::new(folder.path()).unwrap();
        assert_eq!(file.append(b"abc").unwrap(), 0);
        let second = file.append(b"defg").unwrap();
        file.write_at(b"X", second + 1).unwrap();
        let mut bytes = [0; 4];
        file.read_at(&mut bytes, second).unwrap();
        assert_eq!(&bytes, b"dXfg");
        assert!(matches!(file.read_at(&mut bytes, second + 1), Err(GameError::Scratch { .. })));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = ScratchFile::new(Path::new("/no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        // Writes to this device fail as on a full disk.
        let Ok(file) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
        let file = ScratchFile { file, folder: "/dev".into(), end: AtomicU64::new(0), written: AtomicU64::new(0) };
        assert!(matches!(file.append(&[1; 100]), Err(GameError::Scratch { .. })));
    }
}
