//! The words of a PGN with the lines they stand on.

/// A part of a PGN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `[Name "value"]`
    Tag(&'a str, &'a str),
    /// What stands in braces or after a semicolon.
    Comment(&'a str),
    /// What stands after a brace that is never closed.
    Unclosed(&'a str),
    Open,
    Close,
    /// `$6`, or `!?`
    Glyph(u8),
    /// Anything else: a move, its number, a result.
    Word(&'a str),
}

/// It knows only where it stands, so that a copy goes through the same words once more.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    /// Whether only spaces stand before on the line.
    fresh: bool,
    /// How many bytes are left at the next closing brace, 0 where there is none, when it was last looked for.
    brace: Option<usize>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, fresh: true, brace: None }
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.bytes().filter(|&b| b == b'\n').count();
        self.fresh = taken.trim_matches([' ', '\t', '\r']).ends_with('\n') || (self.fresh && taken.trim().is_empty());
        self.rest = rest;
        taken
    }

    /// Where the next closing brace is. It is looked for once, however many comments want to know.
    fn next_brace(&mut self) -> Option<usize> {
        let left = self.rest.len();
        let brace = self.brace.filter(|&brace| brace <= left);
        let brace = brace.unwrap_or_else(|| self.rest.find('}').map_or(0, |at| left - at));
        self.brace = Some(brace);
        (brace > 0).then(|| left - brace)
    }

    /// How many bytes of the line are left.
    fn to_line_end(&self) -> usize {
        self.rest.find('\n').unwrap_or(self.rest.len())
    }
}

impl<'a> Iterator for Lexer<'a> {
    /// A part and its line.
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let space = self.rest.len() - self.rest.trim_start().len();
            self.skip(space);
            let line = self.line;
            let first = self.rest.chars().next()?;
            if first == '%' && self.fresh {
                self.skip(self.to_line_end());
                continue;
            }
            if first == '['
                && let Some(found) = tag(self.rest)
            {
                self.skip(found.bytes);
                return Some((line, Token::Tag(found.name, found.value)));
            }
            let token = match first {
                '{' => {
                    let brace = self.next_brace();
                    let end = comment_end(self.rest, brace);
                    let comment = self.skip(end).strip_prefix('{').unwrap_or_default();
                    match comment.strip_suffix('}') {
                        Some(comment) => Token::Comment(comment.trim()),
                        None => Token::Unclosed(comment.trim()),
                    }
                }
                ';' => {
                    let end = self.to_line_end();
                    Token::Comment(self.skip(end).trim_start_matches(';').trim())
                }
                '(' | '（' => {
                    self.skip(first.len_utf8());
                    Token::Open
                }
                ')' | '）' => {
                    self.skip(first.len_utf8());
                    Token::Close
                }
                '$' => {
                    let digits = self.rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                    let Ok(glyph) = self.skip(1 + digits)[1..].parse() else { continue };
                    Token::Glyph(glyph)
                }
                '!' | '?' => {
                    let end = self.rest.bytes().take_while(|b| matches!(b, b'!' | b'?')).count();
                    let Some(glyph) = glyph(self.skip(end)) else { continue };
                    Token::Glyph(glyph)
                }
                '}' | ']' => {
                    self.skip(1);
                    continue;
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || "{}()[]$!?;（）".contains(c);
                    // A bracket that begins no tag is a word of its own.
                    let end = self.rest.char_indices().skip(1).find(|&(_, c)| ends(c));
                    Token::Word(self.skip(end.map_or(self.rest.len(), |(at, _)| at)))
                }
            };
            return Some((line, token));
        }
    }
}

/// Where a comment at the front of a text ends: behind its brace, or before the tags of the next game.
fn comment_end(text: &str, brace: Option<usize>) -> usize {
    let (mut at, mut after_blank) = (0, false);
    for line in text[..brace.unwrap_or(text.len())].split_inclusive('\n') {
        // A line of blanks is no tag: looked behind, each of many would be gone over for each before it.
        if after_blank && !line.trim().is_empty() && tag(text[at..].trim_start()).is_some() {
            return at;
        }
        after_blank = line.trim().is_empty();
        at += line.len();
    }
    brace.map_or(text.len(), |brace| brace + 1)
}

/// The number of a glyph that is written after a move.
fn glyph(text: &str) -> Option<u8> {
    Some(match text {
        "!" => 1,
        "?" => 2,
        "!!" => 3,
        "??" => 4,
        "!?" => 5,
        "?!" => 6,
        _ => return None,
    })
}

/// A tag at the front of a text.
pub(super) struct Found<'a> {
    pub name: &'a str,
    pub value: &'a str,
    pub bytes: usize,
}

/// Longer tags are none; it keeps the search for an end that is missing short.
const LONGEST: usize = 2000;

/// Reads a tag: a name, and a value in quotes, on one line. A quote that is missing at the end is borne with.
pub(super) fn tag(text: &str) -> Option<Found<'_>> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let inner = text.strip_prefix('[')?;
    let name_end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, rest) = inner.split_at(name_end);
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(QUOTES)?;
    let value = value.split('\n').next().unwrap_or_default();
    if name.is_empty() {
        return None;
    }
    let start = name.len() + 1 + (rest.len() - rest.trim_start_matches([' ', '\t']).len());
    let start = start + text[start..].chars().next().map_or(0, char::len_utf8);
    let closed = value.match_indices(']').map(|(at, _)| at).find(|&at| is_quoted(value[..at].trim_end()));
    let end = closed.or_else(|| value.rfind(']'))?;
    let value = value[..end].trim();
    Some(Found { name, value: value.strip_suffix(QUOTES).unwrap_or(value), bytes: start + end + 1 })
}

/// What stands around the text of a tag.
pub(super) const QUOTES: [char; 3] = ['"', '“', '”'];

/// Whether a text ends with a quote that has no backslash before it.
fn is_quoted(text: &str) -> bool {
    text.strip_suffix(QUOTES).is_some_and(|inner| (inner.len() - inner.trim_end_matches('\\').len()) % 2 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_their_lines() {
        let text = "[Event \"a ] \\\"b\\\"\"] [Red \"x\"]\n% out\n1. C2.5!? {one\ntwo} (1.C8=5 $14) ; rest\n1-0";
        let all: Vec<_> = Lexer::new(text).collect();
        let wanted = [
            (1, Token::Tag("Event", "a ] \\\"b\\\"")),
            (1, Token::Tag("Red", "x")),
            (3, Token::Word("1.")),
            (3, Token::Word("C2.5")),
            (3, Token::Glyph(5)),
            (3, Token::Comment("one\ntwo")),
            (4, Token::Open),
            (4, Token::Word("1.C8=5")),
            (4, Token::Glyph(14)),
            (4, Token::Close),
            (4, Token::Comment("rest")),
            (5, Token::Word("1-0")),
        ];
        assert_eq!(all, wanted);
    }

    #[test]
    fn a_comment_without_an_end_does_not_swallow_the_next_game() {
        let all: Vec<_> = Lexer::new("{one\n\n[Red \"x\"] {two").collect();
        assert_eq!(all, [(1, Token::Unclosed("one")), (3, Token::Tag("Red", "x")), (3, Token::Unclosed("two"))]);
        let all: Vec<_> = Lexer::new("{one\n[Red \"x\"]\n\ntwo}").collect();
        assert_eq!(all, [(1, Token::Comment("one\n[Red \"x\"]\n\ntwo"))]);
    }
}
