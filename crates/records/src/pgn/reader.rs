//! From the words of a PGN to records.

use canju_xiangqi::Position;
use canju_xiangqi::notation::read_move;

use super::lexer::{Lexer, QUOTES, Token};
use crate::builder::Builder;
use crate::format::Allowance;
use crate::text::Text;
use crate::{Fault, GameResult, NodeId, Place, Record, RecordError, fields, tokens};

/// Variations within variations; deeper ones are passed over.
const DEEPEST: usize = 1000;

/// A record for each game of the text.
pub(crate) fn read(text: &Text<'_>, allowance: &mut Allowance) -> Result<Vec<Record>, RecordError> {
    let mut records = Vec::new();
    let mut lexer = Lexer::new(text.as_str());
    while let Some(game) = Game::next(&mut lexer) {
        if game.is_one {
            records.push(game.read(allowance)?);
        }
    }
    Ok(records)
}

/// The words of one game, gone through anew each time that they are asked for: kept, they would take many times the bytes of
/// the file.
struct Game<'a> {
    from: Lexer<'a>,
    /// How many bytes of the text are left behind it.
    left: usize,
    /// The line of its first word.
    line: usize,
    /// The line of its first tag.
    tagged: Option<usize>,
    /// The first position with its line.
    fen: Option<(usize, &'a str)>,
    /// The first word that is no result.
    first: Option<&'a str>,
    /// Whether it has moves or tags; a lone comment or result is no game.
    is_one: bool,
}

impl<'a> Game<'a> {
    /// The game where the lexer stands, which goes on to the next.
    fn next(lexer: &mut Lexer<'a>) -> Option<Self> {
        let mut before = lexer.clone();
        let mut taken = lexer.next()?;
        let mut game =
            Self { from: before.clone(), left: 0, line: taken.0, tagged: None, fen: None, first: None, is_one: false };
        let mut has_moves = false;
        // How many variations are open: a result within one does not end the game.
        let mut open = 0_usize;
        loop {
            match taken {
                // What is said before the tags belongs to the game that they begin.
                (_, Token::Tag(..)) if has_moves => {
                    *lexer = before;
                    break;
                }
                (line, Token::Tag(name, value)) => {
                    game.tagged = game.tagged.or(Some(line));
                    if game.fen.is_none() && name.eq_ignore_ascii_case("FEN") && !value.trim().is_empty() {
                        game.fen = Some((line, value));
                    }
                }
                (_, Token::Open) => open += 1,
                (_, Token::Close) => open = open.saturating_sub(1),
                (_, Token::Word(word)) if GameResult::from_text(word).is_none() => {
                    has_moves = true;
                    game.first = game.first.or_else(|| tokens::moves(word).next());
                }
                (_, Token::Word(_)) if open == 0 => break,
                _ => {}
            }
            before = lexer.clone();
            let Some(next) = lexer.next() else { break };
            taken = next;
        }
        Some(Self { left: lexer.left(), is_one: has_moves || game.tagged.is_some(), ..game })
    }

    fn tokens(&self) -> impl Iterator<Item = (usize, Token<'a>)> + use<'a> {
        let (mut lexer, left) = (self.from.clone(), self.left);
        std::iter::from_fn(move || if lexer.left() > left { lexer.next() } else { None })
    }

    fn read(&self, allowance: &mut Allowance) -> Result<Record, RecordError> {
        let start = match self.fen {
            Some((line, fen)) => fields::split(fen, Place::Line(line))?.start(self.first),
            None => Position::initial(),
        };
        let place = Place::Line(self.tagged.unwrap_or(self.line));
        let mut builder = Builder::new(start, place, allowance)?;
        if self.tagged.is_some() {
            for (_, token) in self.tokens() {
                if let Token::Tag(name, value) = token {
                    describe(&mut builder.record, name, &unescaped(value));
                }
            }
        }
        let mut reader = Reader { builder, open: vec![Line { at: NodeId::START, ended: false }], too_deep: 0 };
        for (line, token) in self.tokens() {
            reader.take(Place::Line(line), token)?;
        }
        if reader.open.len() > 1 {
            reader.builder.warn(place, Fault::OpenVariation);
        }
        Ok(reader.builder.finish())
    }
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
    let mut text = String::with_capacity(value.len());
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        // A backslash before anything else stands for itself.
        let escaped = rest.next_if(|next| c == '\\' && (*next == '\\' || QUOTES.contains(next)));
        text.push(escaped.unwrap_or(c));
    }
    text
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
                    self.builder.warn(place, Fault::OpenComment);
                }
                if let Some(node) = self.node() {
                    self.builder.record.tree.add_comment(node, text);
                }
            }
            Token::Glyph(glyph) => {
                // Before the first move there is none that it could be said of.
                if let Some(node) = self.node().filter(|&node| node != NodeId::START) {
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
                self.builder.warn(place, Fault::Deep { most: DEEPEST });
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
            self.builder.warn(place, Fault::Unopened);
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
