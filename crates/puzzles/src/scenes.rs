//! A solution step by step: what stays, and on it a scene for each position of the way.

use std::fmt::Write;

use canju_retro::Cell;

use crate::svg::{Anchor, Drawn, GAP, Graph, HAVEN, LETTER, NODE, WATER, WAY, escape, label, middle, width};
use crate::{Board, Chase, Regions, River, Solution};

/// The distance of passengers from each other, and their size.
const PLACE: f64 = 34.0;
const TOKEN: f64 = 14.0;
/// The width of the river, and the length of the boat.
const RIVER: f64 = 240.0;
const BOAT: f64 = 96.0;
/// Kinds of passengers by colour; white letters stand out on each.
const KINDS: [&str; 8] = ["#1d4ed8", "#b91c1c", "#15803d", "#7e22ce", "#b45309", "#0f766e", "#be185d", "#475569"];
const BANK: &str = "#ecfccb";
/// The ring around who has come.
const FRESH: &str = "#0f172a";
const CAT: &str = "#fdba74";
const MOUSE: &str = "#cbd5e1";

/// A solution to be looked at step by step.
pub(crate) struct Scenes {
    /// What all scenes have in common.
    pub(crate) ground: Drawn,
    /// A scene for each position, and what led there in words, in English and in Chinese.
    pub(crate) scenes: Vec<(String, [String; 2])>,
}

impl Solution {
    /// The scenes of a way, whose first position is the start.
    pub(crate) fn scenes(&self, line: &[Cell]) -> Scenes {
        let puzzle = self.puzzle();
        let words = |at: usize| match at.checked_sub(1) {
            None => [puzzle.describe(line[at]), puzzle.describe_in_chinese(line[at])],
            Some(before) => {
                let (from, to) = (line[before], line[at]);
                [puzzle.step(from, to), puzzle.step_in_chinese(from, to)]
            }
        };
        match puzzle.board() {
            Board::River(river) => {
                let stage = Stage::new(river);
                let scene = |at: usize| stage.scene(at.checked_sub(1).map(|before| line[before]), line[at]);
                Scenes { ground: stage.ground(), scenes: (0..line.len()).map(|at| (scene(at), words(at))).collect() }
            }
            Board::Maze(maze) => {
                let scene = |at: usize| dot(middle(maze, line[at]), 7.0);
                let scenes = (0..line.len()).map(|at| (scene(at), words(at)));
                Scenes { ground: self.maze(maze, line), scenes: scenes.collect() }
            }
            Board::Regions(regions) => self.through(regions, line),
            Board::Chase(chase) => {
                let graph = Graph::new(chase.nodes().len(), std::iter::once("cat, mouse"));
                let scenes = (0..line.len()).map(|at| (hunt(chase, &graph, line[at]), words(at))).collect();
                Scenes { ground: meadow(chase, &graph), scenes }
            }
        }
    }

    /// Stops in regions that have names; what lies between them is a way.
    fn through(&self, regions: &Regions, line: &[Cell]) -> Scenes {
        let names = (0..regions.len()).filter_map(|region| regions.name(regions.cell(region)));
        let graph = Graph::new(regions.len(), names);
        let stops = line.iter().enumerate().filter_map(|(far, &cell)| Some((far, cell, regions.name(cell)?)));
        let scenes = stops.map(|(far, cell, name)| {
            let number = self.puzzle().number(cell) as usize - 1;
            let (x, y) = graph.at(number);
            let ring = format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\" fill=\"none\" stroke=\"{WAY}\" stroke-width=\"5\"/>",
                NODE + 4.0
            );
            let words = match far {
                0 => [name.to_owned(), name.to_owned()],
                _ => [format!("to {name}: {far} so far"), format!("到 {name}：已走 {far}")],
            };
            (ring, words)
        });
        Scenes { ground: self.regions(regions, line), scenes: scenes.collect() }
    }
}

/// Where a crossing is played.
struct Stage<'a> {
    river: &'a River,
    /// How wide a bank is, and where the first passenger of each stands in it.
    bank: f64,
    names: f64,
    height: f64,
}

impl<'a> Stage<'a> {
    fn new(river: &'a River) -> Self {
        let all = river.passengers();
        let names = all.iter().map(|p| width(if p.count > 1 { &p.many } else { &p.name }, LETTER)).fold(0.0, f64::max);
        let most = all.iter().map(|p| p.count.min(MOST_DRAWN)).max().unwrap_or(1);
        let names = (names + 2.0 * GAP).ceil();
        let height = f64::from(all.len() as u32) * PLACE + 2.0 * GAP;
        Self { river, bank: (f64::from(most) * PLACE + 2.0 * GAP).max(90.0), names, height: height.max(110.0) }
    }

    fn ground(&self) -> Drawn {
        let (far, size) = (self.names + self.bank + RIVER, self.names + 2.0 * self.bank + RIVER);
        let mut body = String::new();
        for (x, width, colour) in
            [(self.names, self.bank, BANK), (self.names + self.bank, RIVER, WATER), (far, self.bank, BANK)]
        {
            let _ = writeln!(body, "<rect x=\"{x}\" width=\"{width}\" height=\"{}\" fill=\"{colour}\"/>", self.height);
        }
        for (kind, passenger) in self.river.passengers().iter().enumerate() {
            let name = if passenger.count > 1 { &passenger.many } else { &passenger.name };
            body += &label(GAP, self.row(kind), LETTER, Anchor::Start, name);
        }
        Drawn { size: (size as u32, self.height as u32), body }
    }

    fn row(&self, kind: usize) -> f64 {
        GAP + PLACE * (kind as f64 + 0.5)
    }

    /// Who is on which bank, the boat where it lies, and around who has come in it a ring.
    fn scene(&self, before: Option<Cell>, cell: Cell) -> String {
        let (boat, here) = self.river.position(cell);
        let all = self.river.passengers();
        let come = before.and_then(|before| self.river.load(before, cell)).unwrap_or_else(|| vec![0; all.len()]);
        let mut scene = String::new();
        for (kind, passenger) in all.iter().enumerate() {
            let there = passenger.count - here[kind];
            let far = self.names + self.bank + RIVER;
            for (left, count, boats) in [(self.names, here[kind], boat), (far, there, !boat)] {
                let fresh = if boats { come[kind] } else { 0 };
                scene += &self.crowd(kind, left, count, fresh, &passenger.name);
            }
        }
        let left = if boat { self.names + self.bank + GAP } else { self.names + self.bank + RIVER - BOAT - GAP };
        let top = self.height / 2.0 - 16.0;
        let inside = BOAT - 36.0;
        let _ = write!(scene, "<path d=\"M{left} {top} h{BOAT} l-18 32 h-{inside} z\" fill=\"{WAY}\"/>");
        scene
    }

    fn crowd(&self, kind: usize, left: f64, count: u32, fresh: u32, name: &str) -> String {
        let (y, colour) = (self.row(kind), KINDS[kind % KINDS.len()]);
        let first: String = name.chars().take(1).collect::<String>().to_uppercase();
        let mut crowd = String::new();
        for place in 0..count.min(MOST_DRAWN) {
            let x = left + GAP + PLACE * (f64::from(place) + 0.5);
            // Whoever came is among those that a number stands for.
            let many = fresh > 0 && count > MOST_DRAWN && place + 1 == MOST_DRAWN;
            let ring = if many || place + fresh >= count {
                format!(" stroke=\"{FRESH}\" stroke-width=\"4\"")
            } else {
                String::new()
            };
            // Of a crowd the last one tells how many there are.
            let text = match count {
                count if count > MOST_DRAWN && place + 1 == MOST_DRAWN => format!("+{}", count - place),
                _ => first.clone(),
            };
            let _ = write!(
                crowd,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{TOKEN}\" fill=\"{colour}\"{ring}/>\
                 <text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{LETTER}\" text-anchor=\"middle\" dominant-baseline=\"central\" \
                 fill=\"#ffffff\">{}</text>",
                escape(&text)
            );
        }
        crowd
    }
}

/// So many of a kind are drawn one by one.
const MOST_DRAWN: u32 = 12;

fn dot((x, y): (f64, f64), radius: f64) -> String {
    format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{WAY}\" stroke=\"#ffffff\" stroke-width=\"2\"/>")
}

/// The graph of cat and mouse, without them.
fn meadow(chase: &Chase, graph: &Graph) -> Drawn {
    let mut body: String = chase.edges().map(|[a, b]| graph.edge(a, b)).collect();
    for (node, name) in chase.nodes().iter().enumerate() {
        body += &graph.node(node, if chase.protects(node) { HAVEN } else { "#ffffff" }, name, "");
    }
    Drawn { size: graph.size, body }
}

fn hunt(chase: &Chase, graph: &Graph, cell: Cell) -> String {
    let name = |node: usize| chase.nodes().get(node).map_or("", String::as_str);
    match chase.places(cell) {
        [cat, mouse] if cat == mouse => graph.node(cat, CAT, name(cat), "cat, mouse"),
        [cat, mouse] => graph.node(mouse, MOUSE, name(mouse), "mouse") + &graph.node(cat, CAT, name(cat), "cat"),
    }
}
