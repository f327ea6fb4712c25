//! Records as PGN.

use std::fmt::Write;

use canju_xiangqi::notation::{Notation, write_move};
use canju_xiangqi::{Color, Position};

use super::lexer::QUOTES;
use crate::{NodeId, Ply, Record, Step};

/// Where a line of moves is broken.
const WIDTH: usize = 100;
/// Bytes of the text of a tag.
const MOST: usize = 1_900;

/// Writes a record as a game of PGN, with its comments and variations, and an empty line at the end.
///
/// What is written is read again as the same record, but for what a PGN cannot hold: in a comment `}` becomes `)`, and empty lines
/// before what looks like a tag are left out; the text of a tag is one line of at most 1,900 bytes.
#[must_use]
pub fn write_pgn(record: &Record, notation: Notation) -> String {
    let mut text = tags(record, notation);
    text.push('\n');
    let mut moves = Moves { text, column: 0, opening: false };
    moves.said(record, NodeId::START);
    let mut needs_number = true;
    for step in record.steps() {
        match step {
            Step::Move(ply) => {
                moves.ply(record, &ply, notation, needs_number);
                needs_number = !record.tree.comment(ply.node).is_empty();
            }
            Step::Open => {
                moves.opening = true;
                needs_number = true;
            }
            Step::Close => {
                moves.text.push(')');
                moves.column += 1;
                needs_number = true;
            }
        }
    }
    moves.word(record.result.to_pgn());
    moves.text + "\n\n"
}

fn tags(record: &Record, notation: Notation) -> String {
    let format = match notation {
        Notation::Coordinates => "ICCS",
        Notation::Wxf => "WXF",
        Notation::Chinese => "Chinese",
    };
    let fen = if record.start == Position::initial() { String::new() } else { record.start.to_fen() };
    let all = [
        ("Game", "Chinese Chess", true),
        ("Event", &record.event, true),
        ("Site", &record.site, false),
        ("Date", &record.date, false),
        ("Round", &record.round, false),
        ("Red", &record.red, true),
        ("Black", &record.black, true),
        ("Title", &record.title, false),
        ("Annotator", &record.annotator, false),
        ("Result", record.result.to_pgn(), true),
        ("Format", format, true),
        ("FEN", &fen, false),
    ];
    let mut text = String::new();
    for (name, value, always) in all {
        if always || !value.is_empty() {
            let value = if value.is_empty() { "?" } else { value };
            // A string takes whatever is written to it.
            let _ = writeln!(text, "[{name} \"{}\"]", escaped(value));
        }
    }
    text
}

/// The text of a tag, on one line and not longer than a reader takes.
fn escaped(value: &str) -> String {
    let (mut text, brackets) = (String::new(), value.contains(']'));
    for c in value.chars() {
        if text.len() > MOST {
            break;
        }
        // Any quote would be taken for the end where a bracket follows.
        if matches!(c, '"' | '\\') || (brackets && QUOTES.contains(&c)) {
            text.push('\\');
        }
        text.push(if matches!(c, '\n' | '\r') { ' ' } else { c });
    }
    text
}

/// What a comment says in braces.
fn braced(comment: &str) -> String {
    let comment = comment.replace('}', ")");
    let mut kept: Vec<&str> = Vec::new();
    for line in comment.split('\n') {
        // After an empty line a tag would begin the next game.
        while super::is_tag(line.trim_start()) && kept.last().is_some_and(|above| above.trim().is_empty()) {
            kept.pop();
        }
        kept.push(line);
    }
    format!("{{{}}}", kept.join("\n"))
}

struct Moves {
    text: String,
    column: usize,
    /// Whether a variation begins with the next word.
    opening: bool,
}

impl Moves {
    fn word(&mut self, word: &str) {
        let opening = if std::mem::take(&mut self.opening) { "(" } else { "" };
        let width = opening.len() + word.chars().count();
        if self.column > 0 && self.column + 1 + width > WIDTH {
            self.text.push('\n');
            self.column = 0;
        } else if self.column > 0 {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(opening);
        self.text.push_str(word);
        self.column += width;
    }

    fn ply(&mut self, record: &Record, ply: &Ply, notation: Notation, needs_number: bool) {
        // Where Black begins, its first move is the second half of a pair.
        let half = ply.number.saturating_sub(1) + record.start.turn().index();
        let number = half / 2 + 1;
        let is_red = ply.before.turn() == Color::Red;
        if is_red {
            self.word(&format!("{number}."));
        } else if needs_number {
            self.word(&format!("{number}..."));
        }
        let text = write_move(&ply.before, ply.chosen, notation);
        self.word(&if notation == Notation::Coordinates { iccs(&text) } else { text });
        for glyph in record.tree.glyphs(ply.node) {
            self.word(&format!("${glyph}"));
        }
        self.said(record, ply.node);
    }

    fn said(&mut self, record: &Record, node: NodeId) {
        let comment = record.tree.comment(node);
        if !comment.is_empty() {
            self.word(&braced(comment));
        }
    }
}

/// `h2e2` as this notation writes it in a PGN: `H2-E2`.
fn iccs(text: &str) -> String {
    let (from, to) = text.split_at(text.len() / 2);
    format!("{from}-{to}").to_ascii_uppercase()
}
