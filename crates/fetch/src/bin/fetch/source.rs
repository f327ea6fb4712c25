//! From `--from` to a store.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use canju_fetch::{Home, Origin};
use canju_store::FolderStore;

use crate::arguments::From;

/// The source that was named.
pub(crate) fn open(from: &From) -> anyhow::Result<Origin> {
    let Some(given) = from.from.as_deref().filter(|given| !given.is_empty()) else {
        bail!("no source: say where the tables are with --from or CANJU_FROM, as s3://bucket/prefix, https://host/path or a folder");
    };
    let home = Home::new(Path::new(given))?;
    Ok(Origin::new(Arc::new(FolderStore::open_read_only(home.root())?)))
}
