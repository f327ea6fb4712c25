//! The list of a folder's tables, for web servers that cannot list.

use std::collections::HashSet;
use std::path::Path;

use canju_store::{FolderStore, INDEX_KEY, Key, Store, index_of};
use canju_table::{TABLES, parse_manifest_key, table_folder};

use crate::{FetchError, Home};

/// Writes `tables/index.json`, the list of the files of all tables in a folder that have a manifest, and returns how many
/// tables those are. With it, any web server that offers the folder's files is a source of tables.
///
/// # Errors
/// [`FetchError::Store`] when the folder cannot be read or written.
pub async fn write_index(folder: &Path) -> Result<usize, FetchError> {
    let home = Home::new(folder)?;
    // Opening for writing would create a folder that was misspelled.
    FolderStore::open_read_only(home.root())?;
    let store = FolderStore::open(home.root())?;
    let mut objects = store.list(TABLES).await?;
    let tables = objects.iter().filter_map(|object| parse_manifest_key(object.key.as_str()));
    let folders: HashSet<String> = tables.map(|(rules, table)| table_folder(rules, &table)).collect();
    objects.retain(|object| {
        // `tables/<rules>/<ENDGAME>`
        let ends = object.key.as_str().match_indices('/').nth(2);
        ends.is_some_and(|(end, _)| folders.contains(&object.key.as_str()[..end]))
    });
    let key = Key::new(INDEX_KEY).map_err(|e| FetchError::local(home.root(), "named")(std::io::Error::other(e)))?;
    store.put(&key, index_of(&objects).into()).await?;
    Ok(folders.len())
}
