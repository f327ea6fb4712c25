//! A store inside another one, which nobody wants: its tables would be where no reader of the other one looks.

use std::path::{Path, PathBuf};

use canju_table::has_manifests;

use crate::ClusterError;
use crate::bucket::IDENTITY;

/// How many levels up it is looked: from a table's metric to `tables`.
const ABOVE: usize = 4;

/// Refuses a folder that is the `tables` of a store, or lies in it.
///
/// # Errors
/// [`ClusterError::Refused`], with the folder that was probably meant.
pub fn check_nested(folder: &Path) -> Result<(), ClusterError> {
    // Who has one already goes on with it.
    if folder.join(IDENTITY).is_file() {
        return Ok(());
    }
    match outer(folder) {
        Some(store) => Err(ClusterError::Refused(format!(
            "{} lies within the tables of another store: give {}, the folder above `tables`",
            folder.display(),
            store.display()
        ))),
        None => Ok(()),
    }
}

/// The store in whose `tables` a folder lies that is perhaps not there yet.
fn outer(folder: &Path) -> Option<PathBuf> {
    let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder)).ok()?;
    whole.ancestors().take(ABOVE).find_map(|path| {
        let store = path.parent().filter(|_| path.file_name().is_some_and(|name| name == "tables"))?;
        (store.join(IDENTITY).is_file() || has_manifests(path)).then(|| store.to_path_buf())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_in_the_tables_of_a_store_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let refused = |path: &str| check_nested(&root.join(path)).err().map(|e| e.line());
        // A store of a coordinator, and one that was fetched.
        for (store, file) in [("a/tables", "store.json"), ("b", "tables/plain/KRK/manifest.json")] {
            let file = root.join(store).join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "{}").unwrap();
            assert_eq!(refused(store), None);
            for inner in ["tables", "tables/", "tables/plain", "tables/plain/KRK"] {
                let text = refused(&format!("{store}/{inner}")).unwrap();
                assert!(text.contains(&format!("give {},", root.join(store).display())), "{text}");
            }
        }
        // Folders beside each other, whatever their names, and one that was made before this was refused.
        for other in ["c", "tables", "a/other", "b/more"] {
            assert_eq!(refused(other), None, "{other}");
        }
        fs::create_dir_all(root.join("b/tables")).unwrap();
        fs::write(root.join("b/tables/store.json"), "{}").unwrap();
        assert_eq!(refused("b/tables"), None);
    }
}
