//! EinStein würfelt nicht!: what positions are worth, and whether tables follow from the rules.

mod arguments;
mod grade;
mod lookup;
mod matches;

use std::fs;
use std::io::Write;

use anyhow::{Context, anyhow, bail};
use canju_ewn::{
    Color, Die, INDEX_VERSION, Index, Lookup, MOST_STONES, Position, RatedMove, Signature, Square, picture,
    read_rolled, rolls,
};
use canju_retro::{Metric, Rules, TableName};
use canju_table::{TableError, TableSet, commands};
use serde::Serialize;

pub(crate) use arguments::{GradeArguments, MatchArguments};
pub(crate) use grade::run as grade;
pub(crate) use lookup::TableLookup;
pub(crate) use matches::run as play;

use crate::arguments::{ProbeArguments, VerifyArguments};
use crate::tables;
use crate::words::{grouped, written};

/// True where one of the words is a stone of a position, as R1d1.
pub(crate) fn is_meant(words: &[String]) -> bool {
    let mut words = words.iter().flat_map(|word| word.split([' ', ',']));
    words.any(|word| match word.as_bytes() {
        [b'R' | b'r' | b'B' | b'b', b'1'..=b'6', column, b'1'..=b'5'] => matches!(column | 0x20, b'a'..=b'e'),
        _ => false,
    })
}

/// What words are that are meant for this game and not for a board of xiangqi; `None` where they may be one.
pub(crate) fn is_no_board(words: &[String]) -> Option<String> {
    if is_meant(words) {
        let why = "a position of EinStein würfelt nicht!, where dice decide how play goes on: `canju probe` tells its rolls and moves";
        return Some(why.to_owned());
    }
    let [name] = words else { return None };
    let table = canju_games::is_ewn(name).then(|| name.to_ascii_uppercase())?;
    Some(format!("the name of a table: give a position of it, as R1a5 B1e1 r, or count it with `canju stats {table}`"))
}

/// This game has no rules of repetition: nothing ever comes back.
pub(crate) fn check_rules(rules: Rules) -> anyhow::Result<()> {
    if rules != Rules::Plain {
        bail!("--rules {rules}: in EinStein würfelt nicht! nothing is ever repeated; leave --rules out");
    }
    Ok(())
}

/// What to tell of a table that is not there.
fn missing(table: &TableName, set: &TableSet) -> anyhow::Error {
    let place = set.place();
    let commands = commands(table, Some(Metric::Odds), set.rules(), &place);
    anyhow!("there is no table {table} in {place}: bring it with `{}`", commands.join("`, or with `"))
}

/// Refuses a table whose cells are numbered otherwise.
fn check_index(set: &TableSet, table: &TableName) -> anyhow::Result<()> {
    let found = set.manifest(table)?.index;
    if found != INDEX_VERSION {
        bail!("{table} has index {found}, and this canju knows {INDEX_VERSION}: build it again");
    }
    Ok(())
}

#[derive(Serialize)]
struct Probed {
    position: String,
    table: Option<String>,
    /// `null` where no table tells it.
    chance: Option<f64>,
    rolls: Vec<Roll>,
}

#[derive(Serialize)]
struct Roll {
    die: u8,
    chance: Option<f64>,
    moves: Vec<Rated>,
}

#[derive(Serialize)]
struct Rated {
    #[serde(rename = "move")]
    chosen: String,
    chance: Option<f64>,
}

/// The chance that the side to move wins before it rolls, and for every roll and move, best first. Where no table tells the
/// first, what is known of the moves is told before it is an error.
pub(crate) fn probe(arguments: &ProbeArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let asked = &arguments.asked;
    check_rules(asked.tables.rules)?;
    let (position, rolled) = read_rolled(&arguments.fen.join(" "))?;
    let known = TableLookup::new(tables::open(&asked.tables)?)?;
    let chance = known.chance(&position)?;
    let table = Index::find(&position).map(|(index, _)| index.signature());
    let dice = rolled.map_or(Die::ALL.to_vec(), |die| vec![die]);
    let rolls = rolls(&position, &dice, |after| known.chance(after))?;
    let best_move = rolled.and(rolls.first()).and_then(|roll| roll.moves.first()).filter(|best| best.chance.is_some());
    let best_move = best_move.map(|best| best.chosen);
    let rated = |rated: &RatedMove| Rated { chosen: rated.chosen.to_string(), chance: rated.chance };
    let roll = |roll: &canju_ewn::Roll| Roll {
        die: roll.die.number(),
        chance: roll.chance,
        moves: roll.moves.iter().map(rated).collect(),
    };
    let is_told = chance.is_some() || rolls.iter().flat_map(|roll| &roll.moves).any(|rated| rated.chance.is_some());
    let rolls = rolls.iter().map(roll).collect();
    let probed = Probed { position: position.to_string(), table: table.map(|table| table.to_string()), chance, rolls };
    if let Some(file) = &arguments.svg {
        fs::write(file, picture(&position, best_move.as_ref()))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if is_told && asked.json {
        writeln!(out, "{}", serde_json::to_string(&probed)?)?;
    } else if is_told {
        tell(&position, &probed, out)?;
    }
    match table.filter(|_| chance.is_none()) {
        None => Ok(()),
        Some(table) if table.count() > MOST_STONES => {
            bail!("there are no tables of {} stones: {MOST_STONES} are the most", table.count())
        }
        Some(table) => Err(missing(&table.name()?, known.tables())),
    }
}

fn tell(position: &Position, probed: &Probed, out: &mut dyn Write) -> anyhow::Result<()> {
    let table = probed.table.as_deref().unwrap_or("the game is over");
    writeln!(out, "{}  {table}", probed.position)?;
    for row in 0..5 {
        let cells = (0..5).filter_map(|column| Square::new(row, column));
        let cells = cells.map(|square| match position.at(square) {
            Some((color, number)) => format!(" {}{number}", color.letter()),
            None => "  .".to_owned(),
        });
        writeln!(out, "{}{}", 5 - row, cells.collect::<String>())?;
    }
    writeln!(out, "   a  b  c  d  e")?;
    let side = position.to_move().name();
    writeln!(out, "{side} to move, before the roll: {}", words(probed.chance))?;
    for roll in &probed.rolls {
        writeln!(out, "  {}: {}", roll.die, words(roll.chance))?;
        for rated in &roll.moves {
            writeln!(out, "     {}  {}", rated.chosen, words(rated.chance))?;
        }
    }
    Ok(())
}

/// A chance in words: certainty is told from what is merely likely, and from what is not known.
fn words(chance: Option<f64>) -> String {
    match chance {
        None => "unknown".to_owned(),
        Some(1.0) => "wins".to_owned(),
        Some(0.0) => "loses".to_owned(),
        // Nothing that can fail reads as 1.
        Some(chance) => format!("{:.6}", chance.clamp(0.000_001, 0.999_999)),
    }
}

/// Verifies a table; false where it is wrong.
pub(crate) fn verify(arguments: &VerifyArguments, name: &str, out: &mut dyn Write) -> anyhow::Result<bool> {
    check_rules(arguments.tables.rules)?;
    let table = name.parse::<Signature>()?.name()?;
    let prober = tables::open(&arguments.tables)?;
    let set = prober.tables();
    if let Err(TableError::Missing { .. }) = set.manifest(&table) {
        return Err(missing(&table, set));
    }
    let bytes = set.verify_shards(&table)?;
    check_index(set, &table)?;
    writeln!(out, "{}", written(&table, bytes))?;
    out.flush()?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let found = threads.install(|| canju_ewn::verify(&table, set, arguments.sample, &|| {}))?;
    let checked = grouped(found.checked);
    match found.first {
        None => writeln!(out, "{table}: {checked} positions checked (odds), all follow from the rules")?,
        Some((_, position, stored, computed)) => {
            writeln!(out, "{table}: {checked} positions checked (odds), {} wrong", grouped(found.wrong))?;
            writeln!(out, "{table}: first wrong: {position} (odds): stored {stored}, computed {computed}")?;
        }
    }
    Ok(found.wrong == 0)
}

/// Both sides, for tables of results.
const SIDES: [Color; 2] = Color::BOTH;

/// A mean loss and its interval, where there is one.
fn lost(mean: f64, interval: Option<f64>) -> String {
    format!("{mean:.5} ± {}", interval.map_or("-".to_owned(), |half| format!("{half:.5}")))
}
