//! Where tables are when none are where a user looks for them.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use canju_retro::Rules;

use crate::remedy::shell_word;
use crate::{FolderSource, Source, parse_manifest_key};

/// Folders that are looked into, and how many levels down.
const MOST: usize = 1000;
const DEPTH: usize = 3;
/// How many levels up: from a table's metric to the folder that holds `tables`.
const ABOVE: usize = 4;

/// What to tell who looked for tables of these rules at a place and found none, where there are only those of `others`:
/// what there is instead, and what to do. `folder` is what was given, where the place is one.
#[must_use]
pub fn no_tables(place: &str, folder: Option<&Path>, rules: Rules, others: &BTreeSet<Rules>) -> String {
    let text = format!("there is no table for the rules {rules} in {place}");
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|rules| rules.name()).collect();
        return format!("{text}: it has some for {}, give --rules", names.join(" and "));
    }
    let Some(folder) = folder else { return format!("{text}: give the place that was --store or --to") };
    match tables_near(folder) {
        Some(near) => {
            format!("{text}: there are some in {}, give that folder", shell_word(&near.display().to_string()))
        }
        None => format!("{text}, nor in the folders around it: give the folder that was --store or --to"),
    }
}

fn has_tables(folder: &Path) -> bool {
    let keys = FolderSource::new(folder).manifests().unwrap_or_default();
    keys.iter().any(|key| parse_manifest_key(key).is_some())
}

/// A folder with tables a little below or above this one, as a user would give it.
fn tables_near(folder: &Path) -> Option<PathBuf> {
    beneath(folder).or_else(|| above(folder))
}

fn beneath(folder: &Path) -> Option<PathBuf> {
    let mut open = VecDeque::from([(folder.to_path_buf(), 0)]);
    let mut looked = 0;
    while let Some((path, depth)) = open.pop_front() {
        looked += 1;
        if depth > 0 && has_tables(&path) {
            return Some(path);
        }
        if depth == DEPTH || looked > MOST {
            continue;
        }
        let mut folders: Vec<PathBuf> = fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        folders.retain(|path| path.is_dir() && !path.is_symlink());
        folders.sort_unstable();
        open.extend(folders.into_iter().map(|path| (path, depth + 1)));
    }
    None
}

fn above(folder: &Path) -> Option<PathBuf> {
    let whole = folder.canonicalize().ok()?;
    let mut above = whole.ancestors().skip(1).take(ABOVE);
    above.find(|path| has_tables(path)).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let told =
            |path: &str| no_tables("the folder", Some(&folder.path().join(path)), Rules::Plain, &BTreeSet::new());
        assert!(told("").contains("nor in the folders around it"), "{}", told(""));
        let store = folder.path().join("a/store");
        let table = store.join("tables/plain/KRK");
        fs::create_dir_all(table.join("dtm")).unwrap();
        fs::write(table.join("manifest.json"), "{}").unwrap();
        for path in ["", "a", "a/store/tables/plain", "a/store/tables/plain/KRK/dtm"] {
            let text = told(path);
            assert!(text.contains("a/store") && text.ends_with("give that folder"), "{path}: {text}");
        }
        let there = format!("there are some in {}, give that folder", store.display());
        assert!(told("").ends_with(&there));
        let other = no_tables("s3://xq", None, Rules::Check, &[Rules::Plain].into());
        assert!(other.ends_with("it has some for plain, give --rules"), "{other}");
    }
}
