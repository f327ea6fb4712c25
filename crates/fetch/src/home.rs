//! The folder that tables are fetched into.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use canju_retro::{Rules, TableName};
use canju_store::{FolderStore, Key, Store, StoreError};
use canju_table::{Manifest, has_manifests, manifest_key};
use fs4::fs_std::FileExt;

use crate::origin::read_manifest;
use crate::{Event, FetchError, Watch};

/// What is not whole yet lies in this folder beside `tables`. Its name is no key, so that no store takes it for an object.
const ASIDE: &str = ".canju-fetch";

/// A folder of tables: they lie below `tables` in it, as a coordinator and `canju` have them.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

/// Held by the one fetch that may write to a folder.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// What a folder has of a manifest.
pub(crate) enum Local {
    /// Nothing.
    None,
    /// A file that is no manifest, and why.
    Unusable(String),
    /// One that can be used.
    Manifest(Box<Manifest>),
}

impl Home {
    /// The folder that a user names: the one that holds `tables`, or `tables` itself where it has the tables of some
    /// rules. Reads a little, writes nothing; the folder need not exist.
    ///
    /// # Errors
    /// [`FetchError::Layout`] when tables lie in the folder as others have them in `tables`, but it has another name.
    pub fn new(given: impl AsRef<Path>) -> Result<Self, FetchError> {
        let given = given.as_ref();
        if given.join("tables").is_dir() || !has_manifests(given) {
            return Ok(Self { root: given.to_path_buf() });
        }
        // `tables`, `./tables/` and `.` within it are all the same.
        let full = fs::canonicalize(given).map_err(FetchError::local(given, "read"))?;
        match (full.file_name(), full.parent()) {
            (Some(name), Some(parent)) if name == "tables" => {
                let parent_given = given.parent().filter(|_| given.file_name().is_some_and(|n| n == "tables"));
                let short = parent_given.map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
                Ok(Self { root: short.unwrap_or(parent).to_path_buf() })
            }
            _ => Err(FetchError::Layout(given.to_path_buf())),
        }
    }

    /// The folder that holds `tables`.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a key.
    pub(crate) fn file(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// Where a key's file grows until it is whole.
    pub(crate) fn aside(&self, key: &str) -> PathBuf {
        self.root.join(ASIDE).join(key)
    }

    /// Bytes that this user may still write to the folder's disk.
    pub(crate) fn free(&self) -> Result<u64, FetchError> {
        let there = self.root.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        fs4::available_space(there).map_err(FetchError::local(there, "asked for its free space"))
    }

    /// Creates the folder and waits until nobody else fetches into it. Blocks.
    pub(crate) fn lock(&self, watch: &dyn Watch) -> Result<Lock, FetchError> {
        let aside = self.root.join(ASIDE);
        fs::create_dir_all(&aside).map_err(FetchError::local(&aside, "created"))?;
        let path = aside.join("lock");
        let open = File::options().create(true).truncate(false).write(true).open(&path);
        let file = open.map_err(FetchError::local(&path, "written"))?;
        let locked = FileExt::try_lock_exclusive(&file).and_then(|free| {
            if !free {
                watch.see(Event::Waiting { folder: &self.root });
                FileExt::lock_exclusive(&file)?;
            }
            Ok(())
        });
        locked.map_err(FetchError::local(&path, "locked"))?;
        Ok(Lock { _file: file })
    }

    /// The manifest of a table as the folder has it.
    pub(crate) fn manifest(&self, rules: Rules, table: &TableName) -> Result<Local, FetchError> {
        let key = manifest_key(rules, table);
        let path = self.file(&key);
        match fs::read(&path) {
            Ok(bytes) => Ok(match read_manifest(&key, &bytes, rules, table) {
                Ok(manifest) => Local::Manifest(Box::new(manifest)),
                Err(error) => Local::Unusable(error.to_string()),
            }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Local::None),
            Err(e) => Err(FetchError::local(&path, "read")(e)),
        }
    }

    /// Puts a manifest in place, with the metrics of one that is there already. A coordinator that builds into the same
    /// folder may do so at the same time: neither loses what the other adds.
    pub(crate) async fn put_manifest(&self, manifest: &Manifest, place: &str) -> Result<(), FetchError> {
        let key = manifest.key();
        let unusable = |e: io::Error| FetchError::local(&self.file(&key), "written")(e);
        let store = FolderStore::open(&self.root)?;
        let object = Key::new(&key).map_err(|e| unusable(io::Error::other(e)))?;
        loop {
            let there = match store.get(&object).await {
                Ok(there) => Some(there),
                Err(StoreError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            let read =
                there.as_ref().and_then(|o| read_manifest(&key, &o.bytes, manifest.rules, &manifest.endgame).ok());
            let merged = match read {
                Some(mut local) => {
                    local.merge(manifest.clone()).map_err(|conflict| self.other(manifest, place, conflict))?;
                    local
                }
                None => manifest.clone(),
            };
            let json = merged.to_json().map_err(|e| unusable(io::Error::other(e)))?;
            let put = match &there {
                Some(there) => store.put_if_match(&object, json.into(), &there.etag).await,
                None => store.put_if_absent(&object, json.into()).await,
            };
            match put {
                Err(StoreError::Changed { .. } | StoreError::AlreadyExists { .. } | StoreError::NotFound { .. }) => {}
                put => return put.map(|_| ()).map_err(Into::into),
            }
        }
    }

    pub(crate) fn other(&self, manifest: &Manifest, place: &str, conflict: canju_table::MergeConflict) -> FetchError {
        let (table, folder, place) = (manifest.endgame.clone(), self.root.clone(), place.to_owned());
        FetchError::Other { table, folder, place, conflict }
    }
}

/// The BLAKE3 of a file's bytes, in hexadecimal. `seen` is told how many were read.
pub(crate) fn hash_file(path: &Path, seen: &dyn Fn(u64)) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_hex().to_string()),
            Ok(read) => {
                hasher.update(&buffer[..read]);
                seen(read as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(given: &Path) -> PathBuf {
        Home::new(given).unwrap().root
    }

    #[test]
    fn a_folder_is_found_as_users_name_it() {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path();
        let tables = above.join("tables");
        // Nothing there yet: the same layout as a coordinator's folder.
        assert_eq!(root(&tables), tables);
        let table = tables.join("plain/KRK");
        fs::create_dir_all(&table).unwrap();
        fs::write(table.join("manifest.json"), "{}").unwrap();
        assert_eq!(root(above), above);
        assert_eq!(root(&tables), above);
        assert_eq!(root(&tables.join("../tables")), above.join("tables/.."));
        fs::rename(&tables, above.join("others")).unwrap();
        assert!(matches!(Home::new(above.join("others")), Err(FetchError::Layout(_))));
    }
}
