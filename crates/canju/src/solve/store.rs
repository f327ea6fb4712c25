//! The table of a puzzle into a store, as a cluster writes it.

use std::sync::Arc;

use anyhow::bail;
use canju_games::{Games, INDEX_VERSION};
use canju_puzzles::Puzzle;
use canju_retro::{Game, Metric, Part, Rules};
use canju_store::{Key, Location, Store, StoreError, StoreOptions};
use canju_table::{Manifest, MetricEntry, ShardSpec, table_folder, write_shard};

/// Writes shards and manifest of a puzzle that was solved. What is there already stays, if it is the same.
pub(crate) fn write(place: &str, puzzle: &Puzzle, part: &dyn Part) -> anyhow::Result<()> {
    let (game, name) = (Games::new().with(puzzle)?, puzzle.name()?);
    let (shape, counts) = (game.shape(&name)?, part.statistics()?);
    let mut manifest =
        Manifest::new(&name, Rules::Plain, INDEX_VERSION, &shape, &counts).with_definition(game.definition(&name));
    let mut objects = Vec::new();
    for metric in [Metric::Wdl, Metric::Dtm] {
        let mut infos = Vec::new();
        for run in 0..shape.runs.len() as u32 {
            let Some(spec) = ShardSpec::of_run(&name, Rules::Plain, metric, &shape, run) else { continue };
            let (bytes, info) = write_shard(&spec, |side, slice| part.codes(slice, side, metric))?;
            objects.push((spec.key(), bytes));
            infos.push(info);
        }
        let entry = MetricEntry::new(metric, &counts, infos, Vec::new(), |cell| game.show(&name, cell))?;
        manifest = manifest.with_metric(metric, entry);
    }
    // The manifest comes last: it makes the table exist.
    objects.push((manifest.key(), manifest.to_json()?.into_bytes()));
    let location = place.parse::<Location>()?.absolute()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = canju_store::open(&location, &StoreOptions { writable: true, ..StoreOptions::default() }).await?;
        for (key, bytes) in objects {
            put(&store, &key, bytes, &manifest).await?;
        }
        Ok(())
    })
}

async fn put(store: &Arc<dyn Store>, key: &str, bytes: Vec<u8>, manifest: &Manifest) -> anyhow::Result<()> {
    let name = Key::new(key)?;
    match store.put_if_absent(&name, bytes.clone().into()).await {
        Ok(_) => return Ok(()),
        Err(StoreError::AlreadyExists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let there = store.get(&name).await?.bytes;
    let same = if key == manifest.key() {
        Manifest::parse(key, &there)?.content_hash() == manifest.content_hash()
    } else {
        there == bytes
    };
    if !same {
        bail!(
            "{key} in {} is there already with other content: delete the folder {} there, or choose another place",
            store.place(),
            table_folder(Rules::Plain, &manifest.endgame)
        );
    }
    Ok(())
}
