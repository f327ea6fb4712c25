//! The list of tables' files that a web server carries, since it cannot list them itself.

use serde::Deserialize;

use crate::conditions::key;
use crate::{Key, ObjectInfo, StoreError};

/// The key of the index in a store.
pub const INDEX_KEY: &str = "tables/index.json";

#[derive(Deserialize)]
struct Line {
    key: String,
    bytes: u64,
}

/// The text of an index of these objects: a JSON list of `{"key": …, "bytes": …}`, one on a line, by key.
/// Put it at [`INDEX_KEY`]; it does not list itself.
#[must_use]
pub fn index_of(objects: &[ObjectInfo]) -> String {
    let mut objects: Vec<_> = objects.iter().filter(|o| o.key.as_str() != INDEX_KEY).collect();
    objects.sort_by(|a, b| a.key.cmp(&b.key));
    // Keys have no character that JSON writes otherwise.
    let lines: Vec<_> = objects.iter().map(|o| format!("{{\"key\":\"{}\",\"bytes\":{}}}", o.key, o.len)).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// What an index lists, by key; what is no key is left out.
pub(crate) fn read(text: &[u8]) -> Result<Vec<ObjectInfo>, serde_json::Error> {
    let lines: Vec<Line> = serde_json::from_slice(text)?;
    let mut objects: Vec<_> =
        lines.iter().filter_map(|l| Some(ObjectInfo { key: Key::new(&l.key).ok()?, len: l.bytes })).collect();
    objects.sort_by(|a, b| a.key.cmp(&b.key));
    objects.dedup_by(|a, b| a.key == b.key);
    Ok(objects)
}

/// The index's key.
pub(crate) fn key_of_index() -> Result<Key, StoreError> {
    key(INDEX_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let object = |key: &str, len| ObjectInfo { key: Key::new(key).unwrap(), len };
        let objects = [object("tables/b", 2), object("tables/a", 1), object(INDEX_KEY, 9)];
        let text = index_of(&objects);
        assert_eq!(text, "[\n{\"key\":\"tables/a\",\"bytes\":1},\n{\"key\":\"tables/b\",\"bytes\":2}\n]\n");
        assert_eq!(read(text.as_bytes()).unwrap(), [object("tables/a", 1), object("tables/b", 2)]);
        assert_eq!(read(index_of(&[]).as_bytes()).unwrap(), []);
        assert_eq!(read(br#"[{"key":"../x","bytes":1}]"#).unwrap(), []);
        assert!(read(b"<html>").is_err());
    }
}
