use std::collections::HashSet;

use canju_xiangqi::notation::{Notation, NotationError, read_move, read_move_as, write_move};
use canju_xiangqi::{Color, Position};
use proptest::prelude::*;

use crate::arena::{anything, columns, game};

fn round_trip(position: &Position) -> Result<(), TestCaseError> {
    let moves = position.legal_moves();
    for notation in Notation::ALL {
        let mut texts = HashSet::new();
        for &chosen in &moves {
            let text = write_move(position, chosen, notation);
            prop_assert_eq!(read_move(position, &text), Ok(chosen), "{} {}", position, &text);
            prop_assert_eq!(read_move_as(position, &text, notation), Ok(chosen));
            prop_assert!(texts.insert(text.clone()), "{} {} twice", position, text);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn games_are_written_and_read(positions in game(40)) {
        for position in &positions {
            round_trip(position)?;
        }
    }

    #[test]
    fn arrangements_are_written_and_read(position in anything()) {
        round_trip(&position)?;
    }

    #[test]
    fn any_text_is_an_answer(position in anything(), text in "\\PC{0,5}|[-+.=1-9A-Za-z]{4}|[前中后一二五1３兵车马进退平]{4}") {
        if let Ok(chosen) = read_move(&position, &text) {
            prop_assert!(position.is_legal_move(chosen));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn soldiers_in_tandem_are_written_and_read(position in columns()) {
        round_trip(&position)?;
    }
}

/// Each line: a move in coordinates and its texts, the first two as written in WXF and Chinese.
fn check(fen: &str, lines: &[(&str, &[&str])]) {
    let position = Position::from_fen(fen).unwrap();
    for (chosen, texts) in lines {
        let chosen = chosen.parse().unwrap();
        assert_eq!(write_move(&position, chosen, Notation::Wxf), texts[0]);
        assert_eq!(write_move(&position, chosen, Notation::Chinese), texts[1]);
        for text in *texts {
            assert_eq!(read_move(&position, text), Ok(chosen), "{text} in {fen}");
        }
    }
}

#[test]
fn plain_moves() {
    let initial = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
    check(
        initial,
        &[
            ("h2e2", &["C2.5", "炮二平五", "c2=5", "砲二平五", "炮2平5", "H2-E2", " h2e2 "]),
            ("h2h9", &["C2+7", "炮二进七", "炮二進７"]),
            ("b0c2", &["H8+7", "马八进七", "N8+7", "傌八進七"]),
            ("c0e2", &["E7+5", "相七进五", "B7+5", "象七进五"]),
            ("d0e1", &["A6+5", "仕六进五", "士六进五"]),
            ("e0e1", &["K5+1", "帅五进一", "帥五進一", "将五进一"]),
            ("a0a2", &["R9+2", "车九进二", "俥九進二"]),
            ("g3g4", &["P3+1", "兵三进一"]),
        ],
    );
    check(
        &initial.replace('w', "b"),
        &[
            ("h7e7", &["C8.5", "炮8平5", "炮８平５", "砲八平五", "包8平5"]),
            ("b9c7", &["H2+3", "马2进3", "馬2進3"]),
            ("e9e8", &["K5+1", "将5进1", "將5進1"]),
            ("a6a5", &["P1+1", "卒1进1", "兵1进1"]),
        ],
    );
}

#[test]
fn tandems_of_two() {
    check(
        "4k4/9/4C4/9/9/4C4/8R/8R/9/3K5 w",
        &[
            ("e7d7", &["C+.6", "前炮平六", "+C.6", "炮前平六"]),
            ("e4d4", &["C-.6", "后炮平六", "-C=6", "後砲平六"]),
            ("i2i1", &["R--1", "后车退一", "-R-1"]),
            ("i3i5", &["R++2", "前车进二", "+R+2"]),
        ],
    );
    check(
        "2bak4/9/3a5/9/2b6/9/9/9/9/5K3 b",
        &[
            ("d9e8", &["A4+5", "士4进5", "A-+5", "后士进5"]),
            ("d7e8", &["A4-5", "士4退5", "A+-5", "前士退5"]),
            ("c9e7", &["E3+5", "象3进5", "-B+5", "后象进5"]),
            ("c5e7", &["E3-5", "象3退5", "+E-5", "前象退5"]),
        ],
    );
}

#[test]
fn soldiers_on_one_file() {
    check(
        "5k3/9/6P2/6P2/6P2/9/9/9/9/3K5 w",
        &[
            ("g7f7", &["P+.4", "前兵平四", "一兵平四"]),
            ("g6f6", &["P3.4", "中兵平四", "二兵平四"]),
            ("g5f5", &["P-.4", "后兵平四", "三兵平四"]),
        ],
    );
    check(
        "5k3/6P2/6P2/6P2/6P2/9/9/9/9/3K5 w",
        &[
            ("g8f8", &["++.4", "一兵平四", "前兵平四"]),
            ("g7f7", &["P+.4", "二兵平四"]),
            ("g6f6", &["P-.4", "三兵平四"]),
            ("g5f5", &["--.4", "四兵平四", "后兵平四"]),
        ],
    );
    check(
        "3k5/9/9/9/9/6p2/6p2/6p2/6p2/4Kp3 b",
        &[
            ("g1h1", &["++.8", "一卒平8", "前卒平8"]),
            ("g2h2", &["P+.8", "二卒平8"]),
            ("g3h3", &["P-.8", "三卒平8", "3卒平８", "３卒平八"]),
            ("g4h4", &["--.8", "四卒平8"]),
            ("g1g0", &["+++1", "一卒进1"]),
        ],
    );
    check(
        "5k3/6P2/6P2/6P2/6P2/6P2/9/9/9/3K5 w".replace("/6P2/9/", "/9/6P2/").as_str(),
        &[
            ("g8f8", &["++.4", "一兵平四"]),
            ("g7f7", &["P+.4", "二兵平四"]),
            ("g6f6", &["P3.4", "三兵平四", "中兵平四"]),
            ("g5f5", &["P-.4", "四兵平四"]),
            ("g3g4", &["--+1", "五兵进一"]),
        ],
    );
}

#[test]
fn soldiers_on_two_files() {
    check(
        "5k3/9/2P3P2/2P3P2/6P2/9/9/9/9/3K5 w",
        &[
            ("g7f7", &["3+.4", "一兵平四", "前三平四"]),
            ("g6f6", &["33.4", "二兵平四", "中三平四"]),
            ("g5f5", &["3-.4", "三兵平四", "后三平四"]),
            ("c7d7", &["7+.6", "四兵平六", "前七平六", "前兵平六"]),
            ("c6d6", &["7-.6", "五兵平六", "后七平六"]),
        ],
    );
    // A soldier alone on its file keeps its letter.
    check("5k3/9/2P3P1P/2P3P2/9/9/9/9/9/3K5 w", &[("i7i8", &["P1+1", "兵一进一"]), ("g6f6", &["3-.4", "二兵平四"])]);
}

#[test]
fn errors_say_what_is_wrong() {
    let position = Position::initial();
    let error = |text| read_move(&position, text).unwrap_err();
    for text in ["", "hello", "C2", "炮二平", "C0.5", "二二平五", "34.5", "C2*5", "Q2.5"] {
        assert_eq!(error(text), NotationError::Unrecognised(text.to_owned()));
    }
    for text in ["h2h9h", "h2h3h4"] {
        assert!(matches!(error(text), NotationError::Unrecognised(_)));
    }
    for text in ["h2i3", "C2.8", "炮二退二", "K5.4"] {
        assert_eq!(error(text), NotationError::Illegal(text.to_owned()));
    }
    for text in ["C3.5", "前炮平五", "R5+1", "一兵进一"] {
        assert!(matches!(error(text), NotationError::NoPiece { color: Color::Red, .. }), "{text}");
    }
    assert_eq!(error("C3.5").to_string(), "`C3.5`: Red has no such cannon");
    let form = read_move_as(&position, "h2e2", Notation::Wxf).unwrap_err();
    assert_eq!(form.to_string(), "`h2e2` is not a move in WXF: write it as C2.5");

    let tandem = Position::from_fen("4k4/9/4C4/9/9/4C4/9/9/9/3K5 w").unwrap();
    assert!(matches!(read_move(&tandem, "C5.6"), Err(NotationError::Ambiguous { moves, .. }) if moves.len() == 2));
}
