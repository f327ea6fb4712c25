//! A position as a picture.

use std::fmt::Write;

use crate::{Color, Move, Position, Square};

/// The side of a square, in pixels.
const SIZE: u32 = 60;
/// Around the board, for its names.
const EDGE: u32 = 30;

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
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"22\" fill=\"{fill}\"/>");
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\" font-size=\"24\" fill=\"#fff\">{number}</text>", y + 8);
    }
    if let Some(m) = arrow {
        let ((x1, y1), (x2, y2)) = (middle(m.from), middle(m.to));
        let _ = writeln!(
            svg,
            "<defs><marker id=\"head\" markerWidth=\"4\" markerHeight=\"4\" refX=\"2\" refY=\"2\" orient=\"auto\">\
             <path d=\"M0 0 4 2 0 4z\" fill=\"#1d7a34\"/></marker></defs>\n\
             <line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#1d7a34\" stroke-width=\"6\" \
             stroke-opacity=\"0.8\" marker-end=\"url(#head)\"/>"
        );
    }
    svg.push_str("</svg>\n");
    svg
}
