//! Values and numbers in words.

pub(crate) use canju_command::words::{counted, counted_plies, distance};
use canju_probe::{Reason, Unknown, Value, Wdl};
use canju_retro::{Outcome, Rules, TableName};
use canju_table::Verified;

use crate::ask::Answer;

/// Plies and the winner's moves in them.
pub(crate) fn plies(outcome: Wdl, plies: u16) -> String {
    let moves = match outcome {
        Wdl::Win => u32::from(plies).div_ceil(2),
        _ => u32::from(plies) / 2,
    };
    format!("{} ({})", counted_plies(plies), counted(moves, "move", "moves"))
}

/// What has been read again and compared with its checksums.
pub(crate) fn written(table: &TableName, verified: Verified) -> String {
    let shards = counted(verified.shards, "shard", "shards");
    format!("{table}: {shards}, {} bytes are what was written", grouped(verified.bytes))
}

/// What the rules of repetition forbid, one and several of it.
pub(crate) const fn violation(rules: Rules) -> (&'static str, &'static str) {
    match rules {
        Rules::Check => ("perpetual check", "perpetual checks"),
        _ => ("perpetual check or chase", "perpetual checks or chases"),
    }
}

/// A value in a sentence's words.
pub(crate) fn value(value: &Value, rules: Rules) -> String {
    if value.order > 0 {
        return forbidden(value, violation(rules).0);
    }
    let far = |distance: Option<u16>| distance.map(|n| plies(value.outcome, n));
    match (value.outcome, far(value.dtm), far(value.dtc)) {
        (Wdl::Draw, ..) => "draw".to_owned(),
        (outcome, None, None) => outcome.name().to_owned(),
        (outcome, Some(mate), None) => format!("{}, mate in {mate}", outcome.name()),
        (outcome, None, Some(conversion)) => format!("{}, conversion in {conversion}", outcome.name()),
        (outcome, Some(mate), Some(conversion)) => {
            format!("{}, mate in {mate}, conversion in {conversion}", outcome.name())
        }
    }
}

/// A value of an order above 0. Its plies are no distance to mate: they are the most until the loser can only go on by a
/// violation, which he may commit or break off.
fn forbidden(value: &Value, violation: &str) -> String {
    let goes_on = match value.outcome {
        Wdl::Win => format!("the opponent can only go on with a {violation}"),
        _ => format!("only a {violation} goes on"),
    };
    let within = |n: u16| match n {
        0 => "from here".to_owned(),
        n => format!("within {}", plies(value.outcome, n)),
    };
    let words = match (value.dtm, value.dtc) {
        (Some(mate), None) => format!("{} {goes_on}", within(mate)),
        (None, Some(conversion)) => format!("{} a conversion, or {goes_on}", within(conversion)),
        (Some(mate), Some(conversion)) if mate == conversion => format!("{} {goes_on}", within(mate)),
        (Some(mate), Some(conversion)) => {
            format!("{} {goes_on}, {} that or a conversion", within(mate), within(conversion))
        }
        (None, None) => goes_on,
    };
    let breaks_off = match value.order {
        1 => "which must be broken off".to_owned(),
        order => format!("{order} to break off in turn"),
    };
    format!("{}: {words}, {breaks_off}", value.outcome.name())
}

/// A value, or why there is none.
pub(crate) fn answer(answer: &Answer, rules: Rules) -> String {
    match answer {
        Ok(value) => self::value(value, rules),
        Err(unknown) => self::unknown(unknown),
    }
}

/// The same, and of an unknown position a move that is known to win it.
pub(crate) fn answer_or_win(answer: &Answer, won_by: Option<(String, &Value)>, rules: Rules) -> String {
    match (answer, won_by) {
        // Nothing is faster.
        (Err(_), Some((_, value))) if value.dtm == Some(1) => self::value(value, rules),
        (Err(unknown), Some((chosen, value))) => {
            let fastest = self::unknown(unknown);
            format!("at least a win: {chosen} ({}); the fastest is {fastest}", self::value(value, rules))
        }
        _ => self::answer(answer, rules),
    }
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

/// Why there is no value, with what brings the table, and the distance that the command to build it leaves out.
pub(crate) fn missing(unknown: &Unknown) -> String {
    let more = match unknown.reason {
        Reason::Missing => " (--metric dtm,dtc for the distance to conversion as well)",
        _ => "",
    };
    format!("{}{more}", unknown.message)
}

/// What a table holds, in words.
pub(crate) fn outcome(outcome: Outcome) -> String {
    let (name, far) = match outcome {
        Outcome::Draw => return "draw".to_owned(),
        Outcome::Win(far) => ("win", far),
        Outcome::Loss(far) => ("loss", far),
    };
    format!("{name} in {}", distance(far.order, far.plies))
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
    fn plies_before_a_violation_are_not_called_a_mate() {
        let of = |outcome, order, dtm, dtc| value(&Value { outcome, order, dtm, dtc }, Rules::Axf);
        assert_eq!(of(Wdl::Win, 0, Some(3), None), "win, mate in 3 plies (2 moves)");
        let cases = [
            (
                of(Wdl::Win, 5, Some(1), None),
                "win: within 1 ply (1 move) the opponent can only go on with a perpetual check or chase, \
                 5 to break off in turn",
            ),
            (
                of(Wdl::Loss, 1, Some(0), None),
                "loss: from here only a perpetual check or chase goes on, which must be broken off",
            ),
            (
                of(Wdl::Loss, 2, Some(4), Some(4)),
                "loss: within 4 plies (2 moves) only a perpetual check or chase goes on, 2 to break off in turn",
            ),
            (
                of(Wdl::Win, 1, None, Some(3)),
                "win: within 3 plies (2 moves) a conversion, or the opponent can only go on with a perpetual check or \
                 chase, which must be broken off",
            ),
            (
                of(Wdl::Win, 1, Some(5), Some(3)),
                "win: within 5 plies (3 moves) the opponent can only go on with a perpetual check or chase, within 3 plies \
                 (2 moves) that or a conversion, which must be broken off",
            ),
        ];
        for (told, wanted) in cases {
            assert_eq!(told, wanted);
        }
        let lost = value(&Value { outcome: Wdl::Loss, order: 1, dtm: Some(0), dtc: None }, Rules::Check);
        assert_eq!(lost, "loss: from here only a perpetual check goes on, which must be broken off");
    }

    #[test]
    fn distances_have_their_order() {
        let of = |order, plies| outcome(Outcome::Win(canju_retro::Distance { order, plies }));
        assert_eq!([of(0, 1), of(0, 3), of(2, 1)], ["win in 1 ply", "win in 3 plies", "win in order 2 and 1 ply"]);
        assert_eq!(outcome(Outcome::Draw), "draw");
    }

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }
}
