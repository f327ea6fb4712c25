//! How names, metrics and distances are spelled in the JSON of a manifest.

use std::fmt;

use canju_retro::{Distance, Metric, Rules, TableName};

/// What is spelled as one word.
pub(crate) trait Word: Sized + fmt::Display {
    fn parse(text: &str) -> Result<Self, String>;
}

impl Word for TableName {
    fn parse(text: &str) -> Result<Self, String> {
        Self::new(text).map_err(|e| e.to_string())
    }
}

impl Word for Rules {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|e: canju_retro::UnknownName| e.to_string())
    }
}

impl Word for Metric {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|e: canju_retro::UnknownName| e.to_string())
    }
}

/// A distance as `<order>.<plies>`.
fn parse_distance(text: &str) -> Option<Distance> {
    let (order, plies) = text.split_once('.')?;
    let distance = Distance { order: order.parse().ok()?, plies: plies.parse().ok()? };
    (show_distance(distance) == text).then_some(distance)
}

fn show_distance(distance: Distance) -> String {
    format!("{}.{}", distance.order, distance.plies)
}

/// A word as a JSON string.
pub(crate) mod text {
    use super::Word;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<T: Word, S: Serializer>(word: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(word)
    }

    pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::parse(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

/// A JSON object with metrics as names. Metrics that are not known are passed over.
pub(crate) mod by_metric {
    use std::collections::BTreeMap;
    use std::fmt;
    use std::marker::PhantomData;

    use canju_retro::Metric;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(map: &BTreeMap<Metric, T>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(map.iter().map(|(metric, entry)| (metric.name(), entry)))
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Metric, T>, D::Error> {
        from.deserialize_map(Entries(PhantomData))
    }

    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Entries<T> {
        type Value = BTreeMap<Metric, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with the metrics wdl, dtm, dtc, odds as names")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(name) = entries.next_key::<String>()? {
                match Metric::ALL.into_iter().find(|m| m.name() == name) {
                    Some(metric) => drop(map.insert(metric, entries.next_value()?)),
                    None => drop(entries.next_value::<de::IgnoredAny>()?),
                }
            }
            Ok(map)
        }
    }
}

/// A JSON object with distances as names, `<order>.<plies>`, in ascending order.
pub(crate) mod by_distance {
    use std::collections::BTreeMap;

    use canju_retro::Distance;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(map: &BTreeMap<Distance, u64>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(map.iter().map(|(&distance, count)| (super::show_distance(distance), count)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Distance, u64>, D::Error> {
        let named = BTreeMap::<String, u64>::deserialize(from)?;
        let distance = |(name, count): (String, u64)| match super::parse_distance(&name) {
            Some(distance) => Ok((distance, count)),
            None => Err(de::Error::custom(format!("{name:?} is no distance: use <order>.<plies>, for example 0.31"))),
        };
        named.into_iter().map(distance).collect()
    }
}
