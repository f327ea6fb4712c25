//! The library as C sees it.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod border;
mod program;

use std::path::{Path, PathBuf};

use canju_retro::Metric;
use canju_tests::Workshop;

/// KPKA and all smaller tables, with the distance to mate.
fn tables() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    Workshop::new().write_to(folder.path(), "KPKA", &[Metric::Dtm]);
    folder
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

const MATE_IN_ONE: &str = "3k5/9/4P4/9/9/9/9/9/9/4K4 w";
const MATED: &str = "3k5/4P4/9/9/9/9/9/9/9/4K4 b";
