//! The folder for what does not fit into memory.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Nothing is written there yet; a folder that could not take it is found out now.
///
/// It is not made: a name that is mistyped, or a disk that is not mounted, would fill the disk that is there.
///
/// # Errors
/// When it cannot be written, with what to do.
pub fn check_scratch(folder: &Path) -> Result<()> {
    let trial = folder.join(format!(".canju-{}", std::process::id()));
    let tried = fs::write(&trial, b"can be written\n").and_then(|()| fs::remove_file(&trial));
    tried.with_context(|| {
        format!(
            "the scratch folder {} cannot be written: create it, or choose another with --scratch",
            folder.display()
        )
    })
}
