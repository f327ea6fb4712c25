//! Tags and the games that they belong to.

use crate::Place;

const MARK: &str = "[DhtmlXQ";

/// A tag with what follows it, up to whatever tag comes next: files close tags by other names, or not at all.
pub(super) struct Tag<'a> {
    /// In lower case, without `DhtmlXQ_`.
    pub name: String,
    pub value: &'a str,
    pub place: Place,
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
pub(super) fn games(text: &str) -> Vec<Vec<Tag<'_>>> {
    let mut games: Vec<Vec<Tag<'_>>> = vec![Vec::new()];
    let (mut line, mut counted) = (1, 0);
    let mut next = find(text, 0);
    while let Some(start) = next {
        next = find(text, start + MARK.len());
        let end = next.unwrap_or(text.len());
        line += text.as_bytes()[counted..start].iter().filter(|&&b| b == b'\n').count();
        counted = start;
        let (Some(body), place) = (text.get(start..end), Place::Line(line)) else { continue };
        let Some((name, value)) = body.split_once(']') else { continue };
        // Marks are ASCII, so what follows one begins a character.
        let Some(name) = name.get(MARK.len()..).filter(|_| !name.starts_with("[/")) else { continue };
        let name = name.trim_start_matches('_').trim().to_ascii_lowercase();
        let begins = name.is_empty() || is_once(&name);
        let clashes = |tag: &Tag<'_>| name.is_empty() || tag.name == name;
        if begins && games.last().is_some_and(|game| game.iter().any(clashes)) {
            games.push(Vec::new());
        }
        if let Some(game) = games.last_mut().filter(|_| !name.is_empty()) {
            game.push(Tag { name, value, place });
        }
    }
    games.retain(|game| game.iter().any(Tag::makes_a_game));
    games
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
