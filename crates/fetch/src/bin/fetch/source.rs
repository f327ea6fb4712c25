//! From `--from` to a store.

use anyhow::bail;
use canju_fetch::{Home, Origin};
use canju_store::{Location, StoreOptions};

use crate::arguments::From;

/// The source that was named, for so many requests at once.
pub(crate) async fn open(from: &From, at_once: usize) -> anyhow::Result<Origin> {
    let Some(given) = from.from.as_deref().filter(|given| !given.is_empty()) else {
        bail!(
            "no source: say where the tables are with --from or CANJU_FROM, as s3://bucket/prefix, https://host/path or a folder"
        );
    };
    let location = match given.parse()? {
        // A folder named `tables` may be named itself.
        Location::Folder(path) => Location::Folder(Home::new(path)?.root().to_path_buf()),
        other => other,
    };
    let (endpoint, region) = (from.s3_endpoint.clone(), from.s3_region.clone());
    let options = StoreOptions { endpoint, region, at_once, ..StoreOptions::default() };
    Ok(Origin::new(canju_store::open(&location, &options).await?))
}
