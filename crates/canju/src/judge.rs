//! What a move of a game was worth.

use canju_probe::{ProbeError, Value, Wdl};
use canju_records::Ply;
use canju_retro::Rules;
use canju_xiangqi::{Color, Move};
use serde::Serialize;

use crate::ask::{Answer, Asker};
use crate::words::{counted, violation};

/// What is wrong with a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It changes who wins, or whether anybody does.
    Result,
    /// It wins later than another move, by so much.
    Slower(Lost),
    /// It loses sooner than another move, by so much.
    Sooner(Lost),
}

/// How much later or sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// With as many violations of the rules of repetition to be broken off.
    Plies(u16),
    /// So many violations to be broken off; how many plies then remain cannot be compared.
    Orders(u16),
}

impl Mark {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Mark::Result => "result",
            Mark::Slower(_) => "slower",
            Mark::Sooner(_) => "sooner",
        }
    }

    /// The plies that it costs.
    pub const fn plies(self) -> Option<u16> {
        match self {
            Mark::Slower(Lost::Plies(plies)) | Mark::Sooner(Lost::Plies(plies)) => Some(plies),
            _ => None,
        }
    }

    /// The violations of the rules of repetition that it lets the loser commit, or keeps him from; 0 with plies.
    pub const fn orders(self) -> u16 {
        match self {
            Mark::Slower(Lost::Orders(orders)) | Mark::Sooner(Lost::Orders(orders)) => orders,
            _ => 0,
        }
    }
}

/// A move with its value and that of the best, both for who makes it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub before: Answer,
    pub after: Answer,
    pub mark: Option<Mark>,
    /// The moves that keep all; empty where the value before is unknown.
    pub best: Vec<Move>,
}

/// Judges a move.
///
/// # Errors
///
/// If a table is there and cannot be read.
pub(crate) fn judge(asker: &Asker, ply: &Ply) -> Result<Judged, ProbeError> {
    let before = asker.value(&ply.before)?;
    let Ok(value) = before else {
        // What the move leads to may be known all the same.
        let after = asker.value_of_move(&ply.before, ply.chosen)?;
        return Ok(Judged { before, after, mark: None, best: Vec::new() });
    };
    let moves = asker.moves(&ply.before)?;
    let kept = |answer: &Answer| answer.as_ref().is_ok_and(|after| fault(&value, after).is_none());
    let best = moves.iter().filter(|(_, answer)| kept(answer)).map(|(chosen, _)| *chosen).collect();
    let played = moves.into_iter().find(|(chosen, _)| *chosen == ply.chosen);
    let after = match played {
        Some((_, answer)) => answer,
        None => asker.value_of_move(&ply.before, ply.chosen)?,
    };
    let mark = after.as_ref().ok().and_then(|after| fault(&value, after));
    Ok(Judged { before, after, mark, best })
}

/// What a move of this value lost of what there was.
fn fault(before: &Value, after: &Value) -> Option<Mark> {
    if before.outcome != after.outcome {
        return Some(Mark::Result);
    }
    // By the distance to mate where there is one: all values come from one table. A capture by the loser has no
    // distance to conversion of its own.
    let conversion = after.dtc.filter(|&plies| plies > 0);
    let (had, has) = before.dtm.zip(after.dtm).or(before.dtc.zip(conversion))?;
    // Plies begin anew when a violation of the rules of repetition is broken off: they count among equal orders only.
    let (had, has) = ((before.order, had), (after.order, has));
    let lost = |more: (u16, u16), less: (u16, u16)| match more.0 - less.0 {
        0 => Lost::Plies(more.1 - less.1),
        orders => Lost::Orders(orders),
    };
    match before.outcome {
        Wdl::Win => (has > had).then(|| Mark::Slower(lost(has, had))),
        Wdl::Loss => (had > has).then(|| Mark::Sooner(lost(had, has))),
        Wdl::Draw => None,
    }
}

/// How a side did in a main line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    /// Moves whose value is known.
    pub judged: u32,
    /// Moves from, or to, a position that is unknown.
    pub unknown: u32,
    /// Moves that gave a win away for a draw.
    pub win_to_draw: u32,
    /// Moves that gave a win away for a loss.
    pub win_to_loss: u32,
    /// Moves that gave a draw away.
    pub draw_to_loss: u32,
    /// Moves that made a win longer, and by how many plies in all.
    pub slower: u32,
    pub slower_plies: u32,
    /// Violations of the rules of repetition that they let the opponent commit first.
    #[serde(skip_serializing_if = "crate::stats::is_none")]
    pub slower_orders: u32,
    /// Moves that made a loss shorter, and by how many plies in all.
    pub sooner: u32,
    pub sooner_plies: u32,
    /// Violations that they left unused.
    #[serde(skip_serializing_if = "crate::stats::is_none")]
    pub sooner_orders: u32,
}

impl Tally {
    pub fn count(&mut self, judged: &Judged) {
        let (Ok(before), Ok(after)) = (&judged.before, &judged.after) else {
            self.unknown += 1;
            return;
        };
        self.judged += 1;
        match (judged.mark, before.outcome, after.outcome) {
            (None, ..) => {}
            (Some(Mark::Result), Wdl::Win, Wdl::Draw) => self.win_to_draw += 1,
            (Some(Mark::Result), Wdl::Win, _) => self.win_to_loss += 1,
            (Some(Mark::Result), ..) => self.draw_to_loss += 1,
            (Some(mark @ Mark::Slower(_)), ..) => {
                self.slower += 1;
                self.slower_plies += mark.plies().map_or(0, u32::from);
                self.slower_orders += u32::from(mark.orders());
            }
            (Some(mark @ Mark::Sooner(_)), ..) => {
                self.sooner += 1;
                self.sooner_plies += mark.plies().map_or(0, u32::from);
                self.sooner_orders += u32::from(mark.orders());
            }
        }
    }

    /// Moves that changed the result.
    pub const fn mistakes(&self) -> u32 {
        self.win_to_draw + self.win_to_loss + self.draw_to_loss
    }

    /// In words.
    pub fn words(&self, rules: Rules) -> String {
        let kinds =
            [(self.win_to_draw, "win to draw"), (self.win_to_loss, "win to loss"), (self.draw_to_loss, "draw to loss")];
        let kinds: Vec<String> =
            kinds.into_iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}")).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let mut words = vec![
            format!("{} judged", counted(self.judged, "move", "moves")),
            format!("{}{kinds}", counted(self.mistakes(), "mistake", "mistakes")),
        ];
        if self.slower > 0 {
            let by = by(self.slower_plies, self.slower_orders, rules);
            words.push(format!("{} by {by}", counted(self.slower, "longer win", "longer wins")));
        }
        if self.sooner > 0 {
            let by = by(self.sooner_plies, self.sooner_orders, rules);
            words.push(format!("{} by {by}", counted(self.sooner, "shorter loss", "shorter losses")));
        }
        if self.unknown > 0 {
            words.push(format!("{} unknown", counted(self.unknown, "move", "moves")));
        }
        words.join(", ")
    }
}

/// What several moves lost together: some plies, others violations of the rules of repetition.
fn by(plies: u32, orders: u32, rules: Rules) -> String {
    let (one, several) = violation(rules);
    let orders = (orders > 0).then(|| counted(orders, one, several));
    let plies = (plies > 0).then(|| counted(plies, "ply", "plies"));
    plies.into_iter().chain(orders).collect::<Vec<_>>().join(" and ")
}

/// The tallies of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    pub red: Tally,
    pub black: Tally,
}

impl Summary {
    pub fn of(&mut self, color: Color) -> &mut Tally {
        match color {
            Color::Red => &mut self.red,
            Color::Black => &mut self.black,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(outcome: Wdl, order: u16, dtm: u16) -> Value {
        Value { outcome, order, dtm: Some(dtm), dtc: None }
    }

    #[test]
    fn plies_are_compared_among_equal_orders_only() {
        let win = |order, dtm| value(Wdl::Win, order, dtm);
        assert_eq!(fault(&win(1, 21), &win(1, 21)), None);
        assert_eq!(fault(&win(1, 21), &win(0, 55)), None, "fewer violations are better, however many plies");
        assert_eq!(fault(&win(1, 21), &win(1, 25)), Some(Mark::Slower(Lost::Plies(4))));
        assert_eq!(fault(&win(0, 55), &win(2, 1)), Some(Mark::Slower(Lost::Orders(2))));
        let loss = |order, dtm| value(Wdl::Loss, order, dtm);
        assert_eq!(fault(&loss(0, 40), &loss(1, 2)), None);
        assert_eq!(fault(&loss(1, 8), &loss(1, 2)), Some(Mark::Sooner(Lost::Plies(6))));
        assert_eq!(fault(&loss(1, 2), &loss(0, 40)), Some(Mark::Sooner(Lost::Orders(1))));
        assert_eq!(fault(&loss(1, 2), &value(Wdl::Draw, 0, 0)), Some(Mark::Result));
    }

    #[test]
    fn a_tally_tells_plies_and_violations_apart() {
        let judged = |before: Value, after: Value| Judged {
            before: Ok(before),
            after: Ok(after),
            mark: fault(&before, &after),
            best: Vec::new(),
        };
        let mut tally = Tally::default();
        tally.count(&judged(value(Wdl::Win, 0, 55), value(Wdl::Win, 1, 3)));
        assert_eq!(tally.words(Rules::Axf), "1 move judged, 0 mistakes, 1 longer win by 1 perpetual check or chase");
        tally.count(&judged(value(Wdl::Win, 1, 3), value(Wdl::Win, 1, 5)));
        let words = "2 moves judged, 0 mistakes, 2 longer wins by 2 plies and 1 perpetual check or chase";
        assert_eq!(tally.words(Rules::Axf), words);
        assert!(tally.words(Rules::Check).ends_with("2 longer wins by 2 plies and 1 perpetual check"));
        assert_eq!((tally.slower, tally.slower_plies, tally.slower_orders), (2, 2, 1));
    }
}
