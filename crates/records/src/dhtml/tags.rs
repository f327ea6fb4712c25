//! Tags and the games that they belong to.

use crate::builder::WARNINGS;
use crate::{Fault, Place, Warning};

const MARK: &str = "[DhtmlXQ";
/// Characters of a tag that are shown.
const SHOWN: usize = 40;

/// A tag with what follows it, up to whatever tag comes next: files close tags by other names, or not at all.
pub(super) struct Tag<'a> {
    /// In lower case, without `DhtmlXQ_`.
    pub name: String,
    pub value: &'a str,
    pub place: Place,
}

/// What belongs to one game.
#[derive(Default)]
pub(super) struct Game<'a> {
    pub tags: Vec<Tag<'a>>,
    /// Tags that are cut off.
    pub cut: Vec<Warning>,
}

/// Whether a text has such tags.
pub(crate) fn is_one(text: &str) -> bool {
    find(text, 0).is_some()
}

/// Where the next opening or closing tag begins, in whatever case.
fn find(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    let opens = |window: &[u8]| window.eq_ignore_ascii_case(MARK.as_bytes());
    let closes = |window: &[u8]| window.starts_with(b"[/") && window[2..].eq_ignore_ascii_case(&MARK.as_bytes()[1..]);
    let at = rest.windows(MARK.len() + 1).position(|window| opens(&window[..MARK.len()]) || closes(window));
    // What is left may be a mark with nothing behind it.
    let at = at.or_else(|| {
        let last = rest.len().checked_sub(MARK.len())?;
        opens(&rest[last..]).then_some(last)
    });
    at.map(|at| from + at)
}

/// The tags of each game.
///
/// A game begins with `[DhtmlXQ]`, or where a tag comes again that a game has once.
pub(super) fn games(text: &str) -> Vec<Game<'_>> {
    let mut games: Vec<Game<'_>> = vec![Game::default()];
    let (mut line, mut counted) = (1, 0);
    // Some files close no tag: there an open one tells nothing.
    let mut closes = false;
    let mut next = find(text, 0);
    while let Some(start) = next {
        next = find(text, start + MARK.len());
        let end = next.unwrap_or(text.len());
        line += text.as_bytes()[counted..start].iter().filter(|&&b| b == b'\n').count();
        counted = start;
        let (Some(body), place) = (text.get(start..end), Place::Line(line)) else { continue };
        let closing = body.starts_with("[/");
        closes |= closing;
        let Some((name, value)) = body.split_once(']').filter(|_| !closing) else {
            if !closing && let Some(game) = games.last_mut() {
                game.cut(place, body, |text| Fault::CutTag { text });
            }
            continue;
        };
        // Marks are ASCII, so what follows one begins a character.
        let Some(name) = name.get(MARK.len()..) else { continue };
        let name = name.trim_start_matches('_').trim().to_ascii_lowercase();
        let begins = name.is_empty() || is_once(&name);
        let clashes = |tag: &Tag<'_>| name.is_empty() || tag.name == name;
        if begins && games.last().is_some_and(|game| game.tags.iter().any(clashes)) {
            games.push(Game::default());
        }
        if let Some(game) = games.last_mut().filter(|_| !name.is_empty()) {
            if next.is_none() && closes && name.starts_with("move") {
                game.cut(place, &body[..body.len() - value.len()], |text| Fault::OpenTag { text });
            }
            game.tags.push(Tag { name, value, place });
        }
    }
    games.retain(|game| game.tags.iter().any(Tag::makes_a_game));
    games
}

impl Game<'_> {
    /// Remembers no more than are told.
    fn cut(&mut self, place: Place, body: &str, fault: impl FnOnce(String) -> Fault) {
        if self.cut.len() < WARNINGS {
            let begin = body.split(char::is_whitespace).next().unwrap_or_default();
            self.cut.push(Warning { place, fault: fault(begin.chars().take(SHOWN).collect()) });
        }
    }
}

impl Tag<'_> {
    /// Titles alone are no game.
    fn makes_a_game(&self) -> bool {
        matches!(self.name.as_str(), "binit" | "fen") || self.name.starts_with("move")
    }
}

/// Whether a game has a tag only once.
fn is_once(name: &str) -> bool {
    matches!(name, "ver" | "title" | "binit" | "movelist")
}
