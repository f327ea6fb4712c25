//! From the command line to a prober and a position.

use std::path::Path;

use anyhow::{Context, bail};
use canju_endgame::Xiangqi;
use canju_probe::{OpenOptions, Prober};
use canju_retro::{Game, TableName};
use canju_store::Location;
use canju_table::{DEFAULT_CACHE, shell_word};
use canju_xiangqi::{Material, Position};

use crate::arguments::Tables;
use crate::{ewn, file};

/// A prober on the tables that were given.
pub(crate) fn open(tables: &Tables) -> anyhow::Result<Prober> {
    open_with(tables, DEFAULT_CACHE)
}

/// The same with so many bytes for decoded blocks.
pub(crate) fn open_with(tables: &Tables, cache: u64) -> anyhow::Result<Prober> {
    let location: Location = tables.tables.parse()?;
    if let Some(folder) = location.folder()
        && !folder.is_dir()
    {
        bail!(
            "there is no folder {}: name the folder with the tables by --tables, fetch some with `fetch get NAME --from SOURCE --to {1}`, or build them with `coordinator start --build NAME --store {1}`",
            folder.display(),
            shell_word(&tables.tables)
        );
    }
    tracing::debug!(%location, rules = %tables.rules, "to be opened");
    let options = OpenOptions {
        rules: tables.rules,
        cache,
        s3_endpoint: tables.s3_endpoint.clone(),
        s3_region: tables.s3_region.clone(),
        ..OpenOptions::default()
    };
    Ok(Prober::open(&tables.tables, &options)?)
}

/// The position of one or two words.
pub(crate) fn position(words: &[String]) -> anyhow::Result<Position> {
    let fen = words.join(" ");
    if Path::new(&fen).is_file() {
        return Err(file::meant(&fen));
    }
    if let Some(reason) = ewn::is_no_board(words) {
        bail!("{fen} is {reason}");
    }
    Position::from_fen(&fen).with_context(|| format!("{fen} is no position"))
}

/// An endgame as it was asked for.
pub(crate) struct Named {
    /// With the sides in the order asked.
    pub asked: String,
    /// Its table.
    pub table: TableName,
    /// True where the table has the sides the other way round.
    pub swapped: bool,
}

/// The endgame of a name in any order and case.
pub(crate) fn endgame(name: &str) -> anyhow::Result<Named> {
    let table = Xiangqi::new().table(name)?;
    let material: Material = name.parse()?;
    Ok(Named { asked: material.to_string(), table, swapped: !material.is_canonical() })
}

/// The canonical name of a position's endgame.
pub(crate) fn endgame_of(position: &Position) -> String {
    Material::of(position).canonical().0.to_string()
}
