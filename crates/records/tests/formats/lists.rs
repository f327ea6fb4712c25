use canju_records::{Format, NodeId, Place, Reason, read};

use crate::{error, gbk, one, told};

const HORSE: &str = "9/4a4/3ak4/N8/9/9/9/9/9/5K3 w";

#[test]
fn fens_have_titles_and_comments() {
    let text = format!(
        "# horse against\n# two advisors\n{HORSE} - - 0 1 ; claimed win\n\n// nothing below belongs to this\n\n\
         4k4/4a4/4P4/9/9/9/9/9/9/5K3 w claimed draw\nfen 5k3/9/9/9/2b6/6N2/9/9/9/4K4 b - - 3 7\r\n\
         position fen 3k5/9/9/9/9/9/9/9/9/4KR3 w - - 0 1 moves f0f9 d9d8 # check\n"
    );
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.format, Format::FenList);
    let [first, second, third, fourth] = &file.records[..] else { panic!("{file:?}") };
    assert_eq!((first.title.as_str(), first.start.to_fen().as_str()), ("horse against\ntwo advisors", HORSE));
    assert_eq!((first.place, first.tree.comment(NodeId::START)), (Place::Line(3), "claimed win"));
    assert_eq!((second.title.as_str(), second.tree.comment(NodeId::START)), ("", "claimed draw"));
    assert_eq!(third.start.to_fen(), "5k3/9/9/9/2b6/6N2/9/9/9/4K4 b");
    assert_eq!(told(fourth), "{check} f0f9 d9d8");
    assert!(file.records.iter().all(|record| record.warnings.is_empty()));
}

#[test]
fn a_missing_side_is_inferred_from_what_can_be() {
    let side = |text: &str| one(text.as_bytes()).start.turn().to_char();
    assert_eq!(side("3k5/9/9/9/9/9/9/9/9/4KR3"), 'w');
    // Red's chariot gives check.
    assert_eq!(side("5k3/9/9/9/9/9/9/9/9/4KR3"), 'b');
    assert_eq!(side("a|3k5/9/9/9/9/9/9/9/9/4KR3|d9d8"), 'b');
    // What is written stands, with a warning where no game leads to it.
    let written = read(b"5k3/9/9/9/9/9/9/9/9/4KR3 w").unwrap().records.remove(0);
    assert_eq!(written.start.turn().to_char(), 'w');
    assert!(written.warnings[0].to_string().starts_with("line 1: no game leads to the first position"));
}

#[test]
fn names_with_moves() {
    let text = format!(
        "# a comment\n一马|{HORSE}|马九进八 士5进6|from a book | and so on\nx|{HORSE}\ny|{HORSE}|a6b8e8f7, 1... 2. H8-7\n"
    );
    for bytes in [text.clone().into_bytes(), gbk(&text)] {
        let file = read(&bytes).unwrap();
        assert_eq!(file.format, Format::NameList);
        let all: Vec<_> = file.records.iter().map(|r| (r.title.as_str(), told(r), r.place)).collect();
        let wanted = [
            ("一马", "{from a book | and so on} a6b8 e8f7", Place::Line(2)),
            ("x", "", Place::Line(3)),
            ("y", "a6b8 e8f7 b8c6", Place::Line(4)),
        ];
        assert_eq!(all, wanted.map(|(title, told, place)| (title, told.to_owned(), place)));
    }
}

#[test]
fn a_bad_move_ends_its_line() {
    let text = format!("x|{HORSE}|a6b8 a9a8 e8f7");
    let record = read(text.as_bytes()).unwrap().records.remove(0);
    assert_eq!(told(&record), "a6b8");
    assert_eq!(
        record.warnings[0].to_string(),
        "line 1: `a9a8` is not a legal move here, in 9/1N2a4/3ak4/9/9/9/9/9/9/5K3 b; the line ends before it"
    );
}

#[test]
fn rubbish_is_named_with_its_line() {
    assert_eq!(error(b"").to_string(), "line 1: nothing to read: give positions or games");
    assert_eq!(error(b"\n# only talk\n").reason, Reason::Empty);
    let hello = error(b"\n\nhello world\n");
    assert_eq!((hello.place, hello.reason), (Place::Line(3), Reason::Unrecognised("hello world".into())));
    let second = error(format!("{HORSE}\nhello\n").as_bytes());
    assert_eq!(second.to_string(), "line 2: no position: the board has 1 ranks, not 10");
    let side = error(b"9/4a4/3ak4/N8/9/9/9/9/9/5K3 x");
    assert!(side.to_string().contains("unknown side to move `x`"), "{side}");
    let name = error(format!("a|{HORSE}|\nb\n").as_bytes());
    assert_eq!((name.place, name.reason), (Place::Line(2), Reason::NoFen));
    let king = error(b"9/9/9/9/9/9/9/9/9/5K3 w");
    assert!(king.to_string().contains("Black has no king"), "{king}");
    assert!(matches!(error(&[0, 1, 2, 255, 254]).reason, Reason::Unrecognised(_)));
}

#[test]
fn encodings_are_told_apart() {
    let text = format!("# 马胜双士\n{HORSE}\n");
    let mut marked = vec![0xef, 0xbb, 0xbf];
    marked.extend(text.as_bytes());
    let mut wide = vec![0xff, 0xfe];
    wide.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    for bytes in [text.clone().into_bytes(), gbk(&text), marked, wide] {
        assert_eq!(one(&bytes).title, "马胜双士");
    }
}

/// As engines are told: from the start of all games.
#[test]
fn the_start_of_all_games_has_a_word() {
    let text = "# opening\nposition startpos moves h2e2 h9g7 # a reply\n\"position startpos moves h2e2\"\nstartpos\n";
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.format, Format::FenList);
    let all: Vec<_> = file.records.iter().map(|r| (r.title.as_str(), told(r))).collect();
    assert_eq!(all, [("opening", "{a reply} h2e2 h9g7".into()), ("", "h2e2".into()), ("", String::new())]);
    assert!(file.records.iter().all(|r| r.start == canju_xiangqi::Position::initial() && r.warnings.is_empty()));
    assert!(matches!(error(b"startposition w").reason, Reason::Unrecognised(_)));
}
