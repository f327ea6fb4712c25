//! Where the files of a table are: the keys of its shards and of its manifest.

use canju_retro::{Metric, Rules, TableName};

/// What all keys of tables begin with.
pub const TABLES: &str = "tables/";

/// The folder of a table: `tables/<rules>/<ENDGAME>`.
///
/// ```
/// # use canju_retro::{Metric, Rules, TableName};
/// # use canju_table::{manifest_key, shard_key, table_folder};
/// let table = TableName::new("KPK")?;
/// assert_eq!(table_folder(Rules::Plain, &table), "tables/plain/KPK");
/// assert_eq!(manifest_key(Rules::Plain, &table), "tables/plain/KPK/manifest.json");
/// assert_eq!(shard_key(Rules::Plain, &table, Metric::Dtm, 3), "tables/plain/KPK/dtm/0003.shard");
/// # Ok::<(), canju_retro::GameError>(())
/// ```
#[must_use]
pub fn table_folder(rules: Rules, table: &TableName) -> String {
    format!("{TABLES}{rules}/{table}")
}

/// The key of a table's manifest: `tables/<rules>/<ENDGAME>/manifest.json`.
#[must_use]
pub fn manifest_key(rules: Rules, table: &TableName) -> String {
    format!("{}/manifest.json", table_folder(rules, table))
}

/// The key of a shard: `tables/<rules>/<ENDGAME>/<metric>/<number, at least 4 digits>.shard`.
#[must_use]
pub fn shard_key(rules: Rules, table: &TableName, metric: Metric, number: u32) -> String {
    format!("{}/{metric}/{number:04}.shard", table_folder(rules, table))
}

/// The rules and the table of a manifest's key, or `None` for any other key.
#[must_use]
pub fn parse_manifest_key(key: &str) -> Option<(Rules, TableName)> {
    let (rules, table) = key.strip_prefix(TABLES)?.strip_suffix("/manifest.json")?.split_once('/')?;
    let (rules, table) = (rules.parse::<Rules>().ok()?, TableName::new(table).ok()?);
    (manifest_key(rules, &table) == key).then_some((rules, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_manifests_are_manifests() {
        let table = TableName::new("KPK").unwrap();
        assert_eq!(parse_manifest_key("tables/plain/KPK/manifest.json"), Some((Rules::Plain, table)));
        for other in ["tables/PLAIN/KPK/manifest.json", "tables/plain/KPK/dtm/0000.shard", "tables/plain/manifest.json"]
        {
            assert_eq!(parse_manifest_key(other), None);
        }
    }
}
