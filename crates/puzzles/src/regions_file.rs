//! Mazes of regions as TOML.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use crate::error::Text;
use crate::regions::{MOST_CELLS, Passage};
use crate::{PuzzleError, Regions, file};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct File {
    #[serde(rename = "puzzle")]
    _puzzle: String,
    title: Option<String>,
    entrance: Spanned<String>,
    exit: Spanned<String>,
    region: Vec<Region>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Region {
    name: Spanned<String>,
    next: Vec<Spanned<Next>>,
}

/// A neighbour: its name, or its name and how far it is.
struct Next {
    to: String,
    length: Option<u32>,
}

impl<'de> Deserialize<'de> for Next {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Next;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a region, or { to = NAME, length = NUMBER }")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Next, E> {
                Ok(Next { to: name.to_owned(), length: None })
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Next, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields, expecting = "{ to = NAME, length = NUMBER }")]
                struct Measured {
                    to: String,
                    length: u32,
                }
                let Measured { to, length } = Measured::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Next { to, length: Some(length) })
            }
        }

        from.deserialize_any(Visitor)
    }
}

pub(crate) fn parse(source: Text) -> Result<(Option<String>, Regions), PuzzleError> {
    let file: File = file::read(source)?;
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for (number, region) in file.region.iter().enumerate() {
        let name = region.name.get_ref().as_str();
        if name.is_empty() || name.contains('>') || name.trim() != name {
            return Err(source.at(region.name.span(), "a region needs a name, without > and spaces around it"));
        }
        if numbers.insert(name, number as u32).is_some() {
            return Err(source.at(region.name.span(), format!("there is another region {name:?}")));
        }
    }
    let find = |name: &str, at: std::ops::Range<usize>| {
        numbers.get(name).copied().ok_or_else(|| source.at(at, format!("there is no region {name:?}")))
    };
    let (entrance, exit) =
        (find(file.entrance.get_ref(), file.entrance.span())?, find(file.exit.get_ref(), file.exit.span())?);
    // A passage may be told at one end or at both.
    let mut lengths: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    let (mut measured, mut cells) = (false, file.region.len() as u64);
    for (from, region) in file.region.iter().enumerate() {
        for next in &region.next {
            let Next { to, length } = next.get_ref();
            let (from, to) = (from as u32, find(to, next.span())?);
            if from == to {
                return Err(source.at(next.span(), "a region is not its own neighbour"));
            }
            measured |= length.is_some();
            let length = length.unwrap_or(1);
            if !(1..=u32::from(u16::MAX)).contains(&length) {
                return Err(source.at(next.span(), format!("a length of {length}: 1 to 65535 are possible")));
            }
            if let Some(before) = lengths.insert([from.min(to), from.max(to)], length) {
                if before != length {
                    let reason = format!("the length is {length} here, and {before} where the passage is told first");
                    return Err(source.at(next.span(), reason));
                }
            } else {
                cells += u64::from(length) - 1;
            }
            if cells > MOST_CELLS {
                return Err(source.at(next.span(), format!("the lengths are more than {MOST_CELLS} together")));
            }
        }
    }
    let names = file.region.iter().map(|r| r.name.get_ref().clone()).collect();
    let passages = lengths.into_iter().map(|(ends, length)| Passage::new(ends, length)).collect();
    Ok((file.title, Regions::new(names, passages, entrance, exit, measured)))
}
