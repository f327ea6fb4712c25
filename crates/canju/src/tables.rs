//! From the command line to a prober and a position.

use std::sync::Arc;

use anyhow::{Context, bail};
use canju_endgame::Xiangqi;
use canju_probe::Prober;
use canju_retro::{Game, TableName};
use canju_table::{FolderSource, TableSet};
use canju_xiangqi::{Material, Position};

use crate::arguments::Tables;

/// A prober on the folder that was given.
pub(crate) fn open(tables: &Tables) -> anyhow::Result<Prober> {
    let folder = &tables.tables;
    if !folder.is_dir() {
        bail!(
            "there is no folder {}: name the folder with the tables by --tables, fetch some with `fetch get NAME`, or build them with `coordinator start --build NAME`",
            folder.display()
        );
    }
    let source = Arc::new(FolderSource::new(folder));
    tracing::debug!(folder = %folder.display(), rules = %tables.rules, "opened");
    Ok(Prober::new(TableSet::open(source, tables.rules)))
}

/// The position of one or two words.
pub(crate) fn position(words: &[String]) -> anyhow::Result<Position> {
    let fen = words.join(" ");
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
