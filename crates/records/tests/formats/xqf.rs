use canju_records::{Format, GameResult, Place, Reason, Record, read};

use crate::xqf_writer::{HIDDEN, Hidden, write};
use crate::{error, one, told};

fn study() -> Record {
    one("[Title \"一马\"]\n[Event \"残局\"]\n[Red \"甲\"]\n[Black \"乙\"]\n[FEN \"9/4a4/3ak4/N8/9/9/9/9/9/5K3 w\"]\n\n{说明}\n\
         1. a6b8 {好} (1. a6c7 {坏} e8f7 (1... e8d9 2. c7a8) 2. c7d9) (1. a6c5) 1... e8f7 2. b8c6"
        .as_bytes())
}

#[test]
fn each_version_is_read() {
    let study = study();
    let wanted = "{说明} a6b8 {好} ( a6c7 {坏} e8f7 ( e8d9 c7a8 ) c7d9 ) ( a6c5 ) e8f7 b8c6";
    assert_eq!(told(&study), wanted);
    for version in 10..=18 {
        let bytes = write(&study, version, &HIDDEN);
        let record = one(&bytes);
        assert_eq!(told(&record), wanted, "version {version}");
        assert_eq!(record.start, study.start, "version {version}");
        assert_eq!(
            (&record.title, &record.event, &record.red, &record.black),
            (&study.title, &study.event, &study.red, &study.black)
        );
        assert_eq!(record.result, GameResult::RedWins);
        assert_eq!(read(&bytes).unwrap().format, Format::Xqf);
    }
    // What is hidden is not to be seen.
    let hidden = write(&study, 18, &HIDDEN);
    assert_ne!(hidden[16..48], write(&study, 10, &HIDDEN)[16..48]);
}

#[test]
fn keys_may_be_anything() {
    let study = study();
    for key in 0..=255_u8 {
        let hidden =
            Hidden { mask: key.wrapping_mul(91), set: [key, !key, key / 3, 7], keys: [key, key.wrapping_mul(5), !key] };
        assert_eq!(told(&one(&write(&study, 12 + key % 7, &hidden))), told(&study), "{key}");
    }
}

#[test]
fn the_first_move_tells_whose_turn_it_is() {
    let mut bytes = write(&one("x|9/4a4/3ak4/N8/9/9/9/9/9/5K3 b|e8f7".as_bytes()), 10, &HIDDEN);
    bytes[50] = 0;
    assert_eq!(told(&one(&bytes)), "e8f7");
    let lone = write(&one(b"9/4a4/3ak4/N8/9/9/9/9/9/5K3 b"), 18, &HIDDEN);
    assert_eq!(one(&lone).start.turn().to_char(), 'b');
}

#[test]
fn what_is_broken_is_told() {
    let whole = write(&study(), 18, &HIDDEN);
    let cut = error(&whole[..700]);
    assert_eq!((cut.place, cut.reason), (Place::Byte(700), Reason::Cut));
    let mut unknown = whole.clone();
    unknown[2] = 19;
    assert_eq!(error(&unknown).to_string(), "byte 2: XQF version 19 is unknown: 10 to 18 can be read");
    let mut crowded = write(&study(), 10, &HIDDEN);
    crowded[16] = crowded[16 + 4];
    assert!(error(&crowded).to_string().starts_with("byte 16: no position: two pieces on f0"));

    let short = read(&whole[..whole.len() - 6]).unwrap().records.remove(0);
    assert!(told(&short).starts_with("{说明} a6b8 {好}"), "{}", told(&short));
    assert!(short.warnings[0].to_string().contains("the file ends within a move"), "{:?}", short.warnings);

    // Another key makes other moves.
    let mut other = whole;
    other[14] ^= 1;
    let other = read(&other).unwrap().records.remove(0);
    assert!(other.tree.is_empty());
    assert!(other.warnings.iter().any(|w| w.fault == canju_records::Fault::Keys));

    let mut plain = write(&study(), 10, &HIDDEN);
    let length = 1024 + 4;
    plain[length..length + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let plain = read(&plain).unwrap().records.remove(0);
    assert_eq!((told(&plain).as_str(), plain.warnings.len()), ("", 1));
}
