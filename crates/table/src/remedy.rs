//! Commands that bring a table, as they can be typed where the tables are.

use canju_retro::{Metric, Rules, TableName};

/// How the place of tables begins that are in a folder.
pub(crate) const FOLDER: &str = "the folder ";
/// How the place of tables begins that are in a bucket: its address, and behind the second words that of its server, if
/// it is not the usual one.
const BUCKET: &str = "the bucket ";
const AT: &str = " at ";

/// Commands of which each brings a table to a place where it is not; the place as [`TableSet::place`](crate::TableSet::place)
/// tells it.
#[must_use]
pub fn commands(table: &TableName, metric: Option<Metric>, rules: Rules, place: &str) -> Vec<String> {
    let (build, given) = (build(table, metric, rules), rules_given(rules));
    match place.strip_prefix(FOLDER).map(shell_word) {
        Some(folder) => {
            vec![format!("fetch get {table} --from SOURCE --to {folder}{given}"), format!("{build} --store {folder}")]
        }
        None => match bucket(place) {
            Some((_, options)) => vec![format!("{build} {options}")],
            None => vec![format!("fetch get {table} --from SOURCE{given}"), build],
        },
    }
}

/// How a command is told the rules: nothing for those that it takes unless told otherwise.
#[must_use]
pub fn rules_given(rules: Rules) -> String {
    if rules == Rules::default() { String::new() } else { format!(" --rules {rules}") }
}

/// What brings a table to a place where it is not, in words.
pub(crate) fn bring(table: &TableName, metric: Option<Metric>, rules: Rules, place: &str) -> String {
    match commands(table, metric, rules, place).as_slice() {
        [build] => format!("build it with `{build}`"),
        all => format!("fetch it with `{}`", all.join("`, or build it with `")),
    }
}

/// What replaces the file at `key` of a table, which is damaged.
pub(crate) fn replace(table: &TableName, key: &str, place: &str) -> String {
    // tables/<rules>/<ENDGAME>/<metric>/<number>.shard
    let parts: Vec<&str> = key.split('/').collect();
    let rules = parts.get(1).and_then(|rules| rules.parse().ok()).unwrap_or_default();
    let metric = parts.get(3).and_then(|metric| metric.parse().ok());
    let build = build(table, metric, rules);
    let file = |root: &str| shell_word(&format!("{}/{key}", root.trim_end_matches('/')));
    match place.strip_prefix(FOLDER) {
        Some(root) => format!(
            "replace it with `fetch get {table} --from SOURCE --to {0}{2}`, or delete {1} and build it again with \
             `{build} --store {0}`",
            shell_word(root),
            file(root),
            rules_given(rules)
        ),
        None => match bucket(place) {
            Some((address, options)) => format!("delete {} and build it again with `{build} {options}`", file(address)),
            None => format!("take it from another place, or build it with `{build}`"),
        },
    }
}

/// The address of a bucket, and the options that name it to a command.
fn bucket(place: &str) -> Option<(&str, String)> {
    let named = place.strip_prefix(BUCKET)?;
    let (address, server) = named.split_once(AT).map_or((named, None), |(address, server)| (address, Some(server)));
    let server = server.map(|server| format!(" --s3-endpoint {}", shell_word(server))).unwrap_or_default();
    Some((address, format!("--store {}{server}", shell_word(address))))
}

fn build(table: &TableName, metric: Option<Metric>, rules: Rules) -> String {
    // Win, draw and loss comes with every distance.
    let metric = metric.filter(|m| *m != Metric::Wdl).map(|m| format!(" --metric {m}")).unwrap_or_default();
    format!("coordinator start --build {table}{metric}{}", rules_given(rules))
}

/// A text as a shell takes it for one word.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TableName {
        TableName::new("KRK").unwrap()
    }

    fn bring(metric: Option<Metric>, place: &str) -> String {
        super::bring(&table(), metric, Rules::Plain, place)
    }

    #[test]
    fn commands_name_the_rules() {
        let of = |place| commands(&table(), Some(Metric::Dtm), Rules::Axf, place);
        let folder = [
            "fetch get KRK --from SOURCE --to ./t --rules axf",
            "coordinator start --build KRK --metric dtm --rules axf --store ./t",
        ];
        assert_eq!(of("the folder ./t"), folder);
        let bucket = ["coordinator start --build KRK --metric dtm --rules axf --store s3://xq/"];
        assert_eq!(of("the bucket s3://xq/"), bucket);
        let server = [bucket[0].to_owned() + " --s3-endpoint http://127.0.0.1:9000"];
        assert_eq!(of("the bucket s3://xq/ at http://127.0.0.1:9000"), server);
        let anywhere =
            ["fetch get KRK --from SOURCE --rules axf", "coordinator start --build KRK --metric dtm --rules axf"];
        assert_eq!(of("memory"), anywhere);
    }

    #[test]
    fn commands_name_the_place() {
        let there = bring(Some(Metric::Dtc), "the folder /my tables");
        assert!(there.contains("`fetch get KRK --from SOURCE --to '/my tables'`"), "{there}");
        assert!(there.contains("`coordinator start --build KRK --metric dtc --store '/my tables'`"), "{there}");
        let bucket = bring(Some(Metric::Wdl), "the bucket s3://xq/t");
        assert_eq!(bucket, "build it with `coordinator start --build KRK --store s3://xq/t`");
        assert!(bring(None, "the server https://h/").contains("`fetch get KRK --from SOURCE`"));
    }

    #[test]
    fn a_damaged_file_is_named_with_its_path() {
        let shard = "tables/check/KRK/dtc/0001.shard";
        let folder = replace(&table(), shard, "the folder ./t");
        assert!(folder.contains("delete ./t/tables/check/KRK/dtc/0001.shard and"), "{folder}");
        assert!(folder.contains("--build KRK --metric dtc --rules check --store ./t`"), "{folder}");
        assert!(folder.contains("`fetch get KRK --from SOURCE --to ./t --rules check`"), "{folder}");
        let bucket = replace(&table(), "tables/plain/KRK/manifest.json", "the bucket s3://xq");
        assert!(bucket.starts_with("delete s3://xq/tables/plain/KRK/manifest.json and"), "{bucket}");
        assert!(bucket.ends_with("`coordinator start --build KRK --store s3://xq`"), "{bucket}");
    }

    #[test]
    fn words_of_a_shell() {
        assert_eq!([shell_word("./a-b"), shell_word("a b"), shell_word("a'b")], ["./a-b", "'a b'", r"'a'\''b'"]);
    }
}
