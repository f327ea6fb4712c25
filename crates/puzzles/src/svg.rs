//! Solutions as pictures.

use std::f64::consts::TAU;
use std::fmt::Write;

use canju_retro::Cell;

use crate::words::{counted_plies, group};
use crate::{Board, Chase, Maze, Regions, River, Solution};

/// The side of a square of a maze, in units of the picture.
const SQUARE: u32 = 24;
/// Mazes of more squares are drawn without labels.
const MOST_LABELS: u32 = 10_000;
/// The distance of nodes from the middle, and the size of a node.
const RADIUS: f64 = 160.0;
pub(crate) const NODE: f64 = 18.0;
/// The height of a step of a crossing, and the width of the boat.
const STEP: f64 = 36.0;
const BOAT: f64 = 40.0;
/// Between words and what is beside them.
pub(crate) const GAP: f64 = 8.0;
/// Sizes of letters.
pub(crate) const LETTER: f64 = 13.0;
pub(crate) const SMALL: f64 = 12.0;

pub(crate) const WAY: &str = "#c2410c";
const WALL: &str = "#334155";
pub(crate) const WATER: &str = "#bae6fd";
pub(crate) const HAVEN: &str = "#bbf7d0";

impl Solution {
    /// A picture of the puzzle with a shortest solution, as SVG: a maze with labels and way, the steps of a crossing, the graph
    /// of regions or of cat and mouse.
    #[must_use]
    pub fn svg(&self) -> String {
        let line = self.line(self.puzzle().start());
        let drawn = match self.puzzle().board() {
            Board::River(river) => self.river(river, &line),
            Board::Maze(maze) => self.maze(maze, &line),
            Board::Regions(regions) => self.regions(regions, &line),
            Board::Chase(chase) => self.chase(chase, &line),
        };
        self.framed(&drawn)
    }

    /// The whole picture.
    pub(crate) fn framed(&self, drawn: &Drawn) -> String {
        let (width, height) = drawn.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escape(self.puzzle().title()),
            drawn.body,
        )
    }

    /// True where the picture has all labels: there is no place for them in a large maze of squares.
    #[must_use]
    pub fn is_labelled(&self) -> bool {
        !matches!(self.puzzle().board(), Board::Maze(maze) if maze.width() * maze.height() > MOST_LABELS)
    }

    pub(crate) fn maze(&self, maze: &Maze, line: &[Cell]) -> Drawn {
        let mut body = String::new();
        for row in 0..maze.height() {
            // Walls side by side are one.
            let mut column = 0;
            while column < maze.width() {
                let start = column;
                while column < maze.width() && !maze.is_open(row, column) {
                    column += 1;
                }
                if column > start {
                    let (x, y, width) = (start * SQUARE, row * SQUARE, (column - start) * SQUARE);
                    let _ = writeln!(
                        body,
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{SQUARE}\" fill=\"{WALL}\"/>"
                    );
                }
                column += 1;
            }
        }
        body += &polyline(line.iter().map(|&cell| middle(maze, cell)), 4.0);
        if self.is_labelled() {
            for cell in self.cells() {
                if let Some(steps) = self.steps_from(cell) {
                    let (x, y) = middle(maze, cell);
                    body += &label(x, y, 9.0, Anchor::Middle, &(steps + 1).to_string());
                }
            }
        }
        Drawn { size: (maze.width() * SQUARE, maze.height() * SQUARE), body }
    }

    pub(crate) fn regions(&self, regions: &Regions, line: &[Cell]) -> Drawn {
        let names = (0..regions.len()).filter_map(|region| regions.name(regions.cell(region)));
        let graph = Graph::new(regions.len(), names);
        let mut body = String::new();
        for ([a, b], _) in regions.passages() {
            body += &graph.edge(a, b);
        }
        let named = |cell: &&Cell| regions.name(**cell).is_some();
        let number = |cell: &Cell| graph.at(self.puzzle().number(*cell) as usize - 1);
        body += &polyline(line.iter().filter(named).map(number), 5.0);
        for ([a, b], length) in regions.passages().filter(|_| regions.is_measured()) {
            let ((ax, ay), (bx, by)) = (graph.at(a), graph.at(b));
            let (x, y) = (f64::midpoint(ax, bx), f64::midpoint(ay, by));
            body += &label(x, y, SMALL, Anchor::Middle, &length.to_string());
        }
        for region in 0..regions.len() {
            let cell = regions.cell(region);
            let steps = self.steps_from(cell).map_or_else(|| "-".to_owned(), |n| (n + 1).to_string());
            body += &graph.node(region, "#ffffff", &steps, regions.name(cell).unwrap_or_default());
        }
        Drawn { size: graph.size, body }
    }

    fn chase(&self, chase: &Chase, line: &[Cell]) -> Drawn {
        let graph = Graph::new(chase.nodes().len(), std::iter::once("cat, mouse"));
        let mut body: String = chase.edges().map(|[a, b]| graph.edge(a, b)).collect();
        let start = chase.places(chase.start());
        for (node, name) in chase.nodes().iter().enumerate() {
            let fill = if chase.protects(node) { HAVEN } else { "#ffffff" };
            let who = match (node == start[0], node == start[1]) {
                (true, true) => "cat, mouse",
                (true, false) => "cat",
                (false, true) => "mouse",
                _ => "",
            };
            body += &graph.node(node, fill, name, who);
        }
        // Play as a list beside the graph.
        let (width, height) = graph.size;
        let moves: Vec<String> = line.windows(2).map(|pair| self.puzzle().step(pair[0], pair[1])).collect();
        let verdict = match self.steps() {
            Some(steps) => format!("caught in {}", counted_plies(steps)),
            None => "the mouse is safe".to_owned(),
        };
        for (row, words) in std::iter::once(&verdict).chain(&moves).enumerate() {
            body += &label(f64::from(width), 30.0 + 20.0 * row as f64, LETTER, Anchor::Start, words);
        }
        Drawn { size: (width + 200, height.max(50 + 20 * moves.len() as u32)), body }
    }

    /// A row for each position: who is where, and between the banks the boat with who has come in it.
    fn river(&self, river: &River, line: &[Cell]) -> Drawn {
        let all = river.passengers();
        let loads = line.windows(2).map(|pair| group(all, &river.load(pair[0], pair[1]).unwrap_or_default()));
        let rows: Vec<Row> = (line.iter().zip(std::iter::once(String::new()).chain(loads)))
            .map(|(&cell, load)| {
                let (boat, here) = river.position(cell);
                let there: Vec<u32> = all.iter().zip(&here).map(|(p, h)| p.count - h).collect();
                let number = self.puzzle().number(cell);
                Row { boat, load, here: format!("{number}. {}", group(all, &here)), there: group(all, &there) }
            })
            .collect();
        let widest =
            |words: &dyn Fn(&Row) -> &str| rows.iter().map(|row| width(words(row), LETTER)).fold(0.0, f64::max);
        // A column is as wide as its longest words.
        let bank = (widest(&|row| &row.here).max(widest(&|row| &row.there)) + 2.0 * GAP).max(120.0).ceil();
        let water = (widest(&|row| &row.load) + BOAT + 3.0 * GAP).max(140.0).ceil();
        let verdict = self.steps().is_none().then_some("there is no solution");
        let height = STEP * (rows.len() + usize::from(verdict.is_some())) as f64;
        let mut body = format!("<rect x=\"{bank}\" width=\"{water}\" height=\"{height}\" fill=\"{WATER}\"/>\n");
        for (number, row) in rows.iter().enumerate() {
            let top = STEP * number as f64;
            let middle = top + STEP / 2.0;
            body += &label(GAP, middle, LETTER, Anchor::Start, &row.here);
            body += &label(bank + water + GAP, middle, LETTER, Anchor::Start, &row.there);
            let (boat, load, anchor) = if row.boat {
                (bank + GAP, bank + BOAT + 2.0 * GAP, Anchor::Start)
            } else {
                (bank + water - BOAT - GAP, bank + water - BOAT - 2.0 * GAP, Anchor::End)
            };
            let _ = writeln!(body, "<path d=\"M{boat} {} h{BOAT} l-8 12 h-24 z\" fill=\"{WAY}\"/>", middle - 6.0);
            body += &label(load, middle, LETTER, anchor, &row.load);
        }
        if let Some(words) = verdict {
            body += &label(bank + water / 2.0, height - STEP / 2.0, LETTER, Anchor::Middle, words);
        }
        Drawn { size: ((2.0 * bank + water) as u32, height as u32), body }
    }
}

/// The middle of a square of a maze.
pub(crate) fn middle(maze: &Maze, cell: Cell) -> (f64, f64) {
    let (row, column) = maze.square(cell);
    (f64::from(column * SQUARE + SQUARE / 2), f64::from(row * SQUARE + SQUARE / 2))
}

/// A position of a crossing, in words.
struct Row {
    /// True for a boat at the start.
    boat: bool,
    /// Who has come in it.
    load: String,
    here: String,
    there: String,
}

/// The inside of a picture.
pub(crate) struct Drawn {
    pub(crate) size: (u32, u32),
    pub(crate) body: String,
}

/// Nodes on a circle, with names outside of it.
pub(crate) struct Graph {
    nodes: usize,
    pub(crate) size: (u32, u32),
    radius: f64,
}

impl Graph {
    /// So many nodes, with these names beside them.
    pub(crate) fn new<'a>(nodes: usize, names: impl Iterator<Item = &'a str>) -> Self {
        // A node needs its place on the circle.
        let radius = RADIUS.max(nodes as f64 * NODE * 3.0 / TAU);
        let beside = names.map(|name| width(name, SMALL)).fold(2.0 * NODE, f64::max);
        let half = |beside: f64| radius + NODE + beside + 2.0 * GAP;
        Self { nodes, size: ((2.0 * half(beside)) as u32, (2.0 * half(SMALL)) as u32), radius }
    }

    fn middle(&self) -> (f64, f64) {
        (f64::from(self.size.0) / 2.0, f64::from(self.size.1) / 2.0)
    }

    /// The cosine and the sine of a node's direction.
    fn direction(&self, node: usize) -> (f64, f64) {
        let angle = TAU * (node as f64 / self.nodes.max(1) as f64 - 0.25);
        (angle.cos(), angle.sin())
    }

    pub(crate) fn at(&self, node: usize) -> (f64, f64) {
        let ((x, y), (cos, sin)) = (self.middle(), self.direction(node));
        (x + self.radius * cos, y + self.radius * sin)
    }

    pub(crate) fn edge(&self, a: usize, b: usize) -> String {
        let ((x1, y1), (x2, y2)) = (self.at(a), self.at(b));
        format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{WALL}\"/>\n")
    }

    pub(crate) fn node(&self, node: usize, fill: &str, inside: &str, name: &str) -> String {
        let ((x, y), (cos, sin)) = (self.at(node), self.direction(node));
        let circle = format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{NODE}\" fill=\"{fill}\" stroke=\"{WALL}\"/>\n");
        let anchor = match cos {
            c if c > 0.1 => Anchor::Start,
            c if c < -0.1 => Anchor::End,
            _ => Anchor::Middle,
        };
        // No passage leads outwards.
        let away = NODE + GAP;
        let name = label(x + away * cos, y + (away + SMALL / 2.0) * sin, SMALL, anchor, name);
        circle + &label(x, y, LETTER, Anchor::Middle, inside) + &name
    }
}

fn polyline(points: impl Iterator<Item = (f64, f64)>, width: f64) -> String {
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    if points.len() < 2 {
        return String::new();
    }
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{WAY}\" stroke-width=\"{width}\" stroke-opacity=\"0.55\" \
         stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n",
        points.join(" ")
    )
}

/// Which end of words stands at their place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Words with a pale rim, so that they are read on lines too.
pub(crate) fn label(x: f64, y: f64, size: f64, anchor: Anchor, words: &str) -> String {
    if words.is_empty() {
        return String::new();
    }
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" dominant-baseline=\"central\" \
         fill=\"#0f172a\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-opacity=\"0.8\" stroke-linejoin=\"round\" \
         paint-order=\"stroke\">{}</text>\n",
        escape(words)
    )
}

/// About how wide words are drawn; rather too much, since fonts differ.
pub(crate) fn width(words: &str, size: f64) -> f64 {
    let letters = words.chars().map(|letter| if letter < '\u{2e80}' { 0.58 } else { 1.05 });
    size * letters.sum::<f64>()
}

pub(crate) fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
