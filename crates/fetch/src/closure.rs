//! Which tables go with which: an endgame and the smaller tables that it was built from.

use std::collections::{BTreeMap, BTreeSet};

use canju_retro::{Metric, Rules, TableName};
use canju_table::Manifest;
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::{FetchError, Origin, Request};

/// Requests for manifests that are under way at once.
const AT_ONCE: usize = 16;

/// The manifests of tables that belong together, each with the wanted metrics only; smaller tables before the larger
/// ones that were built from them.
#[derive(Clone, Debug)]
pub struct Closure {
    /// The manifests.
    pub manifests: Vec<Manifest>,
}

/// Reads the manifests of what is asked for, and of the smaller tables unless the request is without them.
///
/// Of a smaller table the asked metrics are taken where it has them, and in any case those that the larger ones
/// were built from.
///
/// # Errors
/// [`FetchError`]: a table or a metric is not there, a manifest cannot be used, or tables do not go together.
pub async fn closure(origin: &Origin, request: &Request) -> Result<Closure, FetchError> {
    let mut gathered = Gathered { rules: request.rules, ..Gathered::default() };
    for table in &request.endgames {
        let manifest = gathered.load(origin, table).await?;
        for &metric in request.metrics.iter().flatten() {
            if !manifest.metrics.contains_key(&metric) {
                let has: Vec<&str> = manifest.metrics.keys().map(|m| m.name()).collect();
                let (table, place, has) = (table.clone(), origin.place(), has.join(", "));
                return Err(FetchError::NoMetric { table, metric, place, has });
            }
        }
    }
    let mut open: BTreeSet<TableName> = request.endgames.iter().cloned().collect();
    while !open.is_empty() {
        let round = std::mem::take(&mut open);
        gathered.load_all(origin, &round).await?;
        for table in round {
            let taken = gathered.take(origin, request, &table)?;
            if request.smaller {
                open.extend(taken);
            }
        }
    }
    gathered.in_order(origin, request.smaller)
}

/// A smaller table as one that was built from it names it.
struct Link {
    table: TableName,
    content: String,
}

#[derive(Default)]
struct Gathered {
    rules: Rules,
    /// As the origin has them.
    manifests: BTreeMap<TableName, Manifest>,
    /// The metrics that are taken of each table that was looked at.
    taken: BTreeMap<TableName, BTreeSet<Metric>>,
    /// Who was built from a metric of a table.
    links: BTreeMap<(TableName, Metric), Vec<Link>>,
}

impl Gathered {
    async fn load(&mut self, origin: &Origin, table: &TableName) -> Result<&Manifest, FetchError> {
        if !self.manifests.contains_key(table) {
            let manifest = origin.manifest(self.rules, table).await?;
            self.manifests.insert(table.clone(), manifest);
        }
        self.manifests.get(table).ok_or_else(|| self.no_table(origin, table))
    }

    async fn load_all(&mut self, origin: &Origin, tables: &BTreeSet<TableName>) -> Result<(), FetchError> {
        let rules = self.rules;
        let unknown: Vec<TableName> = tables.iter().filter(|t| !self.manifests.contains_key(*t)).cloned().collect();
        let loads = unknown.into_iter().map(|table| async move {
            let manifest = origin.manifest(rules, &table).await;
            manifest.map(|m| (table.clone(), m)).map_err(|error| (table, error))
        });
        let loaded: Result<Vec<_>, _> = stream::iter(loads).buffer_unordered(AT_ONCE).try_collect().await;
        match loaded {
            Ok(loaded) => {
                self.manifests.extend(loaded);
                Ok(())
            }
            // Who asked for it says more than that it is not there.
            Err((table, FetchError::NoTable { .. })) => Err(self.missing(origin, &table)),
            Err((_, error)) => Err(error),
        }
    }

    fn missing(&self, origin: &Origin, smaller: &TableName) -> FetchError {
        let link = self.links.iter().find(|((table, _), _)| table == smaller);
        match link.and_then(|((_, metric), links)| Some((*metric, links.first()?))) {
            Some((metric, link)) => FetchError::NoSmaller {
                table: link.table.clone(),
                smaller: smaller.clone(),
                metric,
                place: origin.place(),
            },
            None => self.no_table(origin, smaller),
        }
    }

    fn no_table(&self, origin: &Origin, table: &TableName) -> FetchError {
        FetchError::NoTable { table: table.clone(), rules: self.rules, place: origin.place() }
    }

    /// Takes the metrics of a table that are wanted by now; returns the smaller tables of which more is wanted by that.
    fn take(&mut self, origin: &Origin, request: &Request, table: &TableName) -> Result<Vec<TableName>, FetchError> {
        let Some(manifest) = self.manifests.get(table) else { return Err(self.missing(origin, table)) };
        let asked = |metric: &Metric| request.metrics.as_ref().is_none_or(|asked| asked.contains(metric));
        let mut wanted: BTreeSet<Metric> = manifest.metrics.keys().copied().filter(asked).collect();
        for ((_, metric), links) in self.links.range((table.clone(), Metric::Wdl)..=(table.clone(), Metric::Odds)) {
            if !manifest.metrics.contains_key(metric) {
                let (larger, metric) = (links.first().map_or(table, |link| &link.table).clone(), *metric);
                let place = origin.place();
                return Err(FetchError::NoSmaller { table: larger, smaller: table.clone(), metric, place });
            }
            wanted.insert(*metric);
        }
        let before = self.taken.insert(table.clone(), wanted.clone()).unwrap_or_default();
        let mut more = Vec::new();
        for metric in wanted.difference(&before) {
            for smaller in manifest.metrics.get(metric).into_iter().flat_map(|entry| &entry.smaller) {
                let link = Link { table: table.clone(), content: smaller.content.clone() };
                self.links.entry((smaller.endgame.clone(), smaller.metric)).or_default().push(link);
                more.push(smaller.endgame.clone());
            }
        }
        Ok(more)
    }

    /// The taken manifests, smaller tables first.
    fn in_order(mut self, origin: &Origin, linked: bool) -> Result<Closure, FetchError> {
        if linked {
            self.compare(origin)?;
        }
        for (table, taken) in &self.taken {
            if let Some(manifest) = self.manifests.get_mut(table) {
                manifest.metrics.retain(|metric, _| taken.contains(metric));
            }
        }
        let mut below: BTreeMap<TableName, BTreeSet<TableName>> = BTreeMap::new();
        for table in self.taken.keys() {
            let entries = self.manifests.get(table).into_iter().flat_map(|m| m.metrics.values());
            let smaller = entries.flat_map(|e| &e.smaller).map(|s| s.endgame.clone());
            below.insert(table.clone(), smaller.filter(|s| self.taken.contains_key(s)).collect());
        }
        let mut manifests = Vec::new();
        while !below.is_empty() {
            let ready = |smaller: &BTreeSet<TableName>| smaller.iter().all(|s| !below.contains_key(s));
            let ready: Vec<TableName> =
                below.iter().filter(|(_, s)| ready(s)).map(|(table, _)| table.clone()).collect();
            if ready.is_empty() {
                let table = below.into_keys().next();
                return Err(match table {
                    Some(table) => FetchError::Circle { table, place: origin.place() },
                    None => return Ok(Closure { manifests }),
                });
            }
            for table in ready {
                below.remove(&table);
                manifests.extend(self.manifests.remove(&table));
            }
        }
        Ok(Closure { manifests })
    }

    /// Checks that each table is the one that the larger ones were built from.
    fn compare(&self, origin: &Origin) -> Result<(), FetchError> {
        for ((smaller, metric), links) in &self.links {
            let content = self.manifests.get(smaller).and_then(|m| m.metric_hash(*metric));
            if let Some(link) = links.iter().find(|link| Some(&link.content) != content.as_ref()) {
                let (table, smaller) = (link.table.clone(), smaller.clone());
                return Err(FetchError::OtherSmaller { table, smaller, metric: *metric, place: origin.place() });
            }
        }
        Ok(())
    }
}
