//! Folders whose names survive the machine.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Creates a folder and those above it; each new name is durable on return.
///
/// # Errors
/// What the system says.
pub fn create_durably(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().ok_or(io::ErrorKind::NotFound)?;
    create_durably(parent)?;
    match fs::create_dir(folder) {
        Err(e) if !(e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir()) => Err(e),
        _ => sync_folder(parent),
    }
}

/// Makes the names in a folder durable.
///
/// # Errors
/// What the system says.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Elsewhere a folder cannot be opened as a file, and renames are journalled by the system.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
