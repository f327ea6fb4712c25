//! River crossings as TOML.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;

use crate::error::Text;
use crate::river::{Forbidden, MOST_LOOKS, MOST_POSITIONS};
use crate::{Passenger, PuzzleError, River, file};

/// Most passengers in a boat, and most ways to load it.
const MOST_SEATS: usize = 16;
const MOST_LOADS: usize = 100_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct File {
    #[serde(rename = "puzzle")]
    _puzzle: String,
    title: Option<String>,
    passenger: Vec<Entry>,
    boat: Spanned<Boat>,
    #[serde(default)]
    forbidden: Vec<Spanned<Rule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Entry {
    name: Spanned<String>,
    many: Option<String>,
    /// A word for several kinds of passengers together.
    is: Option<Spanned<String>>,
    #[serde(default = "one")]
    count: Spanned<u32>,
    #[serde(default)]
    rows: bool,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Boat {
    /// So many of any kind.
    seats: Option<Spanned<usize>>,
    /// Or these and less.
    loads: Option<Vec<Spanned<Vec<Spanned<String>>>>>,
    /// Everybody across is the goal also where the boat has stayed behind.
    #[serde(default)]
    anywhere: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Rule {
    #[serde(default)]
    all: Vec<Spanned<String>>,
    #[serde(default)]
    any: Vec<Spanned<String>>,
    #[serde(default)]
    none: Vec<Spanned<String>>,
    more: Option<Spanned<String>>,
    than: Option<Spanned<String>>,
    /// Why, for readers.
    says: Option<String>,
}

/// Who a word means.
struct Words<'a> {
    source: Text<'a>,
    entries: &'a [Entry],
}

impl Words<'_> {
    fn find(&self, word: &Spanned<String>) -> Result<Vec<usize>, PuzzleError> {
        let text = word.get_ref();
        let meant = |entry: &Entry| {
            entry.name.get_ref() == text || entry.is.as_ref().is_some_and(|class| class.get_ref() == text)
        };
        let found: Vec<usize> = (0..self.entries.len()).filter(|&i| meant(&self.entries[i])).collect();
        if found.is_empty() {
            return Err(self.source.at(word.span(), format!("no passenger is called {text:?} or is one")));
        }
        Ok(found)
    }

    fn together(&self, words: &[Spanned<String>]) -> Result<Vec<usize>, PuzzleError> {
        let mut all = BTreeSet::new();
        for word in words {
            all.extend(self.find(word)?);
        }
        Ok(all.into_iter().collect())
    }
}

pub(crate) fn parse(source: Text) -> Result<(Option<String>, River), PuzzleError> {
    let file: File = file::read(source)?;
    check(source, &file.passenger)?;
    let words = Words { source, entries: &file.passenger };
    let loads = loads(source, &words, &file.boat)?;
    let positions = River::positions(file.passenger.iter().map(|entry| *entry.count.get_ref()));
    let looks = positions * (loads.len() + file.forbidden.len()) as u64;
    if looks > MOST_LOOKS {
        let reason = format!(
            "{positions} positions with {} ways to load the boat and {} that are forbidden are {looks} cases: at most \
             {MOST_LOOKS} are possible; take fewer passengers, or more of one kind",
            loads.len(),
            file.forbidden.len()
        );
        return Err(source.at(file.boat.span(), reason));
    }
    let forbidden =
        file.forbidden.iter().map(|rule| self::forbidden(source, &words, rule)).collect::<Result<Vec<_>, _>>()?;
    // Those who stand together at the start also do so when all are across.
    let everybody: Vec<u32> = file.passenger.iter().map(|entry| *entry.count.get_ref()).collect();
    if let Some((_, rule)) = forbidden.iter().zip(&file.forbidden).find(|(forbidden, _)| forbidden.holds(&everybody)) {
        let says = rule.get_ref().says.as_ref().map(|says| format!(" ({says})")).unwrap_or_default();
        let reason = format!("the start is forbidden by this{says}: with everybody on one bank it holds already");
        return Err(source.at(rule.span(), reason));
    }
    let passengers = file.passenger.iter().map(|entry| Passenger {
        name: entry.name.get_ref().clone(),
        many: entry.many.clone().unwrap_or_else(|| format!("{}s", entry.name.get_ref())),
        count: *entry.count.get_ref(),
        rows: entry.rows,
    });
    Ok((file.title, River::new(passengers.collect(), loads, &forbidden, file.boat.get_ref().anywhere)))
}

fn check(source: Text, entries: &[Entry]) -> Result<(), PuzzleError> {
    if entries.is_empty() {
        return Err(source.on(1, "there is no [[passenger]]"));
    }
    for (at, entry) in entries.iter().enumerate() {
        let name = entry.name.get_ref();
        if name.is_empty() {
            return Err(source.at(entry.name.span(), "a passenger needs a name"));
        }
        let before = &entries[..at];
        if before.iter().any(|other| other.name.get_ref() == name) {
            return Err(
                source.at(entry.name.span(), format!("there is another passenger {name:?}: give a count instead"))
            );
        }
        if entries.iter().any(|other| other.is.as_ref().is_some_and(|class| class.get_ref() == name)) {
            return Err(source.at(entry.name.span(), format!("{name:?} is the name of a passenger, and what some are")));
        }
        if *entry.count.get_ref() == 0 {
            return Err(source.at(entry.count.span(), format!("no {name}: leave the passenger out")));
        }
        let positions = River::positions(entries[..=at].iter().map(|e| *e.count.get_ref()));
        if positions > MOST_POSITIONS {
            let reason = format!("{positions} positions up to this passenger: at most {MOST_POSITIONS} are possible");
            return Err(source.at(entry.name.span(), reason));
        }
    }
    Ok(())
}

/// The ways to load the boat: all parts of what it takes with somebody who rows.
fn loads(source: Text, words: &Words, boat: &Spanned<Boat>) -> Result<Vec<Vec<u32>>, PuzzleError> {
    let (span, boat) = (boat.span(), boat.get_ref());
    let everybody: Vec<usize> = (0..words.entries.len()).collect();
    let mut all: BTreeSet<Vec<u32>> = BTreeSet::new();
    let too_many = |span| source.at(span, format!("more than {MOST_LOADS} ways to load the boat"));
    match (&boat.seats, &boat.loads) {
        (Some(seats), None) => {
            if !(1..=MOST_SEATS).contains(seats.get_ref()) {
                return Err(source.at(seats.span(), format!("1 to {MOST_SEATS} seats are possible")));
            }
            fill(words, &vec![everybody; *seats.get_ref()], &mut all).ok_or_else(|| too_many(seats.span()))?;
        }
        (None, Some(loads)) => {
            for load in loads {
                if !(1..=MOST_SEATS).contains(&load.get_ref().len()) {
                    return Err(source.at(load.span(), format!("a load is 1 to {MOST_SEATS} passengers")));
                }
                let seats = load.get_ref().iter().map(|word| words.find(word)).collect::<Result<Vec<_>, _>>()?;
                fill(words, &seats, &mut all).ok_or_else(|| too_many(load.span()))?;
            }
        }
        (Some(seats), Some(_)) => {
            return Err(source.at(seats.span(), "a boat has seats for anybody, or loads: give one of them"));
        }
        (None, None) => return Err(source.at(span, "[boat] needs seats = 2 or loads = [[\"person\", \"person\"]]")),
    }
    let rowed = |load: &Vec<u32>| load.iter().zip(words.entries).any(|(&count, entry)| count > 0 && entry.rows);
    let loads: Vec<Vec<u32>> = all.into_iter().filter(rowed).collect();
    if loads.is_empty() {
        return Err(source.at(span, "nobody who is taken can row: give a passenger rows = true"));
    }
    Ok(loads)
}

/// Adds all ways to put passengers, or nobody, on some seats; `None` where there are too many.
fn fill(words: &Words, seats: &[Vec<usize>], all: &mut BTreeSet<Vec<u32>>) -> Option<()> {
    let mut ways = BTreeSet::from([vec![0; words.entries.len()]]);
    for seat in seats {
        let mut more = ways.clone();
        for way in &ways {
            for &passenger in seat {
                if way[passenger] < *words.entries[passenger].count.get_ref() {
                    let mut with = way.clone();
                    with[passenger] += 1;
                    more.insert(with);
                }
            }
        }
        ways = more;
        if ways.len() > MOST_LOADS {
            return None;
        }
    }
    all.extend(ways);
    (all.len() <= MOST_LOADS).then_some(())
}

fn forbidden(source: Text, words: &Words, rule: &Spanned<Rule>) -> Result<Forbidden, PuzzleError> {
    let (span, rule) = (rule.span(), rule.get_ref());
    let more = match (&rule.more, &rule.than) {
        (Some(more), Some(than)) => Some((words.find(more)?, words.find(than)?)),
        (None, None) => None,
        (Some(word), None) | (None, Some(word)) => {
            return Err(source.at(word.span(), "more and than go together: who may not be more than whom"));
        }
    };
    if rule.all.is_empty() && rule.any.is_empty() && more.is_none() {
        return Err(source.at(span, "it forbids nobody: say who with all, any, or more and than"));
    }
    let mut none = words.together(&rule.none)?;
    let all: Vec<Vec<usize>> = rule.all.iter().map(|word| words.find(word)).collect::<Result<_, _>>()?;
    let mut any = words.together(&rule.any)?;
    // Who is told to be there by its own name is not meant by a word for many.
    let named: BTreeSet<usize> = all.iter().filter(|group| group.len() == 1).flatten().copied().collect();
    any.retain(|p| !named.contains(p));
    none.retain(|p| !named.contains(p));
    if !rule.any.is_empty() && any.is_empty() {
        return Err(source.at(rule.any[0].span(), "any is only who is in all already"));
    }
    Ok(Forbidden { all, any: Some(any).filter(|any| !any.is_empty()), none, more })
}
