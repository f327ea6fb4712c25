//! Solutions as pictures.

use std::f64::consts::TAU;
use std::fmt::Write;

use canju_retro::Cell;

use crate::words::group;
use crate::{Board, Chase, Maze, Regions, River, Solution};

/// The side of a square of a maze, in units of the picture.
const SQUARE: u32 = 24;
/// Mazes of more squares are drawn without labels.
const MOST_LABELS: u32 = 10_000;
/// The distance of nodes from the middle, and the size of a node.
const RADIUS: f64 = 160.0;
const NODE: f64 = 18.0;
/// The height of a step of a crossing, and the width of a bank and of the river.
const STEP: usize = 36;
const BANK: usize = 300;
const RIVER: usize = 140;

const WAY: &str = "#c2410c";
const WALL: &str = "#334155";
const WATER: &str = "#bae6fd";
const HAVEN: &str = "#bbf7d0";

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

    fn maze(&self, maze: &Maze, line: &[Cell]) -> Drawn {
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
        let middle = |cell: &Cell| {
            let (row, column) = maze.square(*cell);
            (f64::from(column * SQUARE + SQUARE / 2), f64::from(row * SQUARE + SQUARE / 2))
        };
        body += &polyline(line.iter().map(middle), 4.0);
        if self.is_labelled() {
            for cell in self.cells() {
                if let Some(steps) = self.steps_from(cell) {
                    let (x, y) = middle(&cell);
                    body += &text(x, y, 9.0, &(steps + 1).to_string());
                }
            }
        }
        Drawn { size: (maze.width() * SQUARE, maze.height() * SQUARE), body }
    }

    fn regions(&self, regions: &Regions, line: &[Cell]) -> Drawn {
        let graph = Graph::new(regions.len());
        let mut body = String::new();
        for ([a, b], length) in regions.passages() {
            body += &graph.edge(a, b);
            if regions.is_measured() {
                let ((ax, ay), (bx, by)) = (graph.at(a), graph.at(b));
                body += &text(f64::midpoint(ax, bx), f64::midpoint(ay, by) - 6.0, 11.0, &length.to_string());
            }
        }
        let named = |cell: &&Cell| regions.name(**cell).is_some();
        let number = |cell: &Cell| graph.at(self.puzzle().number(*cell) as usize - 1);
        body += &polyline(line.iter().filter(named).map(number), 5.0);
        for region in 0..regions.len() {
            let cell = regions.cell(region);
            let label = self.steps_from(cell).map_or_else(|| "-".to_owned(), |n| (n + 1).to_string());
            body += &graph.node(region, "#ffffff", &label, regions.name(cell).unwrap_or_default());
        }
        Drawn { size: graph.size, body }
    }

    fn chase(&self, chase: &Chase, line: &[Cell]) -> Drawn {
        let graph = Graph::new(chase.nodes().len());
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
            Some(steps) => format!("caught in {steps} plies"),
            None => "the mouse is safe".to_owned(),
        };
        for (row, words) in std::iter::once(&verdict).chain(&moves).enumerate() {
            let _ = writeln!(
                body,
                "<text x=\"{width}\" y=\"{}\" font-size=\"13\" fill=\"#0f172a\">{}</text>",
                30 + 20 * row,
                escape(words)
            );
        }
        Drawn { size: (width + 200, height.max(50 + 20 * moves.len() as u32)), body }
    }

    fn river(&self, river: &River, line: &[Cell]) -> Drawn {
        let mut body = String::new();
        let height = STEP * line.len();
        let _ = writeln!(body, "<rect x=\"{BANK}\" width=\"{RIVER}\" height=\"{height}\" fill=\"{WATER}\"/>");
        for (row, &cell) in line.iter().enumerate() {
            let (boat, here) = river.position(cell);
            let all = river.passengers();
            let there: Vec<u32> = all.iter().zip(&here).map(|(p, h)| p.count - h).collect();
            let y = STEP * row;
            let number = format!("{}. {}", self.puzzle().number(cell), group(all, &here));
            let _ = writeln!(body, "<text x=\"8\" y=\"{}\" font-size=\"13\">{}</text>", y + 23, escape(&number));
            let _ = writeln!(
                body,
                "<text x=\"{}\" y=\"{}\" font-size=\"13\">{}</text>",
                BANK + RIVER + 8,
                y + 23,
                escape(&group(all, &there))
            );
            // The boat, where it is.
            let x = if boat { BANK + 6 } else { BANK + RIVER - 46 };
            let _ = writeln!(body, "<path d=\"M{x} {y0} h40 l-8 12 h-24 z\" fill=\"{WAY}\"/>", y0 = y + 12);
        }
        Drawn { size: ((2 * BANK + RIVER) as u32, height as u32), body }
    }
}

/// The inside of a picture.
struct Drawn {
    size: (u32, u32),
    body: String,
}

/// Nodes on a circle.
struct Graph {
    nodes: usize,
    size: (u32, u32),
    radius: f64,
}

impl Graph {
    fn new(nodes: usize) -> Self {
        // A node needs its place on the circle.
        let radius = RADIUS.max(nodes as f64 * NODE * 3.0 / TAU);
        let side = (2.0 * (radius + 4.0 * NODE)) as u32;
        Self { nodes, size: (side, side), radius }
    }

    fn at(&self, node: usize) -> (f64, f64) {
        let angle = TAU * (node as f64 / self.nodes.max(1) as f64 - 0.25);
        let middle = f64::from(self.size.0) / 2.0;
        (middle + self.radius * angle.cos(), middle + self.radius * angle.sin())
    }

    fn edge(&self, a: usize, b: usize) -> String {
        let ((x1, y1), (x2, y2)) = (self.at(a), self.at(b));
        format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{WALL}\"/>\n")
    }

    fn node(&self, node: usize, fill: &str, label: &str, below: &str) -> String {
        let (x, y) = self.at(node);
        let circle = format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{NODE}\" fill=\"{fill}\" stroke=\"{WALL}\"/>\n");
        circle + &text(x, y, 13.0, label) + &text(x, y + NODE + 10.0, 12.0, below)
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

fn text(x: f64, y: f64, size: f64, words: &str) -> String {
    if words.is_empty() {
        return String::new();
    }
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" dominant-baseline=\"central\" \
         fill=\"#0f172a\">{}</text>\n",
        escape(words)
    )
}

fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
