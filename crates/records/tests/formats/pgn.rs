use canju_records::{Format, GameResult, NodeId, Place, Record, Tree, read, write_pgn};
use canju_xiangqi::Position;
use canju_xiangqi::notation::Notation;
use proptest::prelude::*;

use crate::{error, gbk, one, told};

#[test]
fn games_in_three_notations() {
    let games = [
        "1. 炮二平五 马8进7 2. 马二进三 車9平8",
        "1.炮二平五马8进7 2．馬二進三 车９平８",
        "1. C2.5 H8+7 2. H2+3 R9.8",
        "1. C2=5 N8+7 2. N2+3 R9=8",
        "1. H2-E2 H9-G7 2. H0-G2 I9-H9",
        "h2e2 h9g7 h0g2 i9h9",
    ];
    for moves in games {
        let text = format!(
            "[Game \"Chinese Chess\"]\n[Event \"第一届\"]\n[Red \"甲\"]\n[Black \"乙\"]\n[Date \"2020.??.??\"]\n\
             [Site \"?\"]\n[Result \"1/2-1/2\"]\n\n{{前言}}\n{moves}\n1/2-1/2\n"
        );
        for bytes in [text.clone().into_bytes(), gbk(&text)] {
            let record = one(&bytes);
            assert_eq!(told(&record), "{前言} h2e2 h9g7 h0g2 i9h9", "{moves}");
            assert_eq!((record.event.as_str(), record.red.as_str(), record.black.as_str()), ("第一届", "甲", "乙"));
            assert_eq!((record.site.as_str(), record.date.as_str()), ("", "2020.??.??"));
            assert_eq!(record.result, GameResult::Draw);
        }
    }
    assert_eq!(told(&one("1. 炮二平五 马8进7".as_bytes())), "h2e2 h9g7");
}

#[test]
fn variations_comments_and_glyphs() {
    let text = "[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 w - - 0 1\"]\n\n{before} 1. a6b8! {good} (1. a6c7 {bad} e8f7 (1... e8d9) \
                2. c7d9) (1. a6c5 $2) 1... e8f7 ; rest of line 1-0\n% passed over\n2. b8c6 *\n";
    let record = one(text.as_bytes());
    assert_eq!(
        told(&record),
        "{before} a6b8 {good} ( a6c7 {bad} e8f7 ( e8d9 ) c7d9 ) ( a6c5 ) e8f7 {rest of line 1-0} b8c6"
    );
    let nodes: Vec<NodeId> = record.tree.children(NodeId::START).collect();
    assert_eq!(
        nodes.iter().map(|&node| record.tree.glyphs(node).to_vec()).collect::<Vec<_>>(),
        [vec![1], vec![], vec![2]]
    );
}

#[test]
fn black_may_begin() {
    let text = "[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 b\"]\n1... 士5进6 2. 马九进八";
    assert_eq!(told(&one(text.as_bytes())), "e8f7 a6b8");
    let text = "[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3\"]\n1. ... 士5进6 2. 马九进八";
    assert_eq!(told(&one(text.as_bytes())), "e8f7 a6b8");
}

#[test]
fn several_games_in_a_file() {
    let text = "[Event \"a\"]\n1. h2e2 1-0\n\n[Event \"b\"]\n[Result \"0-1\"]\n\n1. b2e2 (1. h2e2 *) b9c7\n[Event \"c\"]\n\n*\n[Event \"d\"]";
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.format, Format::Pgn);
    let all: Vec<_> = file.records.iter().map(|r| (r.event.as_str(), told(r), r.result, r.place)).collect();
    let wanted = [
        ("a", "h2e2", GameResult::RedWins, 1),
        ("b", "b2e2 ( h2e2 ) b9c7", GameResult::BlackWins, 4),
        ("c", "", GameResult::Unknown, 8),
        ("d", "", GameResult::Unknown, 11),
    ];
    assert_eq!(all, wanted.map(|(event, told, result, line)| (event, told.to_owned(), result, Place::Line(line))));
}

#[test]
fn a_bad_move_ends_its_line_and_no_other() {
    let text = "[Event \"x\"]\n\n1. h2e2 (1. b2e2 b9c7 2. nonsense b0c2 {lost}) h9g7 2. h0g9\n{lost} i9h9 (2... a9a8) *\n\n[Event \"y\"]\n1. h2e2";
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(told(&file.records[0]), "h2e2 ( b2e2 b9c7 ) h9g7");
    let warnings: Vec<String> = file.records[0].warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].starts_with("line 3: `nonsense` is not a move") && warnings[0].ends_with("the line ends before it")
    );
    assert!(warnings[1].starts_with("line 3: `h0g9` is not a legal move here, in "), "{warnings:?}");
    assert_eq!((told(&file.records[1]).as_str(), file.records[1].warnings.len()), ("h2e2", 0));
}

#[test]
fn brackets_may_be_anywhere() {
    let file = read(b"[Event \"x\"]\n1. h2e2 ) (1. b2e2 h9g7").unwrap();
    let warnings: Vec<String> = file.records[0].warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["line 2: a variation ends that has not begun; passed over", "line 1: a variation of this game is not closed"]
    );
    let deep = format!("[Event \"x\"]\n1. h2e2 {}{} h9g7", "(".repeat(100_000), ")".repeat(100_000));
    let file = read(deep.as_bytes()).unwrap();
    assert_eq!(told(&file.records[0]).matches("h9g7").count(), 1);
    assert!(file.records[0].warnings[0].to_string().contains("deep"));
}

#[test]
fn a_bad_fen_is_an_error_with_its_line() {
    let error = error(b"[Event \"x\"]\n[FEN \"9/9 w\"]\n1. h2e2");
    assert_eq!(error.to_string(), "line 2: no position: the board has 2 ranks, not 10");
}

#[test]
fn what_is_written_can_be_looked_at() {
    let record =
        one("[Event \"x\"]\n[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 b\"]\n1... e8f7 {why} (1... e8d9) 2. a6b8 f7e8 1-0"
            .as_bytes());
    let text = write_pgn(&record, Notation::Chinese);
    assert_eq!(
        text,
        "[Game \"Chinese Chess\"]\n[Event \"x\"]\n[Red \"?\"]\n[Black \"?\"]\n[Result \"1-0\"]\n[Format \"Chinese\"]\n\
         [FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 b\"]\n\n1... 士5进6 {why} (1... 士5退4) 2. 马九进八 士6退5 1-0\n\n"
    );
}

/// A record whose moves are drawn by numbers: each adds a move after a node.
fn drawn(picks: &[(usize, usize, String)], texts: [String; 3]) -> Record {
    let mut record = Record::new(Position::from_fen("2ba5/4ak3/9/3P1PP2/6b2/9/9/9/9/4K4 w").unwrap(), Place::Line(1));
    let mut positions = vec![(NodeId::START, record.start)];
    record.tree = Tree::new();
    [record.title, record.red, record.event] = texts.map(|text| text.trim().trim_matches(['?', '.']).trim().to_owned());
    for (node, chosen, comment) in picks {
        // Half of the moves go on where the last one ended.
        let (node, position) = positions[if node % 2 == 0 { positions.len() - 1 } else { node / 2 % positions.len() }];
        let moves = position.legal_moves();
        let Some(&chosen) = moves.get(chosen % moves.len().max(1)) else { continue };
        let added = record.tree.add(node, chosen);
        record.tree.add_comment(added, comment);
        if chosen.from.index() % 7 == 0 {
            record.tree.add_glyph(added, 6);
        }
        positions.push((added, position.play(chosen)));
    }
    record
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        picks in prop::collection::vec((any::<usize>(), any::<usize>(), "|[ -|~,马)(;$%\\[\\]\n\\\\\"]{1,12}"), 0..60),
        texts in prop::array::uniform3("[ -~马\\\\\"\\]\\[]{0,12}"),
    ) {
        let record = drawn(&picks, texts);
        for notation in Notation::ALL {
            let text = write_pgn(&record, notation);
            let mut again = one(text.as_bytes());
            again.place = record.place;
            prop_assert_eq!(&again.title, &record.title, "{}", text);
            prop_assert_eq!(told(&again), told(&record), "{}", text);
            prop_assert_eq!(&write_pgn(&again, notation), &text);
        }
    }
}

/// What a comment or a title says must not be taken for the next game, for an end, or for another format.
#[test]
fn what_looks_like_an_end_is_none() {
    let mut record = one(b"[Event \"x\"]\n\n1. h2e2 $3 *\n");
    record.title = "a\u{201d}] \\ \"b\"] \\\u{201c}".into();
    record.event = "line\nline".into();
    record.tree.add_comment(NodeId::START, "one\n\n \n[Red \"x\"]\n[DhtmlXQ_title]x[/DhtmlXQ_title] {two}");
    let again = one(write_pgn(&record, Notation::Wxf).as_bytes());
    assert_eq!((again.title, again.event.as_str()), (record.title.clone(), "line line"));
    let said = "one\n[Red \"x\"]\n[DhtmlXQ_title]x[/DhtmlXQ_title] {two)";
    assert_eq!(again.tree.comment(NodeId::START), said);
    record.title = "马\u{201d}".repeat(2000);
    let again = one(write_pgn(&record, Notation::Wxf).as_bytes());
    assert!(record.title.starts_with(&again.title) && again.title.len() > 1000, "{}", again.title.len());
}

/// A glyph is said of a move.
#[test]
fn glyphs_before_the_first_move_are_passed_over() {
    let record = one(b"[Event \"x\"]\n\n$5 1. h2e2 $2 ($4 1. b2e2) *\n");
    assert_eq!(record.tree.glyphs(NodeId::START), [0; 0]);
    assert_eq!(record.tree.glyphs(record.tree.main(NodeId::START).unwrap()), [2]);
}
