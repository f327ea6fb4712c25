//! Single moves out of running text.

use canju_xiangqi::Move;

/// The moves of a text that has nothing but moves: parted by spaces or commas, or written without a gap.
pub(crate) fn moves(text: &str) -> impl Iterator<Item = &str> {
    let parted = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | ';' | '；' | '、'));
    parted.filter(|word| !word.is_empty()).flat_map(unjoined).filter(|word| !is_number(word))
}

/// Cuts `h2e2h9g7` and 炮二平五马8进7 into moves, and takes the number off `1.炮二平五`.
fn unjoined(word: &str) -> impl Iterator<Item = &str> {
    let word = match without_number(word) {
        "" => word,
        rest => rest,
    };
    let is_ascii = word.is_ascii();
    let is_move = |four: &str| match is_ascii {
        true => four.parse::<Move>().is_ok(),
        false => four.chars().count() == 4,
    };
    let joined = fours(word).nth(1).is_some() && fours(word).all(is_move);
    let (whole, parts) = if joined { (None, Some(fours(word))) } else { (Some(word), None) };
    whole.into_iter().chain(parts.into_iter().flatten())
}

/// A text in pieces of four characters, the last of which may be shorter.
fn fours(mut word: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = word.char_indices().nth(4).map_or(word.len(), |(at, _)| at);
        let (four, rest) = word.split_at(end);
        word = rest;
        (!four.is_empty()).then_some(four)
    })
}

/// What follows the number of a move, `12.`; the whole text where there is none.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(is_digit);
    let bare = rest.trim_start_matches(is_dot);
    // `33.4` is a move of WXF: there the number would leave a lone digit.
    let digit = bare.len() == 1 && bare.bytes().all(|b| b.is_ascii_digit());
    if rest.len() < word.len() && bare.len() < rest.len() && !digit { bare } else { word }
}

/// Whether a word is the number of a move, or dots where a move was told before.
fn is_number(word: &str) -> bool {
    word.trim_start_matches(is_digit).chars().all(is_dot)
}

/// Numbers of moves are also written with digits as wide as characters.
fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || ('０'..='９').contains(&c)
}

fn is_dot(c: char) -> bool {
    matches!(c, '.' | '．' | '。' | '…' | '、')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_parted() {
        let all = |text| moves(text).collect::<Vec<_>>();
        assert_eq!(all("h2e2 h9g7"), ["h2e2", "h9g7"]);
        assert_eq!(all("h2e2h9g7"), ["h2e2", "h9g7"]);
        assert_eq!(all("1.炮二平五马8进7 2．兵七进一"), ["炮二平五", "马8进7", "兵七进一"]);
        assert_eq!(all("１．炮二平五 １２.马８进７"), ["炮二平五", "马８进７"]);
        assert_eq!(all("1. C2.5 H8+7 2. 33.4 3+.4"), ["C2.5", "H8+7", "33.4", "3+.4"]);
        assert_eq!(all("H2-E2,H9-G7"), ["H2-E2", "H9-G7"]);
        assert_eq!(all("1... … 12."), Vec::<&str>::new());
    }
}
