//! Any bytes as a file of positions or games, and what is read written and read again.
#![no_main]

use canju_records::{File, Format, Limits, NodeId, Record, Tree, read, read_within, write_pgn};
use canju_xiangqi::Move;
use canju_xiangqi::notation::Notation;
use libfuzzer_sys::fuzz_target;

/// A place in a tree, as a PGN keeps it: a comment has no `}`, and may lose empty lines.
fn node(tree: &Tree, node: NodeId) -> (Option<Move>, Vec<String>, Vec<u8>, usize) {
    let comment = tree.comment(node).replace('}', ")");
    let comment = comment.split('\n').filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    (tree.chosen(node), comment, tree.glyphs(node).to_vec(), tree.children(node).count())
}

/// The same moves, in the same order, with the same things said of them.
fn assert_same(old: &Tree, new: &Tree) {
    assert_eq!(old.len(), new.len());
    let mut open = vec![(NodeId::START, NodeId::START)];
    while let Some((one, other)) = open.pop() {
        assert_eq!(node(old, one), node(new, other));
        open.extend(old.children(one).zip(new.children(other)));
    }
}

/// A text of a record as a tag keeps it: on one line, and empty where it says nothing.
fn tag(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    let line = line.trim();
    if line.trim_matches(['?', '.']).is_empty() { String::new() } else { line.to_owned() }
}

fn texts(record: &Record) -> [String; 8] {
    let Record { title, event, site, date, round, red, black, annotator, .. } = record;
    [title, event, site, date, round, red, black, annotator].map(|text| tag(text))
}

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { games: 100, moves: 1000, ..Limits::default() };
    let Ok(file) = read_within(bytes, &limits) else { return };
    assert!(!file.records.is_empty());
    for record in &file.records {
        assert!(record.main_line().all(|ply| ply.before.is_legal_move(ply.chosen)));
        for notation in Notation::ALL {
            let text = write_pgn(record, notation);
            let File { format, records } = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{text}"));
            assert_eq!((format, records.len()), (Format::Pgn, 1), "{text}");
            assert_eq!((records[0].start, records[0].result), (record.start, record.result), "{text}");
            assert_eq!(texts(&records[0]), texts(record), "{text}");
            assert_same(&record.tree, &records[0].tree);
        }
    }
});
