//! As PGN: the game with comments.

use canju_records::{NodeId, Record, Step, Tree, write_pgn};

use super::{Annotated, Style, text};
use crate::judge::{Judged, Mark};
use crate::words;

/// What tells our comments from the author's, so that a game can be annotated again.
const OURS: &str = "canju: ";

/// PGN's `?`.
const MISTAKE: u8 = 2;
/// `??`
const BLUNDER: u8 = 4;
/// `?!`
const DUBIOUS: u8 = 6;

pub(super) fn game(game: &Annotated<'_>, style: Style) -> String {
    let mut record = Record { tree: Tree::new(), ..game.record.clone() };
    let mut start = format!(
        "{OURS}{} to move: {}, {} rules",
        record.start.turn(),
        words::answer(&game.start, style.rules),
        style.rules.name()
    );
    for warning in &record.warnings {
        start.push_str(&format!("\n{OURS}{warning}"));
    }
    if !game.steps.is_empty() {
        start.push_str(&format!("\n{OURS}Red: {}", game.summary.red.words(style.rules)));
        start.push_str(&format!("\n{OURS}Black: {}", game.summary.black.words(style.rules)));
    }
    let old = &game.record.tree;
    record.tree.add_comment(NodeId::START, &without_ours(old.comment(NodeId::START)));
    record.tree.add_comment(NodeId::START, &start);
    // Where each node of the old tree is in the new one, which has the moves in the order of reading.
    let mut copied = vec![NodeId::START; old.len() + 1];
    for (step, judged) in &game.steps {
        let (Step::Move(ply), Some(judged)) = (step, judged) else { continue };
        let parent = old.parent(ply.node).map_or(NodeId::START, |parent| copied[parent.index()]);
        let node = record.tree.add(parent, ply.chosen);
        copied[ply.node.index()] = node;
        for &glyph in old.glyphs(ply.node) {
            record.tree.add_glyph(node, glyph);
        }
        record.tree.add_comment(node, &without_ours(old.comment(ply.node)));
        if let Some(mark) = text::marked(ply, judged, style) {
            record.tree.add_comment(node, &format!("{OURS}{mark}"));
            record.tree.add_glyph(node, glyph(judged));
        } else if let (Ok(_), Err(unknown)) | (Err(unknown), Ok(_)) = (&judged.before, &judged.after) {
            record.tree.add_comment(node, &format!("{OURS}{}", words::unknown(unknown)));
        }
    }
    write_pgn(&record, style.notation)
}

fn glyph(judged: &Judged) -> u8 {
    let to_loss = judged.after.as_ref().is_ok_and(|after| after.outcome == canju_probe::Wdl::Loss);
    match judged.mark {
        Some(Mark::Result) if to_loss => BLUNDER,
        Some(Mark::Result) => MISTAKE,
        _ => DUBIOUS,
    }
}

fn without_ours(comment: &str) -> String {
    let lines: Vec<&str> = comment.lines().filter(|line| !line.starts_with(OURS)).collect();
    lines.join("\n")
}
