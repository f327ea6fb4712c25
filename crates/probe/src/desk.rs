//! What one thread has open while it checks a slice.

use canju_retro::{Metric, Rules, Side, TableName};
use canju_table::TableError;
use canju_xiangqi::{Material, Piece};
use std::sync::Arc;

use crate::numbering::{Numbering, Spot};
use crate::slices::{Book, Cells, Packed, Slices};
use crate::{ProbeError, Prober};

/// The table that one capture leads to.
pub(crate) struct Child {
    pub numbering: Arc<Numbering>,
    /// True where the smaller table has the sides the other way round.
    pub swapped: bool,
    /// The metric that is read: distances to mate where the larger table has them, else any.
    metric: Metric,
}

/// All that the check of a table needs to know, the same for all its cells.
pub(crate) struct Plan {
    pub table: TableName,
    pub rules: Rules,
    pub numbering: Numbering,
    /// What is checked.
    pub metrics: Vec<Metric>,
    pub children: Vec<Child>,
    /// The child of each captured piece.
    child_of: [[usize; 7]; 2],
}

impl Plan {
    pub fn new(prober: &Prober, table: &TableName, material: Material) -> Result<Self, ProbeError> {
        let learn = |material| -> Result<Numbering, ProbeError> {
            Ok(Numbering::learn(prober.endgames.index(material).map_err(ProbeError::Endgame)?))
        };
        let metrics: Vec<Metric> = prober.manifest(table)?.metrics.keys().copied().collect();
        let mut children: Vec<Child> = Vec::new();
        let mut child_of = [[usize::MAX; 7]; 2];
        for (captured, left) in material.captures() {
            let (smaller, swapped) = left.canonical();
            child_of[captured.color.index()][captured.role.index()] = children.len();
            let same = children.iter().find(|c| *c.numbering.index().material() == smaller);
            let (numbering, metric) = match same {
                Some(child) => (Arc::clone(&child.numbering), child.metric),
                None => {
                    let numbering = Arc::new(learn(smaller)?);
                    let metric = Self::source(prober, numbering.index().name(), &metrics)?;
                    (numbering, metric)
                }
            };
            children.push(Child { numbering, swapped, metric });
        }
        Ok(Self {
            table: table.clone(),
            rules: prober.tables().rules(),
            numbering: learn(material)?,
            metrics,
            children,
            child_of,
        })
    }

    /// The metric that is read of a smaller table.
    fn source(prober: &Prober, smaller: &TableName, metrics: &[Metric]) -> Result<Metric, ProbeError> {
        let held = &prober.manifest(smaller)?.metrics;
        if metrics.contains(&Metric::Dtm) {
            let dtm = held.contains_key(&Metric::Dtm).then_some(Metric::Dtm);
            return dtm.ok_or_else(|| prober.missing(smaller, Some(Metric::Dtm)));
        }
        if metrics.contains(&Metric::Dtc) && prober.tables().rules() != Rules::Plain {
            let dtc = held.contains_key(&Metric::Dtc).then_some(Metric::Dtc);
            return dtc.ok_or_else(|| prober.missing(smaller, Some(Metric::Dtc)));
        }
        held.keys().next().copied().ok_or_else(|| prober.missing(smaller, None))
    }

    /// The number of the child to which the capture of a piece leads.
    pub fn child(&self, captured: Piece) -> usize {
        self.child_of[captured.color.index()][captured.role.index()]
    }

    /// What is read with a side to move: the successors in each metric, those after captures by child, and
    /// the cells themselves in each metric.
    fn books(&self, side: Side) -> Vec<Book> {
        let own = |side| self.metrics.iter().map(move |&metric| Book { table: self.table.clone(), metric, side });
        let smaller = self.children.iter().map(|child| Book {
            table: child.numbering.index().name().clone(),
            metric: child.metric,
            side: if child.swapped { side } else { side.other() },
        });
        own(side.other()).chain(smaller).chain(own(side)).collect()
    }
}

/// The slices that are open, by book.
pub(crate) struct Desk<'a> {
    slices: &'a Slices<'a>,
    /// Each with its number for the cache.
    books: Vec<(usize, Book)>,
    open: Vec<Vec<Option<Cells>>>,
    whole: bool,
    children: usize,
    metrics: usize,
}

impl<'a> Desk<'a> {
    /// A desk for the cells of one side to move. `whole` slices are decoded where many cells are wanted; else
    /// cell by cell.
    pub fn new(plan: &Plan, slices: &'a Slices<'a>, side: Side, whole: bool) -> Self {
        let (metrics, children) = (plan.metrics.len(), plan.children.len());
        // A table's own books have the same numbers whether they are read for cells or for successors.
        let number = |at: usize| if at < metrics + children { at } else { at - metrics - children };
        let books: Vec<_> = plan.books(side).into_iter().enumerate().map(|(at, b)| (number(at), b)).collect();
        let open = books.iter().map(|_| Vec::new()).collect();
        Self { slices, books, open, whole, children, metrics }
    }

    /// The value in a metric of the checked table, by its number, of a cell itself.
    pub fn stored(&mut self, metric: usize, spot: Spot) -> Result<Packed, ProbeError> {
        self.value(self.metrics + self.children + metric, spot)
    }

    /// The value in a metric of a successor.
    pub fn successor(&mut self, metric: usize, spot: Spot) -> Result<Packed, ProbeError> {
        self.value(metric, spot)
    }

    /// The value of a successor by capture.
    pub fn captured(&mut self, child: usize, spot: Spot) -> Result<Packed, ProbeError> {
        self.value(self.metrics + child, spot)
    }

    #[inline]
    fn value(&mut self, book: usize, spot: Spot) -> Result<Packed, ProbeError> {
        if let Some(Some(cells)) = self.open[book].get(spot.slice as usize)
            && let Some(&value) = cells.get(spot.index as usize)
        {
            return Ok(value);
        }
        self.fetch(book, spot)
    }

    #[cold]
    fn fetch(&mut self, at: usize, spot: Spot) -> Result<Packed, ProbeError> {
        let (number, book) = &self.books[at];
        if !self.whole {
            return book.cell(self.slices.tables, spot.slice, spot.index);
        }
        let cells = self.slices.get(*number, book, spot.slice)?;
        let cell = canju_retro::Cell { slice: spot.slice, index: spot.index, side: book.side };
        let value = cells.get(spot.index as usize).copied();
        let value = value.ok_or_else(|| TableError::NoSuchCell { table: book.table.clone(), cell })?;
        let open = &mut self.open[at];
        open.resize(open.len().max(spot.slice as usize + 1), None);
        open[spot.slice as usize] = Some(cells);
        Ok(value)
    }
}
