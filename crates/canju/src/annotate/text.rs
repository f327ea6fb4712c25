//! As text: a line for each move.

use std::io::Write;

use canju_records::{NodeId, Ply, Step};
use canju_retro::Rules;
use canju_xiangqi::Color;
use canju_xiangqi::notation::write_move;

use super::{Annotated, Style};
use crate::judge::{Judged, Lost, Mark};
use crate::{file, probe, tables, words};

pub(super) fn write(number: usize, game: &Annotated<'_>, style: Style, out: &mut dyn Write) -> anyhow::Result<()> {
    let record = game.record;
    if number > 1 {
        writeln!(out)?;
    }
    writeln!(out, "{}", file::heading(number, record))?;
    let (endgame, start) = (tables::endgame_of(&record.start), &record.start);
    writeln!(out, "{}  {endgame}, {} rules", start.to_fen(), style.rules.name())?;
    writeln!(out, "{} to move: {}{}", start.turn(), words::answer(&game.start, style.rules), probe::ending(start))?;
    said(record.tree.comment(NodeId::START), 1, out)?;
    let mut depth = 0_usize;
    for (step, judged) in &game.steps {
        match step {
            Step::Open => depth += 1,
            Step::Close => depth -= 1,
            Step::Move(ply) => {
                if let Some(judged) = judged {
                    writeln!(out, "{}{}", "    ".repeat(depth), told(game, ply, judged, style))?;
                }
                said(record.tree.comment(ply.node), depth + 2, out)?;
            }
        }
    }
    for warning in &record.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    if game.steps.is_empty() {
        return Ok(());
    }
    for color in Color::ALL {
        let mut summary = game.summary;
        writeln!(out, "{color}: {}", summary.of(color).words(style.rules))?;
    }
    Ok(())
}

/// The author's comment.
fn said(comment: &str, depth: usize, out: &mut dyn Write) -> anyhow::Result<()> {
    for line in comment.lines() {
        writeln!(out, "{}\"{line}\"", "    ".repeat(depth))?;
    }
    Ok(())
}

fn told(game: &Annotated<'_>, ply: &Ply, judged: &Judged, style: Style) -> String {
    let half = ply.number - 1 + game.record.start.turn().index();
    let dots = if ply.before.turn() == Color::Red { "." } else { "..." };
    let text = write_move(&ply.before, ply.chosen, style.notation);
    let mark = marked(ply, judged, style).map(|mark| format!("  ** {mark}")).unwrap_or_default();
    format!(
        "{:4}{dots:3} {text}  {}{}{mark}",
        half / 2 + 1,
        words::answer(&judged.after, style.rules),
        probe::ending(&ply.after)
    )
}

const fn perpetual(orders: u16, rules: Rules) -> &'static str {
    let (one, several) = words::violation(rules);
    if orders == 1 { one } else { several }
}

/// What a move lost, and what was best, in words; `None` for one that lost nothing.
pub(super) fn marked(ply: &Ply, judged: &Judged, style: Style) -> Option<String> {
    let (Some(mark), Ok(before), Ok(after)) = (judged.mark, &judged.before, &judged.after) else { return None };
    let lost = match mark {
        Mark::Result => format!("{} to {}", before.outcome.name(), after.outcome.name()),
        Mark::Slower(Lost::Plies(plies)) => format!("wins {} later", words::counted_plies(plies)),
        Mark::Sooner(Lost::Plies(plies)) => format!("loses {} sooner", words::counted_plies(plies)),
        Mark::Slower(Lost::Orders(orders)) => {
            format!("wins later, after {orders} more {}", perpetual(orders, style.rules))
        }
        Mark::Sooner(Lost::Orders(orders)) => {
            format!("loses sooner, with {orders} less {}", perpetual(orders, style.rules))
        }
    };
    let best: Vec<String> = judged.best.iter().map(|&chosen| write_move(&ply.before, chosen, style.notation)).collect();
    // A whole list of moves that all draw tells nothing.
    let best = match &best[..] {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} or {} others", best.len() - 3),
        _ => best.join(" or "),
    };
    Some(format!("{lost}; best {best} ({})", words::value(before, style.rules)))
}
