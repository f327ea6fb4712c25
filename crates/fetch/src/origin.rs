//! Where tables are fetched from.

use std::sync::Arc;

use canju_retro::{Rules, TableName};
use canju_store::{Key, Store, StoreError};
use canju_table::{Manifest, ManifestError, TABLES, manifest_key, parse_manifest_key};

use crate::FetchError;
use crate::sound::{self, MOST_MANIFEST_BYTES};

/// A store that tables are fetched from. Nothing that it says is believed unchecked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Origin(Arc<dyn Store>);

impl Origin {
    /// The tables of a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Where the tables are, in a user's words.
    #[must_use]
    pub fn place(&self) -> String {
        self.0.place()
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.0
    }

    /// The tables that have a manifest, in ascending order.
    ///
    /// # Errors
    /// [`FetchError::Store`].
    pub async fn tables(&self) -> Result<Vec<(Rules, TableName)>, FetchError> {
        let objects = self.0.list(TABLES).await?;
        Ok(objects.iter().filter_map(|object| parse_manifest_key(object.key.as_str())).collect())
    }

    /// The manifest of a table, which names this table and does not contradict itself.
    ///
    /// # Errors
    /// [`FetchError::NoTable`], [`FetchError::Manifest`], [`FetchError::Store`].
    pub async fn manifest(&self, rules: Rules, table: &TableName) -> Result<Manifest, FetchError> {
        let text = manifest_key(rules, table);
        let bad = |field: &str, reason: String| FetchError::Manifest {
            table: table.clone(),
            place: self.place(),
            error: ManifestError { file: text.clone(), field: field.to_owned(), reason },
        };
        let key = Key::new(&text).map_err(|e| bad("", e.to_string()))?;
        let missing = |error| match error {
            StoreError::NotFound { .. } => FetchError::NoTable { table: table.clone(), rules, place: self.place() },
            other => other.into(),
        };
        let len = self.0.head(&key).await.map_err(missing)?.len;
        if len > MOST_MANIFEST_BYTES {
            return Err(bad("", format!("it has {len} bytes; no manifest has more than {MOST_MANIFEST_BYTES}")));
        }
        let bytes = self.0.get(&key).await.map_err(missing)?.bytes;
        read_manifest(&text, &bytes, rules, table).map_err(|error| FetchError::Manifest {
            table: table.clone(),
            place: self.place(),
            error,
        })
    }
}

/// Reads the manifest of a table and checks that it can be true.
pub(crate) fn read_manifest(
    key: &str,
    bytes: &[u8],
    rules: Rules,
    table: &TableName,
) -> Result<Manifest, ManifestError> {
    let error = |field: String, reason: String| ManifestError { file: key.to_owned(), field, reason };
    let manifest = Manifest::parse(key, bytes)?;
    if manifest.endgame != *table {
        return Err(error("endgame".to_owned(), format!("it is the manifest of {}", manifest.endgame)));
    }
    if manifest.rules != rules {
        return Err(error("rules".to_owned(), format!("it is the manifest for the rules {}", manifest.rules)));
    }
    match sound::flaw(&manifest) {
        Some((field, reason)) => Err(error(field, reason)),
        None => Ok(manifest),
    }
}
