//! What a move of a game was worth.

use canju_probe::{ProbeError, Value, Wdl};
use canju_records::Ply;
use canju_xiangqi::{Color, Move};
use serde::Serialize;

use crate::ask::{Answer, Asker};

/// What is wrong with a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It changes who wins, or whether anybody does.
    Result,
    /// It wins, so many plies later than another move.
    Slower(u16),
    /// It loses, so many plies sooner than another move.
    Sooner(u16),
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
            Mark::Result => None,
            Mark::Slower(plies) | Mark::Sooner(plies) => Some(plies),
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
    match before.outcome {
        Wdl::Win => (has > had).then(|| Mark::Slower(has - had)),
        Wdl::Loss => (had > has).then(|| Mark::Sooner(had - has)),
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
    /// Moves that made a loss shorter, and by how many plies in all.
    pub sooner: u32,
    pub sooner_plies: u32,
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
            (Some(Mark::Slower(plies)), ..) => {
                self.slower += 1;
                self.slower_plies += u32::from(plies);
            }
            (Some(Mark::Sooner(plies)), ..) => {
                self.sooner += 1;
                self.sooner_plies += u32::from(plies);
            }
        }
    }

    /// Moves that changed the result.
    pub const fn mistakes(&self) -> u32 {
        self.win_to_draw + self.win_to_loss + self.draw_to_loss
    }

    /// In words.
    pub fn words(&self) -> String {
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
            let plies = counted(self.slower_plies, "ply", "plies");
            words.push(format!("{} by {plies}", counted(self.slower, "longer win", "longer wins")));
        }
        if self.sooner > 0 {
            let plies = counted(self.sooner_plies, "ply", "plies");
            words.push(format!("{} by {plies}", counted(self.sooner, "shorter loss", "shorter losses")));
        }
        if self.unknown > 0 {
            words.push(format!("{} unknown", counted(self.unknown, "move", "moves")));
        }
        words.join(", ")
    }
}

fn counted(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
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
