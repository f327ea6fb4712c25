//! Values and numbers in words.

use canju_probe::{Reason, Unknown, Value, Wdl};
use canju_retro::Outcome;

/// Plies and the winner's moves in them.
pub(crate) fn plies(outcome: Wdl, plies: u16) -> String {
    let moves = match outcome {
        Wdl::Win => u32::from(plies).div_ceil(2),
        _ => u32::from(plies) / 2,
    };
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    let (p, m) = (plural(u32::from(plies)), plural(moves));
    format!("{plies} pl{} ({moves} move{m})", if p.is_empty() { "y" } else { "ies" })
}

/// So many plies.
pub(crate) fn counted_plies(plies: u16) -> String {
    format!("{plies} {}", if plies == 1 { "ply" } else { "plies" })
}

/// A value in a sentence's words.
pub(crate) fn value(value: &Value) -> String {
    let far = |distance: Option<u16>| distance.map(|n| plies(value.outcome, n));
    let words = match (value.outcome, far(value.dtm), far(value.dtc)) {
        (Wdl::Draw, ..) => "draw".to_owned(),
        (outcome, None, None) => outcome.name().to_owned(),
        (outcome, Some(mate), None) => format!("{}, mate in {mate}", outcome.name()),
        (outcome, None, Some(conversion)) => format!("{}, conversion in {conversion}", outcome.name()),
        (outcome, Some(mate), Some(conversion)) => {
            format!("{}, mate in {mate}, conversion in {conversion}", outcome.name())
        }
    };
    words + &broken(value.outcome, value.order)
}

/// Why there is no value, in a few words.
pub(crate) fn unknown(unknown: &Unknown) -> String {
    match (&unknown.endgame, unknown.reason) {
        (Some(endgame), Reason::Metric) => format!("unknown, {endgame} lacks a distance"),
        (Some(endgame), _) => format!("unknown, no table {endgame}"),
        (None, Reason::TooLarge) => "unknown, too many men for any table".to_owned(),
        (None, Reason::Doubled) => "unknown, two soldiers of one side share a file before the river".to_owned(),
        (None, _) => "unknown, no game leads here".to_owned(),
    }
}

/// What the loser has to break off on the way, in words; nothing where the order is 0.
fn broken(outcome: Wdl, order: u16) -> String {
    let loser = if outcome == Wdl::Win { "the opponent" } else { "the side to move" };
    match order {
        0 => String::new(),
        1 => format!(" once {loser} breaks off a perpetual check or chase"),
        order => format!(" once {loser} breaks off perpetual checks or chases, {order} of them in turn"),
    }
}

/// What a table holds, in words.
pub(crate) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Draw => "draw".to_owned(),
        Outcome::Win(d) => format!("win in {} plies{}", d.plies, broken(Wdl::Win, d.order)),
        Outcome::Loss(d) => format!("loss in {} plies{}", d.plies, broken(Wdl::Loss, d.order)),
    }
}

/// A number with its digits in threes.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let threes: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|three| std::str::from_utf8(three).ok()).collect();
    threes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_the_winners() {
        assert_eq!(plies(Wdl::Win, 1), "1 ply (1 move)");
        assert_eq!(plies(Wdl::Win, 3), "3 plies (2 moves)");
        assert_eq!(plies(Wdl::Loss, 4), "4 plies (2 moves)");
        assert_eq!(plies(Wdl::Loss, 0), "0 plies (0 moves)");
    }

    #[test]
    fn what_must_be_broken_off_is_said() {
        let of = |outcome, order| value(&Value { outcome, order, dtm: Some(3), dtc: None });
        assert_eq!(of(Wdl::Win, 0), "win, mate in 3 plies (2 moves)");
        let once = "win, mate in 3 plies (2 moves) once the opponent breaks off a perpetual check or chase";
        assert_eq!(of(Wdl::Win, 1), once);
        assert!(
            of(Wdl::Loss, 2)
                .ends_with("once the side to move breaks off perpetual checks or chases, 2 of them in turn")
        );
    }

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }
}
