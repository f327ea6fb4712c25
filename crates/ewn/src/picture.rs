//! A position as a picture.

use std::fmt::Write;

use crate::{Color, Move, Position, Square};

/// The side of a square, in pixels.
const SIZE: u32 = 60;
/// Around the board, for its names.
const EDGE: u32 = 30;
/// The radius of a stone.
const STONE: f64 = 22.0;
/// Half the width of an arrow and of its head, and how long the head is.
const SHAFT: f64 = 3.0;
const HEAD: f64 = 8.0;
const TIP: f64 = 13.0;

/// The board as SVG: stones with their numbers, the goals marked, and an arrow for a move.
#[must_use]
pub fn picture(position: &Position, arrow: Option<&Move>) -> String {
    let whole = 5 * SIZE + 2 * EDGE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole} {whole}\" width=\"{whole}\" height=\"{whole}\" \
         role=\"img\" font-family=\"sans-serif\" text-anchor=\"middle\">\n<title>{position}</title>\n\
         <rect width=\"{whole}\" height=\"{whole}\" fill=\"#fff\"/>\n"
    );
    let corner = |square: Square| (EDGE + SIZE * u32::from(square.column()), EDGE + SIZE * u32::from(square.row()));
    let middle = |square: Square| (corner(square).0 + SIZE / 2, corner(square).1 + SIZE / 2);
    for square in Square::all() {
        let (x, y) = corner(square);
        let fill = match square {
            s if s == Color::Red.goal() => "#f7d9d5",
            s if s == Color::Blue.goal() => "#d6e2f5",
            _ => "#f6f1e4",
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SIZE}\" height=\"{SIZE}\" fill=\"{fill}\" stroke=\"#555\"/>"
        );
    }
    for i in 0..5u32 {
        let at = EDGE + SIZE * i + SIZE / 2;
        let column = char::from(b'a' + i as u8);
        let (below, beside, row) = (whole - EDGE / 3, EDGE / 2, 5 - i);
        let _ = writeln!(svg, "<text x=\"{at}\" y=\"{below}\" font-size=\"14\">{column}</text>");
        let _ = writeln!(svg, "<text x=\"{beside}\" y=\"{}\" font-size=\"14\">{row}</text>", at + 5);
    }
    for (color, number, square) in position.all() {
        let (x, y) = middle(square);
        let fill = if color == Color::Red { "#c0392b" } else { "#2c5aa0" };
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{STONE}\" fill=\"{fill}\"/>");
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\" font-size=\"24\" fill=\"#fff\">{number}</text>", y + 8);
    }
    if let Some(m) = arrow {
        let taken = m.captured.is_some();
        let _ = writeln!(
            svg,
            "<path d=\"{}\" fill=\"#1d7a34\" stroke=\"#fff\"/>",
            outline(middle(m.from), middle(m.to), taken)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The outline of an arrow from a stone's rim to an empty square's middle, or to the rim of the stone that is taken: it
/// covers no number.
fn outline(from: (u32, u32), to: (u32, u32), taken: bool) -> String {
    let [(x1, y1), (x2, y2)] = [from, to].map(|(x, y)| (f64::from(x), f64::from(y)));
    let length = (x2 - x1).hypot(y2 - y1);
    let (along, across) = ((x2 - x1) / length, (y2 - y1) / length);
    let (start, end) = (STONE - 2.0, if taken { length - STONE + 2.0 } else { length - SHAFT });
    let points = [(start, SHAFT), (end - TIP, SHAFT), (end - TIP, HEAD), (end, 0.0)];
    let back = points.iter().rev().skip(1).map(|&(far, aside)| (far, -aside));
    let points = points.iter().copied().chain(back).map(|(far, aside)| {
        format!("{:.1} {:.1}", x1 + far * along - aside * across, y1 + far * across + aside * along)
    });
    format!("M{}z", points.collect::<Vec<_>>().join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Die, read_rolled};

    /// The middle of every stone and what its number takes around it stay free.
    #[test]
    fn an_arrow_covers_no_number() -> Result<(), Box<dyn std::error::Error>> {
        for (text, chosen) in [("R1a5 B1b4 r1", "1a5xb4"), ("R1a5 B1b5 r1", "1a5xb5"), ("R1c3 B1e1 b1", "1e1-d1")] {
            let (position, die) = read_rolled(text)?;
            let arrow = position.read_move(chosen, die.unwrap_or(Die::ALL[0]))?;
            let picture = picture(&position, Some(&arrow));
            let path = picture.split("<path d=\"M").nth(1).and_then(|rest| rest.split('z').next()).unwrap_or_default();
            let points: Vec<(f64, f64)> = path
                .split('L')
                .filter_map(|point| point.split_once(' '))
                .filter_map(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)))
                .collect();
            assert_eq!(points.len(), 7, "{path}");
            for (_, _, square) in position.all() {
                let (x, y) = (60.0 * f64::from(square.column()) + 60.0, 60.0 * f64::from(square.row()) + 60.0);
                assert!(points.iter().all(|point| (point.0 - x).hypot(point.1 - y) > 14.0), "{text}: {path}");
            }
        }
        Ok(())
    }
}
