//! No bytes make the readers panic, and the limits hold.

use canju_records::{Format, Limits, Reason, read, read_within, write_pgn};
use canju_xiangqi::notation::Notation;
use proptest::prelude::*;

use crate::xqf_writer::{HIDDEN, write};
use crate::{gbk, one};

const PGN: &str = "[Event \"马\"]\n[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 w\"]\n\n{前} 1. a6b8 {好} (1. a6c7 $2 e8f7) e8f7 2. 马八进六 1-0\n";
const DHTML: &str = "[DhtmlXQ]\n[DhtmlXQ_title]马[/DhtmlXQ_title]\n[DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist]\n\
                     [DhtmlXQ_move_0_2_1]10227967[/DhtmlXQ_move_0_2_1]\n[DhtmlXQ_comment1_2]变[/DhtmlXQ_comment1_2]\n[/DhtmlXQ]";
const NAMES: &str = "# x\n马|9/4a4/3ak4/N8/9/9/9/9/9/5K3 w|马九进八 士5进6|x\n";
const FENS: &str = "# 马\n9/4a4/3ak4/N8/9/9/9/9/9/5K3 w - - 0 1 moves a6b8 e8f7 # x\n";

fn files() -> Vec<Vec<u8>> {
    let study = one(PGN.as_bytes());
    let mut all: Vec<Vec<u8>> = (10..=18).map(|version| write(&study, version, &HIDDEN)).collect();
    for text in [PGN, DHTML, NAMES, FENS] {
        all.extend([text.as_bytes().to_vec(), gbk(text)]);
    }
    all
}

/// Whatever is read is whole: its moves are legal, and it can be written.
fn is_sound(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(file) = read(bytes) else { return Ok(()) };
    prop_assert!(!file.records.is_empty());
    for record in &file.records {
        for ply in record.main_line() {
            prop_assert!(ply.before.is_legal_move(ply.chosen));
        }
        let text = write_pgn(record, Notation::Chinese);
        let again = read(text.as_bytes()).unwrap();
        prop_assert_eq!(again.records[0].tree.len(), record.tree.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        is_sound(&bytes)?;
    }

    #[test]
    fn any_text(text in "([\\[\\](){}|;#$%!?*/. \n\"1-9a-iwbKNn]|马|进|DhtmlXQ|movelist|binit|comment|_|FEN|moves|XQ){0,80}") {
        is_sound(text.as_bytes())?;
    }

    #[test]
    fn any_moves_behind_a_head(bytes in prop::collection::vec(any::<u8>(), 0..400), version in 10_u8..=18) {
        let mut file = write(&one(PGN.as_bytes()), version, &HIDDEN);
        file.truncate(1024);
        file.extend(bytes);
        is_sound(&file)?;
    }

    #[test]
    fn files_with_changes(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 0..6),
    ) {
        let all = files();
        let mut bytes = all[which.index(all.len())].clone();
        for (at, byte, kind) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..),
            }
        }
        is_sound(&bytes)?;
    }
}

#[test]
fn limits_hold() {
    let within = |text: &str, limits| read_within(text.as_bytes(), &limits).map(|file| file.format);
    let usual = Limits::default();
    assert_eq!(within(NAMES, Limits { games: 1, moves: 2, ..usual }), Ok(Format::NameList));
    let reason = |text, limits| within(text, limits).unwrap_err().reason;
    assert_eq!(reason(NAMES, Limits { games: 0, ..usual }), Reason::Many { limit: 0, what: "games" });
    assert_eq!(reason(NAMES, Limits { moves: 1, ..usual }), Reason::Many { limit: 1, what: "moves" });
    assert_eq!(reason(NAMES, Limits { bytes: 9, ..usual }), Reason::Large { bytes: NAMES.len(), limit: 9 });
}

/// Each would take minutes if anything were looked through once more for each of its parts.
#[test]
fn long_files_take_no_longer_than_short_ones_for_each_byte() {
    let many = |part: &str| part.repeat((1 << 16) / part.len());
    for part in [
        "[",
        "[a \"",
        "[DhtmlXQ",
        "[DhtmlXQ_comment0]",
        "(",
        "((1.)",
        "{",
        "1.",
        "$",
        "|",
        "x|",
        "9/",
        "\"",
        "1. h2e2 (",
        "马",
        ")",
    ] {
        let _ = read(many(part).as_bytes());
        let _ = read(("[Event \"x\"]\n".to_owned() + &many(part)).as_bytes());
        let _ = read(("[DhtmlXQ_movelist]7747\n".to_owned() + &many(part)).as_bytes());
    }
    let tags =
        |count: usize| (0..count).map(|n| format!("[DhtmlXQ_move_{n}_1_{}]7747\n[DhtmlXQ_comment{n}_9]x\n", n + 1));
    let _ = read(tags(4000).collect::<String>().as_bytes());
}
