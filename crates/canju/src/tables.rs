//! From the command line to a prober and a position.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use canju_endgame::Xiangqi;
use canju_probe::Prober;
use canju_retro::{Game, TableName};
use canju_store::{Location, StoreOptions};
use canju_table::{DEFAULT_CACHE, FolderSource, ReadAt, Source, TableSet};
use canju_xiangqi::{Material, Position};
use tokio::runtime::{Builder, Runtime};

use crate::arguments::Tables;

/// How long a store that fails is borne with: somebody waits for the answer.
const PATIENCE: Duration = Duration::from_secs(30);

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
            "there is no folder {}: name the folder with the tables by --tables, fetch some with `fetch get NAME`, or build them with `coordinator start --build NAME`",
            folder.display()
        );
    }
    let source: Arc<dyn Source> = match &location {
        Location::Folder(path) => Arc::new(FolderSource::new(path)),
        _ => remote(&location, tables)?,
    };
    tracing::debug!(%location, rules = %tables.rules, "opened");
    Ok(Prober::new(TableSet::with_cache(source, tables.rules, cache)))
}

/// Tables that are reached over a network. They are read by ranges: a question needs a few blocks, not shards.
fn remote(location: &Location, tables: &Tables) -> anyhow::Result<Arc<dyn Source>> {
    let options = StoreOptions {
        endpoint: tables.s3_endpoint.clone(),
        region: tables.s3_region.clone(),
        patience: PATIENCE,
        ..StoreOptions::default()
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let source = runtime.block_on(canju_shelf::open(location, &options, runtime.handle().clone(), None))?;
    Ok(Arc::new(Reached { source, _runtime: runtime }))
}

/// A source with the runtime that serves it.
struct Reached {
    source: Arc<dyn Source>,
    _runtime: Runtime,
}

impl Source for Reached {
    fn place(&self) -> String {
        self.source.place()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        self.source.open(key)
    }

    fn read_all(&self, key: &str) -> io::Result<Vec<u8>> {
        self.source.read_all(key)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        self.source.manifests()
    }
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
