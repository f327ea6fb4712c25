//! Xiangqi as a game for the retrograde engine.

use std::sync::Arc;

use canju_retro::{Cell, Game, GameError, Part, PartSpec, Rules, Shape, TableName, Tables};
use canju_xiangqi::{Color, Material, Position};

use crate::index::{Index, material_of};
use crate::part::XiangqiPart;
use crate::stage::Stage;

/// The endgames of xiangqi, named by material: `KRK`, `KCPKA`, `KABCPKAABB`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xiangqi;

impl Xiangqi {
    /// The game.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }

    /// The index of a canonical table.
    ///
    /// # Errors
    /// [`GameError::Name`] or [`GameError::TooLarge`].
    pub fn index(&self, table: &TableName) -> Result<Index, GameError> {
        let material = material_of(table).ok_or_else(|| GameError::Name {
            given: table.to_string(),
            reason: "not a canonical endgame (stronger side first, pieces in the order K A B R N C P)".into(),
        })?;
        Index::new(material)
    }
}

impl Game for Xiangqi {
    fn table(&self, name: &str) -> Result<TableName, GameError> {
        let refuse = |reason: String| GameError::Name { given: name.chars().take(64).collect(), reason };
        let material: Material = name.parse().map_err(|e| refuse(format!("{e}")))?;
        TableName::new(&material.canonical().0.to_string())
    }

    fn smaller(&self, table: &TableName) -> Result<Vec<TableName>, GameError> {
        let material = *self.index(table)?.material();
        let mut names = Vec::new();
        for (_, left) in material.captures() {
            names.push(TableName::new(&left.canonical().0.to_string())?);
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn shape(&self, table: &TableName) -> Result<Shape, GameError> {
        Ok(self.index(table)?.shape())
    }

    fn part(&self, spec: &PartSpec, tables: Arc<dyn Tables>) -> Result<Box<dyn Part>, GameError> {
        let index = Arc::new(self.index(&spec.table)?);
        Ok(Box::new(XiangqiPart::new(index, spec, tables)?))
    }

    fn keeps_to_room(&self, _table: &TableName) -> bool {
        true
    }

    fn repetition_bytes(&self, table: &TableName, rules: Rules) -> Result<u64, GameError> {
        if rules == Rules::Plain {
            return Ok(0);
        }
        let index = self.index(table)?;
        let words = (0..index.slices()).map(|slice| index.words(slice)).sum();
        Ok(Stage::new(&index, rules).map_or(0, |stage| stage.expected_bytes(words)))
    }

    fn show(&self, table: &TableName, cell: Cell) -> Result<String, GameError> {
        let mut board = Position::empty(Color::Red);
        if self.index(table)?.set_up(cell, &mut board) {
            Ok(board.to_fen())
        } else {
            Err(GameError::Name { given: format!("{table} {cell:?}"), reason: "no position of the endgame".into() })
        }
    }
}
