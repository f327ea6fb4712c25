//! From the words of a PGN to records.

use canju_xiangqi::Position;
use canju_xiangqi::notation::read_move;

use super::lexer::{Lexer, Token};
use crate::builder::Builder;
use crate::format::Allowance;
use crate::text::Text;
use crate::{GameResult, NodeId, Place, Record, RecordError, fields, tokens};

/// Variations within variations; deeper ones are passed over.
const DEEPEST: usize = 1000;

/// A record for each game of the text.
pub(crate) fn read(text: &Text<'_>, allowance: &mut Allowance) -> Result<Vec<Record>, RecordError> {
    let mut records = Vec::new();
    let mut game = Vec::new();
    // How many variations are open: a result within one does not end the game.
    let (mut has_moves, mut open) = (false, 0_usize);
    for (line, token) in Lexer::new(text.as_str()) {
        let ends = match token {
            // What is said before the tags belongs to the game that they begin.
            Token::Tag(..) if has_moves => {
                records.push(read_game(&std::mem::take(&mut game), allowance)?);
                (has_moves, open) = (false, 0);
                false
            }
            Token::Open => {
                open += 1;
                false
            }
            Token::Close => {
                open = open.saturating_sub(1);
                false
            }
            Token::Word(word) => {
                let is_result = GameResult::from_text(word).is_some();
                has_moves |= !is_result;
                is_result && open == 0
            }
            _ => false,
        };
        game.push((line, token));
        if ends {
            let game = std::mem::take(&mut game);
            if has_moves || has_tags(&game) {
                records.push(read_game(&game, allowance)?);
            }
            has_moves = false;
        }
    }
    if has_moves || has_tags(&game) {
        records.push(read_game(&game, allowance)?);
    }
    Ok(records)
}

fn has_tags(game: &Tokens<'_>) -> bool {
    game.iter().any(|(_, token)| matches!(token, Token::Tag(..)))
}

type Tokens<'a> = [(usize, Token<'a>)];

fn read_game(game: &Tokens<'_>, allowance: &mut Allowance) -> Result<Record, RecordError> {
    let tag = game.iter().find(|(_, token)| matches!(token, Token::Tag(..)));
    let place = Place::Line(tag.or(game.first()).map_or(1, |(line, _)| *line));
    let start = start(game)?;
    let mut builder = Builder::new(start, place, allowance)?;
    for (_, token) in game {
        if let Token::Tag(name, value) = token {
            describe(&mut builder.record, name, &unescaped(value));
        }
    }
    let mut reader = Reader { builder, open: vec![Line { at: NodeId::START, ended: false }], too_deep: 0 };
    for &(line, token) in game {
        reader.take(Place::Line(line), token)?;
    }
    if reader.open.len() > 1 {
        reader.builder.warn(place, "a variation of this game is not closed".into());
    }
    Ok(reader.builder.finish())
}

/// The first position: the FEN's, or that of all games.
fn start(game: &Tokens<'_>) -> Result<Position, RecordError> {
    let fen = game.iter().find_map(|&(line, token)| match token {
        Token::Tag(name, value) if name.eq_ignore_ascii_case("FEN") && !value.trim().is_empty() => Some((line, value)),
        _ => None,
    });
    let Some((line, fen)) = fen else { return Ok(Position::initial()) };
    let first = game.iter().find_map(|(_, token)| match token {
        Token::Word(word) if GameResult::from_text(word).is_none() => tokens::moves(word).next(),
        _ => None,
    });
    Ok(fields::split(fen, Place::Line(line))?.start(first))
}

fn describe(record: &mut Record, name: &str, value: &str) {
    let value = value.trim();
    let is_known = !value.trim_matches(['?', '.']).is_empty();
    let field = match name.to_ascii_lowercase().as_str() {
        "title" => &mut record.title,
        "event" => &mut record.event,
        "site" => &mut record.site,
        "date" => &mut record.date,
        "round" => &mut record.round,
        "red" | "white" => &mut record.red,
        "black" => &mut record.black,
        "annotator" => &mut record.annotator,
        "result" => {
            record.result = GameResult::from_text(value).unwrap_or_default();
            return;
        }
        _ => return,
    };
    if is_known {
        value.clone_into(field);
    }
}

fn unescaped(value: &str) -> String {
    value.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// A line of moves that is being read.
struct Line {
    at: NodeId,
    /// Whether a move could not be read: nothing after it makes sense.
    ended: bool,
}

struct Reader<'a> {
    builder: Builder<'a>,
    /// The main line, and the variations that are open.
    open: Vec<Line>,
    /// How many more are open than are kept.
    too_deep: usize,
}

impl Reader<'_> {
    fn take(&mut self, place: Place, token: Token<'_>) -> Result<(), RecordError> {
        match token {
            Token::Tag(..) => {}
            Token::Open => self.open(place),
            Token::Close => self.close(place),
            _ if self.too_deep > 0 => {}
            Token::Comment(text) | Token::Unclosed(text) => {
                if matches!(token, Token::Unclosed(_)) {
                    self.builder.warn(place, "a comment of this game is not closed".into());
                }
                if let Some(node) = self.node() {
                    self.builder.record.tree.add_comment(node, text);
                }
            }
            Token::Glyph(glyph) => {
                if let Some(node) = self.node() {
                    self.builder.record.tree.add_glyph(node, glyph);
                }
            }
            Token::Word(word) => self.word(place, word)?,
        }
        Ok(())
    }

    /// Where the innermost line is, unless it has ended.
    fn node(&self) -> Option<NodeId> {
        self.open.last().filter(|line| !line.ended).map(|line| line.at)
    }

    fn open(&mut self, place: Place) {
        if self.too_deep > 0 || self.open.len() == DEEPEST {
            if self.too_deep == 0 {
                self.builder.warn(place, format!("variations are more than {DEEPEST} deep; passed over"));
            }
            self.too_deep += 1;
            return;
        }
        let tree = &self.builder.record.tree;
        let line = match self.node() {
            // A variation stands instead of the move before it.
            Some(node) => Line { at: tree.parent(node).unwrap_or(node), ended: false },
            None => Line { at: NodeId::START, ended: true },
        };
        self.open.push(line);
    }

    fn close(&mut self, place: Place) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
        } else if self.open.len() > 1 {
            self.open.pop();
        } else {
            self.builder.warn(place, "a variation ends that has not begun; passed over".into());
        }
    }

    fn word(&mut self, place: Place, word: &str) -> Result<(), RecordError> {
        if let Some(result) = GameResult::from_text(word) {
            if self.open.len() == 1 && result != GameResult::Unknown {
                self.builder.record.result = result;
            }
            return Ok(());
        }
        let Some(line) = self.open.last_mut().filter(|line| !line.ended) else { return Ok(()) };
        // A move of WXF may look like a number: `33.4`.
        if let Ok(chosen) = read_move(self.builder.position(line.at), word) {
            if let Some(node) = self.builder.play(line.at, chosen, place)? {
                line.at = node;
            }
            return Ok(());
        }
        for text in tokens::moves(word) {
            match self.builder.play_text(line.at, text, place)? {
                Some(node) => line.at = node,
                None => {
                    line.ended = true;
                    break;
                }
            }
        }
        Ok(())
    }
}
