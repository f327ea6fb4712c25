//! Positions and moves in words.

use std::cmp::Ordering;

use canju_retro::{Cell, Side};

use crate::{Board, Maze, Passenger, Puzzle};

impl Puzzle {
    /// What a move does: who crosses, where one goes.
    #[must_use]
    pub fn step(&self, from: Cell, to: Cell) -> String {
        match &self.board() {
            Board::River(river) => {
                let load = river.load(from, to).unwrap_or_default();
                let (boat, _) = river.position(from);
                let one = load.iter().sum::<u32>() == 1;
                let verb = match (boat, one) {
                    (true, true) => "crosses",
                    (true, false) => "cross",
                    (false, true) => "comes back",
                    (false, false) => "come back",
                };
                format!("{} {verb}", group(river.passengers(), &load))
            }
            Board::Maze(maze) => {
                let [way, _] = way(maze, from, to);
                way.to_owned()
            }
            Board::Regions(regions) => match regions.name(to) {
                Some(name) => format!("to {name}"),
                None => "on".to_owned(),
            },
            Board::Chase(chase) => {
                let (who, at) = match from.side {
                    Side::First => ("the cat", chase.places(to)[0]),
                    Side::Second => ("the mouse", chase.places(to)[1]),
                };
                format!("{who} to {}", chase.nodes().get(at).map_or("", String::as_str))
            }
        }
    }

    /// The same in Chinese, for pages: names stay as the file has them.
    pub(crate) fn step_in_chinese(&self, from: Cell, to: Cell) -> String {
        match &self.board() {
            Board::River(river) => {
                let load = river.load(from, to).unwrap_or_default();
                let (boat, _) = river.position(from);
                format!("{}{}", group_in_chinese(river.passengers(), &load), if boat { "过河" } else { "回来" })
            }
            Board::Maze(maze) => {
                let [_, way] = way(maze, from, to);
                way.to_owned()
            }
            Board::Regions(regions) => match regions.name(to) {
                Some(name) => format!("到 {name}"),
                None => "继续".to_owned(),
            },
            Board::Chase(chase) => {
                let (who, at) = match from.side {
                    Side::First => ("猫", chase.places(to)[0]),
                    Side::Second => ("老鼠", chase.places(to)[1]),
                };
                format!("{who}到 {}", chase.nodes().get(at).map_or("", String::as_str))
            }
        }
    }

    /// A position in Chinese.
    pub(crate) fn describe_in_chinese(&self, cell: Cell) -> String {
        match &self.board() {
            Board::River(river) => {
                let (boat, here) = river.position(cell);
                let all = river.passengers();
                let there: Vec<u32> = all.iter().zip(&here).map(|(p, h)| p.count - h).collect();
                let [start, end] = [&here, &there].map(|bank| group_in_chinese(all, bank));
                format!("此岸：{start}；对岸：{end}；船在{}", if boat { "此岸" } else { "对岸" })
            }
            Board::Maze(maze) => {
                let (row, column) = maze.square(cell);
                format!("第 {} 行，第 {} 列", row + 1, column + 1)
            }
            Board::Regions(regions) => regions.name(cell).map_or_else(|| "途中".to_owned(), str::to_owned),
            Board::Chase(chase) => {
                let [cat, mouse] = chase.places(cell).map(|at| chase.nodes().get(at).map_or("", String::as_str));
                let mover = if cell.side == Side::First { "猫" } else { "老鼠" };
                format!("猫在 {cat}，老鼠在 {mouse}，{mover}走")
            }
        }
    }

    /// A position in words.
    #[must_use]
    pub fn describe(&self, cell: Cell) -> String {
        match &self.board() {
            Board::River(river) => {
                let (boat, here) = river.position(cell);
                let all = river.passengers();
                let there: Vec<u32> = all.iter().zip(&here).map(|(p, h)| p.count - h).collect();
                let [mut start, mut end] = [&here, &there].map(|bank| group(all, bank));
                let at = if boat { &mut start } else { &mut end };
                at.push_str(" with the boat");
                format!("start: {start}; across: {end}")
            }
            Board::Maze(maze) => {
                let (row, column) = maze.square(cell);
                format!("row {}, column {}", row + 1, column + 1)
            }
            Board::Regions(regions) => regions.name(cell).map_or_else(|| "on the way".to_owned(), str::to_owned),
            Board::Chase(chase) => {
                let [cat, mouse] = chase.places(cell).map(|at| chase.nodes().get(at).map_or("", String::as_str));
                let mover = if cell.side == Side::First { "cat" } else { "mouse" };
                format!("cat at {cat}, mouse at {mouse}, the {mover} to move")
            }
        }
    }
}

/// So many plies.
pub(crate) fn counted_plies(plies: u32) -> String {
    format!("{plies} {}", if plies == 1 { "ply" } else { "plies" })
}

/// Where a step in a maze leads, in English and in Chinese.
fn way(maze: &Maze, from: Cell, to: Cell) -> [&'static str; 2] {
    let ((row, column), (to_row, to_column)) = (maze.square(from), maze.square(to));
    match (to_row.cmp(&row), to_column.cmp(&column)) {
        (Ordering::Less, _) => ["up", "向上"],
        (Ordering::Greater, _) => ["down", "向下"],
        (_, Ordering::Less) => ["left", "向左"],
        _ => ["right", "向右"],
    }
}

/// Some passengers: `2 ghosts, person`.
pub(crate) fn group(passengers: &[Passenger], counts: &[u32]) -> String {
    let some = passengers.iter().zip(counts).filter(|&(_, &count)| count > 0);
    let words: Vec<String> = some
        .map(|(passenger, &count)| match count {
            1 if passenger.count == 1 => passenger.name.clone(),
            1 => format!("1 {}", passenger.name),
            _ => format!("{count} {}", passenger.many),
        })
        .collect();
    if words.is_empty() { "nobody".to_owned() } else { words.join(", ") }
}

/// The same in Chinese.
fn group_in_chinese(passengers: &[Passenger], counts: &[u32]) -> String {
    let some = passengers.iter().zip(counts).filter(|&(_, &count)| count > 0);
    let words: Vec<String> = some
        .map(|(passenger, &count)| match passenger.count {
            1 => passenger.name.clone(),
            _ => format!("{} ×{count}", passenger.name),
        })
        .collect();
    if words.is_empty() { "无人".to_owned() } else { words.join("、") }
}
