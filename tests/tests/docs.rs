//! The pages: every link leads somewhere, and the book's summary names every page.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("book") {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
    found
}

/// The targets of a page's links that are files.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

#[test]
fn links_lead_somewhere() {
    let mut all = pages(&root().join("docs"));
    all.extend(["README.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let mut tried = 0;
    for page in all {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            assert!(page.parent().unwrap().join(link).exists(), "{}: {link}", page.display());
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn the_summary_names_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let named: Vec<PathBuf> = links(&summary).map(|link| docs.join(link)).collect();
    for page in pages(&docs).into_iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        assert!(named.contains(&page), "{}", page.display());
    }
}
