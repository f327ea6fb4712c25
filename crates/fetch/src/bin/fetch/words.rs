//! Numbers, names and patterns in words.

use canju_retro::TableName;

/// A number with its digits in threes.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let threes: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|three| std::str::from_utf8(three).ok()).collect();
    threes.join(" ")
}

/// How many of something.
pub(crate) fn count(n: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(n as u64), if n == 1 { "" } else { "s" })
}

/// The tables of names in any order and case.
pub(crate) fn tables(names: &[String]) -> anyhow::Result<Vec<TableName>> {
    let given = names.iter().filter(|name| !name.is_empty());
    Ok(given.map(|name| canju_games::name(name)).collect::<Result<_, _>>()?)
}

/// Whether a table is meant by a name in any order and case, or by a pattern with `*` and `?`.
pub(crate) enum Pattern {
    All,
    Table(TableName),
    Wild(Vec<u8>),
}

impl Pattern {
    pub(crate) fn new(given: Option<&str>) -> anyhow::Result<Self> {
        Ok(match given {
            None => Self::All,
            Some(text) if text.contains(['*', '?']) => Self::Wild(text.to_ascii_uppercase().into_bytes()),
            Some(name) => Self::Table(canju_games::name(name)?),
        })
    }

    pub(crate) fn fits(&self, table: &TableName) -> bool {
        match self {
            Self::All => true,
            Self::Table(name) => name == table,
            Self::Wild(pattern) => fits(pattern, table.as_str().as_bytes()),
        }
    }
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // For each length of a beginning of the name: whether the pattern so far fits it.
    let mut so_far = vec![false; name.len() + 1];
    so_far[0] = true;
    for &sign in pattern {
        if sign == b'*' {
            let first = so_far.iter().position(|&fits| fits).unwrap_or(so_far.len());
            so_far[first..].fill(true);
        } else {
            for at in (0..name.len()).rev() {
                so_far[at + 1] = so_far[at] && (sign == b'?' || sign == name[at]);
            }
            so_far[0] = false;
        }
    }
    so_far[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit() {
        let table = TableName::new("KRKN").unwrap();
        for good in ["*", "KR*", "*kn", "k?k?", "K*K*", "krkn*", "**", "knkr", "KRvKH"] {
            assert!(Pattern::new(Some(good)).unwrap().fits(&table), "{good}");
        }
        for other in ["?", "KR?", "*R", "k?k??", "krk", "*KK*"] {
            assert!(!Pattern::new(Some(other)).unwrap().fits(&table), "{other}");
        }
        assert!(Pattern::new(None).unwrap().fits(&table));
        assert!(Pattern::new(Some("KXK")).is_err());
    }

    #[test]
    fn numbers_are_read_easily() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!(count(1, "table"), "1 table");
        assert_eq!(count(1200, "shard"), "1 200 shards");
    }
}
