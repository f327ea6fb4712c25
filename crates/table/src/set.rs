//! All tables of a source, with the blocks that were asked for lately.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use canju_retro::{Block, Cell, Code, GameError, Metric, Rules, Side, TableName, Tables};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rayon::prelude::*;

use crate::block::Decoded;
use crate::head::usual_head_len;
use crate::{
    BLOCK_CELLS, Damage, Manifest, Shard, ShardInfo, Source, TableError, Verified, manifest_key, parse_manifest_key,
    shard_key,
};

/// Bytes of decoded blocks that are kept unless told otherwise.
pub const DEFAULT_CACHE: u64 = 256 << 20;

/// The tables of a source under one set of rules: asks cells, reads slices, verifies.
///
/// Shared by any number of threads. Manifests and shards are opened when they are first needed; tables
/// that appear later are found. Decoded blocks are kept up to a bound of bytes.
pub struct TableSet {
    source: Arc<dyn Source>,
    rules: Rules,
    tables: RwLock<HashMap<TableName, Known>>,
    /// How often it was said that tables may have got metrics since they were read.
    doubts: AtomicU64,
    blocks: Cache<(u32, u32), Arc<Decoded>, Bytes>,
    next: AtomicU32,
    changes: AtomicU64,
}

/// A table of a set whose manifest has been read. Its shards are opened when they are first needed.
pub struct Table {
    name: TableName,
    manifest: Arc<Manifest>,
    /// The shards of each metric.
    metrics: [Option<Box<[Place]>>; Metric::ALL.len()],
}

/// A table that was read.
struct Known {
    table: Arc<Table>,
    /// The doubts when its manifest was read last.
    doubts: u64,
}

/// Where a shard stands among those of its metric.
struct Place {
    first_slice: u32,
    /// The shard with its number in the cache.
    shard: OnceLock<(u32, Shard)>,
}

impl Table {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Its manifest.
    #[must_use]
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// True where the table has this metric.
    #[must_use]
    #[inline]
    pub fn has(&self, metric: Metric) -> bool {
        self.metrics[metric as usize].is_some()
    }

    /// True where no metric can be added.
    fn is_complete(&self) -> bool {
        [Metric::Wdl, Metric::Dtm, Metric::Dtc].into_iter().all(|metric| self.has(metric))
    }
}

#[derive(Clone)]
struct Bytes;

impl Weighter<(u32, u32), Arc<Decoded>> for Bytes {
    fn weight(&self, _: &(u32, u32), block: &Arc<Decoded>) -> u64 {
        block.memory() as u64
    }
}

impl TableSet {
    /// The tables of a source, with a block cache of [`DEFAULT_CACHE`] bytes. Reads nothing yet.
    #[must_use]
    pub fn open(source: Arc<dyn Source>, rules: Rules) -> Self {
        Self::with_cache(source, rules, DEFAULT_CACHE)
    }

    /// The same with a block cache of so many bytes.
    #[must_use]
    pub fn with_cache(source: Arc<dyn Source>, rules: Rules, bytes: u64) -> Self {
        let typical = (bytes >> 17).clamp(16, 1 << 20) as usize;
        Self {
            source,
            rules,
            tables: RwLock::default(),
            doubts: AtomicU64::new(0),
            blocks: Cache::with_weighter(typical, bytes, Bytes),
            next: AtomicU32::new(0),
            changes: AtomicU64::new(0),
        }
    }

    /// The rules that the tables hold for.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Where the tables are, in a user's words.
    #[must_use]
    pub fn place(&self) -> String {
        self.source.place()
    }

    /// The tables that have a manifest, in ascending order.
    ///
    /// # Errors
    /// [`TableError::Io`].
    pub fn endgames(&self) -> Result<Vec<TableName>, TableError> {
        Ok(self.tables_there()?.filter(|(rules, _)| *rules == self.rules).map(|(_, table)| table).collect())
    }

    /// The rules for which there are tables.
    ///
    /// # Errors
    /// [`TableError::Io`].
    pub fn all_rules(&self) -> Result<BTreeSet<Rules>, TableError> {
        Ok(self.tables_there()?.map(|(rules, _)| rules).collect())
    }

    fn tables_there(&self) -> Result<impl Iterator<Item = (Rules, TableName)>, TableError> {
        let keys = self.source.manifests().map_err(|e| self.io(crate::TABLES, e))?;
        Ok(keys.into_iter().filter_map(|key| parse_manifest_key(&key)))
    }

    /// The manifest of a table.
    ///
    /// # Errors
    /// [`TableError::Missing`], [`TableError::Manifest`], [`TableError::Io`].
    pub fn manifest(&self, table: &TableName) -> Result<Arc<Manifest>, TableError> {
        Ok(Arc::clone(self.table(table)?.manifest()))
    }

    /// True where the table is there with this metric and its manifest can be used.
    #[must_use]
    pub fn contains(&self, table: &TableName, metric: Metric) -> bool {
        self.table_with(table, metric).is_ok()
    }

    /// Forgets what was read of a table, so that a manifest that was changed since is read again.
    pub fn forget(&self, table: &TableName) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).remove(table);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Says that metrics may have been added since tables were read: the manifest of each that lacks one is read again
    /// when it is asked next. What was opened of it stays open where nothing was added. A program that runs for
    /// long says so now and then.
    pub fn doubt(&self) {
        self.doubts.fetch_add(1, Ordering::Release);
        // Who keeps tables is to ask for them.
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// How often a table was forgotten, doubted or changed. Who keeps a [`Table`] and asks it by
    /// [`ask`](Self::ask) gets it anew when this number has changed.
    #[must_use]
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The code of one cell: what the position's value is for the side to move, if it is a legal position.
    ///
    /// # Errors
    /// [`TableError`], each of its cases.
    pub fn code(&self, table: &TableName, metric: Metric, cell: Cell) -> Result<Code, TableError> {
        self.ask(&*self.table_with(table, metric)?, metric, cell)
    }

    /// The code of one cell of a table of this set, without a look-up of the table.
    ///
    /// # Errors
    /// As [`code`](Self::code); [`TableError::Missing`] where the table has not this metric.
    pub fn ask(&self, table: &Table, metric: Metric, cell: Cell) -> Result<Code, TableError> {
        let (id, shard) = self.shard(table, metric, cell)?;
        let (block, within) = shard.find(cell.side, cell.slice, cell.index)?;
        let key = (*id, block);
        let decoded = match self.blocks.get(&key) {
            Some(decoded) => decoded,
            // Threads that want the same block wait for the one that reads it.
            None => self.blocks.get_or_insert_with(&key, || Ok(Arc::new(shard.block(block)?)))?,
        };
        shard.cell(&decoded, block, within)
    }

    /// Re-reads all shards of a table, of all its metrics: every BLAKE3, every checksum, every cell.
    ///
    /// # Errors
    /// The first damage, in the order of metrics and shards; [`TableError::Missing`], [`TableError::Io`].
    pub fn verify_shards(&self, table: &TableName) -> Result<Verified, TableError> {
        self.forget(table);
        let opened = self.table(table)?;
        let metrics = opened.manifest.metrics.iter();
        let all: Vec<_> = metrics.flat_map(|(&metric, entry)| entry.shards.iter().map(move |s| (metric, s))).collect();
        let checked: Vec<_> =
            all.into_par_iter().map(|(metric, info)| self.open_shard(&opened, metric, info)?.verify(info)).collect();
        checked.into_iter().try_fold(Verified::default(), |sum, checked| Ok(sum.and(checked?)))
    }

    /// Re-reads one shard as [`verify_shards`](Self::verify_shards) does.
    ///
    /// # Errors
    /// [`TableError::Missing`] when the table has no such shard; [`TableError::Damaged`], [`TableError::Io`].
    pub fn verify_shard(&self, table: &TableName, metric: Metric, number: u32) -> Result<Verified, TableError> {
        let opened = self.table_with(table, metric)?;
        let info = opened.manifest.metrics.get(&metric).and_then(|m| m.shards.get(number as usize));
        let info = info.ok_or_else(|| self.missing(table, Some(metric)))?;
        self.open_shard(&opened, metric, info)?.verify(info)
    }

    /// A table, to be asked by [`ask`](Self::ask).
    ///
    /// # Errors
    /// [`TableError::Missing`], [`TableError::Manifest`], [`TableError::Io`].
    pub fn table(&self, table: &TableName) -> Result<Arc<Table>, TableError> {
        let doubts = self.doubts.load(Ordering::Acquire);
        // The lock is given up here: what follows may write.
        let known = {
            let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
            tables.get(table).map(|known| (Arc::clone(&known.table), known.doubts))
        };
        match known {
            Some((opened, at)) if at == doubts || opened.is_complete() => Ok(opened),
            Some((opened, _)) => self.read_again(&opened, doubts),
            None => self.open_table(table, doubts),
        }
    }

    /// A table that has the metric; its manifest is read again where a known one has it not.
    fn table_with(&self, table: &TableName, metric: Metric) -> Result<Arc<Table>, TableError> {
        let has = |table: &Arc<Table>| table.has(metric);
        let known = self.table(table)?;
        if has(&known) {
            return Ok(known);
        }
        let again = self.read_again(&known, self.doubts.load(Ordering::Acquire))?;
        Some(again).filter(has).ok_or_else(|| self.missing(table, Some(metric)))
    }

    /// A table whose manifest may have changed. It stays as it is while the store is away.
    fn read_again(&self, known: &Arc<Table>, doubts: u64) -> Result<Arc<Table>, TableError> {
        // Before it is read: of those who ask at the same time one is enough.
        self.keep(Arc::clone(known), doubts);
        match self.read_table(&known.name) {
            Ok(opened) if opened.manifest == known.manifest => Ok(Arc::clone(known)),
            Ok(opened) => Ok(self.keep(Arc::new(opened), doubts)),
            Err(TableError::Io { .. }) => Ok(Arc::clone(known)),
            Err(error) => {
                self.forget(&known.name);
                Err(error)
            }
        }
    }

    fn open_table(&self, table: &TableName, doubts: u64) -> Result<Arc<Table>, TableError> {
        Ok(self.keep(Arc::new(self.read_table(table)?), doubts))
    }

    /// Keeps a table in place of what was known of it.
    fn keep(&self, table: Arc<Table>, doubts: u64) -> Arc<Table> {
        let known = Known { table: Arc::clone(&table), doubts };
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let before = tables.insert(table.name.clone(), known);
        if before.is_some_and(|before| !Arc::ptr_eq(&before.table, &table)) {
            self.changes.fetch_add(1, Ordering::Release);
        }
        table
    }

    fn read_table(&self, table: &TableName) -> Result<Table, TableError> {
        let key = manifest_key(self.rules, table);
        let bytes = self.source.read_all(&key).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => self.missing(table, None),
            _ => self.io(&key, e),
        })?;
        let unusable = |error| TableError::Manifest { table: table.clone(), place: self.place(), error };
        let manifest = Manifest::parse(&key, &bytes).map_err(unusable)?;
        manifest.check_name(&key, table, self.rules).map_err(unusable)?;
        let metrics = Metric::ALL.map(|metric| {
            let entry = manifest.metrics.get(&metric)?;
            Some(entry.shards.iter().map(|s| Place { first_slice: s.first_slice, shard: OnceLock::new() }).collect())
        });
        Ok(Table { name: table.clone(), manifest: Arc::new(manifest), metrics })
    }

    /// The shard that holds a cell's slice.
    #[inline]
    fn shard<'a>(&self, table: &'a Table, metric: Metric, cell: Cell) -> Result<&'a (u32, Shard), TableError> {
        let places = table.metrics[metric as usize].as_ref().ok_or_else(|| self.missing(&table.name, Some(metric)))?;
        let at = places.partition_point(|place| place.first_slice <= cell.slice).checked_sub(1);
        let at = at.ok_or_else(|| TableError::NoSuchCell { table: table.name.clone(), cell })?;
        match places[at].shard.get() {
            Some(open) => Ok(open),
            None => self.first(table, metric, at, &places[at]),
        }
    }

    /// Opens a shard of a table that is asked for the first time.
    #[cold]
    fn first<'a>(
        &self,
        table: &'a Table,
        metric: Metric,
        number: usize,
        place: &'a Place,
    ) -> Result<&'a (u32, Shard), TableError> {
        let info = table.manifest.metrics.get(&metric).and_then(|entry| entry.shards.get(number));
        let info = info.ok_or_else(|| self.missing(&table.name, Some(metric)))?;
        let shard = self.open_shard(table, metric, info)?;
        // Another thread may have been faster: then its shard is the one, and this is closed again.
        Ok(place.shard.get_or_init(|| (self.next.fetch_add(1, Ordering::Relaxed), shard)))
    }

    fn open_shard(&self, opened: &Table, metric: Metric, info: &ShardInfo) -> Result<Shard, TableError> {
        let table = &opened.name;
        let key = shard_key(self.rules, table, metric, info.number);
        let damaged = |what: String| {
            let damage = Damage { key: key.clone(), block: None, offset: 0, what };
            Err(TableError::Damaged { table: table.clone(), place: self.place(), damage })
        };
        let source = match self.source.open(&key) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return damaged("the manifest lists it, but it is not there".to_owned());
            }
            source => source.map_err(|e| self.io(&key, e))?,
        };
        let size = source.size().map_err(|e| self.io(&key, e))?;
        if size != info.bytes {
            return damaged(format!("it has {size} bytes, {} by the manifest", info.bytes));
        }
        let head = head_len(&opened.manifest, metric, info);
        let shard = Shard::open_in(&self.source.place(), source, table, &key, head)?;
        let spec = shard.spec();
        let is = (spec.rules, spec.metric, spec.number, spec.first_slice, spec.cells.len());
        if is != (self.rules, metric, info.number, info.first_slice, info.slices as usize) {
            return damaged(format!("it is shard {} of {} ({})", spec.number, spec.table, spec.metric));
        }
        Ok(shard)
    }

    fn missing(&self, table: &TableName, metric: Option<Metric>) -> TableError {
        TableError::Missing { table: table.clone(), metric, rules: self.rules, place: self.source.place() }
    }

    fn io(&self, key: &str, source: io::Error) -> TableError {
        TableError::Io { key: key.to_owned(), place: self.source.place(), source }
    }
}

/// Bytes in which the head of a shard fits unless its blocks are unusually small, by what the manifest tells: so that
/// one read fetches it.
fn head_len(manifest: &Manifest, metric: Metric, info: &ShardInfo) -> u64 {
    let slices: u64 = manifest.metrics.get(&metric).map_or(0, |m| m.shards.iter().map(|s| u64::from(s.slices)).sum());
    let own = u64::from(info.slices);
    let cells = u128::from(manifest.cells) * u128::from(own) / u128::from(slices.max(1));
    let full = u64::try_from(cells).unwrap_or(u64::MAX) / u64::from(BLOCK_CELLS);
    usual_head_len(own, full.saturating_add(full / 4))
}

impl Tables for TableSet {
    /// Reads past the cache: who reads whole slices does not come back to them.
    fn read(
        &self,
        table: &TableName,
        metric: Metric,
        side: Side,
        slice: u32,
        sink: &mut dyn FnMut(Block<'_>),
    ) -> Result<(), GameError> {
        let mut read = || {
            let opened = self.table_with(table, metric)?;
            let (_, shard) = self.shard(&opened, metric, Cell { slice, index: 0, side })?;
            shard.read(side, slice, sink)
        };
        read().map_err(|e: TableError| e.into_game_error(table, metric))
    }
}
